"""The generalised mean: its limits, that it does not fall in the exponent, and what it does with zeros, NaN and weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesgroups.questions.disparities.generalized_means import generalised_mean

POWERS = (-np.inf, -300.0, -5.0, -1.0, -1e-3, -1e-9, 0.0, 1e-9, 1e-3, 0.5, 1.0, 2.0, 7.0, 300.0, np.inf)
positive = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=8).map(np.array)


@given(positive)
@settings(deadline=None)
def test_it_does_not_fall_in_the_exponent(values: np.ndarray) -> None:
    means = np.array([float(generalised_mean(values, power)) for power in POWERS])
    assert (np.diff(means) >= -1e-12 * means[1:]).all()
    np.testing.assert_allclose([means[0], means[-1]], [values.min(), values.max()])


@given(positive, st.sampled_from(POWERS), st.floats(1e-3, 1e3))
@settings(deadline=None)
def test_it_scales_with_the_unit_and_ignores_order_and_copies(values: np.ndarray, power: float, unit: float) -> None:
    mean = generalised_mean(values, power)
    np.testing.assert_allclose(generalised_mean(values * unit, power), mean * unit, rtol=1e-10)
    np.testing.assert_allclose(generalised_mean(values[::-1], power), mean, rtol=1e-12)
    np.testing.assert_allclose(generalised_mean(np.tile(values, 3), power), mean, rtol=1e-10)
    np.testing.assert_allclose(generalised_mean(np.full(4, values[0]), power), values[0], rtol=1e-12)


@given(positive, st.sampled_from(POWERS))
@settings(deadline=None)
def test_whole_weights_are_copies(values: np.ndarray, power: float) -> None:
    times = np.arange(1, len(values) + 1)
    weighted = generalised_mean(values, power, times.astype(float))
    np.testing.assert_allclose(weighted, generalised_mean(np.repeat(values, times), power), rtol=1e-10)


@pytest.mark.parametrize("power", [-5.0, -1.0, -0.3, 0.3, 2.0, 5.0])
def test_it_is_the_formula(power: float) -> None:
    values, weights = np.array([0.1, 0.2, 0.4]), np.array([0.5, 0.3, 0.2])
    expected = float((weights * values**power).sum() ** (1 / power))
    np.testing.assert_allclose(generalised_mean(values, power, weights), expected, rtol=1e-13)


def test_the_limits_are_reached() -> None:
    values = np.array([0.1, 0.2, 0.4])
    for small in (1e-14, 1e-9, 1e-5, -1e-5, -1e-14):
        np.testing.assert_allclose(generalised_mean(values, small), 0.2, rtol=1e-4)
    np.testing.assert_allclose(generalised_mean(values, 1e4), 0.4, rtol=2e-4)
    np.testing.assert_allclose(generalised_mean(values, -1e4), 0.1, rtol=2e-4)
    assert generalised_mean(np.array([1e-300, 1e300]), 2).item() == pytest.approx(1e300 / np.sqrt(2))


@pytest.mark.parametrize("power", POWERS)
def test_a_zero_is_the_whole_answer_up_to_the_geometric_mean(power: float) -> None:
    mean = float(generalised_mean(np.array([0.0, 0.5]), power))
    assert mean == 0 if power <= 0 else mean > 0 or power < 1e-2
    assert float(generalised_mean(np.zeros(3), power)) == 0


def test_infinite_values() -> None:
    values = np.array([1.0, np.inf])
    assert [float(generalised_mean(values, power)) for power in (1, 2, np.inf)] == [np.inf] * 3
    assert float(generalised_mean(values, -np.inf)) == 1
    assert float(generalised_mean(values, -1)) == pytest.approx(2)


def test_what_is_undefined_is_nan() -> None:
    assert np.isnan(generalised_mean(np.array([0.2, np.nan]), 2))
    assert np.isnan(generalised_mean(np.array([0.2, 0.3]), 2, np.zeros(2)))
    assert np.isnan(generalised_mean(np.array([]), 1))
    assert [bool(np.isnan(generalised_mean(np.array([-0.2, 0.3]), p))) for p in (1, np.inf, -np.inf, 2, 0)] == [
        False, False, False, True, True,
    ]  # fmt: skip
    np.testing.assert_allclose(generalised_mean(np.array([-0.2, np.nan, 0.3]), 2, np.array([0, 0, 1.0])), 0.3)


def test_leading_axes_stay() -> None:
    values = np.random.default_rng(1).random((3, 2, 5))
    np.testing.assert_allclose(generalised_mean(values, 3)[1, 1], generalised_mean(values[1, 1], 3))
