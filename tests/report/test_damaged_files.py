"""Damaged files of tallies and reports are refused in the words of this package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.netcdf import write_netcdf
from bayesgroups.errors import InputError, SchemaError


@pytest.fixture(scope="module")
def counts() -> xr.Dataset:
    return bg.tally_from_counts([1, 3, 5], [10, 9, 8], pd.DataFrame({"site": ["a", "b", "c"]}))


def _refused(opened: Callable[[Path], Any], path: Path, data: bytes) -> bool:
    path.write_bytes(data)
    try:
        opened(path)
    except SchemaError:
        return True
    return False


def test_damaged_bytes(counts: xr.Dataset, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = bg.save_tally(counts, tmp_path / "t.nc").read_bytes()
    rng, broken = np.random.default_rng(1), tmp_path / "broken.nc"
    damaged = []
    for place in rng.integers(len(whole) - 16, size=60):
        data = bytearray(whole)
        data[place : place + 16] = rng.bytes(16)
        damaged.append(_refused(bg.open_tally, broken, bytes(data)))
    assert sum(damaged) > 20
    assert all(_refused(bg.open_tally, broken, whole[: i * len(whole) // 10]) for i in range(10))
    assert all(_refused(bg.open_report, broken, whole[: i * len(whole) // 10]) for i in range(10))
    assert "ignored" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["metric", "subgroup", "estimate", "count", "status", "kind"])
def test_a_tally_without_a_variable(counts: xr.Dataset, name: str, tmp_path: Path) -> None:
    path = write_netcdf(tmp_path / "t.nc", counts.drop_vars(name))
    with pytest.raises(SchemaError, match=f"is a tally without the variable '{name}'; make the tally again"):
        bg.open_tally(path)


@pytest.mark.parametrize(
    ("version", "words"),
    [("x", "'x', which is no number"), (99, "knows 1: it was written by a newer bayesgroups; update it")],
)
def test_versions_of_the_schema(counts: xr.Dataset, version: object, words: str, tmp_path: Path) -> None:
    path = write_netcdf(tmp_path / "t.nc", counts.assign_attrs(schema_version=version))
    with pytest.raises(SchemaError, match=words):
        bg.open_tally(path)


def test_no_flipped_byte_is_read(counts: xr.Dataset, tmp_path: Path) -> None:
    report = bg.estimate(counts, bg.NoPooling(), seed=1)
    files = (
        (bg.open_tally, bg.save_tally(counts, tmp_path / "t.nc")),
        (bg.open_report, bg.save_report(report, tmp_path / "r.nc", include=[])),
    )
    rng, broken = np.random.default_rng(2), tmp_path / "broken.nc"
    for opened, path in files:
        whole = path.read_bytes()
        for place in rng.integers(len(whole) - 51, size=100):
            data = bytearray(whole)
            data[place] ^= 1 << int(rng.integers(8))
            broken.write_bytes(bytes(data))
            with pytest.raises(SchemaError, match=r"broken.nc' is damaged: its bytes are not those that were written"):
                opened(broken)


def test_files_without_a_digest_open_as_before(counts: xr.Dataset, tmp_path: Path) -> None:
    sealed = bg.save_tally(counts, tmp_path / "t.nc")
    (tmp_path / "old.nc").write_bytes(sealed.read_bytes()[:-51])
    assert bg.open_tally(tmp_path / "old.nc").identical(counts)
    with xr.open_dataset(sealed, engine="h5netcdf") as plain:  # by other programs
        plain.load()
    xr.Dataset({"remark": ("subgroup", [1.0, 2.0, 3.0])}).to_netcdf(sealed, mode="a", engine="h5netcdf")
    assert bg.open_tally(sealed)["remark"].values.tolist() == [1.0, 2.0, 3.0]


def test_a_file_that_may_not_be_read(counts: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bg.save_tally(counts, tmp_path / "t.nc")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"t.nc' cannot be read: Permission denied"):
        bg.open_tally(path)


def test_a_file_that_declares_more_than_it_can_hold(counts: xr.Dataset, tmp_path: Path) -> None:
    path = bg.save_tally(counts, tmp_path / "t.nc")
    import h5py

    with h5py.File(path, "r+") as file:
        del file["count"]
        file.create_dataset("count", shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
    with pytest.raises(
        SchemaError, match=r"declares 8e\+03 GB and has .* GB: it is damaged, or was not written by this package"
    ):
        bg.open_tally(path)
