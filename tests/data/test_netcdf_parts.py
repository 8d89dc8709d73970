"""Parts of a file that are looked up once are those that HDF5 finds."""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest

from bayesgroups.data.netcdf_parts import ReadParts


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with h5py.File(tmp_path / "a.nc", "w") as file:
        file["group/values"] = [1.0, 2.0]
    return tmp_path / "a.nc"


def test_a_part_is_looked_up_once(place: Path) -> None:
    with ReadParts(place) as file:
        values = file["/group/values"]
        assert values[:].tolist() == [1.0, 2.0]
        assert file["/group/values"] is values
        assert file[values.ref] == values


def test_what_is_not_there_is_refused(place: Path) -> None:
    with ReadParts(place) as file:
        for _ in range(2):
            with pytest.raises(KeyError, match="doesn't exist"):
                file["/group/nothing"]


def test_nothing_can_be_written(place: Path) -> None:
    with ReadParts(place) as file, pytest.raises(ValueError, match="no write intent"):
        file["more"] = [1.0]
