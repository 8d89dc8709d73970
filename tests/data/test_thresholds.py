"""The threshold that selects a given share of the rows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bayesgroups.data.thresholds import SelectionThreshold, selection_threshold
from bayesgroups.errors import InputError

SCORES = [0.11, 0.52, 0.37, 0.92, 0.48, 0.66, 0.05, 0.71, 0.29, 0.33]


def test_worked_example() -> None:
    assert selection_threshold(SCORES, 0.2) == SelectionThreshold(threshold=0.71, attained=0.2)


def test_at_least_one_row_and_at_most_all() -> None:
    assert selection_threshold(SCORES, 1e-9) == SelectionThreshold(0.92, 0.1)
    assert selection_threshold(SCORES, 1.0) == SelectionThreshold(0.05, 1.0)
    assert selection_threshold([0.4], 0.2) == SelectionThreshold(0.4, 1.0)


def test_ties_can_select_more() -> None:
    assert selection_threshold([0.5, 0.5, 0.5, 0.1], 0.25) == SelectionThreshold(0.5, 0.75)
    assert selection_threshold([0.5] * 7, 0.2) == SelectionThreshold(0.5, 1.0)


def test_order_does_not_matter_and_input_is_left_alone() -> None:
    scores = np.random.default_rng(1).normal(size=1001)
    before = scores.copy()
    found = selection_threshold(scores, 0.2)
    np.testing.assert_array_equal(scores, before)
    assert found == selection_threshold(np.sort(scores), 0.2)
    assert found.threshold == np.sort(scores)[::-1][199]
    assert found.attained == pytest.approx(200 / 1001)


def test_result_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="attained"):
        selection_threshold(SCORES, 0.2).attained = 0.0  # type: ignore[misc]


def test_no_scores() -> None:
    with pytest.raises(InputError, match="no scores to set a threshold on"):
        selection_threshold([], 0.2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(bad: float) -> None:
    with pytest.raises(InputError, match="scores must be finite"):
        selection_threshold([0.1, bad], 0.2)


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.01, float("nan"), float("inf")])
def test_rate_must_be_a_share(rate: float) -> None:
    with pytest.raises(InputError, match=r"must lie in \(0, 1\]"):
        selection_threshold(SCORES, rate)
