"""Critical values with which all contrasts of a question hold together."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import normal_quantile
from bayesgroups.frequentist.intervals.many_to_one import dunnett
from bayesgroups.questions.certification.multiplicity import correlated_critical_value, critical_value
from bayesgroups.questions.contrasts.weighing import Weighted

LARGEST_SIMULATION = 40_000
"""Numbers of a factor (contrast, cell) up to which critical values are simulated; beyond, Sidak's is taken."""


def simultaneous_critical_value(weighted: Weighted, parts: FloatArray, level: float, rng: np.random.Generator) -> float:
    """Two-sided critical value from the factor of errors (contrast, cell).

    Dunnett's against one cell, simulated where sides share cells, Sidak's of very many contrasts. Sidak's holds whatever
    the correlations of normal contrasts. Sidak (1967), doi:10.1080/01621459.1967.10482935.
    """
    usable = weighted.estimable & np.isfinite(parts).all(axis=1) & (parts != 0).any(axis=1)
    many = int(usable.sum())
    if many <= 1:
        return normal_quantile(level)
    parts = parts[usable]
    control = weighted.under[usable].argmax(axis=1)
    against_one = weighted.single[usable].all() and (control == control[0]).all()
    if against_one:
        squares = parts**2
        common = squares[:, control[0]]
        rest = squares.sum(axis=1) - common
        return dunnett(rest, float(common[0]), level)
    if weighted.number[usable].all() or parts.size > LARGEST_SIMULATION:
        return critical_value("simultaneous", level, many, sides=2)
    return correlated_critical_value(parts, level, rng, sides=2)
