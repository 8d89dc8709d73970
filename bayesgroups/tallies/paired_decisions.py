"""Rates of the decisions of several systems on the same rows, as pairs of values: which rows count, and what is 1."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError

DecisionRate = Literal["sel", "tpr", "fnr", "fpr", "tnr"]
COUNTED: dict[DecisionRate, tuple[int | None, int]] = {
    "sel": (None, 1), "tpr": (1, 1), "fnr": (1, 0), "fpr": (0, 1), "tnr": (0, 0),
}  # fmt: skip
"""The outcome of the rows that count, any for ``sel``, and the decision that is counted."""


def check_outcome(metric: str, y_true: str | None) -> None:
    """Refuse a rate that needs the outcome without it, and an outcome that nothing asks for."""
    needs = metric in get_args(DecisionRate) and metric != "sel"
    if needs and y_true is None:
        raise InputError(f"metric={metric!r} counts rows by their outcome; name its column in y_true=")
    if y_true is not None and not needs:
        raise InputError(f"metric={metric!r} needs no outcome; leave y_true= out, or take tpr, fnr, fpr or tnr")


def rate_of(metric: str) -> DecisionRate | None:
    """The rate of decisions of that name; None where values are graded or numbers."""
    return next((name for name in COUNTED if name == metric), None)


def counted(decisions: FloatArray, outcome: FloatArray | None, metric: DecisionRate) -> FloatArray:
    """Values (row, system) of a rate: 1 for the decision that is counted, NaN where a row does not count or nothing was decided.

    >>> counted(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1.0, 0.0]), "fnr").tolist()
    [[0.0, 1.0], [nan, nan]]
    """
    wanted, decision = COUNTED[metric]
    values = decisions if decision == 1 else 1 - decisions
    if wanted is None or outcome is None:
        return values
    return np.where((outcome == wanted)[:, None], values, np.nan)
