"""Statements about many subgroups at once: critical values and adjusted p-values."""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import tail

Correction = Literal["none", "bonferroni", "holm", "simultaneous"]
SIMULATIONS = 20_000
"""Normal vectors behind the critical value of overlapping subgroups."""
CHUNK = 4_000_000
"""Numbers held at once while they are drawn."""


def critical_value(correction: Correction, level: float, groups: int, sides: int = 1) -> float:
    """Normal quantile with which all of so many statements hold together, one- or two-sided.

    ``none`` is for one statement. ``bonferroni`` holds under any dependence; Holm's first step, and so the limit of the
    worst subgroup, is the same. ``simultaneous`` is exact for independent statements (Sidak).
    """
    error = tail(level)
    if correction == "simultaneous":
        error = -float(np.expm1(np.log(level) / max(groups, 1)))
    elif correction in ("bonferroni", "holm"):
        error /= max(groups, 1)
    return -NormalDist().inv_cdf(error / sides)


def correlated_critical_value(factor: FloatArray, level: float, rng: np.random.Generator, sides: int = 1) -> float:
    """Quantile of the largest standardised deviation of correlated estimates, by a Gaussian multiplier bootstrap.

    Deviations are ``factor`` (subgroup, source) @ standard normals; rows need not be scaled. Where no subgroup deviates, or
    there is none, it is that of one statement. Chernozhukov, Chetverikov, Kato (2013), doi:10.1214/13-AOS1161.
    """
    tail(level)  # refuses a level outside (0, 1)
    scale = np.sqrt((factor**2).sum(axis=1, keepdims=True))
    if not scale.any():
        return critical_value("none", level, 1, sides=sides)
    unit = factor / np.where(scale > 0, scale, 1.0)
    step = max(1, CHUNK // max(factor.shape))
    largest = np.empty(SIMULATIONS)
    for start in range(0, SIMULATIONS, step):
        size = min(step, SIMULATIONS - start)
        deviation = rng.standard_normal((size, factor.shape[1])) @ unit.T
        largest[start : start + size] = (np.abs(deviation) if sides == 2 else deviation).max(axis=1)
    return float(np.quantile(largest, level))


def max_t(draws: FloatArray, centre: FloatArray, scale: FloatArray, level: float, side: str = "both") -> float:
    """Quantile of the largest standardised distance of draws (draw, subgroup) from their centre (subgroup,).

    Subgroups without scale, and NaN, do not take part. ``side`` is ``both``, ``above`` (draws above the centre) or ``below``.
    """
    tail(level)  # refuses a level outside (0, 1)
    use = scale > 0
    if not use.any():
        return critical_value("none", level, 1, sides=2 if side == "both" else 1)
    distance = (draws[:, use] - centre[use]) / scale[use]
    distance = np.abs(distance) if side == "both" else distance if side == "above" else -distance
    return float(np.quantile(np.where(np.isnan(distance), -np.inf, distance).max(axis=1), level))


def adjust(p: FloatArray, correction: Correction) -> FloatArray:
    """Adjusted p-values: reject where they are at most the family-wise error. NaN stays and is not counted.

    ``simultaneous`` is Sidak's, for independent subgroups; Holm (1979), https://www.jstor.org/stable/4615733.
    """
    finite = np.isfinite(p)
    values, many = p[finite], int(finite.sum())
    adjusted = values
    if correction == "bonferroni":
        adjusted = np.minimum(values * many, 1.0)
    elif correction == "simultaneous":
        with np.errstate(divide="ignore"):
            adjusted = -np.expm1(many * np.log1p(-values))
    elif correction == "holm":
        order = np.argsort(values, kind="stable")
        steps = np.maximum.accumulate(np.minimum(values[order] * (many - np.arange(many)), 1.0))
        adjusted = np.empty(many)
        adjusted[order] = steps
    answer = np.full(p.shape, np.nan)
    answer[finite] = adjusted
    return answer
