"""Bounds of one rate: worked numbers, and what linear programming over all joint tables says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies.disagreement_notions import DEFINITE, NOTIONS, Notion
from bayesgroups.tallies.disagreement_rates import Bounds, bounds, sum_others

SHARE, RATE = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.4, 0.5])
AGREE, DISAGREE = ((1 - RATE) * SHARE)[:, None], (RATE * SHARE)[:, None]
JOINT = np.array([[36.0, 2.0, 1.0], [3.0, 28.0, 2.0], [2.0, 3.0, 23.0]])
"""A joint table P[z, y] whose rates are outside the published bounds."""


def _observed(joint: FloatArray) -> tuple[FloatArray, FloatArray]:
    agree = np.diag(joint)[:, None]
    return agree, joint.sum(axis=0)[:, None] - agree


def _truth(joint: FloatArray, notion: Notion) -> FloatArray:
    agree, said, meant = np.diag(joint), joint.sum(axis=0), joint.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "accuracy_equality": agree.sum(keepdims=True) / joint.sum(),
            "calibration": agree / said,
            "equal_opportunity": agree / meant,
            "predictive_equality": (said - agree) / (joint.sum() - meant),
            "overall_misclassification": (meant - agree) / meant,
        }[notion]


def _programme(agree: FloatArray, disagree: FloatArray, label: int, notion: Notion) -> tuple[float, float]:
    """The ends of a rate over every joint table with the observed shares, by the transform of Charnes and Cooper."""
    from scipy.optimize import linprog

    size = len(agree)
    cells = [(z, y) for z in range(size) for y in range(size)]
    given_label = {"predictive_equality": [z != label for z, _ in cells]}.get(notion, [z == label for z, _ in cells])
    said = [y == label for _, y in cells]
    hit = [not one for one in said] if notion == "overall_misclassification" else said
    numerator = np.array([float(a and b) for a, b in zip(given_label, hit, strict=True)])
    rows, right = [np.array([*map(float, given_label), 0.0])], [1.0]
    for y in range(size):
        same = [float(z == y == other) for z, other in cells]
        away = [float(z != y == other) for z, other in cells]
        rows += [np.array([*same, -agree[y, 0]]), np.array([*away, -disagree[y, 0]])]
        right += [0.0, 0.0]
    ends = []
    for sign in (1.0, -1.0):
        found: Any = linprog(sign * np.append(numerator, 0.0), A_eq=np.array(rows), b_eq=right, bounds=(0, None))
        assert found.status == 0, found.message
        ends.append(sign * found.fun)
    return ends[0], ends[1]


@st.composite
def tables(draw: st.DrawFn, *, smallest: int = 2, largest: int = 6, least: int = 1) -> FloatArray:
    """Joint tables of counts; with ``least=0`` any cell may be empty, but not all."""
    size = draw(st.integers(smallest, largest))
    cells = st.lists(st.integers(least, 50), min_size=size * size, max_size=size * size).filter(any)
    return np.array(draw(cells), dtype=np.float64).reshape(size, size)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
@settings(max_examples=6, deadline=None)
@given(st.data())
def test_the_sharp_bounds_are_those_of_linear_programming(size: int, data: st.DataObject) -> None:
    joint = data.draw(tables(smallest=size, largest=size))
    agree, disagree = _observed(joint)
    label = data.draw(st.integers(0, len(joint) - 1))
    for notion in NOTIONS[2:]:
        found = bounds(agree, disagree, notion)
        low, high = _programme(agree, disagree, label, notion)
        assert (found.lower[label, 0] == found.upper[label, 0]) == (size == 2)
        assert found.lower[label, 0] == pytest.approx(low, abs=1e-6)
        assert found.upper[label, 0] == pytest.approx(high, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(tables(least=0))
def test_the_truth_is_never_outside_the_sharp_bounds(joint: FloatArray) -> None:
    for notion in NOTIONS:
        found, truth = bounds(*_observed(joint), notion), _truth(joint, notion)
        some = np.isfinite(truth)
        assert (found.lower[some, 0] <= truth[some] + 1e-12).all()
        assert (found.upper[some, 0] >= truth[some] - 1e-12).all()


@settings(max_examples=25, deadline=None)
@given(tables(largest=2, least=0))
def test_two_labels_leave_nothing_open(joint: FloatArray) -> None:
    for notion in NOTIONS:
        found, truth = bounds(*_observed(joint), notion), _truth(joint, notion)
        np.testing.assert_array_equal(found.lower, found.upper)
        np.testing.assert_allclose(found.lower[:, 0], truth, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(tables(smallest=3))
def test_the_published_bound_of_misclassification_is_turned_round(joint: FloatArray) -> None:
    agree, disagree = _observed(joint)
    printed = bounds(agree, disagree, "overall_misclassification", "published").lower
    # It is a valid upper bound, and the truth falls below it whenever labels are not all wrong.
    assert (printed >= bounds(agree, disagree, "overall_misclassification").upper - 1e-12).all()
    assert (_truth(joint, "overall_misclassification") < printed[:, 0]).all()


@settings(max_examples=25, deadline=None)
@given(tables(smallest=3))
def test_the_sharp_bounds_lie_within_the_valid_published_ones(joint: FloatArray) -> None:
    agree, disagree = _observed(joint)
    for notion in ("equal_opportunity", "predictive_equality"):
        printed, found = bounds(agree, disagree, notion, "published"), bounds(agree, disagree, notion)
        assert (found.lower >= printed.lower - 1e-12).all()
        assert (found.upper <= printed.upper).all()


@pytest.mark.parametrize(
    ("notion", "form", "lower", "upper"),
    [
        ("accuracy_equality", "sharp", [0.68], [0.68]),
        ("calibration", "sharp", [0.8, 0.6, 0.5], [0.8, 0.6, 0.5]),
        ("equal_opportunity", "published", [0.444444, 0.204545, 0.111111], [1, 1, 1]),
        ("equal_opportunity", "sharp", [0.645161, 0.473684, 0.3125], [1, 1, 1]),
        ("predictive_equality", "published", [0.166667, 0.146341, 0.111111], [1, 1, 1]),
        ("predictive_equality", "sharp", [0.166667, 0.146341, 0.111111], [0.263158, 0.193548, 0.147059]),
        ("overall_misclassification", "published", [0.555556, 0.795455, 0.888889], [1, 1, 1]),
        ("overall_misclassification", "sharp", [0, 0, 0], [0.354839, 0.526316, 0.6875]),
    ],
)
def test_the_worked_example(notion: Any, form: Any, lower: list[float], upper: list[float]) -> None:
    found = bounds(AGREE, DISAGREE, notion, form)
    np.testing.assert_allclose(found.lower[:, 0], lower, atol=1e-6)
    np.testing.assert_allclose(found.upper[:, 0], upper, atol=1e-6)


def test_the_counter_example() -> None:
    agree, disagree = _observed(JOINT)
    truth = _truth(JOINT, "overall_misclassification")
    np.testing.assert_allclose(truth, [0.0769, 0.1515, 0.1786], atol=5e-5)
    printed = bounds(agree, disagree, "overall_misclassification", "published").lower[:, 0]
    np.testing.assert_allclose(printed, [0.6211, 0.7053, 0.7629], atol=5e-4)
    np.testing.assert_allclose(
        bounds(agree, disagree, "overall_misclassification").upper[:, 0], [0.1818, 0.2222, 0.3030], atol=5e-5
    )


def test_two_labels_recover_the_rates() -> None:
    agree, disagree = _observed(np.array([[0.35, 0.12], [0.10, 0.43]]))
    np.testing.assert_allclose(
        bounds(agree, disagree, "equal_opportunity").lower[:, 0], [0.744681, 0.811321], atol=1e-6
    )
    np.testing.assert_allclose(
        bounds(agree, disagree, "predictive_equality").upper[:, 0], [0.188679, 0.255319], atol=1e-6
    )


def _one(agree: list[float], disagree: list[float], notion: Notion, label: int = 0) -> tuple[float, float]:
    found = bounds(np.array(agree)[:, None], np.array(disagree)[:, None], notion)
    return float(found.lower[label, 0]), float(found.upper[label, 0])


def test_rates_whose_condition_may_have_no_mass() -> None:
    # Nobody agrees with label 0, but others may have it in mind: where they do, the system never gives it.
    assert _one([0, 3, 3], [1, 2, 2], "equal_opportunity") == (0, 0)
    assert _one([0, 3, 3], [1, 2, 2], "overall_misclassification") == (1, 1)
    # Nobody can have it in mind.
    assert np.isnan(_one([0, 3, 3], [1, 0, 0], "equal_opportunity")).all()
    # The system never gives it.
    assert _one([0, 3, 3], [0, 2, 2], "equal_opportunity") == (0, 0)
    assert _one([0, 3, 3], [0, 2, 2], "predictive_equality") == (0, 0)
    assert np.isnan(_one([0, 3, 3], [0, 2, 2], "calibration")).all()
    # Everyone may have it in mind, or some not: where they do not, the system does not give it.
    assert _one([5, 0, 0], [0, 2, 2], "predictive_equality") == (0, 0)
    # Everyone has it in mind.
    assert np.isnan(_one([5, 0], [0, 2], "predictive_equality")).all()


def test_no_judgements_no_bounds() -> None:
    for notion in NOTIONS:
        for form in ("sharp", "published"):
            found = bounds(np.zeros((3, 1)), np.zeros((3, 1)), notion, form)
            assert np.isnan(found.lower).all()
            assert np.isnan(found.upper).all()


def test_axes_before_the_label_pass_through_and_scale_does_not_matter() -> None:
    agree, disagree = np.stack([AGREE, 7 * AGREE]), np.stack([DISAGREE, 7 * DISAGREE])
    for notion in NOTIONS:
        found = bounds(agree, disagree, notion)
        assert found.lower.shape == (2, 1 if notion == "accuracy_equality" else 3, 1)
        np.testing.assert_allclose(found.lower[0], found.lower[1], rtol=1e-14)
        assert (notion in DEFINITE) == bool((found.lower == found.upper).all())


def test_small_parts() -> None:
    assert Bounds(np.array([0.2]), np.array([0.6])).midpoint.tolist() == [0.4]
    # A sum of zeros is 0, not what rounding leaves of a difference.
    assert sum_others(np.array([[0.1 + 0.2], [0.0], [0.0]]))[0, 0] == 0.0
