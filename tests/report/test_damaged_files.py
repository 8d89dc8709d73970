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
from bayesgroups.errors import SchemaError


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
