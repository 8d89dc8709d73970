"""The bootstrap of rates from a tally, beside resampling the rows.

Run with ``pytest -m benchmark -s``. The peers run few replicates and are extrapolated to all of them, which is fair
because each replicate costs the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import bayesgroups as bg
from bayesgroups.inference.bootstrap import replicates

pytestmark = pytest.mark.benchmark

ROWS, SUBGROUPS, DRAWS = 100_000, 32, 2_000
NUMPY_DRAWS, FAIRLEARN_DRAWS = 100, 3
NUMPY_BAR, FAIRLEARN_BAR = 200.0, 10_000.0

METRICS = ("sel", "fnr", "fpr")


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


def _numpy(rows: pd.DataFrame, draws: int) -> NDArray[np.float64]:
    """Resample row numbers, count confusion cells per subgroup: what one writes by hand, without a loop over groups."""
    rng = np.random.default_rng(1)
    cell = rows["group"].to_numpy() * 4 + rows["y"].to_numpy() * 2 + rows["selected"].to_numpy()
    rates = np.empty((draws, len(METRICS), SUBGROUPS))
    for i in range(draws):
        drawn = cell[rng.integers(0, ROWS, ROWS)]
        tn, fp, fn, tp = np.bincount(drawn, minlength=4 * SUBGROUPS).reshape(SUBGROUPS, 4).T
        rates[i] = (fp + tp) / (tn + fp + fn + tp), fn / (fn + tp), fp / (fp + tn)
    return rates


def _fairlearn(rows: pd.DataFrame, draws: int | None) -> object:
    from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate, selection_rate

    resample = {} if draws is None else {"n_boot": draws, "ci_quantiles": [0.025, 0.975], "random_state": 1}
    return MetricFrame(
        metrics={"sel": selection_rate, "fnr": false_negative_rate, "fpr": false_positive_rate},
        y_true=rows["y"],
        y_pred=rows["selected"],
        sensitive_features=rows["group"],
        **resample,
    )


def test_bootstrap_of_rates() -> None:
    rows = _rows()
    tally = bg.tally(rows, by=["group"], metrics=METRICS, y_true="y", y_pred="selected")
    ours = _seconds(lambda: replicates(tally, seed=1, draws=DRAWS, scheme="rows"), 7)
    by_hand = _seconds(lambda: _numpy(rows, NUMPY_DRAWS), 3) * DRAWS / NUMPY_DRAWS
    plain = _seconds(lambda: _fairlearn(rows, None), 2)
    frames = (_seconds(lambda: _fairlearn(rows, FAIRLEARN_DRAWS), 1) - plain) * DRAWS / FAIRLEARN_DRAWS
    print(f"\n{DRAWS} replicates of {len(METRICS)} rates, {ROWS} rows, {SUBGROUPS} subgroups: {1000 * ours:.1f} ms")
    print(f"NumPy, row numbers:       {by_hand:8.2f} s, {by_hand / ours:,.0f}x (from {NUMPY_DRAWS} replicates)")
    print(f"fairlearn, n_boot:        {frames:8.0f} s, {frames / ours:,.0f}x (from {FAIRLEARN_DRAWS} replicates)")
    assert by_hand / ours >= NUMPY_BAR
    assert frames / ours >= FAIRLEARN_BAR


def test_the_tally_pays_for_itself() -> None:
    """The rows are read once: with the time of the tally the ratio is smaller and still large."""
    rows = _rows()

    def whole() -> None:
        tally = bg.tally(rows, by=["group"], metrics=METRICS, y_true="y", y_pred="selected")
        replicates(tally, seed=1, draws=DRAWS, scheme="rows")

    ours = _seconds(whole, 5)
    by_hand = _seconds(lambda: _numpy(rows, NUMPY_DRAWS), 3) * DRAWS / NUMPY_DRAWS
    print(f"\ntally and replicates: {1000 * ours:.0f} ms, NumPy {by_hand / ours:,.0f}x")
    assert by_hand / ours >= 10


def test_both_bootstraps_have_the_same_law() -> None:
    """A fast answer to another question would be no benchmark."""
    rows = _rows()
    tally = bg.tally(rows, by=["group"], metrics=METRICS, y_true="y", y_pred="selected")
    ours = replicates(tally, seed=1, draws=DRAWS, scheme="rows")["mu"].isel(chain=0)
    theirs = _numpy(rows, 400)
    order = [tally["subgroup"].values.tolist().index(str(i)) for i in range(SUBGROUPS)]
    spread = ours.std("draw").values[:, order] / theirs.std(axis=0)
    assert abs(float(np.median(spread)) - 1) < 0.03
    away = (ours.mean("draw").values[:, order] - theirs.mean(axis=0)) / theirs.std(axis=0)
    assert np.abs(away).max() < 0.3
