"""Intervals for proportions: printed values, statsmodels, the ends, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import Interval, proportions

Function = Callable[[NDArray[np.float64], NDArray[np.float64], float], Interval]

FUNCTIONS: tuple[Function, ...] = (
    proportions.wilson,
    proportions.jeffreys,
    proportions.clopper_pearson,
    proportions.wald,
    proportions.percentile,
)

PRINTED = [
    (9, 10, (0.7141, 1.0859), (0.5958, 0.9821), (0.6187, 0.9890), (0.5550, 0.9975)),
    (1, 1, (1, 1), (0.2065, 1), (0.1467, 1), (0.0250, 1)),
    (2, 2, (1, 1), (0.3424, 1), (0.3332, 1), (0.1581, 1)),
    (0, 5, (0, 0), (0, 0.4345), (0, 0.3794), (0, 0.5218)),
    (3, 25, (-0.0074, 0.2474), (0.0417, 0.2996), (0.0350, 0.2867), (0.0255, 0.3122)),
]


@pytest.mark.parametrize(("k", "n", "wald", "wilson", "jeffreys", "clopper_pearson"), PRINTED)
def test_printed_values(
    k: int,
    n: int,
    wald: tuple[float, float],
    wilson: tuple[float, float],
    jeffreys: tuple[float, float],
    clopper_pearson: tuple[float, float],
) -> None:
    expected = {
        proportions.wald: wald,
        proportions.wilson: wilson,
        proportions.jeffreys: jeffreys,
        proportions.clopper_pearson: clopper_pearson,
    }
    for function, limits in expected.items():
        found = function(np.array([float(k)]), np.array([float(n)]), 0.95)
        assert (found.lower[0], found.upper[0]) == pytest.approx(limits, abs=5.1e-5)


@pytest.mark.parametrize(("k", "n", "limits"), [(1, 2, (0, 1)), (1, 5, (0, 0.6)), (9, 10, (0.7, 1)), (0, 4, (0, 0))])
def test_percentile_bootstrap_is_deterministic(k: int, n: int, limits: tuple[float, float]) -> None:
    found = proportions.percentile(np.array([float(k)]), np.array([float(n)]), 0.95)
    assert (found.lower[0], found.upper[0]) == pytest.approx(limits, abs=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize(
    ("function", "method"),
    [
        (proportions.wilson, "wilson"),
        (proportions.jeffreys, "jeffreys"),
        (proportions.clopper_pearson, "beta"),
    ],
)
def test_statsmodels_agrees(function: Function, method: str, level: float) -> None:
    random = np.random.default_rng(3)
    n = random.integers(2, 2000, 300).astype(float)
    k = random.integers(1, n).astype(float)  # at 0 and n statsmodels leaves Jeffreys as it is
    lower, upper = proportion_confint(k, n, alpha=1 - level, method=method)
    found = function(k, n, level)
    np.testing.assert_allclose(found.lower, lower, rtol=1e-8)
    np.testing.assert_allclose(found.upper, upper, rtol=1e-8)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_percentile_is_the_binomial_quantile(level: float) -> None:
    random = np.random.default_rng(4)
    n = random.integers(1, 3000, 500).astype(float)
    k = random.integers(0, n + 1).astype(float)
    found = proportions.percentile(k, n, level)
    np.testing.assert_allclose(found.lower, stats.binom.ppf((1 - level) / 2, n, k / n) / n, atol=1e-12)
    np.testing.assert_allclose(found.upper, stats.binom.ppf((1 + level) / 2, n, k / n) / n, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_trials_give_nan(function: Function) -> None:
    found = function(np.array([[0.0, 1.0]]), np.array([[0.0, 2.0]]), 0.9)
    assert np.isnan(found.lower).tolist() == np.isnan(found.upper).tolist() == [[True, False]]
    empty = function(np.empty(0), np.empty(0), 0.9)
    assert empty.lower.shape == empty.upper.shape == (0,)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_huge_counts_tend_to_the_normal_interval(function: Function) -> None:
    n = np.array([1e12])
    found = function(0.3 * n, n, 0.95)
    half = 1.959964 * np.sqrt(0.21 / n)
    np.testing.assert_allclose([found.lower, found.upper], [0.3 - half, 0.3 + half], atol=1e-5 * half[0])


@pytest.mark.parametrize("function", FUNCTIONS[:4])
def test_effective_counts_need_not_be_whole(function: Function) -> None:
    below, between, above = (function(np.array([k]), np.array([9.5]), 0.95) for k in (2.0, 2.5, 3.0))
    assert below.lower < between.lower < above.lower
    assert below.upper < between.upper < above.upper


@given(
    n=st.integers(1, 10**6),
    share=st.floats(0, 1),
    level=st.floats(0.01, 0.99),
    which=st.sampled_from((proportions.wilson, proportions.jeffreys, proportions.clopper_pearson)),
)
def test_limits_hold_the_rate_and_mirror_each_other(n: int, share: float, level: float, which: Function) -> None:
    k = round(share * n)
    found = which(np.array([float(k)]), np.array([float(n)]), level)
    mirrored = which(np.array([float(n - k)]), np.array([float(n)]), level)
    assert 0 <= found.lower[0] <= found.upper[0] <= 1
    np.testing.assert_allclose([mirrored.lower, mirrored.upper], [1 - found.upper, 1 - found.lower], atol=1e-9)
    if which is not proportions.jeffreys:  # its mean lies off the rate
        assert found.lower[0] <= k / n + 1e-12
        assert k / n <= found.upper[0] + 1e-12


def test_clopper_pearson_is_never_short() -> None:
    for rate in (0.03, 0.2, 0.5):
        k = np.arange(13.0)
        found = proportions.clopper_pearson(k, np.full(13, 12.0), 0.9)
        covered = (found.lower <= rate) & (rate <= found.upper)
        assert stats.binom.pmf(k, 12, rate)[covered].sum() >= 0.9


def test_mid_p_limits_leave_each_tail_its_probability() -> None:
    """At a limit fewer (or more) successes and half of as many have 2.5 %, by the binomial distribution itself."""
    k = np.arange(13.0)
    limits = proportions.mid_p_limits(k / 12, np.full(13, 12.0), 1.959963984540054)
    at_least = stats.binom.sf(k[1:], 12, limits.lower[1:]) + stats.binom.pmf(k[1:], 12, limits.lower[1:]) / 2
    at_most = stats.binom.cdf(k[:-1], 12, limits.upper[:-1]) - stats.binom.pmf(k[:-1], 12, limits.upper[:-1]) / 2
    np.testing.assert_allclose([at_least, at_most], 0.025, atol=1e-12)
    assert (limits.lower[0], limits.upper[-1]) == (0, 1)
    exact = proportions.clopper_pearson(k, np.full(13, 12.0), 0.95)
    assert (limits.lower[1:] > exact.lower[1:]).all()
    assert (limits.upper[:-1] < exact.upper[:-1]).all()
    np.testing.assert_allclose(limits.lower, 1 - limits.upper[::-1], atol=1e-14)


def test_mid_p_limits_without_trials_and_of_effective_counts() -> None:
    limits = proportions.mid_p_limits(np.array([np.nan, 0.3, 0.3]), np.array([0.0, 9.5, 1e7]), 1.959964)
    assert np.isnan([limits.lower[0], limits.upper[0]]).all()
    wilson_of_many = proportions.wilson_limits(np.array([0.3]), np.array([1e7]), 1.959964)
    assert [limits.lower[2], limits.upper[2]] == pytest.approx(
        [wilson_of_many.lower[0], wilson_of_many.upper[0]], abs=1e-7
    )
    assert 0 < limits.lower[1] < 0.3 < limits.upper[1] < 1


def test_percentile_refuses_counts_that_are_not_whole() -> None:
    with pytest.raises(InputError, match=r"needs whole counts, got 1\.5 of 4 \(weights\?\); use 'wilson' instead"):
        proportions.percentile(np.array([1.0, 1.5]), np.array([2.0, 4.0]), 0.95)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, float("nan")])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_levels_outside_zero_and_one_are_refused(function: Function, level: float) -> None:
    with pytest.raises(InputError, match="must lie strictly between 0 and 1, such as 0.95"):
        function(np.array([1.0]), np.array([2.0]), level)
