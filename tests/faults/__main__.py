"""A table of faults and what they left: ``python -m tests.faults --kills 500 --seed 1 --output table.csv``."""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import bayesgroups as bg
from bayesgroups.data.csv_files import write_csv
from bayesgroups.data.files import MAX_SECONDS_OF_A_WRITE
from tests.faults import limits
from tests.faults.actions import Deed, deeds, long_commands, lost_pieces, make_older, of_tally, prepare
from tests.faults.children import End, child

PARTS = ("kills", "interrupts", "limits")
MAX_SECONDS = 420.0
"""Of one line; a command that takes long is stopped fewer times."""
NO_ERROR = {0, 1, 2, 130, -signal.SIGKILL}
"""Exit codes of the project and of a process that was killed."""


@dataclass
class Line:
    """One fault to one action: cases, files found as they were before and as they are after, and what must be 0."""

    fault: str
    action: str
    cases: int = 0
    old: int = 0
    new: int = 0
    torn: int = 0
    lost: int = 0
    left_behind: int = 0
    raw_errors: int = 0
    hangs: int = 0

    @property
    def faults(self) -> int:
        """Number of everything that must not be."""
        return self.torn + self.lost + self.left_behind + self.raw_errors + self.hangs


def look(line: Line, deed: Deed, folder: Path, before: dict[str, object], end: End) -> None:
    """Count one case."""
    line.cases += 1
    line.hangs += end.code is None
    line.raw_errors += end.raw or (end.code is not None and end.code not in NO_ERROR)
    for name, read in deed.files.items():
        try:
            line.old += (same := read(folder / name) == before[name])
            line.new += not same
        except (bg.BayesgroupsError, ValueError, OSError):
            line.torn += 1
    line.lost += lost_pieces(folder) if deed.name == "study" else 0


def leftovers(folder: Path) -> list[Path]:
    """Temporary files anywhere below a folder."""
    return [place for place in folder.rglob("*") if place.name.endswith(".part")]


def swept(deed: Deed, folder: Path) -> int:
    """Temporary files that stay after the same files have been written once more, a day later."""
    yesterday = time.time() - MAX_SECONDS_OF_A_WRITE - 60
    for place in leftovers(folder):
        os.utime(place, (yesterday, yesterday))
    child(limits.own_error(deed.act), folder)
    return len(leftovers(folder))


def stopped(deed: Deed, cases: int, send: int, rng: np.random.Generator, folder: Path, older: Path) -> Line:
    """An action that is stopped by a signal at random moments."""
    line = Line("killed" if send == signal.SIGKILL else "interrupted", deed.name)
    before = {name: read(older / name) for name, read in deed.files.items()}
    prepare(folder, older)
    whole = child(deed.act, folder).seconds
    for _ in range(min(cases, max(1, int(MAX_SECONDS / whole)))):
        prepare(folder, older)
        look(line, deed, folder, before, child(deed.act, folder, after=rng.uniform(0, 1.05 * whole), send=send))
        if leftovers(folder):
            line.left_behind += swept(deed, folder) if send == signal.SIGKILL else len(leftovers(folder))
        if deed.name == "study":  # goes on from what it has, to the same answers
            again = child(deed.act, folder)
            computed = (folder / "marks").read_text().split()
            line.raw_errors += again.raw
            line.lost += max(len(computed) - len(set(computed)) - 1, 0)
    return line


def limited(deed: Deed, folder: Path, older: Path) -> Line:
    """An action on a disk that takes files of some size only."""
    line = Line("disk full", deed.name)
    before = {name: read(older / name) for name, read in deed.files.items()}
    prepare(folder, older)
    child(deed.act, folder)
    largest = max((folder / name).stat().st_size for name in deed.files)
    for size in limits.file_sizes(largest):
        prepare(folder, older)
        end = child(limits.own_error(deed.act), folder, limit=(resource.RLIMIT_FSIZE, size))
        look(line, deed, folder, before, end)
        line.left_behind += len(leftovers(folder))
    return line


def other_faults(folder: Path, older: Path, every: list[Deed]) -> list[Line]:
    """Folders that refuse, little memory, many writers, traps."""
    lines = []
    for deed in every[:3]:
        line = Line("folder refuses", deed.name)
        for place in ("/proc", "/sys", "/dev/null", str(folder / "none")):
            prepare(folder, older)
            look(line, Deed(deed.name, deed.act, {}), folder, {}, child(limits.refusing_folders(deed)(place), folder))
        lines.append(line)
    prepare(folder, older)
    levels = pd.DataFrame(itertools.product(range(12), range(12), range(4)), columns=["a", "b", "c"]).astype(str)
    count = np.arange(len(levels)) % 50 + 5
    bg.save_tally(bg.tally_from_counts(count // 3, count, levels), folder / "many.tally.nc")
    little = Line("memory limited", "estimate")
    for limit in limits.memory_limits():
        end = child(limits.estimate_of_many, folder, limit=limit)
        look(little, Deed("estimate", limits.estimate_of_many, {}), folder, {}, end)
    reads, torn = limits.torn_reads(folder)
    lines += [little, Line("three writers at once", "save_tally", cases=reads, new=reads - torn, torn=torn)]
    memory = limits.memory_limits()[-1]
    for name, action in (
        ("declared dimensions", limits.opened(of_tally, limits.bomb_of_dimensions(folder))),
        ("zip bomb", limits.opened(bg.interop.read_inspect, limits.zip_bomb(folder))),
    ):
        trap = Line(name, "open")
        look(trap, Deed(name, action, {}), folder, {}, child(action, folder, limit=memory))
        lines.append(trap)
    return lines


def table(kills: int, seed: int, parts: Sequence[str] = PARTS) -> list[Line]:
    """Lines of some parts; an interrupt for every tenth kill, of long commands."""
    rng, every = np.random.default_rng(seed), deeds()
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as place:
        folder, older = Path(place) / "work", Path(place) / "older"
        make_older(older)
        if "kills" in parts:
            lines += [stopped(deed, -(-kills // len(every)), signal.SIGKILL, rng, folder, older) for deed in every]
        if "interrupts" in parts:
            commands = [*(deed for deed in every if deed.long and deed.name != "write_html"), *long_commands()]
            lines += [stopped(deed, max(kills // 10, 1), signal.SIGINT, rng, folder, older) for deed in commands]
        if "limits" in parts:
            lines += [limited(deed, folder, older) for deed in every[:3]] + other_faults(folder, older, every)
    return lines


def main() -> int:
    """Run all faults; the exit code is 1 where one did harm."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what is done")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
    lines = table(asked.kills, asked.seed, asked.parts)
    frame = pd.DataFrame([asdict(line) for line in lines])
    print(frame.to_string(index=False))
    if asked.output is not None:
        write_csv(asked.output, frame, escape_formulas=False)
    return 1 if sum(line.faults for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
