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
    """A criterion, taken apart.

    Attributes
    ----------
    goal : {"dto", "performance", "fairness"}
        What is minimised (the distance) or maximised.
    margin : float or None
        What is added to the other goal of the plain model to get its least value; None without a constraint.
    """

    goal: Literal["dto", "performance", "fairness"]
    margin: float | None = None

    @property
    def other(self) -> Literal["performance", "fairness"]:
        """The goal that is constrained and that breaks ties."""
        return "performance" if self.goal in {"dto", "fairness"} else "fairness"


def parse(criterion: str) -> Rule:
    """Take a criterion apart; percentages are points, not shares.

    Raises
    ------
    InputError
        If there is no such criterion.

    Examples
    --------
    >>> parse("P@F+5%")
    Rule(goal='performance', margin=0.05)
    >>> parse("DTO").other
    'performance'
    """
    if criterion in {"DTO", "min DTO"}:
        return Rule("dto")
    if criterion in {"P", "F"}:
        return Rule("performance" if criterion == "P" else "fairness")
    found = _CONSTRAINED.fullmatch(criterion)
    if found is None:
        raise InputError(
            f"criterion={criterion!r} does not exist; expected one of {list(CRITERIA)}, with any percentage"
        )
    points = float(found["points"]) / 100
    return Rule("performance", points) if found["goal"] == "P@F+" else Rule("fairness", -points)


def choose(
    performance: FloatArray, fairness: FloatArray, rule: Rule, *, least: float | FloatArray, utopia: tuple[float, float]
) -> NDArray[np.intp]:
    """Choose a candidate for every leading index.

    Parameters
    ----------
    performance, fairness : array (..., candidate)
        No NaN.
    rule : Rule
    least : float or array that broadcasts to them
        Least value of the other goal; -inf for none.
    utopia : (performance, fairness)
        The ideal point of the distance.

    Returns
    -------
    array of int (...)
        Position of the best; of equal ones the better in the other goal, then the first; -1 where none is feasible.

    Examples
    --------
    >>> import numpy as np
    >>> p, f = np.array([0.82, 0.78, 0.78]), np.array([0.58, 0.64, 0.66])
    >>> int(choose(p, f, parse("P@F+5%"), least=0.63, utopia=(1.0, 1.0)))
    2
    """
    goals = {"performance": performance, "fairness": fairness}
    first = -distance(performance, fairness, utopia) if rule.goal == "dto" else goals[rule.goal]
    second = goals[rule.other]
    feasible = second >= np.asarray(least) - _ROUNDING
    order = np.lexsort((-second, -first, ~feasible), axis=-1)
    return np.where(feasible.any(axis=-1), order[..., 0], -1)
