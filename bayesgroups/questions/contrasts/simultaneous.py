"""Critical values with which all contrasts of a question hold together."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile
from bayesgroups.frequentist.intervals.many_to_one import dunnett
from bayesgroups.questions.certification.multiplicity import correlated_critical_value, critical_value
from bayesgroups.questions.contrasts.weighing import Weighted

LARGEST_SIMULATION = 40_000
"""Numbers of a factor (contrast, cell) up to which critical values are simulated; beyond, Sidak's is taken."""


def simultaneous_critical_value(
    weighted: Weighted, parts: FloatArray, alone: Interval, level: float, rng: np.random.Generator
) -> float:
    """Two-sided critical value of all contrasts whose limits ``alone`` can miss, from the factor of errors (contrast, cell).

    Dunnett's against one cell, simulated where sides share cells, Sidak's of very many contrasts. Sidak's holds whatever
    the correlations of normal contrasts. Sidak (1967), doi:10.1080/01621459.1967.10482935. Contrasts with limits and without
    an error of this factor, such as log ratios of a rate of 0, are simulated as independent of all others, which by the same
    inequality is enough.
    """
    family = weighted.estimable & can_miss(alone)
    many = int(family.sum())
    if many <= 1:
        return normal_quantile(level)
    parts = parts[family]
    with np.errstate(invalid="ignore"):
        correlated = np.isfinite(parts).all(axis=1) & (parts != 0).any(axis=1)
    control = weighted.under[family].argmax(axis=1)
    if correlated.all() and weighted.single[family].all() and (control == control[0]).all():
        squares = parts**2
        common = squares[:, control[0]]
        rest = squares.sum(axis=1) - common
        return dunnett(rest, float(common[0]), level)
    parts = np.hstack([np.where(correlated[:, None], parts, 0.0), np.eye(many)[:, ~correlated]])
    if weighted.number[family].all() or correlated.sum() <= 1 or parts.size > LARGEST_SIMULATION:
        return critical_value("simultaneous", level, many, sides=2)
    return correlated_critical_value(parts, level, rng, sides=2)


def can_miss(limits: Interval) -> BoolArray:
    """True for limits that some value lies beyond: neither a point, nor 0 to infinity, nor absent."""
    endless = (limits.lower <= 0) & np.isposinf(limits.upper)
    return np.asarray((limits.lower < limits.upper) & ~endless)
