"""Morris's correction: worked numbers, fixed point, edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import morris

Five = tuple[FloatArray, FloatArray, FloatArray]


def test_worked_example(five: Five) -> None:
    _, z, v = five
    found = morris.fit(z, v)
    assert (float(found.tau_squared), float(found.overall)) == pytest.approx((0.034455, 0.306390), abs=1e-6)
    np.testing.assert_allclose(found.shrinkage, [0.042491, 0.067021, 0.118198, 0.183636, 0.268617], atol=1e-6)
    np.testing.assert_allclose(found.estimate, [0.204521, 0.253779, 0.388935, 0.137901, 0.630839], atol=1e-6)
    np.testing.assert_allclose(np.sqrt(found.variance), [0.055892, 0.071259, 0.098989, 0.134960, 0.199116], atol=1e-6)


def test_equal_variances() -> None:
    found = morris.fit(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.full(5, 0.01))
    assert float(found.tau_squared) == pytest.approx(0.015, abs=1e-12)
    np.testing.assert_allclose(found.shrinkage, 0.2, atol=1e-12)
    np.testing.assert_allclose(found.estimate, [0.14, 0.22, 0.30, 0.38, 0.46], atol=1e-12)
    np.testing.assert_allclose(found.variance, [0.0100, 0.0088, 0.0084, 0.0088, 0.0100], atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(4, 12), spread=st.floats(0, 3))
def test_between_group_variance_is_a_fixed_point_and_order_does_not_matter(seed: int, size: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    v = random.gamma(1.0, 1.0, size) + 1e-3
    z = spread * random.normal(size=size) + np.sqrt(v) * random.normal(size=size)
    found = morris.fit(z, v)
    a = float(found.tau_squared)
    w = 1 / (v + a)
    m = (w * z).sum() / w.sum()
    again = (w * (size / (size - 1) * (z - m) ** 2 - v)).sum() / w.sum()
    assert max(again, 0.0) == pytest.approx(a, rel=1e-9, abs=1e-9)
    order = random.permutation(size)
    moved = morris.fit(z[order], v[order])
    np.testing.assert_allclose(moved.estimate, found.estimate[order], rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(moved.variance, found.variance[order], rtol=1e-7)
    assert (found.variance > 0).all()


def test_never_collapses() -> None:
    found = morris.fit(np.full(6, 0.3), np.full(6, 0.02))
    assert found.tau_squared == 0
    np.testing.assert_allclose(found.shrinkage, 3 / 5)
    np.testing.assert_allclose(found.variance, 0.02 * (1 - 5 / 6 * 3 / 5))
    interval = morris.interval(found, 0.95)
    assert (interval.upper > interval.lower).all()


def test_limits() -> None:
    z = np.array([0.1, 0.2, 0.9, 0.4])
    apart = morris.fit(z, np.full(4, 1e-12))
    np.testing.assert_allclose(apart.estimate, z, atol=1e-9)
    np.testing.assert_allclose(apart.variance, 1e-12, rtol=1e-6)


def test_three_groups_are_not_shrunk() -> None:
    for size in (1, 2, 3):
        z, v = np.array([0.1, 0.5, 0.6])[:size], np.array([0.01, 0.02, 0.03])[:size]
        found = morris.fit(z, v)
        np.testing.assert_array_equal(found.estimate, z)
        np.testing.assert_allclose(found.variance, v, rtol=1e-15)
        assert (found.shrinkage == 0).all()
        interval = morris.interval(found, 0.95)
        np.testing.assert_allclose(interval.upper, z + 1.959964 * np.sqrt(v), atol=1e-6)


def test_a_group_unseen(five: Five) -> None:
    """Its variance: that of a group which would be shrunk as one of average sampling variance is."""
    _, z, v = five
    found = morris.fit(np.append(z, np.nan), np.append(v, np.nan))
    a = float(found.tau_squared)
    w = 1 / (v + a)
    average = (w * v).sum() / w.sum()
    implied = average / ((5 - 3) / (5 - 1) * average / (average + a)) - average
    assert found.variance[-1] == pytest.approx(implied + 1 / w.sum())
    assert found.estimate[-1] == found.overall


def test_a_group_unseen_among_two_or_three() -> None:
    z = np.array([0.1, 0.5, 0.6])
    found = morris.fit(np.append(z, np.nan), np.append(np.full(3, 0.02), np.nan))
    interval = morris.interval(found, 0.9)
    half = stats.t.ppf(0.95, 2) * np.sqrt(z.var(ddof=1) * (1 + 1 / 3))
    assert interval.upper[-1] - found.estimate[-1] == pytest.approx(half)
    alone = morris.fit(np.array([0.1, np.nan]), np.array([0.02, np.nan]))
    assert np.isnan(morris.interval(alone, 0.9).upper).tolist() == [False, True]


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
def test_any_unit_will_do(five: Five, scale: float) -> None:
    _, z, v = five
    found, plain = morris.fit(scale * z, scale * scale * v), morris.fit(z, v)
    np.testing.assert_allclose(found.estimate / scale, plain.estimate, rtol=1e-10)
    np.testing.assert_allclose(np.sqrt(found.variance) / scale, np.sqrt(plain.variance), rtol=1e-10)


def test_hostile_variances_stay_finite() -> None:
    for v in ([1e-300, 1, 1, 1e300, 1], [1e-12, 1e-9, 1e-3, 1, 1e6], [1e-300] * 5):
        found = morris.fit(np.array([0.2, 0.25, 0.4, 0.1, 0.75]), np.array(v))
        assert np.isfinite([found.estimate, found.variance]).all()


def test_thousands_of_groups_and_many_metrics_at_once() -> None:
    random = np.random.default_rng(5)
    v = random.gamma(1.0, 0.01, (3, 2592)) + 1e-5
    z = random.normal(0.0, np.sqrt(v + np.array([[0.0], [0.01], [1.0]])))
    found = morris.fit(z, v)
    np.testing.assert_allclose(found.tau_squared, [0, 0.01, 1], rtol=0.2, atol=1e-3)
    np.testing.assert_allclose(found.estimate[1], morris.fit(z[1], v[1]).estimate, rtol=1e-12)
