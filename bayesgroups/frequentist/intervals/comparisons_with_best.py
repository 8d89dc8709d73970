"""Comparisons of every value with the best of the others, constrained to say no more than they can (Hsu)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile, tail
from bayesgroups.frequentist.intervals.many_to_one import dunnett

LARGEST_TABLE = 60
"""Values up to which critical values are integrated; beyond, those of independent comparisons, which are larger, are taken."""

Pairwise = Callable[[FloatArray], Interval]
"""Limits (value, other) of each value against each other one, from the critical values (value, 1) of the first."""


@dataclass(frozen=True, eq=False)
class WithBest:
    """Limits of every value against the best of the others; ``candidates`` may be the best; ``critical_values`` are one-sided."""

    limits: Interval
    candidates: BoolArray
    critical_values: FloatArray


def critical_values(variances: FloatArray, level: float) -> FloatArray:
    """One-sided critical value of every value against all others together.

    >>> rates, rows = np.array([0.3, 0.2, 0.45, 0.24]), np.array([60, 150, 40, 25])
    >>> critical_values(rates * (1 - rates) / (rows - 1), 0.95).round(6).tolist()
    [2.069956, 2.111223, 2.020444, 2.000653]
    """
    many = len(variances)
    if many > LARGEST_TABLE:
        independent = -np.expm1(
            np.log(level) / (many - 1)
        )  # Slepian: comparisons with one value are positively correlated
        return np.full(many, normal_quantile(1 - 2 * float(independent)))
    tail(level)  # refuses a level outside (0, 1)
    return np.array([dunnett(np.delete(variances, i), float(variances[i]), level, sides=1) for i in range(many)])


def with_best(pairwise: Pairwise, critical: FloatArray, *, equal: float) -> WithBest:
    """Hsu's constrained limits from pairwise ones; the best is the largest, ``equal`` the contrast of equal values (0 or 1).

    An upper limit is never below equality, which says that a value may be the best, nor a lower one above it unless no other
    value can be. Hsu (1984), doi:10.1214/aos/1176346732; Hsu (1996), Multiple Comparisons, section 4.2.
    """
    upper = _others(pairwise(critical[:, None]).upper, np.inf).min(axis=1)
    upper = np.maximum(upper, equal)
    candidates = upper > equal
    # Against candidate j with the critical value of j: minus its upper limit against i, turned round.
    lower = _others(pairwise(critical[None, :]).lower, np.inf)
    lower = np.minimum(np.where(candidates[None, :], lower, np.inf).min(axis=1), equal)
    if candidates.sum() == 1:
        lower = np.where(candidates, equal, lower)
    return WithBest(Interval(lower, upper), candidates, critical)


def _others(table: FloatArray, stand_in: float) -> FloatArray:
    """A table (value, other) with a stand-in where a value meets itself."""
    return np.where(np.eye(len(table), dtype=bool), stand_in, table)
