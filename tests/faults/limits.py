"""Little disk, little memory, folders that refuse, many writers of one file, and files that are traps."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

import bayesgroups as bg
from bayesgroups import cli
from tests.faults.actions import Deed, of_tally, tally
from tests.faults.children import Action

SIZES = 20
WORDS = "bayesgroups:"
"""What a message of the command line opens with."""


def own_error(action: Action) -> Action:
    """The action, with exit code 2 where it ends in an error of the project, which is printed."""

    def act(folder: Path) -> int:
        try:
            return action(folder)
        except bg.BayesgroupsError as problem:
            print(f"{WORDS} {problem}", flush=True)
            return 2

    return act


def file_sizes(largest: int) -> list[int]:
    """Limits of the size of a file, from nothing to a little more than it takes."""
    return [0, *(int(largest * share) for share in np.geomspace(0.002, 1.1, SIZES - 1))]


def memory_limits() -> list[tuple[int, int]]:
    """Limits of the address space: what the process has, and a little more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    now = pages * resource.getpagesize()
    return [(resource.RLIMIT_AS, now + more * 2**20) for more in (1, 2, 4, 8, 16, 24, 32, 48, 64, 96)]


def refusing_folders(deed: Deed) -> Callable[[str], Action]:
    """The action of a saving function, with a folder that no file can be made in."""

    def into(place: str) -> Action:
        def act(_: Path) -> int:
            counts = tally(2)
            if deed.name == "save_tally":
                bg.save_tally(counts, f"{place}/a.nc")
                return 0
            report = bg.estimate(counts, bg.NoPooling(), seed=1)
            if deed.name == "save_report":
                bg.save_report(report, f"{place}/a.nc")
            else:
                bg.write_html(report, f"{place}/a.html")
            return 0

        return own_error(act)

    return into


def torn_reads(folder: Path, writers: int = 3, rounds: int = 25) -> tuple[int, int]:
    """Reads of a file that several processes write at once, and how many of them found no whole file."""
    place, versions = folder / "shared.tally.nc", [tally(seed) for seed in range(writers)]
    bg.save_tally(versions[0], place)
    whole = {of_tally(bg.save_tally(version, folder / "one.nc")) for version in versions}
    processes = []
    for version in versions:
        process = os.fork()
        if process == 0:
            with contextlib.suppress(BaseException):
                for _ in range(rounds):
                    bg.save_tally(version, place)
            os._exit(0)
        processes.append(process)
    reads = torn = 0
    while processes:
        reads += 1
        try:
            torn += of_tally(place) not in whole
        except bg.BayesgroupsError:
            torn += 1
        processes = [process for process in processes if os.waitpid(process, os.WNOHANG)[0] == 0]
    return reads, torn


def bomb_of_dimensions(folder: Path) -> Path:
    """A tally of which one variable declares 10^12 numbers and holds none."""
    place = bg.save_tally(tally(1), folder / "bomb.tally.nc")
    with h5py.File(place, "r+") as file:
        scales = [file[name] for name in ("metric", "subgroup")]
        del file["count"]
        huge = file.create_dataset("count", shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
        for axis, scale in enumerate(scales):
            huge.dims[axis].attach_scale(scale)
    return place


def zip_bomb(folder: Path) -> Path:
    """A log of 400 MB of spaces in less than a megabyte."""
    place = folder / "bomb.eval"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "a", "model": "b"}}))
        with archive.open("summaries.json", "w", force_zip64=True) as entry:
            for _ in range(400):
                entry.write(b" " * 2**20)
    return place


def opened(reader: Callable[[Path], object], place: Path) -> Action:
    """Reading a trap."""

    def act(_: Path) -> int:
        reader(place)
        return 0

    return own_error(act)


def estimate_of_many(folder: Path) -> int:
    """A command that takes memory."""
    return cli.run(["estimate", "many.tally.nc", "--estimator", "crossed_effects", "--output", "many.nc"])
