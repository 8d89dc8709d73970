"""Two-sided intervals for a proportion from successes and trials.

Each takes ``successes`` and ``trials``, arrays of one shape, and a level. Trials need not be whole (with
weights they are effective counts) except for the percentile interval; where there are none, the limits are
NaN.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.crossings import crossing
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile, tail


def wilson(successes: FloatArray, trials: FloatArray, level: float) -> Interval:
    """Score interval: the rates that a normal test with its own standard error would not reject.

    Wilson (1927), doi:10.1080/01621459.1927.10502953.

    >>> limits = wilson(np.array([9.0]), np.array([10.0]), 0.95)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([0.5958], [0.9821])
    """
    return wilson_limits(_rate(successes, trials), trials, normal_quantile(level))


def wilson_limits(rate: FloatArray, trials: FloatArray, z: FloatArray | float) -> Interval:
    """Wilson's interval of rates with a critical value in place of a level: 1.959964 for 95 %.

    >>> limits = wilson_limits(np.array([0.9]), np.array([10.0]), 1.959964)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([0.5958], [0.9821])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = 1 + z**2 / trials
        centre = (rate + z**2 / (2 * trials)) / shrink
        half = z / shrink * np.sqrt(rate * (1 - rate) / trials + z**2 / (4 * trials**2))
    # At the ends the limits are 0 and 1 exactly, which rounding would miss.
    return Interval(np.where(rate == 0, 0.0, centre - half), np.where(rate == 1, 1.0, centre + half))


def jeffreys(successes: FloatArray, trials: FloatArray, level: float) -> Interval:
    """Equal-tailed interval of the Beta(1/2, 1/2) posterior, with limit 0 at no success and 1 at no failure.

    Brown, Cai, DasGupta (2001), section 4.1.2, doi:10.1214/ss/1009213286.

    >>> limits = jeffreys(np.array([0.0]), np.array([5.0]), 0.95)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([0.0], [0.3794])
    """
    from scipy.special import betaincinv

    alpha = tail(level)
    z = _rate(successes, trials)
    some = np.isfinite(z)
    a = np.where(some, successes, 0.0) + 0.5
    b = np.where(some, trials - successes, 0.0) + 0.5
    lower = np.where(z == 0, 0.0, betaincinv(a, b, alpha / 2))
    upper = np.where(z == 1, 1.0, betaincinv(a, b, 1 - alpha / 2))
    return Interval(np.where(some, lower, np.nan), np.where(some, upper, np.nan))


def clopper_pearson(successes: FloatArray, trials: FloatArray, level: float) -> Interval:
    """Exact interval: covers at least as often as it says for every rate, usually more. Not exact with effective counts.

    Clopper, Pearson (1934), doi:10.1093/biomet/26.4.404.

    >>> limits = clopper_pearson(np.array([3.0]), np.array([25.0]), 0.95)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([0.0255], [0.3122])
    """
    from scipy.special import betaincinv

    alpha = tail(level)
    z = _rate(successes, trials)
    inner_lower, inner_upper = z > 0, z < 1  # false where undefined
    lower, upper = np.where(z == 0, 0.0, np.nan), np.where(z == 1, 1.0, np.nan)
    k, rest = np.broadcast_arrays(successes, trials - successes)
    lower[inner_lower] = betaincinv(k[inner_lower], rest[inner_lower] + 1, alpha / 2)
    upper[inner_upper] = betaincinv(k[inner_upper] + 1, rest[inner_upper], 1 - alpha / 2)
    return Interval(lower, upper)


def mid_p_limits(rate: FloatArray, trials: FloatArray, z: FloatArray | float) -> Interval:
    """Exact limits that count half of the probability of the outcome itself, with a critical value in place of a level.

    They cover as often as they say on average and little less at worst, where Clopper and Pearson's never cover less and mostly
    more. Trials need not be whole: the distribution function of the binomial is the beta's; of infinitely many the rate is
    known. Lancaster (1961), doi:10.1080/01621459.1961.10482105; Berry, Armitage (1995), doi:10.2307/2348891.

    >>> limits = mid_p_limits(np.array([0.0, 0.3]), np.array([10.0, 10.0]), 1.959964)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([0.0, 0.0826], [0.2589, 0.6199])
    """
    from scipy.special import betainc, ndtr

    certain = np.isinf(trials)
    n = np.where(certain, 1.0, trials)
    k = rate * n
    below, above = np.maximum(k, 1e-300), np.maximum(n - k, 1e-300)

    def at_most(p: FloatArray) -> FloatArray:
        """Probability of fewer successes and half of that of as many."""
        fewer = np.where(k > 0, 1 - betainc(below, n - k + 1, p), 0.0)
        return np.asarray(0.5 * (fewer + np.where(k < n, 1 - betainc(k + 1, above, p), 1.0)))

    tail_mass = ndtr(-np.asarray(z, dtype=np.float64))
    ends = np.zeros(np.broadcast_shapes(k.shape, tail_mass.shape)), np.ones(k.shape)
    lower = crossing(lambda p: at_most(p) - (1 - tail_mass), *ends)
    upper = crossing(lambda p: at_most(p) - tail_mass, *ends)
    some = trials > 0
    lower = np.where(rate == 0, 0.0, np.where(certain, rate, lower))
    upper = np.where(rate == 1, 1.0, np.where(certain, rate, upper))
    return Interval(np.where(some, lower, np.nan), np.where(some, upper, np.nan))


def wald(successes: FloatArray, trials: FloatArray, level: float) -> Interval:
    """Normal interval with the plug-in variance: covers too seldom, and never at 0 or 1.

    >>> limits = wald(np.array([9.0]), np.array([10.0]), 0.95)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([0.7141], [1.0859])
    """
    q = normal_quantile(level)
    z = _rate(successes, trials)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = q * np.sqrt(z * (1 - z) / trials)
    return Interval(z - half, z + half)


def percentile(successes: FloatArray, trials: FloatArray, level: float) -> Interval:
    """Percentile bootstrap without resampling: quantiles of Binomial(trials, rate) / trials, as of infinitely many replicates.

    The coverage is below nominal, and 0 where all or none succeed. InputError if a count is not whole. Herlihy, Truong,
    Chouldechova, Dudik (2024), Appendix A.

    >>> limits = percentile(np.array([1.0, 9.0]), np.array([5.0, 10.0]), 0.95)
    >>> limits.lower.tolist(), limits.upper.tolist()
    ([0.0, 0.7], [0.6, 1.0])
    """
    alpha = tail(level)
    z = _rate(successes, trials)
    broken = np.isfinite(z) & ((trials != np.round(trials)) | (successes != np.round(successes)))
    if broken.any():
        where = np.unravel_index(int(np.argmax(broken)), broken.shape)
        k, n = (float(np.broadcast_to(part, z.shape)[where]) for part in (successes, trials))
        raise InputError(
            f"the percentile interval needs whole counts, got {k:g} of {n:g} (weights?); use 'wilson' instead"
        )
    return Interval(_binomial_quantile(alpha / 2, trials, z), _binomial_quantile(1 - alpha / 2, trials, z))


def _binomial_quantile(probability: float, trials: FloatArray, rate: FloatArray) -> FloatArray:
    """Smallest k/n whose binomial distribution function reaches the probability."""
    from scipy.special import bdtrik, betainc

    inner = (rate > 0) & (rate < 1)
    n, p = np.where(inner, trials, 1.0), np.where(inner, rate, 0.5)
    goal = probability * (1 - 64 * np.finfo(np.float64).eps)  # probabilities met exactly count as reached
    k = np.clip(np.ceil(bdtrik(goal, n, p)), 0, n)
    below = np.maximum(k - 1, 0)
    k = np.where(betainc(n - below, below + 1, 1 - p) >= goal, below, k)  # P(X <= below)
    return np.where(inner, k / n, rate)


def _rate(successes: FloatArray, trials: FloatArray) -> FloatArray:
    """Successes per trial, NaN where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate: FloatArray = np.where(trials > 0, successes / trials, np.nan)
    return rate
