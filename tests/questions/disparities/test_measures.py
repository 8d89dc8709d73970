"""Measures of disparity: the worked example, other formulas for the same, invariance, edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.disparities import measures
from bayesgroups.questions.disparities.named_measures import MEASURES, MeasureName, Settings, measure

Y = np.array([0.9, 0.8, 0.7, 0.6])
N = np.array([40.0, 20, 10, 5])
rates = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=9).map(np.array)


def equality(name: MeasureName) -> float:
    return 1.0 if name == "max_min_ratio" else 0.0


def test_worked_example() -> None:
    expected = {"max_min_difference": 0.3, "max_min_ratio": 1.5, "max_absolute_difference": 0.15,
                "mean_absolute_deviation": 0.1, "variance": 0.016667, "generalised_entropy": 0.011111}  # fmt: skip
    for name, value in expected.items():
        found = measure(next(known for known in MEASURES if known == name), Y, Settings())
        assert float(found) == pytest.approx(value, abs=5e-7)
    for alpha, value in ((2, 0.011111), (0.5, 0.011240), (1, 0.011180), (0, 0.011319)):
        assert float(measures.generalised_entropy(Y, alpha)) == pytest.approx(value, abs=5e-7)
    assert float(measures.max_min_ratio(Y, smoothing=0.05)) == pytest.approx(1.461538, abs=5e-7)


def test_entropy_of_two_is_half_the_squared_coefficient_of_variation() -> None:
    assert float(measures.generalised_entropy(Y, 2)) == pytest.approx(Y.var() / Y.mean() ** 2 / 2)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_entropy_is_continuous_where_its_formula_is_not(alpha: float) -> None:
    near = [float(measures.generalised_entropy(Y, alpha + step, N)) for step in (-1e-5, 1e-5)]
    assert float(measures.generalised_entropy(Y, alpha, N)) == pytest.approx(np.mean(near), rel=1e-6)


@given(y=rates, data=st.data())
def test_gini_and_variance_by_pairs(y: FloatArray, data: st.DataObject) -> None:
    w = np.array(data.draw(st.lists(st.floats(0.1, 5), min_size=len(y), max_size=len(y))))
    share = w / w.sum()
    pairs = np.abs(y[:, None] - y[None, :])
    by_pairs = share @ pairs @ share / (2 * share @ y)
    assert float(measures.gini(y, w)) == pytest.approx(by_pairs, abs=1e-12)
    unlike = np.outer(share, share) * (1 - np.eye(len(y)))
    assert float(measures.variance(y, w)) == pytest.approx((unlike * pairs**2).sum() / unlike.sum() / 2, abs=1e-12)


@given(y=rates, seed=st.integers(0, 2**32 - 1), scale=st.floats(0.01, 100.0))
def test_invariance(y: FloatArray, seed: int, scale: float) -> None:
    """Order does not matter; differences have the unit of the metric, its variance the square, the others none."""
    order = np.random.default_rng(seed).permutation(len(y))
    weights = np.arange(1.0, len(y) + 1)
    for name in MEASURES:
        for chosen in (None, weights):
            moved = None if chosen is None else chosen[order]
            value = float(measure(name, y, Settings(chosen)))
            assert float(measure(name, y[order], Settings(moved))) == pytest.approx(value, abs=1e-12, rel=1e-9)
            unit = 1.0 if name in ("max_min_ratio", "generalised_entropy", "gini") else scale
            unit = scale**2 if name == "variance" else unit
            scaled = float(measure(name, scale * y, Settings(chosen)))
            assert scaled == pytest.approx(unit * value, abs=1e-11 * max(unit, 1), rel=1e-8)


@given(y=rates)
def test_equality_is_the_smallest_value(y: FloatArray) -> None:
    for name in MEASURES:
        assert float(measure(name, y, Settings())) >= equality(name) - 1e-12
        assert float(measure(name, np.full(3, y[0]), Settings())) == pytest.approx(equality(name), abs=1e-12)


@given(y=rates, times=st.integers(2, 4))
def test_repeating_subgroups_is_weighting_them(y: FloatArray, times: int) -> None:
    """Measures of a population do not change if every subgroup is taken several times, but the variance's divisor does."""
    for name in (
        "mean_absolute_deviation",
        "generalised_entropy",
        "gini",
        "worst_group_gap",
        "max_absolute_difference",
    ):
        one = float(measure(name, y, Settings()))
        assert float(measure(name, np.tile(y, times), Settings())) == pytest.approx(one, abs=1e-12)
        weights = np.ones(len(y))
        weights[0] = times
        longer = np.concatenate([np.full(times - 1, y[0]), y])
        weighted = float(measure(name, y, Settings(weights)))
        assert float(measure(name, longer, Settings())) == pytest.approx(weighted, abs=1e-12)


def test_two_subgroups() -> None:
    y = np.array([0.2, 0.6])
    assert float(measures.max_absolute_difference(y)) == pytest.approx(0.2)
    assert float(measures.variance(y)) == pytest.approx(0.08)
    assert float(measures.gini(y)) == pytest.approx(0.25)


def test_one_subgroup() -> None:
    y = np.array([0.2])
    for name in MEASURES:
        value = float(measure(name, y, Settings()))
        assert np.isnan(value) if name == "variance" else value == equality(name)


def test_a_value_of_zero() -> None:
    y = np.array([0.0, 0.5])
    assert float(measures.max_min_ratio(y)) == np.inf
    assert np.isnan(measures.max_min_ratio(np.zeros(2)))
    assert np.isnan(measures.generalised_entropy(y, 0))
    assert np.isnan(measures.generalised_entropy(y, -1))
    assert float(measures.generalised_entropy(y, 1)) == pytest.approx(np.log(2))
    assert np.isnan(measures.generalised_entropy(np.zeros(2), 2))
    assert np.isnan(measures.gini(np.zeros(2)))


def test_negative_values() -> None:
    y = np.array([-0.5, 0.5, 1.0])
    for function in (measures.max_min_ratio, measures.gini, _entropy):
        assert np.isnan(function(y))
    assert float(measures.max_min_difference(y)) == 1.5


def _entropy(y: FloatArray) -> FloatArray:
    return measures.generalised_entropy(y, 2)


def test_the_worst_subgroup_goes_by_the_direction() -> None:
    y = np.array([0.1, 0.2, 0.9])
    assert float(measures.worst_group_gap(y, larger_is_better=True)) == pytest.approx(0.3)
    assert float(measures.worst_group_gap(y, larger_is_better=False)) == pytest.approx(0.5)


@pytest.mark.parametrize("function", [measures.max_min_difference, measures.variance, measures.gini])
def test_leading_axes_are_draws(function: Callable[[FloatArray], FloatArray]) -> None:
    draws = np.random.default_rng(1).random((3, 2, 5))
    found = function(draws)
    assert found.shape == (3, 2)
    assert float(found[2, 1]) == pytest.approx(float(function(draws[2, 1])))
