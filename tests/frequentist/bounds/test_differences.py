"""Bounds of the largest difference between subgroups: worked numbers, and every pair one by one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesgroups.frequentist.bounds.differences import differences, over_labels
from bayesgroups.tallies.disagreement_rates import Bounds, bounds

SHARE = np.array([[0.5, 0.3], [0.3, 0.4], [0.2, 0.3]])
RATE = np.array([[0.2, 0.3], [0.4, 0.25], [0.5, 0.4]])


@pytest.mark.parametrize(
    ("notion", "form", "lower", "upper", "midpoint"),
    [
        ("equal_opportunity", "published", -0.555556, 0.888889, 0.166667),
        ("equal_opportunity", "sharp", 0.0, 0.6875, 0.34375),
        ("predictive_equality", "published", -0.833333, 0.888889, 0.027778),
        ("predictive_equality", "sharp", 0.008772, 0.149234, 0.079003),
        ("overall_misclassification", "published", -0.111111, 0.444444, 0.166667),
        ("overall_misclassification", "sharp", 0.0, 0.6875, 0.34375),
        ("accuracy_equality", "sharp", 0.01, 0.01, 0.01),
    ],
)
def test_the_worked_example(notion: Any, form: Any, lower: float, upper: float, midpoint: float) -> None:
    rate = bounds((1 - RATE) * SHARE, RATE * SHARE, notion, form)
    found = over_labels(differences(rate, form))
    assert [float(found.lower), float(found.upper), float(found.midpoint)] == pytest.approx(
        [lower, upper, midpoint], abs=1e-6
    )


def _by_hand(rate: Bounds, label: int) -> tuple[float, float]:
    low, high = rate.lower[label], rate.upper[label]
    pairs = [(m, n) for m, n in itertools.permutations(range(len(low)), 2) if not np.isnan(low[[m, n]]).any()]
    if not pairs:
        return np.nan, np.nan
    return max(0.0, *(low[m] - high[n] for m, n in pairs)), max(high[m] - low[n] for m, n in pairs)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0, 0.6))
def test_every_pair_of_subgroups(seed: int, subgroups: int, gone: float) -> None:
    random = np.random.default_rng(seed)
    ends = np.sort(random.random((2, 3, subgroups)).round(1), axis=0)  # rounded, so that there are ties
    ends[:, random.random((3, subgroups)) < gone] = np.nan
    rate = Bounds(ends[0], ends[1])
    found = differences(rate)
    for label in range(3):
        lower, upper = _by_hand(rate, label)
        np.testing.assert_allclose([found.lower[label], found.upper[label]], [lower, upper])
        above, below = found.above[label], found.below[label]
        assert (above == below == -1) if np.isnan(upper) else above != below
        if above >= 0:
            assert rate.upper[label, above] - rate.lower[label, below] == found.upper[label]
    whole = over_labels(found)
    assert np.isnan(whole.upper) == np.isnan(found.upper).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_the_difference_of_any_rates_within_the_bounds_is_within_its_bounds(seed: int) -> None:
    random = np.random.default_rng(seed)
    ends = np.sort(random.random((2, 3, 4)), axis=0)
    found = over_labels(differences(Bounds(ends[0], ends[1])))
    rates = ends[0] + random.random((3, 4)) * (ends[1] - ends[0])
    largest = (rates.max(axis=1) - rates.min(axis=1)).max()
    assert found.lower - 1e-12 <= largest <= found.upper + 1e-12


def test_no_subgroup() -> None:
    found = differences(Bounds(np.zeros((2, 0)), np.zeros((2, 0))))
    assert np.isnan(found.upper).all()
    assert np.isnan(over_labels(found).lower)
