"""Files that are the old ones or the new ones, whole, whenever the process is stopped."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesgroups.errors import InputError, SchemaError

if TYPE_CHECKING:
    import xarray as xr


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


def read_netcdf(path: str | Path, opened: Callable[..., AbstractContextManager[Any]]) -> Any:
    """A NetCDF4 file in memory, opened by ``xarray.open_dataset`` or ``xarray.open_datatree``.

    An `InputError` if it does not exist, a `SchemaError` if it is no such file.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"file {str(source)!r} does not exist")
    try:
        with opened(source, engine="h5netcdf") as tree:
            return tree.load()
    except (OSError, ValueError) as problem:
        raise SchemaError(f"file {str(source)!r} is not a NetCDF4 file: {problem}") from problem


def with_texts(dataset: xr.Dataset) -> xr.Dataset:
    """Texts as they were before saving: NetCDF gives them back as objects."""
    texts = {name: values.astype(str) for name, values in dataset.variables.items() if values.dtype.kind == "O"}
    return dataset.assign_coords({name: text for name, text in texts.items() if name in dataset.coords}).assign(
        {name: text for name, text in texts.items() if name not in dataset.coords}
    )


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
