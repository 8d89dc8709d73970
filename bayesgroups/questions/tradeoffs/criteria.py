"""Selection criteria: what they are called, what they ask, and whom they choose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.tradeoffs.distances import distance

CRITERIA = ("DTO", "P", "P@F+5%", "P@F+10%", "F", "F@P-5%", "F@P-10%")
"""The criteria of Han, Baldwin, Cohn (2023), section 4.5; other percentages are understood too."""
_ROUNDING = 1e-12  # .58 + .05 is not exactly .63
_CONSTRAINED = re.compile(r"(?P<goal>P@F\+|F@P-)(?P<points>\d+(?:\.\d+)?)%")


@dataclass(frozen=True)
class Rule:
    """Criterion taken apart: the goal that is minimised (``dto``) or maximised, and a margin.

    The margin is added to the other goal of the plain model to get its least value; None without a constraint.
    """

    goal: Literal["dto", "performance", "fairness"]
    margin: float | None = None

    @property
    def other(self) -> Literal["performance", "fairness"]:
        """The goal that is constrained and that breaks ties."""
        return "performance" if self.goal in {"dto", "fairness"} else "fairness"


def parse(criterion: str) -> Rule:
    """Criterion taken apart, or an InputError; percentages are points, not shares."""
    if criterion in {"DTO", "min DTO"}:
        return Rule("dto")
    if criterion in {"P", "F"}:
        return Rule("performance" if criterion == "P" else "fairness")
    match = _CONSTRAINED.fullmatch(criterion)
    if match is None:
        raise InputError(
            f"criterion={criterion!r} does not exist; expected one of {list(CRITERIA)}, with any percentage"
        )
    points = float(match["points"]) / 100
    return Rule("performance", points) if match["goal"] == "P@F+" else Rule("fairness", -points)


def choose(
    performance: FloatArray, fairness: FloatArray, rule: Rule, *, least: float | FloatArray, utopia: tuple[float, float]
) -> NDArray[np.intp]:
    """Position of the best candidate for every leading index of performance and fairness (..., candidate), which have no NaN.

    ``least`` is the least value of the other goal, -inf for none. Of equal candidates the better in the other goal, then
    the first; -1 where none is feasible.
    """
    goals = {"performance": performance, "fairness": fairness}
    first = -distance(performance, fairness, utopia) if rule.goal == "dto" else goals[rule.goal]
    second = goals[rule.other]
    feasible = second >= np.asarray(least) - _ROUNDING
    order = np.lexsort((-second, -first, ~feasible), axis=-1)
    return np.where(feasible.any(axis=-1), order[..., 0], -1)
