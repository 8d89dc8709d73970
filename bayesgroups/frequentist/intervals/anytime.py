"""Anytime-valid intervals from counts and moments: one sequence holds at all looks together, whatever made one stop.

Fixed limits of level .95 miss ever more often the more often they are looked at; these miss in at most 5 % of whole sequences.
They are longer, by a factor of 1.3 to 2 at a single look.
"""

from __future__ import annotations

import math

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.crossings import crossing
from bayesgroups.frequentist.intervals.interval import Interval, around, tail

Prior = tuple[float, float]
"""Shapes of a Beta prior, fixed before the first look."""
JEFFREYS: Prior = (0.5, 0.5)
OPTIMAL_COUNT = 1000
"""Rows at which limits of means are shortest, when none is given."""


def log_ratio(p: FloatArray, successes: FloatArray, trials: FloatArray, prior: Prior = JEFFREYS) -> FloatArray:
    """Logarithm of posterior over prior density of a rate; the e-value against the rate is ``exp(-log_ratio)``.

    Waudby-Smith, Ramdas (2020), arXiv:2006.04347.

    >>> float(np.exp(-log_ratio(np.array(0.2), np.array(9.0), np.array(20.0))).round(8))
    4.22283975
    """
    from scipy.special import betaln, xlog1py, xlogy

    a, b = prior
    failures = trials - successes
    evidence = betaln(a, b) - betaln(a + successes, b + failures)
    return np.asarray(evidence + xlogy(successes, p) + xlog1py(failures, -p), dtype=np.float64)


def rate(successes: FloatArray, trials: FloatArray, level: float, prior: Prior = JEFFREYS) -> Interval:
    """Rates whose posterior density is at least 1 - level times the prior's; [0, 1] without trials.

    The lower limit is 0 exactly where nothing succeeds and the upper one 1 exactly where nothing fails.

    >>> limits = rate(np.array([0.0, 50.0]), np.array([5.0, 100.0]), 0.95)
    >>> limits.lower.round(8).tolist(), limits.upper.round(8).tolist()
    ([0.0, 0.33825755], [0.58503247, 0.66174245])
    """
    bar = math.log(tail(level))
    successes, trials = (np.asarray(part, dtype=np.float64) for part in np.broadcast_arrays(successes, trials))
    top = np.divide(successes, trials, out=np.zeros_like(successes), where=trials > 0)

    def inside(p: FloatArray) -> FloatArray:
        return log_ratio(p, successes, trials, prior) - bar

    lower = top - crossing(lambda distance: inside(top - distance), np.zeros_like(top), top)
    upper = crossing(inside, top, np.ones_like(top))
    return Interval(
        np.where((successes == 0) | (trials == 0), 0.0, lower),
        np.where((successes == trials) | (trials == 0), 1.0, upper),
    )


def p_value(p: FloatArray, successes: FloatArray, trials: FloatArray, prior: Prior = JEFFREYS) -> FloatArray:
    """Anytime-valid p-value of a rate: at most a in at most a share a of sequences, at any look."""
    return np.asarray(np.minimum(np.exp(log_ratio(p, successes, trials, prior)), 1.0))


def mixing_variance(optimal: FloatArray, level: float) -> FloatArray:
    """Variance of the normal mixture whose limits are shortest where the summed row variance is ``optimal``.

    Howard, Ramdas, McAuliffe, Sekhon (2021), doi:10.1214/20-AOS1991, section 3.5.

    >>> float(mixing_variance(np.array(100.0), 0.95).round(8))
    12.17734887
    """
    from scipy.special import lambertw

    branch = float(lambertw(-(tail(level) ** 2) / math.e, -1).real)
    return np.asarray(optimal / (-branch - 1), dtype=np.float64)


def mean(
    estimate: FloatArray,
    row_variance: FloatArray,
    count: FloatArray,
    level: float,
    optimal_count: float = OPTIMAL_COUNT,
) -> Interval:
    """Normal-mixture limits of means with a known row variance, shortest at ``optimal_count`` rows.

    With an estimated variance they hold for many rows only. No width where the variance is 0, NaN where it is.

    >>> limits = mean(np.array([0.4]), np.array([0.25]), np.array([100.0]), 0.95, 200)
    >>> limits.lower.round(8).tolist(), limits.upper.round(8).tolist()
    ([0.24606687], [0.55393313])
    """
    summed, mixing = count * row_variance, mixing_variance(optimal_count * row_variance, level)
    total = summed + mixing
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.sqrt(total * np.log(total / (mixing * tail(level) ** 2))) / count
    return around(estimate, np.where(row_variance == 0, 0.0, half))
