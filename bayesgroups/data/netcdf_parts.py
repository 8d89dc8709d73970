"""HDF5 files that are read with each of their parts looked up once."""

from __future__ import annotations

from typing import Any

import h5py


class ReadParts(h5py.File):  # type: ignore[misc]  # h5py says nothing of its types
    """An HDF5 file that is only read, and keeps the parts that were found in it.

    h5netcdf asks for the same dataset some forty times, by its path, which takes half of the time in which a report is opened.
    """

    def __init__(self, place: Any) -> None:
        super().__init__(place, "r")
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: Any) -> Any:
        if not isinstance(name, str):
            return super().__getitem__(name)
        if name not in self._found:
            self._found[name] = super().__getitem__(name)
        return self._found[name]
