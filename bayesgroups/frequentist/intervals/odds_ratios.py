"""Limits of the ratio of two odds, arrays of any one shape; ``z`` is the critical value, 1.959964 for 95 %."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.crossings import crossing
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.intervals.rate_ratios import LOG_END


def woolf(k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: float) -> Interval:
    """Normal interval of the log odds ratio, taken back; NaN unless every side has successes and failures.

    Woolf (1955), doi:10.1111/j.1469-1809.1955.tb01348.x.

    >>> limits = woolf(np.array([56.0]), np.array([70.0]), np.array([48.0]), np.array([80.0]), 1.959964)
    >>> limits.lower.round(6).tolist(), limits.upper.round(6).tolist()
    ([1.276218], [5.57202])
    """
    cells = (k1, n1 - k1, k2, n2 - k2)
    inside = np.logical_and.reduce([cell > 0 for cell in cells])
    with np.errstate(divide="ignore", invalid="ignore"):
        odds_ratio = np.where(inside, k1 * (n2 - k2) / (k2 * (n1 - k1)), np.nan)
        factor = np.exp(z * np.sqrt(sum(1 / cell for cell in cells)))
        return Interval(odds_ratio / factor, odds_ratio * factor)


def mover_odds_ratio(first: FloatArray, of_first: Interval, second: FloatArray, of_second: Interval) -> Interval:
    """Limits of the odds ratio of two independent rates from the limits of each, put together as log odds (MOVER).

    Where a rate is 0 or 1 its log odds have no distance to a limit, and the farthest ends of both stand. Donner, Zou (2012),
    Statistical Methods in Medical Research 21, 347-359.

    >>> pair = [Interval(np.array([lower]), np.array([upper])) for lower, upper in ((0.5958, 0.9821), (0.1078, 0.6032))]
    >>> limits = mover_odds_ratio(np.array([0.9]), pair[0], np.array([0.3]), pair[1])
    >>> limits.lower.round(2).tolist(), limits.upper.round(2).tolist()
    ([2.31], [190.85])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        centres = [np.log(rate) - np.log1p(-rate) for rate in (first, second)]
        low, high = ([np.log(end) - np.log1p(-end) for end in ends] for ends in (
            (of_first.lower, of_second.lower), (of_first.upper, of_second.upper),
        ))  # fmt: skip
        finite = np.isfinite(centres[0]) & np.isfinite(centres[1])
        down = np.hypot(centres[0] - low[0], high[1] - centres[1])
        up = np.hypot(high[0] - centres[0], centres[1] - low[1])
        difference = centres[0] - centres[1]
        lower = np.where(finite, difference - down, low[0] - high[1])
        upper = np.where(finite, difference + up, high[0] - low[1])
    return Interval(np.exp(lower), np.exp(upper))


def odds_ratio_statistic(
    k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, odds_ratio: FloatArray | float, *,
    corrected: bool = False,
) -> FloatArray:  # fmt: skip
    """Score statistic, standard normal if the odds ratio is this, larger the larger the first rate is.

    Rates are those of largest likelihood given the odds ratio; ``corrected`` has the factor N / (N - 1). Miettinen, Nurminen
    (1985), doi:10.1002/sim.4780040211. NaN where a side has no rows.

    >>> odds_ratio_statistic(np.array([6.0]), np.array([25.0]), np.array([18.0]), np.array([40.0]), 1.0).round(4).tolist()
    [-1.7068]
    """
    psi = np.asarray(odds_ratio, dtype=np.float64)
    successes = k1 + k2
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = n1 * psi + n2 - successes * (psi - 1)
        root = np.sqrt(slope**2 + 4 * n2 * (psi - 1) * successes)
        second = np.where(slope > 0, 2 * successes / (slope + root), (root - slope) / (2 * n2 * (psi - 1)))
        second = np.clip(second, 0.0, 1.0)
        first = np.clip(second * psi / (1 + second * (psi - 1)), 0.0, 1.0)
        distance = k1 - n1 * first
        variance = 1 / (n1 * first * (1 - first)) + 1 / (n2 * second * (1 - second))
        if corrected:
            distance = distance * np.sqrt((n1 + n2 - 1) / (n1 + n2))
        return np.where(distance == 0, 0.0, distance * np.sqrt(variance))


def score_odds_ratio(
    k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: FloatArray | float, *, corrected: bool = True
) -> Interval:
    """Odds ratios that the score test of `odds_ratio_statistic` does not reject.

    The lower limit is 0 where the first side has no success or the second no failure, the upper one infinite the other way
    round. NaN where a side has no rows.

    >>> limits = score_odds_ratio(np.array([56.0]), np.array([70.0]), np.array([48.0]), np.array([80.0]), 1.959964)
    >>> limits.lower.round(6).tolist(), limits.upper.round(6).tolist()
    ([1.281573], [5.540202])
    """
    some = (n1 > 0) & (n2 > 0)
    same = (k1 + k2 == 0) | (k1 + k2 == n1 + n2)

    def statistic(log_ratio: FloatArray) -> FloatArray:
        return odds_ratio_statistic(k1, n1, k2, n2, np.exp(log_ratio), corrected=corrected)

    ends = np.full(some.shape, -LOG_END), np.full(some.shape, LOG_END)
    lower = np.exp(crossing(lambda at: statistic(at) - z, *ends))
    upper = np.exp(crossing(lambda at: statistic(at) + z, *ends))
    lower = np.where(same | (k1 == 0) | (k2 == n2), 0.0, lower)
    upper = np.where(same | (k2 == 0) | (k1 == n1), np.inf, upper)
    return Interval(np.where(some, lower, np.nan), np.where(some, upper, np.nan))
