"""NetCDF4 files: written whole or not at all, also on a full disk, and read into memory or refused in words."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesgroups.data.files import write_atomically
from bayesgroups.data.interrupts import held_interrupts
from bayesgroups.errors import InputError, SchemaError

if TYPE_CHECKING:
    import xarray as xr


MAX_PACKED = 1100
"""Bytes that one byte of a file can hold at most, as DEFLATE packs them."""
SEAL = b"bayesgroups sha256 "
"""Opening of the digest after the last byte that HDF5 has; what HDF5 writes into the file later takes its place."""
BLOCK = 1 << 20
"""Bytes that are read at once."""


class PatientFile(io.RawIOBase):
    """A new file that keeps the first refusal of the system to itself until HDF5 has let go of it.

    HDF5 that cannot write what it holds ends the process. Once the system has refused something, the bytes so far and all
    further ones are therefore kept in memory, and ``refusal`` is raised afterwards. Until then they go to the file at once,
    so that a large report takes no further memory.
    """

    def __init__(self, place: Path) -> None:
        self.inner: io.FileIO | io.BytesIO = io.FileIO(place, "w+")
        self.refusal: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write everything: the system may take a part of it only."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        while len(rest):
            try:
                rest = rest[self.inner.write(rest) :]
            except OSError as problem:
                self._keep(problem)
        return size

    def truncate(self, size: int | None = None, /) -> int:
        """Cut or lengthen."""
        try:
            return self.inner.truncate(size)
        except OSError as problem:
            self._keep(problem)
            return self.tell() if size is None else size

    def readinto(self, buffer: Any, /) -> int | None:
        """Read what was written."""
        return self.inner.readinto(buffer)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place."""
        return self.inner.seek(offset, whence)

    def tell(self) -> int:
        """The place of the next byte."""
        return self.inner.tell()

    def seekable(self) -> bool:
        """True: HDF5 writes here and there."""
        return True

    def readable(self) -> bool:
        """True: HDF5 reads what it wrote."""
        return True

    def writable(self) -> bool:
        """True."""
        return True

    def close(self) -> None:
        """Let go of the file."""
        self.inner.close()
        super().close()

    def _keep(self, problem: OSError) -> None:
        """Go on in memory, with the bytes so far at their places."""
        file, place = self.inner, self.inner.tell()
        file.seek(0)
        self.inner = io.BytesIO()
        self.inner.write(file.read())
        self.inner.seek(place)
        file.close()
        self.refusal = problem


def write_netcdf[Values: (xr.Dataset, xr.DataTree)](path: str | Path, values: Values) -> Path:
    """Write a dataset or a tree as NetCDF4, as `write_atomically` does, with a digest of the file after its last byte."""
    from bayesgroups.data.stored_names import with_stored_names

    written = with_stored_names(values)

    def write(place: Path) -> None:
        with PatientFile(place) as file:
            try:
                with held_interrupts():
                    written.to_netcdf(file, engine="h5netcdf")
            finally:
                if file.refusal is not None:
                    raise file.refusal
        _seal(place)

    return write_atomically(path, write)


def read_netcdf(path: str | Path, opened: Callable[..., AbstractContextManager[Any]]) -> Any:
    """A NetCDF4 file in memory, opened by ``xarray.open_dataset`` or ``xarray.open_datatree``.

    An `InputError` if it does not exist, a `SchemaError` if it is no such file, or not the one that was written. A file without
    a digest, of an older version or another program, is taken as it is.
    """
    from bayesgroups.data.stored_names import with_given_names

    source = Path(path)
    try:
        exists = source.is_file()
    except OSError as problem:  # as of a name that is too long
        raise InputError(f"file {str(source)!r} cannot be read: {problem.strerror}") from problem
    if not exists:
        raise InputError(f"file {str(source)!r} does not exist")
    from bayesgroups.data.netcdf_parts import ReadParts

    _check_seal(source)  # HDF5 may read a damaged file for ever
    try:
        with ReadParts(source) as file:  # h5netcdf complains on standard error of what is no such file
            _check_declared(file, source)
            with opened(file, engine="h5netcdf") as tree:
                loaded = tree.load()
    except (MemoryError, SchemaError):
        raise
    except Exception as problem:  # HDF5 has an error of another kind for every part that may be damaged
        raise SchemaError(f"file {str(source)!r} is not a NetCDF4 file, or is damaged: {problem}") from problem
    return with_given_names(loaded)


def _check_declared(file: Any, source: Path) -> None:
    """Refuse a file that declares more numbers than can be packed into it: reading them would take all memory."""
    sizes = [0]
    file.visititems(lambda _, part: sizes.append(getattr(part, "nbytes", 0)))
    size = source.stat().st_size
    if sum(sizes) > MAX_PACKED * max(size, 1024):
        raise SchemaError(
            f"file {str(source)!r} declares {sum(sizes) / 1e9:.3g} GB and has {size / 1e9:.3g} GB: it is damaged, or was not "
            "written by this package"
        )


def _seal(place: Path) -> None:
    with place.open("rb+") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        file.seek(0, os.SEEK_END)
        file.write(SEAL + digest)


def _check_seal(source: Path) -> None:
    """Refuse a file whose digest is not that of its bytes."""
    try:
        with source.open("rb") as file:
            size = file.seek(0, os.SEEK_END) - len(SEAL) - hashlib.sha256().digest_size
            file.seek(max(size, 0))
            seal = file.read()
            if size < 0 or not seal.startswith(SEAL):
                return
            file.seek(0)
            digest, left = hashlib.sha256(), size
            while left and (block := file.read(min(left, BLOCK))):
                digest.update(block)
                left -= len(block)
    except OSError as problem:
        raise InputError(f"file {str(source)!r} cannot be read: {problem.strerror}") from problem
    if seal != SEAL + digest.digest():
        raise SchemaError(
            f"file {str(source)!r} is damaged: its bytes are not those that were written; take a copy of it, or make it again"
        )


def check_version(attrs: Mapping[Any, Any], newest: int, owner: str) -> None:
    """Refuse a version of a schema that is no number, or that is newer than the newest known."""
    version = attrs.get("schema_version", 0)
    try:
        newer = int(version) > newest
    except (TypeError, ValueError):
        raise SchemaError(f"{owner} has schema version {version!r}, which is no number; the file is damaged") from None
    if newer:
        raise SchemaError(
            f"{owner} has schema version {version}, this bayesgroups knows {newest}: it was written by a newer bayesgroups; "
            "update it"
        )


def with_texts(dataset: xr.Dataset) -> xr.Dataset:
    """Texts as they were before saving: NetCDF gives them back as objects."""
    texts = {name: values.astype(str) for name, values in dataset.variables.items() if values.dtype.kind == "O"}
    return dataset.assign_coords({name: text for name, text in texts.items() if name in dataset.coords}).assign(
        {name: text for name, text in texts.items() if name not in dataset.coords}
    )
