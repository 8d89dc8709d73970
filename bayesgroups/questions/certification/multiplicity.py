"""Statements about many subgroups at once: critical values and adjusted p-values."""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError

Correction = Literal["none", "bonferroni", "holm", "simultaneous"]
CORRECTIONS: tuple[str, ...] = get_args(Correction)
SIMULATIONS = 20_000
"""Normal vectors behind the critical value of overlapping subgroups."""
CHUNK = 4_000_000
"""Numbers held at once while they are drawn."""


def critical_value(correction: Correction, level: float, groups: int, sides: int = 1) -> float:
    """Normal quantile with which all of so many statements hold together.

    Parameters
    ----------
    correction : {"none", "bonferroni", "holm", "simultaneous"}
        ``none`` is for one statement. ``bonferroni`` holds under any dependence; Holm's first step, and so the limit of the
        worst subgroup, is the same. ``simultaneous`` is exact for independent statements (Sidak).
    level : float
        Confidence, strictly between 0 and 1.
    groups : int
        Number of statements.
    sides : int
        1 or 2.

    Returns
    -------
    float

    Examples
    --------
    >>> [round(critical_value(name, 0.95, 4), 6) for name in ("none", "bonferroni", "simultaneous")]
    [1.644854, 2.241403, 2.234002]
    """
    check_level(level)
    tail = 1 - level
    if correction == "simultaneous":
        tail = -float(np.expm1(np.log(level) / max(groups, 1)))
    elif correction in ("bonferroni", "holm"):
        tail /= max(groups, 1)
    return -NormalDist().inv_cdf(tail / sides)


def correlated_critical_value(factor: FloatArray, level: float, rng: np.random.Generator, sides: int = 1) -> float:
    """The same for correlated estimates, by simulation of their normal law (a Gaussian multiplier bootstrap).

    Parameters
    ----------
    factor : array (subgroup, source)
        Deviations of the estimates are ``factor @ standard normals``; rows need not be scaled.
    level : float
        Confidence.
    rng : numpy Generator
        Source of randomness.
    sides : int
        1 or 2.

    Returns
    -------
    float
        Quantile of the largest standardised deviation; of one statement where there is one.

    References
    ----------
    Chernozhukov, Chetverikov, Kato (2013), doi:10.1214/13-AOS1161.

    Examples
    --------
    >>> import numpy as np
    >>> same = np.ones((5, 1))
    >>> round(correlated_critical_value(same, 0.95, np.random.default_rng(1)), 1)  # one statement, five times
    1.6
    """
    check_level(level)
    scale = np.sqrt((factor**2).sum(axis=1, keepdims=True))
    unit = factor / np.where(scale > 0, scale, 1.0)
    step = max(1, CHUNK // max(factor.shape))
    largest = np.empty(SIMULATIONS)
    for start in range(0, SIMULATIONS, step):
        size = min(step, SIMULATIONS - start)
        deviation = rng.standard_normal((size, factor.shape[1])) @ unit.T
        largest[start : start + size] = (np.abs(deviation) if sides == 2 else deviation).max(axis=1)
    return float(np.quantile(largest, level))


def max_t(draws: FloatArray, centre: FloatArray, scale: FloatArray, level: float, side: str = "both") -> float:
    """Quantile of the largest standardised distance of draws from their centre.

    Parameters
    ----------
    draws : array (draw, subgroup)
        From a posterior or a bootstrap; NaN where a draw has no value.
    centre, scale : arrays (subgroup,)
        What is subtracted, and what the difference is divided by; subgroups without scale do not take part.
    level : float
        Share of draws all of whose distances are at most the answer.
    side : {"both", "above", "below"}
        Which distances count: both, those of draws above the centre, or below it.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(1).standard_normal((40_000, 2))
    >>> round(max_t(draws, np.zeros(2), np.ones(2), 0.95), 1)
    2.2
    """
    check_level(level)
    use = scale > 0
    if not use.any():
        return critical_value("none", level, 1, sides=2 if side == "both" else 1)
    distance = (draws[:, use] - centre[use]) / scale[use]
    distance = np.abs(distance) if side == "both" else distance if side == "above" else -distance
    return float(np.quantile(np.where(np.isnan(distance), -np.inf, distance).max(axis=1), level))


def adjust(p: FloatArray, correction: Correction) -> FloatArray:
    """Adjusted p-values: reject where they are at most the family-wise error.

    Parameters
    ----------
    p : array (subgroup,)
        NaN where there is none.
    correction : {"none", "bonferroni", "holm", "simultaneous"}
        ``simultaneous`` is Sidak's, for independent subgroups.

    Returns
    -------
    array (subgroup,)

    References
    ----------
    Holm (1979), https://www.jstor.org/stable/4615733.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.01, 0.04, np.nan, 0.03])
    >>> adjust(p, "holm").round(6).tolist(), adjust(p, "bonferroni").round(6).tolist()
    ([0.03, 0.06, nan, 0.06], [0.03, 0.12, nan, 0.09])
    """
    known = np.isfinite(p)
    values, many = p[known], int(known.sum())
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
    found = np.full(p.shape, np.nan)
    found[known] = adjusted
    return found


def check_level(level: float) -> None:
    """Refuse a level that is none.

    Raises
    ------
    InputError
        If it does not lie strictly between 0 and 1.
    """
    if not 0 < level < 1:
        raise InputError(f"level={level!r} must lie strictly between 0 and 1, such as 0.95")
