"""The bootstrap of a rate from a tally, beside resampling the rows.

Run with ``pytest -m benchmark -s``. The peers run few replicates and are extrapolated to all of them, which is fair
because each replicate costs the same. Each is compared with the scheme of the same law.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.typing import NDArray

import bayesgroups as bg
from bayesgroups.inference.bootstrap import replicates

pytestmark = pytest.mark.benchmark

ROWS, SUBGROUPS, DRAWS = 100_000, 32, 2_000
NUMPY_DRAWS, FAIRLEARN_DRAWS = 50, 5
NUMPY_BAR, FAIRLEARN_BAR = 200.0, 10_000.0


def _rows() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    y = rng.random(ROWS) < 0.3
    return pd.DataFrame(
        {
            "group": rng.integers(0, SUBGROUPS, ROWS),
            "y": y.astype(np.int64),
            "selected": (rng.random(ROWS) < 0.2 + 0.4 * y).astype(np.int64),
        }
    )


def _seconds(function: Callable[[], object], repetitions: int) -> float:
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return median(times)


def _rows_within(rows: pd.DataFrame, draws: int) -> NDArray[np.float64]:
    """Resample the rows of each subgroup by their numbers: what one writes by hand."""
    rng = np.random.default_rng(1)
    selected = rows["selected"].to_numpy().astype(np.float64)
    parts = [selected[rows["group"].to_numpy() == group] for group in range(SUBGROUPS)]
    return np.stack([part[rng.integers(0, len(part), (draws, len(part)))].mean(axis=1) for part in parts], axis=1)


def _rows_of_all(rows: pd.DataFrame, draws: int) -> NDArray[np.float64]:
    """Resample the rows of the table by their numbers, and count the selected of each subgroup at once."""
    rng = np.random.default_rng(1)
    cell = rows["group"].to_numpy() * 2 + rows["selected"].to_numpy()
    rates = np.empty((draws, SUBGROUPS))
    for i in range(draws):
        count = np.bincount(cell[rng.integers(0, ROWS, ROWS)], minlength=2 * SUBGROUPS).reshape(SUBGROUPS, 2)
        rates[i] = count[:, 1] / count.sum(axis=1)
    return rates


def _fairlearn(rows: pd.DataFrame, draws: int | None) -> object:
    from fairlearn.metrics import MetricFrame, selection_rate

    resample = {} if draws is None else {"n_boot": draws, "ci_quantiles": [0.025, 0.975], "random_state": 1}
    return MetricFrame(
        metrics=selection_rate,
        y_true=rows["y"],
        y_pred=rows["selected"],
        sensitive_features=rows["group"],
        **resample,
    )


def _tally(rows: pd.DataFrame) -> xr.Dataset:
    return bg.tally(rows, by=["group"], metrics="sel", y_pred="selected")


def test_bootstrap_of_rates() -> None:
    rows = _rows()
    tally = _tally(rows)
    within = _seconds(lambda: replicates(tally, seed=1, draws=DRAWS), 9)
    of_all = _seconds(lambda: replicates(tally, seed=1, draws=DRAWS, scheme="rows"), 9)
    with_tally = _seconds(lambda: replicates(_tally(rows), seed=1, draws=DRAWS), 5)
    share = DRAWS / NUMPY_DRAWS
    numpy_within = _seconds(lambda: _rows_within(rows, NUMPY_DRAWS), 3) * share
    numpy_of_all = _seconds(lambda: _rows_of_all(rows, NUMPY_DRAWS), 3) * share
    plain = _seconds(lambda: _fairlearn(rows, None), 3)
    frames = (_seconds(lambda: _fairlearn(rows, FAIRLEARN_DRAWS), 1) - plain) * DRAWS / FAIRLEARN_DRAWS
    print(f"\n{DRAWS} replicates of a rate, {ROWS} rows, {SUBGROUPS} subgroups")
    print(
        f"rows of each subgroup: {1000 * within:6.1f} ms; NumPy {numpy_within:6.2f} s, {numpy_within / within:8,.0f}x"
    )
    print(
        f"rows of the table:     {1000 * of_all:6.1f} ms; NumPy {numpy_of_all:6.2f} s, {numpy_of_all / of_all:8,.0f}x"
    )
    print(f"                                  fairlearn {frames:6.0f} s, {frames / of_all:8,.0f}x")
    print(f"with the tally:        {1000 * with_tally:6.1f} ms; NumPy {numpy_within:6.2f} s, {numpy_within / with_tally:8,.0f}x")  # fmt: skip
    assert numpy_within / within >= NUMPY_BAR
    assert numpy_of_all / of_all >= NUMPY_BAR / 2  # two draws in place of one
    assert frames / of_all >= FAIRLEARN_BAR


def test_both_bootstraps_have_the_same_law() -> None:
    """A fast answer to another question would be no benchmark."""
    rows = _rows()
    tally = _tally(rows)
    order = [tally["subgroup"].values.tolist().index(str(i)) for i in range(SUBGROUPS)]
    for ours, theirs in (
        (replicates(tally, seed=1, draws=DRAWS), _rows_within(rows, 400)),
        (replicates(tally, seed=1, draws=DRAWS, scheme="rows"), _rows_of_all(rows, 400)),
    ):
        mu = ours["mu"].values[0, :, 0][:, order]
        assert abs(float(np.median(mu.std(axis=0) / theirs.std(axis=0))) - 1) < 0.03
        assert np.abs((mu.mean(axis=0) - theirs.mean(axis=0)) / theirs.std(axis=0)).max() < 0.3
