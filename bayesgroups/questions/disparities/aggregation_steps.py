"""The two steps of an aggregate: from a class by subgroup table to one number per class, and from those to one number.

Pure functions of arrays whose last axis is the subgroup. ``taken`` (..., subgroup) says which cells take part; NaN in a
cell that does makes the answer NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.questions.disparities.generalized_means import generalised_mean

Unit = Literal["score", "gap", "ratio"]
Better = Literal["larger", "smaller", "closer to 1"]
GroupStep = Literal[
    "mean_gap", "sum_gap", "variance", "max_gap", "min_score", "min_ratio", "max_difference", "max_ratio",
    "difference_threshold", "ratio_threshold",
]  # fmt: skip
ClassStep = Literal["binary", "mean", "quadratic_mean"]

ROUNDING = 1e-12
"""A gap this little above the threshold is within it: .9 - .8 is not exactly .1."""


@dataclass(frozen=True)
class Row:
    """Group-wise row of Table 1: its unit, its exponent (None if it is no generalised mean), and how to read it.

    ``fair`` is the value of perfect fairness, NaN where there is none; ``weighted`` tells whether subgroups can have weights.
    """

    unit: Unit
    power: float | None
    better: Better
    fair: float
    weighted: bool = False


ROWS: Mapping[GroupStep, Row] = {
    "mean_gap": Row("gap", 1.0, "smaller", 0.0, weighted=True),
    "sum_gap": Row("gap", None, "smaller", 0.0),
    "variance": Row("gap", None, "smaller", 0.0),
    "max_gap": Row("gap", np.inf, "smaller", 0.0, weighted=True),
    "min_score": Row("score", -np.inf, "larger", np.nan, weighted=True),
    "min_ratio": Row("ratio", -np.inf, "larger", 1.0, weighted=True),
    "max_difference": Row("score", None, "smaller", 0.0),
    "max_ratio": Row("score", None, "smaller", 1.0),
    "difference_threshold": Row("gap", None, "larger", 1.0, weighted=True),
    "ratio_threshold": Row("ratio", None, "larger", 1.0, weighted=True),
}
"""The group-wise rows of Table 1 of Han, Baldwin, Cohn (2023), and the sum of gaps that its experiments use."""
POWERS: Mapping[Unit, Row] = {
    "score": Row("score", None, "larger", np.nan, weighted=True),
    "gap": Row("gap", None, "smaller", 0.0, weighted=True),
    "ratio": Row("ratio", None, "closer to 1", 1.0, weighted=True),
}
"""How a generalised mean of each unit is read."""


def in_unit(scores: FloatArray, centre: FloatArray, unit: Unit) -> FloatArray:
    """Scores (..., subgroup), their absolute differences from the reference value (..., 1), or ratios to it, NaN where it is 0."""
    if unit == "score":
        return scores
    if unit == "gap":
        return np.asarray(np.abs(scores - centre))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(centre == 0, np.nan, scores / centre)


def over_subgroups(
    values: FloatArray, step: float | GroupStep, taken: BoolArray, weights: FloatArray, threshold: float
) -> FloatArray:
    """Group-wise step: values (..., subgroup), in its unit, to (...), by an exponent or a name of `ROWS`.

    ``weights`` are 0 where not ``taken``; steps that have none do not use them. ``threshold`` is for the two threshold steps.
    """
    if not isinstance(step, str):
        return generalised_mean(values, step, weights)
    power = ROWS[step].power
    if power is not None:
        return generalised_mean(values, power, weights)
    size = taken.sum(axis=-1)
    undefined = (np.isnan(values) & taken).any(axis=-1) | (size == 0)
    filled = np.where(np.isnan(values), 0.0, values)
    counted = np.where(taken, filled, 0.0)
    highest = np.where(taken, filled, -np.inf).max(axis=-1, initial=-np.inf)
    lowest = np.where(taken, filled, np.inf).min(axis=-1, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        match step:
            case "sum_gap":
                answer = counted.sum(axis=-1)
            case "variance":
                answer = np.where(size > 1, (counted**2).sum(axis=-1) / (size - 1), np.nan)
            case "max_difference":
                answer = highest - lowest
            case "max_ratio":
                answer = np.where(lowest >= 0, highest / lowest, np.nan)
            case "difference_threshold" | "ratio_threshold":
                distance = filled if step == "difference_threshold" else np.abs(filled - 1)
                answer = generalised_mean(np.where(distance <= threshold + ROUNDING, 1.0, 0.0), 1.0, weights)
            case "mean_gap" | "max_gap" | "min_score" | "min_ratio":  # pragma: no cover
                answer = np.full(size.shape, np.nan)  # a generalised mean: answered above
            case _:  # pragma: no cover
                assert_never(step)
    return np.where(undefined, np.nan, answer)
