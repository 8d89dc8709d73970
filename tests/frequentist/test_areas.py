"""Intervals for the AUC: the equations they solve, their range, and what few rows do to them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.frequentist.intervals import areas
from bayesgroups.frequentist.intervals.interval import normal_quantile
from bayesgroups.tallies.auc_variances import effective_pairs

SHARES = st.floats(0, 1)
ROWS = st.integers(1, 500)
LEVELS = st.sampled_from((0.5, 0.8, 0.95, 0.99))


def newcombe(auc: float, n1: int, n0: int, level: float) -> tuple[float, float]:
    found = areas.newcombe(np.array([auc]), np.array([float(n1)]), np.array([float(n0)]), level)
    return float(found.lower[0]), float(found.upper[0])


@settings(max_examples=60, deadline=None)
@given(auc=SHARES, n1=ROWS, n0=ROWS, level=LEVELS)
def test_newcombe_solves_its_equation(auc: float, n1: int, n0: int, level: float) -> None:
    limits = newcombe(auc, n1, n0, level)
    assert 0 <= limits[0] <= auc <= limits[1] <= 1
    assert limits[0] < limits[1]
    for limit in limits:
        if 0 < limit < 1:
            more = (n1 + n0) / 2 - 1
            variance = limit * (1 - limit) * (1 + more * ((1 - limit) / (2 - limit) + limit / (1 + limit))) / (n1 * n0)
            assert abs(auc - limit) == pytest.approx(normal_quantile(level) * np.sqrt(variance), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(auc=SHARES, n1=ROWS, n0=ROWS)
def test_newcombe_is_symmetric_and_nested(auc: float, n1: int, n0: int) -> None:
    wide, narrow, turned = newcombe(auc, n1, n0, 0.95), newcombe(auc, n1, n0, 0.8), newcombe(1 - auc, n1, n0, 0.95)
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    assert turned == pytest.approx((1 - wide[1], 1 - wide[0]), abs=1e-9)


def test_newcombe_is_the_logit_interval_where_rows_are_many() -> None:
    auc, many = np.array([0.8]), np.array([2e6])
    variance = areas.wald(auc, np.array([0.0]), 0.95)
    assert variance.lower == variance.upper == auc
    pairs = effective_pairs(auc, many, many)
    own = auc * (1 - auc) / pairs
    for found in (areas.logit(auc, pairs, own, 0.95), areas.wald(auc, own, 0.95)):
        exact = areas.newcombe(auc, many, many, 0.95)
        np.testing.assert_allclose([found.lower, found.upper], [exact.lower, exact.upper], atol=1e-6)


def test_more_dispersion_is_more_width() -> None:
    auc, rows = np.array([0.7, 1.0]), np.array([20.0, 20.0])
    plain, more = areas.newcombe(auc, rows, rows, 0.9), areas.newcombe(auc, rows, rows, 0.9, dispersion=2.0)
    assert (more.upper - more.lower > plain.upper - plain.lower).all()


@settings(max_examples=60, deadline=None)
@given(auc=SHARES, pairs=st.floats(0.1, 1e4), variance=st.sampled_from((0.0, np.nan, 1e-4, 0.1)), level=LEVELS)
def test_logit_stays_inside(auc: float, pairs: float, variance: float, level: float) -> None:
    found = areas.logit(np.array([auc]), np.array([pairs]), np.array([variance]), level)
    assert 0 <= found.lower[0] < found.upper[0] <= 1


def test_logit_by_hand() -> None:
    auc, variance = 0.8, 0.004
    found = areas.logit(np.array([auc]), np.array([40.0]), np.array([variance]), 0.95)
    centre, half = np.log(auc / (1 - auc)), 1.959963984540054 * np.sqrt(variance) / (auc * (1 - auc))
    assert found.lower[0] == pytest.approx(1 / (1 + np.exp(-(centre - half))))
    assert found.upper[0] == pytest.approx(1 / (1 + np.exp(-(centre + half))))


def test_a_class_without_rows_has_no_interval() -> None:
    nothing, auc = np.array([0.0]), np.array([np.nan])
    for found in (
        areas.newcombe(auc, nothing, np.array([3.0]), 0.95),
        areas.logit(auc, np.array([np.nan]), auc, 0.95),
        areas.wald(auc, auc, 0.95),
    ):
        assert np.isnan(found.lower).all()
        assert np.isnan(found.upper).all()


def source() -> pd.DataFrame:
    return pd.DataFrame(
        {"g": list("aaaabbbccccccdd"), "y": [0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1],
         "p": [0.1, 0.2, 0.8, 0.9, 0.7, 0.2, 0.3, 0.2, 0.6, 0.7, 0.4, 0.9, 0.1, 0.5, 0.6]}
    )  # fmt: skip


def test_intervals_of_a_tally() -> None:
    tally = bg.tally(source(), {"g": list("abcde")}, ["auc", "mean"], y_true="y", y_score="p", loss="p")
    for interval in ("newcombe", "logit"):
        found = bg.auc_intervals(tally, interval=interval).sel(metric="auc")
        width = (found["upper"] - found["lower"]).values
        assert (width[:3] > 0.2).all()
        assert np.isnan(width[3:]).all()
        assert found["g"].values.tolist() == list("abcde")
        assert found["positives"].values.tolist() == [2, 1, 3, 2, 0]
    wald = bg.auc_intervals(tally, interval="wald").sel(metric="auc")
    assert float(wald["upper"][0] - wald["lower"][0]) == 0  # separated: it claims to know
    pooled = bg.auc_intervals(tally, interval="wald", variance="hanley_mcneil_pooled").sel(metric="auc")
    assert float(pooled["upper"][0] - pooled["lower"][0]) > 0.2
    calibrated = bg.auc_intervals(tally, variance="calibrated", level=0.8)
    assert float(calibrated["level"]) == 0.8


def test_refused() -> None:
    tally = bg.tally(source(), ["g"], ["auc"], y_true="y", y_score="p")
    with pytest.raises(bg.InputError, match="interval='newcomb' is not one of .*; did you mean 'newcombe'"):
        bg.auc_intervals(tally, interval="newcomb")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="interval='newcombe' has the variance of Hanley and McNeil at its limits"):
        bg.auc_intervals(tally, variance="delong")
    with pytest.raises(bg.InputError, match="level=1 must lie strictly between 0 and 1"):
        bg.auc_intervals(tally, level=1)
    counts = bg.tally_from_counts([1], [2], pd.DataFrame({"g": ["a"]}))
    with pytest.raises(bg.InputError, match="the tally has no AUC; ask for one"):
        bg.auc_intervals(counts)
