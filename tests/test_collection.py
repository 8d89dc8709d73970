"""The tests that are collected: the same ones at any time, in any order of the files and with any hash seed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
A_YEAR = 365 * 86_400
"""Seconds that the clock of the second collection is ahead."""
COLLECT = """
import sys, time
seconds, now, now_ns = int(sys.argv[1]), time.time, time.time_ns
time.time = lambda: now() + seconds
time.time_ns = lambda: now_ns() + seconds * 10**9
import pytest
sys.exit(pytest.main(sys.argv[2:]))
"""
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}|<[\w.]+ object")
"""What an object without a representation of its own becomes in an id."""


def collect(files: list[str], bytecode: Path, *, hash_seed: int, seconds_ahead: int) -> list[str]:
    """Ids of all tests of some files, slow ones and benchmarks too, as a process of its own collects them."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONHASHSEED"] = str(hash_seed)
    if environment.pop("PYTHONDONTWRITEBYTECODE", ""):  # compiling every library twice takes longer than all else
        environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    options = ["--collect-only", "-q", "-n", "0", "-m", "", "--assert=plain", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, str(seconds_ahead), *options, *files],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


def by_file(ids: list[str]) -> dict[str, list[str]]:
    """Ids in their order, by the file that holds them."""
    files: dict[str, list[str]] = {}
    for name in ids:
        files.setdefault(name.partition("::")[0], []).append(name)
    return files


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """The whole suite collected now, and a year later with another hash seed and the files the other way round."""
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
    bytecode = tmp_path_factory.mktemp("bytecode")
    return (
        collect(files, bytecode, hash_seed=1, seconds_ahead=0),
        collect(files[::-1], bytecode, hash_seed=2, seconds_ahead=A_YEAR),
    )


@pytest.mark.slow
def test_workers_that_collect_at_different_times_collect_the_same_tests(
    collections: tuple[list[str], list[str]],
) -> None:
    first, second = collections
    assert len(first) > 1000
    assert sorted(set(first) ^ set(second)) == []
    assert by_file(first) == by_file(second)


@pytest.mark.slow
def test_no_id_is_there_twice_or_holds_an_address(collections: tuple[list[str], list[str]]) -> None:
    first, _ = collections
    assert [name for name, number in Counter(first).items() if number > 1] == []
    assert [name for name in first if ADDRESS.search(name)] == []


def test_ids_that_hold_the_time_a_hash_or_an_address_are_found(tmp_path: Path) -> None:
    path = tmp_path / "test_unstable.py"
    path.write_text(
        "import gzip, pytest\n"
        "@pytest.mark.parametrize('packed', [gzip.compress(b'rows')])\n"
        "def test_time(packed): pass\n"
        "@pytest.mark.parametrize('name', list(set('abcdefgh')))\n"
        "def test_hash(name): pass\n"
        "@pytest.mark.parametrize('thing', ['%r' % object()])\n"
        "def test_address(thing): pass\n"
        "@pytest.mark.parametrize('value', [1, 2])\n"
        "def test_stable(value): pass\n"
    )
    first, second = (
        collect([str(path)], tmp_path / "bytecode", hash_seed=seed, seconds_ahead=ahead)
        for seed, ahead in ((1, 0), (2, A_YEAR))
    )
    tests = {name.split("::")[1].partition("[")[0] for name in set(first) ^ set(second)}
    assert tests == {"test_time", "test_address"}
    assert [name for name in first if "test_hash" in name] != [name for name in second if "test_hash" in name]
    assert [name.split("::")[1].partition("[")[0] for name in first if ADDRESS.search(name)] == ["test_address"]
