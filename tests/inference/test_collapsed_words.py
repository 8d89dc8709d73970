"""The exact engines through `estimate`: closed forms, limits, metrics that do not meet, hostile tables."""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.estimators import ESTIMATORS, Estimator

MAX_STANDARD_ERRORS = 4.5
OF_COUNTS = [word for word in ESTIMATORS if word not in (bg.ConfusionModel, bg.DisagreementModel, bg.ModelBasedMetrics)]
"""Words that a table of counts is enough for."""


def sites(size: int) -> pd.DataFrame:
    return pd.DataFrame({"site": [f"{string.ascii_lowercase[i % 26]}{i // 26}" for i in range(size)]})


def counts(k: Sequence[float], n: Sequence[float]) -> xr.Dataset:
    return bg.tally_from_counts(k, n, sites(len(k)), metric="fnr")


def published(z: Sequence[float], v: Sequence[float]) -> xr.Dataset:
    return bg.tally_from_estimates(z, v, sites(len(z)), metric="mae")


def draws(tally: xr.Dataset, estimator: Estimator, name: str = "mu", *, seed: int = 1) -> FloatArray:
    posterior = bg.estimate(tally, estimator, seed=seed, inference="collapsed")["posterior"].to_dataset()
    values = posterior[name].isel(metric=0).values
    return np.asarray(values.reshape(-1, *values.shape[2:]))


def test_no_pooling_of_rates_is_the_jeffreys_posterior() -> None:
    k, n = [9, 0, 1, 300, 0], [10, 5, 1, 1000, 0]
    mu = draws(counts(k, n), bg.NoPooling())
    for a in range(5):
        assert stats.kstest(mu[:, a], stats.beta(0.5 + k[a], 0.5 + n[a] - k[a]).cdf).pvalue > 1e-3


def test_complete_pooling_of_rates_is_the_jeffreys_posterior_of_the_totals() -> None:
    mu = draws(counts([9, 0, 1, 0], [10, 5, 1, 0]), bg.CompletePooling())
    assert (mu == mu[:, :1]).all()
    assert stats.kstest(mu[:, 0], stats.beta(10.5, 6.5).cdf).pvalue > 1e-3


def test_pooling_of_estimates_is_conjugate() -> None:
    """Prior: centre at the precision-weighted mean, four times the total spread wide."""
    z, v = np.array([1.0, 2.0, 4.0]), np.array([0.1, 0.2, 0.3])
    centre = (z / v).sum() / (1 / v).sum()
    prior = 16 * (v.mean() + z.var())
    alone, together = (draws(published(z.tolist(), v.tolist()), word()) for word in (bg.NoPooling, bg.CompletePooling))
    for a in range(3):
        share = prior / (prior + v[a])
        law = stats.norm(centre + share * (z[a] - centre), np.sqrt(share * v[a]))
        assert stats.kstest(alone[:, a], law.cdf).pvalue > 1e-3
    precision = (1 / v).sum() + 1 / prior
    assert stats.kstest(together[:, 0], stats.norm(centre, precision**-0.5).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    "tally",
    [counts([30, 45, 8, 9], [100, 120, 30, 20]), published([1.0, 2.0, 1.4, 1.1], [0.04, 0.05, 0.1, 0.2])],
    ids=["rates", "estimates"],
)
def test_partial_pooling_lies_between_its_limits(tally: xr.Dataset) -> None:
    close, apart = (draws(tally, bg.PartialPooling(tau_scale=scale)) for scale in (1e-6, 50.0))
    assert np.ptp(close, axis=1).max() < 1e-4
    alone, together = draws(tally, bg.NoPooling()), draws(tally, bg.CompletePooling())
    spread = alone.std(axis=0)
    assert (np.abs(close.mean(axis=0) - together.mean(axis=0)) < 0.15 * spread).all()
    between = [np.ptp(mu.mean(axis=0)) for mu in (close, draws(tally, bg.PartialPooling()), apart, alone)]
    assert between[0] < between[1] <= between[2] * 1.02 <= between[3] * 1.08


def test_order_does_not_matter() -> None:
    k, n, order = np.array([3, 40, 0, 7, 0]), np.array([10, 60, 4, 7, 0]), np.array([2, 0, 4, 3, 1])
    for word in OF_COUNTS:
        found, moved = (draws(counts(k[at].tolist(), n[at].tolist()), word()) for at in (np.arange(5), order))
        error = np.sqrt((found.var(axis=0)[order] + moved.var(axis=0)) / len(found))
        assert (np.abs(found.mean(axis=0)[order] - moved.mean(axis=0)) <= MAX_STANDARD_ERRORS * error).all()


@pytest.mark.parametrize("word", OF_COUNTS)
def test_a_metric_has_the_same_draws_whichever_others_there_are(word: type[Estimator]) -> None:
    k = {"fnr": [3, 4, 0], "fpr": [30, 1, 1], "sel": [0, 0, 0]}
    n = {"fnr": [9, 9, 0], "fpr": [90, 9, 2], "sel": [5, 0, 50]}
    table = sites(3)
    every = bg.estimate(bg.tally_from_counts(k, n, table), word(), seed=3)["posterior"].to_dataset()
    for chosen in (["fpr"], ["sel", "fnr"]):
        some = bg.tally_from_counts({name: k[name] for name in chosen}, {name: n[name] for name in chosen}, table)
        alone = bg.estimate(some, word(), seed=3)["posterior"].to_dataset()
        xr.testing.assert_equal(alone, every.sel(metric=chosen))


@pytest.mark.parametrize("word", OF_COUNTS)
@pytest.mark.parametrize(
    "tally",
    [
        counts([0] * 6, [0, 1, 2, 30, 400, 5000]),
        counts([1, 2, 30], [1, 2, 30]),
        counts([3], [7]),
        counts([3, 0], [7, 0]),
        counts([10**11, 5 * 10**11, 1], [10**12, 10**12, 2]),
        counts([0, 10**12], [10**12, 10**12]),
        counts([4] * 30, [20] * 30),
        published([0.5], [0.1]),
        published([0.5, 0.5, 0.5], [0.1, 0.1, 0.1]),
        published([0.2, 0.7, float("nan")], [0.0, 0.0, float("nan")]),
        published([0.2, 0.7, 0.4], [1e-300, 1e-300, 1e-300]),
        published([0.2, 0.7, 0.4], [1e-300, 1.0, 1e12]),
        published([1e12, -1e12, 5.0], [1.0, 1e6, 1e-6]),
        published([0.0, 0.0], [0.0, 0.0]),
    ],
)
def test_hostile_tables_pass_their_checks(tally: xr.Dataset, word: type[Estimator]) -> None:
    """Or say what is wrong: values without any variance have no posterior, and 0 beside 1 of 1e12 rows are beyond the priors."""
    report = bg.estimate(tally, word(), seed=1, inference="collapsed")
    checks = report["diagnostics"].to_dataset()
    failed = {str(name).partition(": ")[2] for name in checks["check"].values[checks["passed"].values == 0]}
    if failed == {"variance"}:
        assert float(np.ptp(tally["estimate"].values[np.isfinite(tally["estimate"].values)])) == 0
        assert np.isnan(report["posterior"].to_dataset()["mu"].values).all()
        return
    extremes = tally["estimate"].values.ravel().tolist() == [0.0, 1.0]
    if extremes and word in (bg.PartialPooling, bg.CrossedEffects):
        assert "prior-data conflict" in failed
        assert failed <= {"prior-data conflict", "R-hat", "bulk ESS", "tail ESS", "divergences"}
    else:
        assert failed == set()
    assert np.isfinite(report["posterior"].to_dataset()["mu"].values).all()
    table = report["estimates"].to_dataset().sel(approach="bayesian")
    lower, middle, upper = (table[name].values for name in ("lower", "estimate", "upper"))
    assert np.isfinite([lower, upper]).all()
    assert (lower <= upper).all()
    slack = 1e-12 * np.abs(middle)  # a mean of equal draws is rounded
    assert ((lower[..., -1] - slack <= middle) & (middle <= upper[..., -1] + slack)).all()


@pytest.mark.parametrize("word", OF_COUNTS)
def test_nothing_anywhere_is_nan(word: type[Estimator]) -> None:
    report = bg.estimate(counts([0, 0], [0, 0]), word(), seed=1)
    assert np.isnan(report["posterior"].to_dataset()["mu"].values).all()
    assert "undefined in every subgroup" in report.attrs["notes"]
