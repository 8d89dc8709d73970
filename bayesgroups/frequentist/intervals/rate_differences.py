"""Limits of the difference of two rates, arrays of any one shape; ``z`` is the critical value, 1.959964 for 95 %."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.crossings import crossing
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.intervals.proportions import wilson_limits

EDGE = 1e-12
"""Differences as near to -1 and 1 as this are taken to be there."""


def mover_difference(first: FloatArray, of_first: Interval, second: FloatArray, of_second: Interval) -> Interval:
    """Limits of a difference of two independent values from the limits of each (MOVER-D).

    Zou, Donner (2008), doi:10.1002/sim.3095.
    """
    below = np.sqrt((first - of_first.lower) ** 2 + (of_second.upper - second) ** 2)
    above = np.sqrt((of_first.upper - first) ** 2 + (second - of_second.lower) ** 2)
    return Interval(first - second - below, first - second + above)


def newcombe(k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: FloatArray | float) -> Interval:
    """Difference of two rates from their Wilson limits; inside [-1, 1], never without width.

    Newcombe (1998), method 10, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I.

    >>> limits = newcombe(np.array([56.0]), np.array([70.0]), np.array([48.0]), np.array([80.0]), 1.959964)
    >>> limits.lower.round(6).tolist(), limits.upper.round(6).tolist()
    ([0.052431], [0.333873])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = k1 / n1, k2 / n2
    return mover_difference(first, wilson_limits(first, n1, z), second, wilson_limits(second, n2, z))


def score_difference(
    k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: FloatArray | float, *, corrected: bool = True
) -> Interval:
    """Differences that a score test does not reject, with the rates of largest likelihood given the difference.

    ``corrected`` multiplies the variance by N / (N - 1): Miettinen, Nurminen (1985), doi:10.1002/sim.4780040211; without it
    Mee (1984), doi:10.2307/2531161. NaN where a side has no rows.

    >>> limits = score_difference(np.array([56.0]), np.array([70.0]), np.array([48.0]), np.array([80.0]), 1.959964)
    >>> limits.lower.round(6).tolist(), limits.upper.round(6).tolist()
    ([0.05283], [0.338173])
    """
    some = (n1 > 0) & (n2 > 0)
    a, n, b, m = (np.where(some, part, stand_in) for part, stand_in in ((k1, 1.0), (n1, 2.0), (k2, 1.0), (n2, 2.0)))
    difference = a / n - b / m
    factor = (n + m) / (n + m - 1) if corrected else np.ones_like(difference)

    def statistic(at: FloatArray) -> FloatArray:
        distance = difference - at
        first, second = _restricted(a, n, b, m, at)
        variance = factor * (first * (1 - first) / n + second * (1 - second) / m)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(distance == 0, 0.0, distance / np.sqrt(variance))

    ends = np.full_like(difference, -1 + EDGE), np.full_like(difference, 1 - EDGE)
    lower = crossing(lambda at: statistic(at) - z, ends[0], np.maximum(difference, ends[0]))
    upper = crossing(lambda at: statistic(at) + z, np.minimum(difference, ends[1]), ends[1])
    lower = np.where((difference <= ends[0]) | (statistic(ends[0]) < z), -1.0, lower)
    upper = np.where((difference >= ends[1]) | (statistic(ends[1]) > -z), 1.0, upper)
    return Interval(np.where(some, lower, np.nan), np.where(some, upper, np.nan))


def _restricted(
    k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, difference: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Rates of largest likelihood at a given difference: the middle root of a cubic, by cosines."""
    total, d = n1 + n2, difference
    square = ((n1 + 2 * n2) * d - total - k1 - k2) / (3 * total)
    linear = ((n2 * d - total - 2 * k2) * d + k1 + k2) / (3 * total)
    q = square**3 - 1.5 * square * linear + k2 * d * (1 - d) / (2 * total)
    radius = np.copysign(np.sqrt(np.maximum(square**2 - linear, 0.0)), q)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = np.where(radius == 0, 0.0, q / radius**3)
    angle = (np.pi + np.arccos(np.clip(cosine, -1.0, 1.0))) / 3
    second = 2 * radius * np.cos(angle) - square
    return np.clip(second + d, 0.0, 1.0), np.clip(second, 0.0, 1.0)
