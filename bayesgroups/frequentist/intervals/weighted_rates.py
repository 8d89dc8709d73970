"""Limits of a weighted sum of rates from the limits of each: the method of variance estimates recovery (MOVER)."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def mover_sum(
    rates: FloatArray, lower: FloatArray, upper: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Limits of sum W z over the cells of the last axis: theta - sqrt(sum W^2 (z - l)^2), theta + sqrt(sum W^2 (u - z)^2).

    Limits ``lower`` and ``upper`` of single rates stand for their errors in each direction, so that the sum stays within its
    range and has width where every rate is 0 or 1. Weights must not be negative. Zou, Huang, Zhang (2009),
    doi:10.1016/j.csda.2008.08.024; Donner, Zou (2012), doi:10.1177/0962280210384714.

    >>> rates, weights = np.array([0.7, 0.4]), np.array([0.8, 0.2])
    >>> low, high = mover_sum(rates, np.array([0.6, 0.3]), np.array([0.78, 0.52]), weights)
    >>> round(float(low), 6), round(float(high), 6)
    (0.557538, 0.708352)
    """
    total = (weights * rates).sum(axis=-1)
    below = np.sqrt((weights**2 * (rates - lower) ** 2).sum(axis=-1))
    above = np.sqrt((weights**2 * (upper - rates) ** 2).sum(axis=-1))
    return np.asarray(total - below), np.asarray(total + above)
