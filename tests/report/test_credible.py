"""Credible limits: exact mass, nested levels, and the one-sided interval where it is the shorter one and holds the estimate."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.report.credible import CredibleLimits, credible_limits
from bayesgroups.report.levels import LEVELS

YES, NO = np.array([True]), np.array([False])
UNIT = np.zeros(1), np.ones(1)


def limits_of(draws: FloatArray, *, none: bool = True) -> CredibleLimits:
    flags = {"no_success": YES, "all_success": NO} if none else {"no_success": NO, "all_success": YES}
    return credible_limits(draws[:, None], np.array([draws.mean()]), LEVELS, ends=UNIT, **flags)


def test_a_posterior_at_the_end_has_a_one_sided_interval() -> None:
    draws = stats.beta.ppf((np.arange(4000) + 0.5) / 4000, 0.5, 10.5)
    found = limits_of(draws)
    assert found.one_sided.tolist() == [
        [False, True, True, True]
    ]  # at half the mean lies beyond the one-sided interval
    assert found.lower[0, 1:].tolist() == [0.0] * 3
    assert found.upper[0, 1:] == pytest.approx(stats.beta.ppf(LEVELS[1:], 0.5, 10.5), rel=1e-3)


def test_a_posterior_away_from_the_end_stays_equal_tailed() -> None:
    """Two failures of two, where the neighbours say that the rate is 30 %."""
    draws = stats.beta.ppf((np.arange(4000) + 0.5) / 4000, 30, 70)
    found = limits_of(draws)
    assert not found.one_sided.any()
    assert found.lower[0, -1] == pytest.approx(stats.beta.ppf(0.025, 30, 70), rel=1e-3)


def test_a_one_sided_interval_without_the_estimate_is_not_taken() -> None:
    draws = np.concatenate([np.linspace(0, 0.02, 3000), np.linspace(0.02, 1, 1000)])
    found = limits_of(draws)
    assert draws.mean() > np.quantile(draws, 0.5)
    assert not found.one_sided[0, 0]
    assert found.one_sided[0, -1]


def test_only_rates_without_or_with_only_successes_are_asked() -> None:
    draws = stats.beta.ppf((np.arange(4000) + 0.5) / 4000, 0.5, 10.5)[:, None]
    plain = credible_limits(draws, draws.mean(axis=0), LEVELS, no_success=NO, all_success=NO, ends=UNIT)
    assert not plain.one_sided.any()
    np.testing.assert_allclose(plain.lower[0], np.quantile(draws, [(1 - level) / 2 for level in LEVELS]))


def test_draws_beyond_the_range_keep_equal_tails() -> None:
    """A normal likelihood for a rate: from 0 to the quantile there would be less mass than the level says."""
    draws = np.random.default_rng(1).normal(0.02, 0.05, 4000)
    found = limits_of(draws)
    assert not found.one_sided.any()
    assert found.lower[0, -1] < 0


def shapes() -> st.SearchStrategy[FloatArray]:
    """Posteriors of a rate without successes: Beta, and logit-normal priors times (1 - p)^n."""
    grid = (np.arange(4000) + 0.5) / 4000
    betas = st.tuples(st.floats(0.05, 20), st.floats(0.1, 200)).map(lambda ab: stats.beta.ppf(grid, *ab))

    def logit_normal(parameters: tuple[float, float, float]) -> FloatArray:
        centre, spread, n = parameters
        eta = np.linspace(centre - 9 * spread, centre + 9 * spread, 20_001)
        log_density = stats.norm.logpdf(eta, centre, spread) - n * np.logaddexp(0, eta)
        density = np.exp(log_density - log_density.max())
        return np.asarray(expit(np.interp(grid, np.cumsum(density) / density.sum(), eta)))

    return betas | st.tuples(st.floats(-8, 3), st.floats(0.05, 4), st.floats(0.5, 500)).map(logit_normal)


@settings(max_examples=300, deadline=None)
@given(shapes(), st.booleans())
def test_limits_are_exact_nested_and_never_wider_than_equal_tails(draws: FloatArray, mirrored: bool) -> None:
    draws = 1 - draws if mirrored else draws
    found = limits_of(draws, none=not mirrored)
    equal = credible_limits(draws[:, None], np.array([draws.mean()]), LEVELS, no_success=NO, all_success=NO, ends=UNIT)
    inside = ((draws[:, None] >= found.lower) & (draws[:, None] <= found.upper)).mean(axis=0)
    strictly = ((draws[:, None] > found.lower) & (draws[:, None] < found.upper)).mean(axis=0)
    assert (inside >= np.array(LEVELS) - 2 / 4000).all()
    assert (strictly <= np.array(LEVELS) + 2 / 4000).all()
    assert (found.upper - found.lower <= equal.upper - equal.lower).all()
    assert (np.diff(found.lower[0]) <= 0).all()
    assert (np.diff(found.upper[0]) >= 0).all()
    assert np.isfinite(found.median).all()


def test_reports_say_of_every_subgroup_and_level_which_interval_it_has() -> None:
    sites = pd.DataFrame({"site": list("abcdef")})
    report = bg.estimate(
        bg.tally_from_counts([12, 30, 9, 1, 0, 0], [60, 100, 40, 1, 1, 0], sites, metric="fnr"), bg.NoPooling(), seed=1
    )
    table = report["estimates"].to_dataset().sel(metric="fnr")
    method = table["interval_method"].sel(approach="bayesian")
    assert method.sel(subgroup="a").values.tolist() == ["equal_tailed"] * 4
    assert method.sel(subgroup="d", level=0.95) == method.sel(subgroup="e", level=0.95) == "one_sided"
    assert set(table["interval_method"].sel(approach="frequentist").values.ravel().tolist()) == {"wilson"}
    mu = report["posterior"].to_dataset()["mu"].sel(metric="fnr", subgroup="d")
    edges = table.sel(approach="bayesian", subgroup="d", level=0.95)
    assert float(((mu >= edges["lower"]) & (mu <= edges["upper"])).mean()) == pytest.approx(0.95, abs=5e-4)


def test_a_summary_of_arviz_shows_the_same_posterior() -> None:
    import arviz as az

    sites = pd.DataFrame({"site": list("abc")})
    report = bg.estimate(
        bg.tally_from_counts([12, 30, 9], [60, 100, 40], sites, metric="fnr"), bg.CrossedEffects(), seed=1
    )
    summary = az.summary(report, var_names=["mu"], ci_kind="eti", ci_prob=0.95, round_to="none")
    table = report["estimates"].to_dataset().sel(approach="bayesian", level=0.95).isel(metric=0)
    np.testing.assert_allclose(summary["eti95_lb"], table["lower"], rtol=1e-6)
    np.testing.assert_allclose(summary["eti95_ub"], table["upper"], rtol=1e-6)
    np.testing.assert_allclose(summary["mean"], table["estimate"], rtol=1e-6)
