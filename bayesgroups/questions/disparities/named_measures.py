"""The measures of disparity by name, with the settings that some of them have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never, get_args

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.disparities import measures

MeasureName = Literal[
    "max_min_difference", "max_min_ratio", "max_absolute_difference", "mean_absolute_deviation", "variance",
    "generalised_entropy", "gini", "worst_group_gap",
]  # fmt: skip
MEASURES: tuple[MeasureName, ...] = get_args(MeasureName)
RELATIVE: frozenset[str] = frozenset({"max_min_ratio", "generalised_entropy", "gini"})
"""Measures that divide by a value or a mean, which need values that are not negative."""


@dataclass(frozen=True)
class Settings:
    """Inputs of measures besides the values: weights (subgroup,), the metric's direction, and two numbers."""

    weights: FloatArray | None = None
    larger_is_better: bool = True
    alpha: float = 2.0
    smoothing: float = 0.0


def measure(name: MeasureName, y: FloatArray, settings: Settings) -> FloatArray:
    """Value of one measure (...), by name, of y (..., subgroup), see `bayesgroups.questions.disparities.measures`."""
    weights = settings.weights
    match name:
        case "max_min_difference":
            return measures.max_min_difference(y)
        case "max_min_ratio":
            return measures.max_min_ratio(y, smoothing=settings.smoothing)
        case "max_absolute_difference":
            return measures.max_absolute_difference(y, weights)
        case "mean_absolute_deviation":
            return measures.mean_absolute_deviation(y, weights)
        case "variance":
            return measures.variance(y, weights)
        case "generalised_entropy":
            return measures.generalised_entropy(y, settings.alpha, weights)
        case "gini":
            return measures.gini(y, weights)
        case "worst_group_gap":
            return measures.worst_group_gap(y, larger_is_better=settings.larger_is_better, weights=weights)
        case _:
            assert_never(name)
