"""Files that are the old ones or the new ones, whole, whenever the process is stopped."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bayesgroups.errors import InputError

MAX_SECONDS_OF_A_WRITE = 24 * 60 * 60
"""Age from which a temporary file belongs to no process any more: the one that wrote it was killed."""


def write_atomically(path: str | Path, write: Callable[[Path], None]) -> Path:
    """The path of a file that is written next to its place, brought to the disk, and put in its place in one step.

    ``write`` fills an empty temporary file in the same folder. If the folder does not exist, the path is a folder, or the system
    refuses (no permission, full disk), an older file stays as it was, and nothing is left behind. Temporary files of the same
    target that a killed process left more than `MAX_SECONDS_OF_A_WRITE` ago are removed.
    """
    target = Path(path)
    try:
        if not target.parent.is_dir():
            raise InputError(f"folder {str(target.parent)!r} does not exist; make it first")
        if target.is_dir():
            raise InputError(f"{str(target)!r} is a folder; name a file in it")
        written = _write(target, write)
        _remove_abandoned(target)
        return written
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise InputError(f"file {str(target)!r} cannot be written: {reason}") from problem


def write_text(path: str | Path, text: str) -> Path:
    """Write a text as UTF-8, as `write_atomically` does, with the same bytes on every system."""

    def write(place: Path) -> None:
        place.write_text(text, encoding="utf-8", newline="\n")

    return write_atomically(path, write)


def _write(target: Path, write: Callable[[Path], None]) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp makes files for the owner only
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target


def _remove_abandoned(target: Path) -> None:
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}\.part")
    for place in target.parent.iterdir():
        if pattern.fullmatch(place.name) is None:
            continue
        with suppress(OSError):  # of another owner, or removed by another process
            if time.time() - place.stat().st_mtime > MAX_SECONDS_OF_A_WRITE:
                place.unlink()
