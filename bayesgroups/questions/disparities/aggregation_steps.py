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
    """One group-wise row of Table 1: its unit, its exponent if it is a generalised mean, and how to read it.

    Attributes
    ----------
    unit : {"score", "gap", "ratio"}
    power : float or None
        None where the row is no generalised mean.
    better : {"larger", "smaller", "closer to 1"}
    fair : float
        The value of perfect fairness, NaN where there is none.
    weighted : bool
        Whether subgroups can have weights.
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
    """Scores, their absolute differences from the reference value, or their ratios to it.

    Parameters
    ----------
    scores : array (..., subgroup)
    centre : array (..., 1)
        Not used for scores. Where it is 0, a ratio is NaN.
    unit : {"score", "gap", "ratio"}

    Examples
    --------
    >>> import numpy as np
    >>> in_unit(np.array([0.9, 0.6]), np.array([0.75]), "gap").round(6).tolist()
    [0.15, 0.15]
    """
    if unit == "score":
        return scores
    if unit == "gap":
        return np.asarray(np.abs(scores - centre))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(centre == 0, np.nan, scores / centre)


def over_subgroups(
    values: FloatArray, step: float | GroupStep, taken: BoolArray, weights: FloatArray, threshold: float
) -> FloatArray:
    """Take the group-wise step.

    Parameters
    ----------
    values : array (..., subgroup)
        In the unit of the step.
    step : float or str
        An exponent, or a name of `ROWS`.
    taken : array of bool (..., subgroup)
    weights : array (..., subgroup)
        0 where not taken. Not used by steps that have no weights.
    threshold : float
        The tolerance of the two threshold steps.

    Returns
    -------
    array (...)

    Examples
    --------
    >>> import numpy as np
    >>> gaps, all_of = np.array([0.1, 0.0, 0.1]), np.ones(3, dtype=bool)
    >>> round(float(over_subgroups(gaps, "variance", all_of, np.ones(3), np.nan)), 6)
    0.01
    """
    if not isinstance(step, str):
        return generalised_mean(values, step, weights)
    power = ROWS[step].power
    if power is not None:
        return generalised_mean(values, power, weights)
    size = taken.sum(axis=-1)
    undefined = (np.isnan(values) & taken).any(axis=-1) | (size == 0)
    known = np.where(np.isnan(values), 0.0, values)
    counted = np.where(taken, known, 0.0)
    highest = np.where(taken, known, -np.inf).max(axis=-1, initial=-np.inf)
    lowest = np.where(taken, known, np.inf).min(axis=-1, initial=np.inf)
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
                distance = known if step == "difference_threshold" else np.abs(known - 1)
                answer = generalised_mean(np.where(distance <= threshold + ROUNDING, 1.0, 0.0), 1.0, weights)
            case "mean_gap" | "max_gap" | "min_score" | "min_ratio":  # pragma: no cover
                answer = np.full(size.shape, np.nan)  # a generalised mean: answered above
            case _:  # pragma: no cover
                assert_never(step)
    return np.where(undefined, np.nan, answer)
