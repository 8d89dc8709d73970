"""Files that are the old ones or the new ones, whole, whenever the process is stopped."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bayesgroups.errors import InputError


def write_atomically(path: str | Path, write: Callable[[Path], None]) -> Path:
    """The path of a file that is written next to its place, brought to the disk, and put in its place in one step.

    ``write`` fills an empty temporary file in the same folder. If the folder does not exist, the path is a folder, or the system
    refuses (no permission, full disk), an older file stays as it was, and nothing is left behind.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"folder {str(target.parent)!r} does not exist; make it first")
    if target.is_dir():
        raise InputError(f"{str(target)!r} is a folder; name a file in it")
    try:
        return _write(target, write)
    except OSError as problem:
        reason = problem.strerror or str(problem)
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
