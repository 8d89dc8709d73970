"""Binned scores: the bound of the error, exact counts at edges, and streams."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.tallies import auc_error_bound, bin_scores

EDGES = np.linspace(0, 1, 21)


def rows(seed: int, size: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, size)
    return pd.DataFrame({"g": random.integers(0, 3, size).astype(str), "y": y, "p": random.beta(1 + y, 2 - y)})


def tally(frame: pd.DataFrame, *metrics: str) -> xr.Dataset:
    return bg.tally(frame, ["g"], ["auc", *metrics], y_true="y", y_score="p", threshold=0.5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(3, 200), bins=st.integers(1, 40))
def test_the_error_is_within_its_bound(seed: int, size: int, bins: int) -> None:
    exact = tally(rows(seed, size))
    binned = bin_scores(exact, np.linspace(0, 1, bins + 1))
    error = np.abs(exact["estimate"].values - binned["estimate"].values)[0]
    bound = auc_error_bound(binned).values
    assert (np.isnan(bound) == np.isnan(error)).all()
    assert (np.nan_to_num(error) <= np.nan_to_num(bound) + 1e-12).all()


def test_the_bound_is_attained() -> None:
    frame = pd.DataFrame({"g": "a", "y": [0, 0, 1, 1], "p": [0.51, 0.52, 0.53, 0.54]})
    exact, binned = tally(frame), bin_scores(tally(frame), [0, 1])
    assert float(exact["estimate"][0, 0]) - float(binned["estimate"][0, 0]) == 0.5 == float(auc_error_bound(binned)[0])


def test_a_thousand_bins_are_within_a_thousandth() -> None:
    exact = tally(rows(4, 30_000))
    binned = bin_scores(exact, np.linspace(0, 1, 1001))
    assert binned.sizes["score_cell"] <= 3 * 1000 < exact.sizes["score_cell"]
    assert float(auc_error_bound(binned).max()) < 1e-3
    np.testing.assert_allclose(binned["sampling_variance"], exact["sampling_variance"], rtol=1e-3)


def test_a_stream_adds_up() -> None:
    frame = rows(5, 900)
    parts = [bin_scores(tally(frame[start : start + 300]), EDGES) for start in range(0, 900, 300)]
    stream, whole = bg.add_tallies(parts), bin_scores(tally(frame), EDGES)
    for name in ("score_value", "score_positives", "estimate", "sampling_variance", "count"):
        np.testing.assert_allclose(stream[name].values, whole[name].values)
    with pytest.raises(bg.InputError, match="tallies were made with different score_edges"):
        bg.add_tallies([parts[0], bin_scores(tally(frame), EDGES[::2])])


def test_curves_at_edges_are_exact_and_metrics_stay() -> None:
    exact = tally(rows(6, 500), "fnr")
    binned = bin_scores(exact, EDGES)
    np.testing.assert_array_equal(binned["successes"].sel(metric="fnr"), exact["successes"].sel(metric="fnr"))
    first, second = (
        bg.threshold_curve(one, metrics=["tpr", "fpr"], thresholds=EDGES[1:-1], draws=100, seed=1)["estimate"]
        for one in (exact, binned)
    )
    np.testing.assert_allclose(first.sel(approach="frequentist"), second.sel(approach="frequentist"))


def test_refused() -> None:
    exact = tally(rows(7, 50))
    for edges in ([0.0], [0.0, 0.0, 1.0], [0.0, np.nan], [[0.0, 1.0]]):
        with pytest.raises(bg.InputError, match="edges= must be two or more finite, increasing numbers"):
            bin_scores(exact, edges)
    frame = pd.DataFrame({"g": ["a", "b"], "y": [0, 1], "p": [0.5, 1.5]})
    with pytest.raises(bg.InputError, match="subgroup 'b' has the score 1.5, outside the edges from 0.0 to 1.0"):
        bin_scores(bg.tally(frame, ["g"], ["auc"], y_true="y", y_score="p"), [0, 1])
    strict = dataclasses.replace(bg.metrics.named("auc"), name="strict", ties=0.0)
    found = bg.tally(rows(8, 50), ["g"], [strict], y_true="y", y_score="p")
    with pytest.raises(bg.InputError, match="metric 'strict' counts ties as 0.0; bins need ties that count one half"):
        bin_scores(found, [0, 1])
    counts = bg.tally_from_counts([1], [2], pd.DataFrame({"g": ["a"]}))
    with pytest.raises(bg.InputError, match="the tally keeps no scores"):
        auc_error_bound(counts)
