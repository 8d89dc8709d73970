"""Limits of the ratio of two rates, arrays of any one shape; ``z`` is the critical value, 1.959964 for 95 %.

Of no successes on the lower side the upper limit is infinite; of none on either side the limits are 0 and infinity.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.crossings import crossing
from bayesgroups.frequentist.intervals.interval import Interval

LOG_END = 40.0
"""Log ratios are searched between -40 and 40; limits beyond are 0 and infinity."""
FLAT = 1e-15
"""A denominator's lower limit that leaves less than this bounds no ratio from above."""


def mover_ratio(first: FloatArray, of_first: Interval, second: FloatArray, of_second: Interval) -> Interval:
    """Limits of a ratio of two independent values, none negative, from the limits of each (MOVER-R).

    Donner, Zou (2012), Statistical Methods in Medical Research 21, 347-359, Eq 9, its lower limit with a rationalised denominator:
    the printed one is
    0 or negative where the upper limit of the second value is at least twice the value.

    >>> pair = [Interval(np.array([lower]), np.array([upper])) for lower, upper in ((0.5958, 0.9821), (0.1078, 0.6032))]
    >>> limits = mover_ratio(np.array([0.9]), pair[0], np.array([0.3]), pair[1])
    >>> limits.lower.round(3).tolist(), limits.upper.round(3).tolist()
    ([1.322], [8.368])
    """
    product = first * second
    l1, l2 = np.maximum(of_first.lower, 0.0), np.maximum(of_second.lower, 0.0)
    u1, u2 = of_first.upper, of_second.upper
    least, most = l1 * (2 * first - l1), u1 * (2 * first - u1)
    down = product + np.sqrt(np.maximum(product**2 - least * u2 * (2 * second - u2), 0.0))
    floor = l2 * (2 * second - l2)
    up = product + np.sqrt(np.maximum(product**2 - most * floor, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(down > 0, least / down, np.where(np.isnan(down), np.nan, 0.0))
        upper = np.where(floor > FLAT, up / floor, np.where(np.isnan(up), np.nan, np.inf))
    return Interval(lower, upper)


def ratio_statistic(
    k1: FloatArray,
    n1: FloatArray,
    k2: FloatArray,
    n2: FloatArray,
    ratio: FloatArray | float,
    *,
    corrected: bool = False,
) -> FloatArray:
    """Score statistic, standard normal if the ratio of the rates is this, larger the larger the first rate is.

    Koopman (1984), doi:10.2307/2531405; ``corrected`` has the factor N / (N - 1) of Miettinen, Nurminen (1985). At ratio 1 its
    square is Pearson's chi-squared. NaN where a side has no rows, 0 where both sides agree with the ratio exactly.

    >>> ratio_statistic(np.array([6.0]), np.array([25.0]), np.array([18.0]), np.array([40.0]), 0.8).round(6).tolist()
    [-1.068862]
    """
    r = np.asarray(ratio, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        minus_b = n1 * r + k1 + n2 + k2 * r
        root = np.sqrt(np.maximum(minus_b**2 - 4 * (n1 + n2) * r * (k1 + k2), 0.0))
        second = np.clip(2 * (k1 + k2) / (minus_b + root), 0.0, 1.0)
        first = np.clip(r * second, 0.0, 1.0)
        variance = first * (1 - first) / n1 + r**2 * second * (1 - second) / n2
        if corrected:
            variance = variance * (n1 + n2) / (n1 + n2 - 1)
        distance = k1 / n1 - r * (k2 / n2)
        return np.where(distance == 0, 0.0, distance / np.sqrt(variance))


def score_ratio(
    k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: FloatArray | float, *, corrected: bool = False
) -> Interval:
    """Ratios that the score test of `ratio_statistic` does not reject: Koopman's limits.

    >>> limits = score_ratio(np.array([56.0]), np.array([70.0]), np.array([48.0]), np.array([80.0]), 1.959964)
    >>> limits.lower.round(6).tolist(), limits.upper.round(6).tolist()
    ([1.079822], [1.670806])
    """
    some = (n1 > 0) & (n2 > 0)

    def statistic(log_ratio: FloatArray) -> FloatArray:
        return ratio_statistic(k1, n1, k2, n2, np.exp(log_ratio), corrected=corrected)

    ends = np.full(some.shape, -LOG_END), np.full(some.shape, LOG_END)
    lower = np.exp(crossing(lambda at: statistic(at) - z, *ends))
    upper = np.exp(crossing(lambda at: statistic(at) + z, *ends))
    lower = np.where((k1 == 0) | (statistic(ends[0]) < z), 0.0, lower)
    upper = np.where((k2 == 0) | (statistic(ends[1]) > -z), np.inf, upper)
    return Interval(np.where(some, lower, np.nan), np.where(some, upper, np.nan))


def katz(k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: float) -> Interval:
    """Normal interval of the log ratio, taken back; NaN unless both sides have successes.

    Katz, Baptista, Azen, Pike (1978), doi:10.2307/2530610.

    >>> limits = katz(np.array([56.0]), np.array([70.0]), np.array([48.0]), np.array([80.0]), 1.959964)
    >>> limits.lower.round(6).tolist(), limits.upper.round(6).tolist()
    ([1.076626], [1.651249])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((k1 > 0) & (k2 > 0), (k1 / n1) / (k2 / n2), np.nan)
        factor = np.exp(z * np.sqrt(1 / k1 - 1 / n1 + 1 / k2 - 1 / n2))
        return Interval(ratio / factor, ratio * factor)
