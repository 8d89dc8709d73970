"""The largest non-coverage of a normal interval whose bias has bounded moments, and what it asks for.

An estimate misses its target by a standard normal error plus a bias b. With T = b^2 the interval of
half-width c misses with probability r(T, c) = Phi(-sqrt T - c) + Phi(sqrt T - c). Over all laws with E T = m2
and E T^2 <= kappa m2^2 the worst one has two points, so both the worst law and the critical value are found
exactly, by one-dimensional searches.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import tail

MAX_MEAN_SQUARED_BIAS = 1e10
"""Mean squared bias beyond which the normal error hardly counts, and bounds by moments alone are taken."""
COARSE, FINE = 32, 6
"""Nodes of the first search for the worst two-point law, and of every closer one."""
RESOLUTION = 1e-6
"""Width of the last search, relative to that of the peak, which is about 1 / sqrt(m2)."""


def critical_value(m2: ArrayLike, kappa: ArrayLike = np.inf, *, level: float = 0.95) -> FloatArray:
    """Half-width, in standard errors, that covers whatever the law of the bias.

    It is the c at which the largest non-coverage over laws of the bias is 1 - level. ``m2`` is the mean square of the
    bias in squared standard errors, ``kappa`` the bound of its kurtosis, infinite for none; NaN gives NaN. InputError if
    ``m2`` is negative or ``kappa`` less than 1. Armstrong, Kolesar, Plagborg-Moller (2022), section 3 and Appendix B,
    doi:10.3982/ECTA18597.

    >>> critical_value([1.0, 4.0]).round(5).tolist(), critical_value(4.0, 3.0).round(5).tolist()
    ([3.2592, 7.21635], 4.61951)
    """
    alpha = tail(level)
    m, k = (part.astype(np.float64) for part in np.broadcast_arrays(m2, kappa))
    if (m < 0).any():
        raise InputError(f"m2={float(m[m < 0].ravel()[0]):g} is a mean square and cannot be negative")
    if (k < 1).any():
        raise InputError(f"kappa={float(k[k < 1].ravel()[0]):g} is a kurtosis and cannot be less than 1")
    critical = np.full(m.size, np.nan)
    flat_m, flat_k = m.ravel(), k.ravel()
    far, near = flat_m > MAX_MEAN_SQUARED_BIAS, flat_m <= MAX_MEAN_SQUARED_BIAS
    critical[far] = _moment_bound(flat_m[far], flat_k[far], alpha)
    critical[near] = _search(flat_m[near], flat_k[near], alpha)
    critical[np.isnan(flat_k)] = np.nan
    return critical.reshape(m.shape)


def bias_bound(kappa: ArrayLike, *, level: float = 0.95) -> FloatArray:
    """Bound of b^2 / E b^2 that holds with probability ``level`` for every law of kurtosis ``kappa``, which is 1 or larger.

    The smaller of the bounds of Markov and Cantelli, to which `critical_value` ``** 2 / m2`` tends as the bias outgrows
    the error.

    >>> bias_bound([1.0, float("inf")], level=0.95).round(6).tolist()
    [1.0, 20.0]
    """
    alpha = tail(level)
    k = np.asarray(kappa, dtype=np.float64)
    bound: FloatArray = np.minimum(1 / alpha, 1 + np.sqrt((k - 1) * (1 - alpha) / alpha))
    return bound


def _moment_bound(m2: FloatArray, kappa: FloatArray, alpha: float) -> FloatArray:
    """The critical value when the bias is so large that the error only adds its own quantile, at most."""
    from scipy.special import ndtri

    with np.errstate(over="ignore"):
        cap = np.sqrt(1 + m2) / np.sqrt(alpha)  # Chebyshev for bias and error together
        bound: FloatArray = np.minimum(
            cap, np.sqrt(m2) * np.sqrt(bias_bound(kappa, level=1 - alpha)) - ndtri(alpha / 2)
        )
    return bound


def _search(m2: FloatArray, kappa: FloatArray, alpha: float) -> FloatArray:
    """Critical values by Newton steps: without the bound of the kurtosis, then with it where it binds."""
    from scipy.special import ndtri

    b = np.sqrt(m2)
    smallest = np.maximum(b - ndtri(alpha), 0.0)  # a bias of +-b for sure asks for more than one-sided
    free = _decreasing_root(lambda c, at: _worst(m2[at], c, alpha), smallest, np.sqrt((1 + m2) / alpha))
    t0 = _tangent(free) ** 2
    with np.errstate(over="ignore"):  # a bound too large for a number does not bind
        binding = np.flatnonzero((m2 < t0) & (kappa * np.maximum(m2, 1e-300) < t0))
    if binding.size:
        mb, kb = m2[binding], kappa[binding]
        free[binding] = _decreasing_root(
            lambda c, at: _worst_bounded(mb[at], kb[at], c, alpha), smallest[binding], free[binding]
        )
    return free


def _decreasing_root(
    function: Callable[[FloatArray, NDArray[np.intp]], tuple[FloatArray, FloatArray]],
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """Roots of decreasing functions; ``function(c, at)`` is value and slope of those at positions ``at``."""
    low, high = lower.copy(), upper.copy()
    c = lower.copy()
    at = np.arange(len(c))
    for _ in range(200):
        if at.size == 0:
            break
        value, slope = function(c[at], at)
        low[at] = np.where(value > 0, c[at], low[at])
        high[at] = np.where(value > 0, high[at], c[at])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = value / slope
        new = c[at] - step
        new = np.where((new > low[at]) & (new < high[at]), new, (low[at] + high[at]) / 2)
        # A tiny step ends it even where rounding puts its end outside the bracket.
        tolerance = 1e-11 * (1 + np.abs(c[at]))
        done = (np.abs(step) <= tolerance) | (high[at] - low[at] <= tolerance)
        c[at] = np.where(done, c[at], new)
        at = at[~done]
    return c


def _miss(u: FloatArray, c: FloatArray) -> FloatArray:
    """r(u^2, c)."""
    from scipy.special import ndtr

    missed: FloatArray = ndtr(-u - c) + ndtr(u - c)
    return missed


def _miss_slope(u: FloatArray, c: FloatArray) -> FloatArray:
    """Derivative of r(u^2, c) with respect to c."""
    return -(_density(u + c) + _density(u - c))


def _density(x: FloatArray) -> FloatArray:
    with np.errstate(under="ignore"):
        density: FloatArray = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
    return density


def _tangent(c: FloatArray) -> FloatArray:
    """Root of t0, where the line from (0, r(0, c)) touches r(., c) from above; 0 where r is concave."""
    u = np.sqrt(np.maximum(2.5 * (c * c - 3), 0.0))  # first order in c^2 - 3
    steep = np.flatnonzero(c * c - 3 > 1e-4)
    if steep.size == 0:
        return u
    cs = c[steep]
    start = _miss(np.zeros_like(cs), cs)

    def gap(x: FloatArray, at: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        near, far = _density(x - cs[at]), _density(x + cs[at])
        first = near - far
        second = (x + cs[at]) * far - (x - cs[at]) * near
        return start[at] + x / 2 * first - _miss(x, cs[at]), (x * second - first) / 2

    # Beyond c = 3 the point of contact lies beyond c; far below it everything underflows.
    u[steep] = _decreasing_root(gap, np.where(cs > 3, cs, u[steep] / 4), cs + 10)
    return u


def _worst(m2: FloatArray, c: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Largest non-coverage less alpha, and its slope, without a bound of the kurtosis."""
    u = np.maximum(_tangent(c), np.sqrt(m2))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(u > 0, m2 / (u * u), 1.0)  # of the law that lies at u^2; the rest lies at 0
    zero = np.zeros_like(c)
    value = (1 - share) * _miss(zero, c) + share * _miss(u, c)
    return value - alpha, (1 - share) * _miss_slope(zero, c) + share * _miss_slope(u, c)


def _worst_bounded(
    m2: FloatArray, kappa: FloatArray, c: FloatArray, alpha: float,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """The same over two-point laws with E T = m2 and E T^2 = kappa m2^2.

    They are one family: points m2 (1 - y) and m2 (1 + (kappa - 1) / y), y in (0, 1].
    """
    m, k, half = m2[:, None], kappa[:, None], c[:, None]
    low, high = np.zeros_like(m), np.ones_like(m)
    nodes = COARSE
    y = high
    finest = np.sqrt(1 + m2.max()) / RESOLUTION
    for _ in range(1 + int(np.ceil(np.log(finest / COARSE) / np.log(FINE / 2)))):
        y = low + (high - low) * (np.arange(nodes) + 1) / nodes
        best = np.argmax(_mix(_miss, y, m, k, half), axis=1)[:, None]
        step = (high - low) / nodes
        y = np.take_along_axis(y, best, axis=1)
        low, high = np.maximum(y - step, 0.0), np.minimum(y + step, 1.0)
        nodes = FINE
    value, slope = (_mix(function, y, m, k, half)[:, 0] for function in (_miss, _miss_slope))
    return value - alpha, slope


def _mix(
    function: Callable[[FloatArray, FloatArray], FloatArray],
    y: FloatArray,
    m2: FloatArray,
    kappa: FloatArray,
    c: FloatArray,
) -> FloatArray:
    """Mean of a function of (sqrt T, c) under the two-point law."""
    share = y * y / (y * y + (kappa - 1))
    near, far = np.sqrt(m2 * (1 - y)), np.sqrt(m2 * (1 + (kappa - 1) / y))
    mean: FloatArray = (1 - share) * function(near, c) + share * function(far, c)
    return mean
