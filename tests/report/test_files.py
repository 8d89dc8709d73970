from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bayesgroups.data.files import write_atomically
from bayesgroups.errors import InputError


def _new(place: Path) -> None:
    place.write_text("new")


def test_the_old_file_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    assert write_atomically(target, _new) == target
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_others_may_read_it_as_any_new_file(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    assert write_atomically(tmp_path / "a", _new).stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ValueError])
def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path: Path, problem: type[BaseException]) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def half(place: Path) -> None:
        place.write_text("ha")
        raise problem

    with pytest.raises(problem):
        write_atomically(target, half)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_full_disk_is_said_in_words(tmp_path: Path) -> None:
    def full(place: Path) -> None:
        raise OSError(28, "No space left on device", str(place))

    with pytest.raises(InputError, match=r"a\.txt' cannot be written: No space left on device"):
        write_atomically(tmp_path / "a.txt", full)


def test_the_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"folder .*nowhere' does not exist; make it first"):
        write_atomically(tmp_path / "nowhere" / "a.txt", _new)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; name a file in it"):
        write_atomically(tmp_path, _new)


KILLED = """
import os, signal
from bayesgroups.data.files import write_atomically
write_atomically("a.txt", lambda place: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_what_a_killed_process_left_is_removed_after_a_day(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    killed = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob(".a.txt.*.part")
    assert target.read_text() == "old"
    other = [tmp_path / name for name in (".b.txt.abcdefgh.part", "a.txt.part", ".a.txt.mine.part")]
    for place in other:
        place.touch()
        os.utime(place, (0, 0))
    write_atomically(target, _new)  # it may still be written
    assert left.exists()
    yesterday = time.time() - 25 * 60 * 60
    os.utime(left, (yesterday, yesterday))
    write_atomically(target, _new)
    assert sorted(tmp_path.iterdir()) == sorted([target, *other])
