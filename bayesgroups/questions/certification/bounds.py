"""One-sided limits of a metric per subgroup, and the p-values that go with them.

Arrays have the subgroup as their last axis. A limit is asked for by its critical value ``z``, the normal quantile of
its level; exact limits take the level with that quantile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import anytime, means, proportions
from bayesgroups.frequentist.intervals.crossings import crossing
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.questions.subgroup_values import Sample

OfRates = Literal["wald", "wilson", "jeffreys", "clopper_pearson"]
OfMeans = Literal["pooled_t", "pooled_normal", "separate_normal"]
OfLooks = Literal["anytime"]
Choice = Literal["auto"] | OfRates | OfMeans | OfLooks
RATES: tuple[str, ...] = get_args(OfRates)
MEANS: tuple[str, ...] = get_args(OfMeans)
LOOKS: tuple[str, ...] = get_args(OfLooks)

MIN_LOG_ERROR = -36.0
"""Smallest logarithm of a p-value of anytime limits of means: the precision of a level."""

_PROPORTIONS: dict[str, Callable[[FloatArray, FloatArray, float], Interval]] = {
    "wald": proportions.wald,
    "wilson": proportions.wilson,
    "jeffreys": proportions.jeffreys,
    "clopper_pearson": proportions.clopper_pearson,
}


def limits(sample: Sample, interval: str, z: float) -> Interval:
    """One-sided limits, each with critical value ``z`` (0 < z < 8; 1.645 for 95 %), not clipped; NaN where undefined.

    ``interval`` is one of `RATES`, `MEANS` or `LOOKS`. An anytime-valid set misses on either side with at most its whole error,
    so that one of its ends is a one-sided limit with the same error.
    """
    if not 0 < z < 8:
        raise InputError(f"critical value {z!r} must be larger than 0 and smaller than 8, such as 1.645")
    level = NormalDist().cdf(z) - NormalDist().cdf(-z)
    if interval == "wald":  # from the critical value itself: every digit of published limits comes back
        with np.errstate(divide="ignore", invalid="ignore"):
            half = z * np.sqrt(sample.estimate * (1 - sample.estimate) / sample.count)
        return Interval(sample.estimate - half, sample.estimate + half)
    if interval == "anytime":
        return _anytime(sample, NormalDist().cdf(z))
    if interval in _PROPORTIONS:
        return _PROPORTIONS[interval](sample.successes, sample.count, level)
    if interval == "pooled_t":
        return means.pooled_t(sample.estimate, sample.variance, sample.freedom, level)
    half = z * np.sqrt(sample.variance if interval == "pooled_normal" else sample.own_variance)
    return Interval(sample.estimate - half, sample.estimate + half)


def p_values(sample: Sample, interval: str, standard: float) -> tuple[FloatArray, FloatArray]:
    """One-sided p-values (subgroup,) of values of at least the standard (small: below it) and at most; NaN where undefined.

    The test is that of `limits`: the standard lies outside the limits at level 1 - a exactly where the p-value is below a.
    """
    from scipy.special import betainc, ndtr, stdtr

    m, n = sample.estimate, sample.count
    defined = np.isfinite(m)
    if interval == "anytime":
        p = _anytime_p_value(sample, standard)
        return np.where(m < standard, p, np.where(defined, 1.0, np.nan)), np.where(
            m > standard, p, np.where(defined, 1.0, np.nan)
        )
    if interval in ("jeffreys", "clopper_pearson"):
        k, rest = np.where(defined, sample.successes, 1.0), np.where(defined, n - sample.successes, 1.0)
        add = 0.5 if interval == "jeffreys" else 0.0
        c = min(max(standard, 0.0), 1.0)
        upper_a, upper_b = (k + add, rest + add) if add else (k + 1, np.maximum(rest, 1e-300))
        lower_a, lower_b = (k + add, rest + add) if add else (np.maximum(k, 1e-300), rest + 1)
        # At the ends the limit is the end of the range, so that nothing can be shown beyond it.
        below = np.where(rest == 0, 1.0, 1 - betainc(upper_a, upper_b, c))
        above = np.where(k == 0, 1.0, betainc(lower_a, lower_b, c))
        return np.where(defined, below, np.nan), np.where(defined, above, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = {
            "wald": np.sqrt(m * (1 - m) / n),
            "wilson": np.sqrt(np.full_like(m, max(standard * (1 - standard), 0.0)) / n),
            "separate_normal": np.sqrt(sample.own_variance),
        }.get(interval, np.sqrt(sample.variance))
        distance = np.where(m == standard, 0.0, (m - standard) / error)
    if interval == "pooled_t":
        return stdtr(sample.freedom, distance), stdtr(sample.freedom, -distance)
    return ndtr(distance), ndtr(-distance)


def _anytime(sample: Sample, level: float) -> Interval:
    """Limits of rates, or of means with their own row variance, that hold at all looks together."""
    some = np.isfinite(sample.estimate)
    count, nothing = np.where(some, sample.count, 0.0), np.full(some.shape, np.nan)
    if _are_rates(sample):
        limits = anytime.rate(np.where(some, sample.successes, 0.0), count, level)
    else:
        limits = anytime.mean(sample.estimate, _row_variance(sample), sample.count, level)
    return limits.where(some, Interval(nothing, nothing))


def _anytime_p_value(sample: Sample, standard: float) -> FloatArray:
    """Error at which a limit reaches the standard."""
    some = np.isfinite(sample.estimate)
    if _are_rates(sample):
        successes, count = (np.where(some, part, 0.0) for part in (sample.successes, sample.count))
        return np.where(some, anytime.p_value(np.asarray(standard), successes, count), np.nan)
    variance, distance = _row_variance(sample), np.abs(sample.estimate - standard)

    def excess(log_error: FloatArray) -> FloatArray:
        limits = [
            anytime.mean(np.zeros(1), variance[[i]], sample.count[[i]], -math.expm1(error)).upper
            for i, error in enumerate(log_error)
        ]
        return np.concatenate(limits) - distance

    ends = np.full(some.shape, MIN_LOG_ERROR), np.full(some.shape, -1e-9)
    return np.where(some, np.exp(crossing(excess, *ends)), np.nan)


def _row_variance(sample: Sample) -> FloatArray:
    """Variance of rows, from that of resampled means."""
    return np.asarray(sample.own_variance * sample.count**2 / (sample.count - 1))


def _are_rates(sample: Sample) -> bool:
    return bool(np.isfinite(sample.successes).any())
