"""Files that a command will write, checked before it computes anything."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from bayesgroups.data.row_files import files_named
from bayesgroups.errors import InputError


def check_outputs(outputs: Sequence[Path], inputs: Iterable[Path]) -> None:
    """Refuse outputs that cannot be written, that are written twice, or that would replace a file that is read.

    Paths are compared as files: links are followed, and ``./t.nc`` is ``t.nc``. Inputs may be directories of rows and patterns of
    files, which stand for their files.
    """
    for i, output in enumerate(outputs):
        _check_place(output)
        twin = next((former for former in outputs[:i] if _same(former, output)), None)
        if twin is not None:
            raise InputError(f"two outputs are one file, {str(output)!r}; give each a name of its own")
    read = [path for given in inputs for path in _files(given)] if outputs else []
    for output in outputs:
        source = next((path for path in read if _same(path, output)), None)
        if source is not None:
            also = "" if str(source) == str(output) else f" as {str(source)!r}"
            raise InputError(
                f"output {str(output)!r} is an input{also}, which would be lost; give the output another name"
            )


def _check_place(output: Path) -> None:
    folder = output.parent
    if not folder.is_dir():
        raise InputError(f"folder {str(folder)!r} does not exist; make it first")
    if output.is_dir():
        raise InputError(f"{str(output)!r} is a folder; name a file in it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"file {str(output)!r} cannot be written: no permission to write in its folder; choose another"
        )


def _files(given: Path) -> list[Path]:
    files = files_named(given)
    return [given] if files is None else [Path(name) for name in files]


def _same(path: Path, other: Path) -> bool:
    """True if two paths lead to one file, which need not exist yet."""
    if path.resolve() == other.resolve():
        return True
    return path.exists() and other.exists() and path.samefile(other)  # hard links


def check_ending(path: Path, what: str, endings: Collection[str]) -> str:
    """The ending of a file to write, in small letters; an InputError if ``what`` has none such.

    >>> check_ending(Path("ranks.CSV"), "an answer", (".csv", ".json"))
    '.csv'
    """
    ending = path.suffix.lower()
    if ending not in endings:
        raise InputError(f"file {str(path)!r}: {what} is written as {', '.join(endings)}; give it one of these endings")
    return ending
