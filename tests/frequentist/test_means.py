"""Intervals for means: worked numbers and undefined values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import means
from bayesgroups.frequentist.intervals.interval import t_quantile

Z, D = np.array([0.75, 0.5, 1.0]), np.array([4.0, 2.0, 1.0])


def test_pooled_normal_with_published_and_corrected_variance() -> None:
    published = means.pooled_normal(Z, 0.1785714286 / D, 0.95)
    np.testing.assert_allclose(published.lower, [0.3359, -0.0857, 0.1718], atol=5.1e-5)
    np.testing.assert_allclose(published.upper, [1.1641, 1.0857, 1.8282], atol=5.1e-5)
    corrected = means.pooled_normal(Z, 0.3125 / D, 0.95)
    np.testing.assert_allclose(corrected.lower, [0.2022, -0.2747, -0.0957], atol=5.1e-5)
    np.testing.assert_allclose(corrected.upper, [1.2978, 1.2747, 2.0957], atol=5.1e-5)


def test_t_of_five_values() -> None:
    values = np.array([0.12, 0.30, 0.05, 0.22, 0.41])
    found = means.t(values.mean(keepdims=True), values.var(ddof=1, keepdims=True), np.array([5.0]), 0.95)
    assert (found.lower[0], found.upper[0]) == pytest.approx((0.042872, 0.397128), abs=1e-6)


def test_pooled_t_is_wider_than_normal_and_tends_to_it() -> None:
    half = [float(np.diff(means.pooled_t(Z, 0.3 / D, nu, 0.9).upper - Z)[0]) for nu in (1.0, 4.0, 1e9)]
    normal = float(np.diff(means.pooled_normal(Z, 0.3 / D, 0.9).upper - Z)[0])
    assert half[0] > half[1] > half[2] == pytest.approx(normal, rel=1e-8)
    assert means.pooled_t(Z, 0.3 / D, 3.0, 0.9).upper - Z == pytest.approx(stats.t.ppf(0.95, 3) * np.sqrt(0.3 / D))


def test_separate_normal_has_no_width_where_rows_agree() -> None:
    found = means.separate_normal(Z, np.array([0.046875, 0.125, 0.0]), 0.95)
    assert found.lower[2] == found.upper[2] == 1.0
    assert found.upper[0] == pytest.approx(0.75 + 1.959964 * np.sqrt(0.046875), abs=1e-6)


def test_undefined_values_are_nan_without_a_warning() -> None:
    nothing = np.array([np.nan])
    for found in (
        means.pooled_normal(nothing, nothing, 0.9),
        means.pooled_t(Z[:1], D[:1], 0.0, 0.9),
        means.pooled_t(Z[:1], D[:1], float("nan"), 0.9),
        means.separate_normal(nothing, nothing, 0.9),
        means.t(Z[2:], nothing, D[2:], 0.9),
        means.t(nothing, nothing, np.array([0.0]), 0.9),
    ):
        assert np.isnan([found.lower, found.upper]).all()


def test_level_is_checked() -> None:
    with pytest.raises(InputError, match="level=2 must lie strictly between 0 and 1"):
        t_quantile(2, np.array([3.0]))


def test_separate_normal_of_a_known_variance() -> None:
    limits = means.separate_normal(np.array([0.5]), np.array([0.125]), 0.95)
    np.testing.assert_allclose([limits.lower[0], limits.upper[0]], [-0.193, 1.193], atol=5e-5)
