"""The variance of the true values of these very subgroups: an unbiased estimate, its variance, and an interval.

With y_a the mean of n_a rows, v_a the unbiased estimate of its sampling variance, and K subgroups,

    M = var(mu),   estimate = var(y) - mean(v)

(divisors K - 1) is unbiased whatever the rows are. Its error has a part that grows with M and one that does not,

    Var = 4 M v~ / (K - 1) + 2 / K^2 sum_a v_a^2 n_a / (n_a - 1) + 4 / (K^2 (K - 1)^2) sum_{a < b} v_a v_b,

with v~ the mean of the v_a weighted by (mu_a - mean)^2; write y_a^2 - v_a as a mean over pairs of rows to see it. Testing
every M >= 0 with it gives an interval that neither resamples nor takes the subgroups for draws from a population.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.questions.disparities.rate_moments import product_of_means, product_of_rates, squares_of_rates
from bayesgroups.questions.disparities.unified import tails
from bayesgroups.questions.sampling_variances import Estimates

BISECTIONS = 50
DOUBLINGS = 60
LARGEST_SHAPE = 1e8
"""Largest shape of the gamma law; beyond it is normal to all digits that matter."""
BORROWED = 2.0
"""Rows with everybody's rate that are lent to a subgroup to say how exact its own rate is."""


@dataclass(frozen=True)
class Spread:
    """Estimate of M and what its law depends on.

    ``raw`` (...) is unbiased; ``y``, ``count`` and ``smooth`` (..., subgroup) are the estimates, their rows, and sampling
    variances that are never 0 where others are not. ``constant``, ``third`` (...) are the variance and third central moment
    of ``raw`` at M = 0, and ``typical`` the weighted mean v~, all as far as unbiased estimates tell.
    """

    raw: FloatArray
    y: FloatArray
    count: FloatArray
    smooth: FloatArray
    binomial: bool
    constant: FloatArray
    third: FloatArray
    typical: FloatArray


@dataclass(frozen=True)
class Law:
    """Variance and third central moment of the estimate, (...)."""

    variance: FloatArray
    third: FloatArray


def of_cells(estimates: Estimates) -> Spread:
    """Estimate of M from one metric of a tally, of two subgroups or more."""
    if estimates.binomial:
        return of_rates(estimates.y * estimates.count, estimates.count, estimates.v, estimates.pooled)
    # E s^4 = sigma^4 (d + 1) / (d - 1) of normal rows.
    several = np.where(np.isfinite(estimates.count), estimates.count, 1.0)
    less = np.where(estimates.rests_on_pooling | ~np.isfinite(estimates.count), 1.0, (several - 1) / (several + 1))
    smooth = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    return of_means(estimates.y, estimates.count, estimates.v, estimates.v**2 * less, smooth)


def of_rates(successes: FloatArray, count: FloatArray, v: FloatArray, pooled: FloatArray) -> Spread:
    """Estimate of M from rates (..., subgroup) of independent rows, of two subgroups or more, each with a row.

    ``v`` and ``pooled`` are sampling variances: y (1 - y) / (d - 1) where there are two rows, and from the pooled row variance.
    """
    successes, count, v, pooled = np.broadcast_arrays(successes, count, v, pooled)
    y = successes / count
    rate = y.mean(axis=-1, keepdims=True)
    lent = (successes + BORROWED * rate) / (count + BORROWED)
    squares = squares_of_rates(successes, count, v, pooled)
    return _spread(
        y, count, v, squares, product_of_rates(successes, count, v), lent * (1 - lent) / count, binomial=True
    )


def of_means(y: FloatArray, count: FloatArray, v: FloatArray, v_squared: FloatArray, smooth: FloatArray) -> Spread:
    """Estimate of M from estimates of any kind (..., subgroup), of two subgroups or more; rows are infinite where v is known.

    ``v_squared`` estimates the squares of the sampling variances (the square of an estimate is too large on average),
    ``smooth`` has something above 0 in place of a v of 0. The law holds where y and v are uncorrelated, so it is less exact
    for skewed losses.
    """
    y, count, v, v_squared, smooth = np.broadcast_arrays(y, count, v, v_squared, smooth)
    return _spread(y, count, v, v_squared, product_of_means(y, v, v_squared), smooth, binomial=False)


def law(spread: Spread, m: FloatArray) -> Law:
    """Law of the estimate if M is m, (...).

    Variance and third moment are each the larger of two answers: that of the unbiased estimates, which are poor where few
    subgroups decide, and one that takes the true values for draws with variance m, which are then known better than by the
    estimates alone.
    """
    y, v = spread.y, spread.smooth
    k = y.shape[-1]
    mean = y.mean(axis=-1, keepdims=True)
    each = m[..., None]
    both = each + v
    reliability = each / np.where(both > 0, both, 1.0)  # weight of a subgroup's own estimate
    guess = mean + reliability * (y - mean)
    square = (reliability * (y - mean)) ** 2 + (1 - reliability) * each
    constant, third = spread.constant, spread.third
    if spread.binomial:
        v = np.maximum(guess * (1 - guess) - reliability * v, 0.0) / spread.count
        drawn = _at_zero(v, v**2, spread.count)
        constant, third = np.maximum(constant, drawn.variance), np.maximum(third, drawn.third)
    total = square.sum(axis=-1)
    typical = np.where(total > 0, (square * v).sum(axis=-1) / np.where(total > 0, total, 1.0), v.mean(axis=-1))
    typical = np.maximum(typical, spread.typical)
    return Law(constant + 4 * typical * m / (k - 1), third + 24 * typical**2 * m / (k - 1) ** 2)


def interval(spread: Spread, level: float, *, upper_only: bool = False) -> Interval:
    """All M >= 0 that the estimate does not speak against: never negative, never empty; NaN where all sampling variances are 0.

    Under M the estimate has mean M, the variance and third moment of `law`, and otherwise the law of a gamma variable. For equal
    and known variances it is a shifted non-central chi-square, of which this is the classic approximation. ``upper_only`` gives
    the upper limit all of the error; else both ends share it as in `bayesgroups.questions.disparities.unified`. Pearson (1959),
    doi:10.2307/2333533 (the approximation); Feldman, Cousins (1998), doi:10.1103/PhysRevD.57.3873.
    """
    error = tail(level)
    start = np.maximum(spread.raw, 0.0)

    def probability(m: FloatArray, *, upper: bool) -> FloatArray:
        """Probability of an estimate as large as this one, or as small, less the share of the error at that end."""
        at = law(spread, m)
        variance = np.where(at.variance > 0, at.variance, 1.0)
        skew = at.third / variance**1.5
        shape = 4 / np.maximum(skew**2, 4 / LARGEST_SHAPE)
        value = np.maximum(shape + (spread.raw - m) / np.sqrt(variance) * np.sqrt(shape), 0.0)
        if upper_only:
            return np.asarray(gammainc(shape, value) - error, dtype=np.float64)
        split = tails(m / np.sqrt(variance), level)
        tested = gammaincc(shape, value) - split.above if upper else gammainc(shape, value) - split.below
        return np.asarray(tested, dtype=np.float64)

    def edge(low: FloatArray, high: FloatArray, *, upper: bool) -> FloatArray:
        """Start of the lower limit, with ``upper``, or end of the upper limit."""
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            onwards = probability(middle, upper=upper) < 0 if upper else probability(middle, upper=upper) >= 0
            low, high = np.where(onwards, middle, low), np.where(onwards, high, middle)
        return (low + high) / 2

    lower = np.zeros(start.shape)
    if not upper_only:
        lower = np.where(probability(lower, upper=True) < 0, edge(lower, start, upper=True), 0.0)
    high = start + np.sqrt(law(spread, start).variance)
    for _ in range(DOUBLINGS):
        inside = probability(high, upper=False) >= 0
        if not inside.any():
            break
        high = np.where(inside, 2 * high, high)
    limit = edge(start, high, upper=False)
    defined = law(spread, np.zeros(start.shape)).variance > 0
    return Interval(np.where(defined, lower, np.nan), np.where(defined, np.maximum(limit, lower), np.nan))


def _spread(
    y: FloatArray, count: FloatArray, v: FloatArray, v_squared: FloatArray, product: FloatArray, smooth: FloatArray, *,
    binomial: bool,
) -> Spread:  # fmt: skip
    k = y.shape[-1]
    raw = y.var(axis=-1, ddof=1) - v.mean(axis=-1)
    zero = _at_zero(v, v_squared, count)
    # The weighted mean of the v_a is drawn towards the plain one as far as M is lost in noise.
    lost = np.sqrt(zero.variance)
    weight = np.maximum(raw, 0.0) + lost
    typical = np.maximum(product, 0.0) / (k - 1) + lost * v.mean(axis=-1)
    typical = np.minimum(typical / np.where(weight > 0, weight, 1.0), np.maximum(smooth, v).max(axis=-1))
    return Spread(raw, y, count, smooth, binomial, zero.variance, zero.third, typical)


def _at_zero(v: FloatArray, v_squared: FloatArray, count: FloatArray) -> Law:
    """The law of the estimate at M = 0; the third moment as if y were normal."""
    k = v.shape[-1]
    several = np.where(np.isfinite(count) & (count > 1), count, np.inf)
    pairs = 1 + 1 / (several - 1)  # d / (d - 1)
    total, squares = v.sum(axis=-1), v_squared.sum(axis=-1)
    crossed = np.maximum(total**2 - squares, 0.0) / 2
    variance = 2 * (v_squared * pairs).sum(axis=-1) / k**2 + 4 * crossed / (k * (k - 1)) ** 2
    trace = (v * v_squared).sum(axis=-1) * (1 - 3 / k) + 3 * squares * total / k**2 - (total / k) ** 3
    return Law(variance, 8 * np.maximum(trace, 0.0) / (k - 1) ** 3)
