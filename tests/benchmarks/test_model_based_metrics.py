"""Model-based metrics of a million rows, beside those of five thousand: after the tally, rows cost nothing.

Run with ``pytest -m benchmark -s``. Both fits have the same subgroups and run in turns in one process.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.inference.collapsed.model_based_metrics import sample
from bayesgroups.tallies.score_moments import keep_scores
from tests.benchmarks.table import Table

pytestmark = pytest.mark.benchmark

SMALL, LARGE = 5_000, 1_000_000
BAR = 1.5
"""Times as long as the small fit; bins that no row of the small tally falls into are what is left."""


def _tally(size: int) -> xr.Dataset:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"r": rng.integers(0, 4, size), "a": rng.integers(0, 4, size), "s": rng.integers(0, 2, size)})
    rows["y"] = rng.random(size) < 0.3
    u = -1.0 + rows["y"] + 0.2 * rows["r"] + rng.standard_normal(size)
    rows = rows.assign(y=rows["y"].astype(int), p=1 / (1 + np.exp(-u)))
    tally = bg.tally(rows, ["r", "a", "s"], ["sel", "fnr", "auc"], y_true="y", y_score="p", threshold=0.5)
    return keep_scores(tally, cells=False)


@pytest.mark.parametrize("residuals", ["normal", "skewed"])
def test_rows_cost_nothing_after_the_tally(residuals: str, table: Table) -> None:
    tallies = {size: _tally(size) for size in (SMALL, LARGE)}
    seconds: dict[int, list[float]] = {SMALL: [], LARGE: []}
    for _ in range(5):
        for size, tally in tallies.items():
            start = time.process_time()
            sample(tally, seed=1, residuals=residuals)  # type: ignore[arg-type]
            seconds[size].append(time.process_time() - start)
    small, large = (tally.sizes["score_bin"] for tally in tallies.values())
    # The warp looks at every bin, of which there are at most 448 per cell.
    bar = BAR if residuals == "normal" else BAR * max(1.0, large / small)
    what = f"model-based metrics of {LARGE:,} rows, {residuals} residuals, after the tally"
    peer = f"the same of {SMALL:,} rows"
    ratio = table.ratio(
        what, peer, seconds[SMALL], seconds[LARGE], bar=bar, larger=False, note=f"{large / small:.1f} times the bins"
    )
    assert ratio < bar
