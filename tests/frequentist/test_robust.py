"""Robust empirical Bayes: worked numbers, limits, edges."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import robust
from bayesgroups.frequentist.intervals.critical_values import critical_value

Five = tuple[FloatArray, FloatArray, FloatArray]


def test_worked_example(five: Five) -> None:
    _, z, v = five
    found = robust.fit(z, v)
    shrunk = found.shrunk
    assert float(shrunk.overall) == pytest.approx(0.255140, abs=1e-6)
    assert float(shrunk.tau_squared) == pytest.approx(0.007847, abs=1e-6)
    assert float(found.kurtosis) == pytest.approx(22.1176, abs=5.1e-5)
    np.testing.assert_allclose(1 - shrunk.shrinkage, [0.710339, 0.595369, 0.423862, 0.281800, 0.164009], atol=1e-6)
    np.testing.assert_allclose(shrunk.estimate, [0.215972, 0.252080, 0.316541, 0.211422, 0.336302], atol=1e-6)
    factor = critical_value(found.bias, found.kurtosis)
    np.testing.assert_allclose(factor, [2.409109, 2.765799, 3.847013, 5.550248, 8.298746], atol=1e-6)
    np.testing.assert_allclose(critical_value(found.bias), factor, rtol=1e-12)  # the kurtosis does not bind
    interval = robust.interval(found, 0.95)
    half = [0.096805, 0.120256, 0.168408, 0.221192, 0.272214]
    np.testing.assert_allclose((interval.upper - interval.lower) / 2, half, atol=1e-6)
    parametric = [0.093445, 0.110444, 0.131788, 0.147141, 0.158749]
    np.testing.assert_allclose(1.959964 * np.sqrt(shrunk.variance), parametric, atol=1e-6)


def test_floors_keep_the_moments_positive() -> None:
    found = robust.fit(np.full(4, 0.3), np.array([0.1, 0.2, 0.3, 0.4]))
    v = np.array([0.1, 0.2, 0.3, 0.4])
    assert float(found.shrunk.tau_squared_raw) < 0 < float(found.shrunk.tau_squared)
    assert float(found.shrunk.tau_squared) == pytest.approx(2 / (1 / v).sum())
    floor4 = 32 * (v**2).sum() / (v.sum() * (1 / v).sum())
    assert float(found.kurtosis) == pytest.approx(
        max(
            1 + floor4 / float(found.shrunk.tau_squared) ** 2,
            3 * 4 / (1 / v**1).sum() * v.mean() / (2 / (1 / v).sum()) ** 2,
        )
    )


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 9))
def test_order_shift_and_scale_do_not_matter(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    z, v = random.normal(size=size), random.gamma(1.0, 1.0, size) + 1e-2
    order = random.permutation(size)
    found = robust.interval(robust.fit(z, v), 0.9)
    moved = robust.interval(robust.fit(7 - 3 * z[order], 9 * v[order]), 0.9)
    np.testing.assert_allclose(moved.upper, (7 - 3 * found.lower)[order], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(moved.lower, (7 - 3 * found.upper)[order], rtol=1e-6, atol=1e-7)


def test_limits(five: Five) -> None:
    _, z, v = five
    apart = robust.interval(robust.fit(z, 1e-9 * v), 0.95)
    np.testing.assert_allclose((apart.upper - apart.lower) / 2, 1.959964 * np.sqrt(1e-9 * v), rtol=1e-4)


def test_an_imprecise_group_tends_to_a_group_unseen(five: Five) -> None:
    """Up to the uncertainty of the centre, which only the unseen group is charged."""
    _, z, v = five
    fitted = robust.fit(np.append(z, [0.3, np.nan]), np.append(v, [1e7, np.nan]))
    half = np.diff(np.stack([robust.interval(fitted, 0.9).lower, robust.interval(fitted, 0.9).upper]), axis=0)[0] / 2
    centre = 1 / (1 / np.append(v, 1e7)).sum()
    tau2 = float(fitted.shrunk.tau_squared)
    assert half[-1] / half[-2] == pytest.approx(np.sqrt((tau2 + centre) / tau2), rel=1e-3)


def test_few_groups() -> None:
    none = robust.fit(np.array([np.nan]), np.array([np.nan]))
    assert np.isnan([robust.interval(none, 0.9).lower, robust.interval(none, 0.9).upper]).all()
    one = robust.fit(np.array([0.3, np.nan]), np.array([0.04, np.nan]))
    interval = robust.interval(one, 0.95)
    assert interval.upper[0] == pytest.approx(0.3 + 1.959964 * 0.2, abs=1e-6)
    assert np.isnan(interval.upper[1])
    assert np.isnan(one.shrunk.tau_squared)
    two = robust.interval(robust.fit(np.array([0.1, 0.9]), np.array([0.04, 0.04])), 0.95)
    assert np.isfinite([two.lower, two.upper]).all()
    assert robust.interval(robust.fit(np.empty(0), np.empty(0)), 0.9).lower.shape == (0,)


def test_hostile_values_stay_finite() -> None:
    z = np.array([0.2, 0.25, 0.4, 0.1, 0.75])
    for v in ([1e-300, 1, 1, 1e300, 1], [1e-300] * 5, [1e300] * 5, [1e-12, 1e-9, 1e-3, 1, 1e6]):
        interval = robust.interval(robust.fit(z, np.array(v)), 0.95)
        assert np.isfinite([interval.lower, interval.upper]).all()
    known = robust.interval(robust.fit(z, np.zeros(5)), 0.95)
    np.testing.assert_array_equal(known.lower, z)


def test_thousands_of_groups_take_a_moment() -> None:
    random = np.random.default_rng(0)
    v = 0.2 / random.integers(1, 500, 2592)
    fitted = robust.fit(random.normal(0, np.sqrt(v + 0.01)), v)
    start = time.perf_counter()
    interval = robust.interval(fitted, 0.95)
    assert time.perf_counter() - start < 5  # a third of a second on two cores
    assert (interval.upper > interval.lower).all()
