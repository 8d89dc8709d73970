"""Limits of a weighted sum of rates from the limits of each rate: the method of variance estimates recovery (MOVER)."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def mover_sum(
    rates: FloatArray, lower: FloatArray, upper: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Limits (...) of ``sum(weights * rates)`` over the last axis, of independent rates with limits of their own.

    A rate that counts negatively gives its other limit. Cells without weight take no part, whatever they hold; a cell with
    weight and without a value makes the sum NaN. Limits do not collapse where all rates are 0 or 1, and with weights that are
    shares they do not leave [0, 1]. Zou, Donner (2008), doi:10.1002/sim.3095; Zou, Huang, Zhang (2009),
    doi:10.1016/j.csda.2008.09.033.

    >>> rates, shares = np.array([101 / 142, 9 / 25, 14 / 33]), np.array([4421, 755, 1018]) / 6194
    >>> from bayesgroups.frequentist.intervals.proportions import wilson
    >>> limits = wilson(np.array([101.0, 9, 14]), np.array([142.0, 25, 33]), 0.95)
    >>> [round(float(end), 6) for end in mover_sum(rates, limits.lower, limits.upper, shares)]
    [0.556491, 0.682044]
    """
    plus, minus = np.maximum(weights, 0.0) ** 2, np.minimum(weights, 0.0) ** 2
    below, above = (rates - lower) ** 2, (upper - rates) ** 2
    total = _sum(weights, rates)
    down, up = _sum(plus, below), _sum(plus, above)
    if minus.any():
        down, up = down + _sum(minus, above), up + _sum(minus, below)
    return np.asarray(total - np.sqrt(down)), np.asarray(total + np.sqrt(up))


def _sum(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Sum (...) of weighted values over the last axis, NaN where one with weight has no value."""
    lacking = np.isnan(values)
    total = np.einsum("...c,...c->...", weights, np.where(lacking, 0.0, values))
    if not lacking.any():
        return np.asarray(total)
    return np.where(((weights != 0) & lacking).any(axis=-1), np.nan, total)
