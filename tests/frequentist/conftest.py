"""Tallies with exactly the sufficient statistics a test asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

MakeTally = Callable[..., xr.Dataset]
CELLS = ("metric", "subgroup")


def one_metric(
    estimate: Sequence[float],
    count: Sequence[float],
    *,
    kind: str = "rate",
    metric: str = "fnr",
    pooled_variance: float = 0.16,
    row_variance: Sequence[float] | None = None,
) -> xr.Dataset:
    """A tally of one metric: its sampling variances are ``pooled_variance / count``."""
    z, d = np.asarray(estimate, dtype=np.float64), np.asarray(count, dtype=np.float64)
    defined = np.isfinite(z)
    rows = np.where(d > 1, pooled_variance, np.nan) if row_variance is None else np.asarray(row_variance, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        sampling = np.where(defined, pooled_variance / d, np.nan)
        bootstrap = np.where(defined, rows * (d - 1) / d**2, np.nan)
    freedom = float((d - 1)[np.isfinite(rows)].sum())
    data: dict[str, Any] = {
        "count": (CELLS, d[None]),
        "successes": (
            CELLS,
            np.where(d > 0, z * d, 0.0)[None] if kind == "rate" else np.full((1, len(z)), np.nan),
        ),
        "estimate": (CELLS, z[None]),
        "row_variance": (CELLS, rows[None]),
        "sampling_variance": (CELLS, sampling[None]),
        "bootstrap_variance": (CELLS, bootstrap[None]),
        "pooled_variance": ("metric", [pooled_variance]),
        "pooled_df": ("metric", [freedom if freedom > 0 else np.nan]),
        "status": (CELLS, np.where(defined, "ok", "undefined")[None]),
        "kind": ("metric", [kind]),
    }
    labels = [f"g{i}" for i in range(len(z))]
    coordinates = {"metric": [metric], "subgroup": labels, "site": ("subgroup", labels)}
    return xr.Dataset(data, coords=coordinates)


@pytest.fixture
def make_tally() -> MakeTally:
    return one_metric


@pytest.fixture
def five() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The shared worked example: counts, estimates, sampling variances."""
    d = np.array([50.0, 30, 15, 8, 4])
    return d, np.array([0.20, 0.25, 0.40, 0.10, 0.75]), 0.16 / d
