"""Difference of two rates on the same items: limits and tests from paired counts, arrays of any one shape.

Of n items, ``first`` are successes of the first rate alone and ``second`` of the second alone, ``both`` of both, ``neither`` of
none; the difference is (first - second) / n. ``z`` is the critical value, 1.959964 for 95 %. Fagerland, Lydersen, Laake (2014),
doi:10.1002/sim.6148, compare the limits, and the same authors (2013), doi:10.1186/1471-2288-13-91, the tests.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.crossings import crossing
from bayesgroups.frequentist.intervals.interval import Interval, around
from bayesgroups.frequentist.intervals.proportions import wilson_limits

EDGE = 1e-12
"""Differences as near to -1, 0 and 1 as this are taken to be there."""


def wald_error(first: FloatArray, second: FloatArray, n: FloatArray) -> FloatArray:
    """Standard error of the difference, for large samples; 0 where no item differs.

    >>> float(wald_error(np.array(150.0), np.array(86.0), np.array(1600.0)).round(8))
    0.00954921
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt(np.maximum(first + second - (first - second) ** 2 / n, 0.0)) / n)


def paired_wald(first: FloatArray, second: FloatArray, n: FloatArray, z: FloatArray | float) -> Interval:
    """Normal limits, for large samples only."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return around((first - second) / n, z * wald_error(first, second, n))


def paired_newcombe(
    both: FloatArray, first: FloatArray, second: FloatArray, neither: FloatArray, z: FloatArray | float
) -> Interval:
    """Wilson limits of both rates, put together with their correlation; NaN without items.

    Newcombe (1998), method 10, doi:10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C.

    >>> limits = paired_newcombe(*np.array([[1.0], [1.0], [7.0], [12.0]]), 1.959964)
    >>> limits.lower.round(5).tolist(), limits.upper.round(5).tolist()
    ([-0.50692], [-0.02556])
    """
    n = both + first + second + neither
    product = ((both + first) * (second + neither)) * ((both + second) * (first + neither))
    cross = both * neither - first * second
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = (both + first) / n, (both + second) / n
        phi = np.where(cross > 0, np.maximum(cross - n / 2, 0.0), cross) / np.sqrt(product)
        phi = np.where(product > 0, phi, 0.0)
        of_p, of_q = wilson_limits(p, n, z), wilson_limits(q, n, z)
        down, up = _combined(p - of_p.lower, of_q.upper - q, phi), _combined(of_p.upper - p, q - of_q.lower, phi)
        centre = (first - second) / n
        return Interval(centre - down, centre + up)


def paired_tango(first: FloatArray, second: FloatArray, n: FloatArray, z: FloatArray | float) -> Interval:
    """Differences that a score test does not reject, given the rates of largest likelihood; NaN without items.

    Tango (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B.

    >>> limits = paired_tango(np.array([5.0]), np.array([0.0]), np.array([60.0]), 1.959964)
    >>> limits.lower.round(5).tolist(), limits.upper.round(5).tolist()
    ([0.01815], [0.18069])
    """
    lower, upper = _tango_lower(first, second, n, z), -_tango_lower(second, first, n, z)
    return Interval(np.where(n > 0, lower, np.nan), np.where(n > 0, upper, np.nan))


def _tango_lower(first: FloatArray, second: FloatArray, n: FloatArray, z: FloatArray | float) -> FloatArray:
    size = np.where(n > 0, n, 1.0)
    difference = (first - second) / size

    def statistic(at: FloatArray) -> FloatArray:
        linear = -first - second + (2 * size - first + second) * at
        constant = -second * at * (1 - at)
        q = (np.sqrt(np.maximum(linear**2 - 8 * size * constant, 0.0)) - linear) / (4 * size)
        variance = size * (2 * q + at * (1 - at))
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = first - second - size * at
            return np.where(variance > 0, distance / np.sqrt(variance), np.inf)

    lowest = np.full_like(difference, -1 + EDGE)
    crossed = crossing(lambda at: statistic(at) - z, lowest, np.maximum(difference - EDGE, lowest))
    return np.where(difference <= lowest, -1.0, crossed)


def mcnemar(first: FloatArray, second: FloatArray, *, mid: bool = True) -> FloatArray:
    """Two-sided p-values that both rates are one: McNemar's exact test, or its mid-p version; 1 where no item differs.

    >>> float(mcnemar(np.array(1.0), np.array(7.0))), float(mcnemar(np.array(1.0), np.array(7.0), mid=False))
    (0.0390625, 0.0703125)
    """
    from scipy.special import bdtr

    fewer, differ = np.minimum(first, second), (first + second).astype(np.int64)
    below = np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0), differ, 0.5), 0.0)
    at_most = bdtr(fewer, differ, 0.5)
    p = at_most + (below if mid else at_most)
    return np.where(first == second, 1.0, np.minimum(p, 1.0))


def _combined(below: FloatArray, above: FloatArray, phi: FloatArray) -> FloatArray:
    # Sides in either order give the same bytes.
    return np.asarray(np.sqrt(np.maximum((below**2 + above**2) - 2 * phi * (below * above), 0.0)))
