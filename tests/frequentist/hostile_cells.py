"""Estimates from nothing to huge, as a tally: what an estimator must answer without a warning."""

from __future__ import annotations

import numpy as np
import xarray as xr
from hypothesis import strategies as st

CELLS = st.lists(
    st.tuples(st.integers(0, 10**12), st.floats(0, 1), st.sampled_from([1e-300, 1e-12, 1.0, 1e12])),
    max_size=7,
)
"""Rows, share and scale of each subgroup."""


def tally_of(cells: list[tuple[int, float, float]]) -> xr.Dataset:
    z = np.array([share * scale if n else np.nan for n, share, scale in cells])
    v = np.array([scale / n if n else np.nan for n, _, scale in cells])
    cell = ("metric", "subgroup")
    return xr.Dataset(
        {
            "estimate": (cell, z[None]),
            "sampling_variance": (cell, v[None]),
            "status": (cell, np.where(np.isfinite(z), "ok", "undefined")[None]),
        },
        {"metric": ["mae"], "subgroup": [f"g{i}" for i in range(len(z))]},
    )
