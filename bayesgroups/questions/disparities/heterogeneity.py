"""The variance tau^2 of the population that subgroups are drawn from, when their sampling variances are known.

    y_a ~ Normal(mu_a, v_a),   mu_a ~ Normal(mu, tau^2)

Pure functions of arrays y, v (..., subgroup) of two subgroups or more, v > 0; leading axes are answered one by one. With
w(t) = 1 / (v + t) and m(t) the mean by these weights, Q(t) = sum w (y - m)^2 is a chi-square on K - 1 degrees of freedom
at t = tau^2; it falls in t.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import moments

BISECTIONS = 80


def q_statistic(y: FloatArray, v: FloatArray, t: FloatArray | float = 0.0) -> FloatArray:
    """Q(t), (...), for a between-group variance t in squared units of y; at t = 0 the statistic of Cochran."""
    total = v + np.asarray(t, dtype=np.float64)[..., None]
    least = total.min(axis=-1, keepdims=True)  # relative weights, so that tiny variances stay numbers
    w = least / total
    m = (w * y).sum(axis=-1, keepdims=True) / w.sum(axis=-1, keepdims=True)
    return np.asarray((w * (y - m) ** 2).sum(axis=-1) / least[..., 0], dtype=np.float64)


def hedges(y: FloatArray, v: FloatArray) -> FloatArray:
    """Hedges and Olkin (HE), raw: the variance of the y minus the mean of the v; v may be 0.

    The same as the corrected variance of Lum et al., and unbiased for the variance of these very subgroups as well.
    """
    return np.asarray(y.var(axis=-1, ddof=1) - v.mean(axis=-1), dtype=np.float64)


def dersimonian_laird(y: FloatArray, v: FloatArray) -> FloatArray:
    """DerSimonian and Laird (DL), raw: (Q(0) - (K - 1)) / (sum w - sum w^2 / sum w)."""
    return moments.between(y, v, np.ones(np.broadcast_shapes(y.shape, v.shape), dtype=bool)).raw[..., 0]


def paule_mandel(y: FloatArray, v: FloatArray) -> FloatArray:
    """Paule and Mandel (PM), also the empirical-Bayes estimate: the root of Q(t) = K - 1, or 0 where there is none."""
    return solve_q(y, v, lambda t: np.full(t.shape, float(y.shape[-1] - 1)))


def sidik_jonkman(y: FloatArray, v: FloatArray) -> FloatArray:
    """Sidik and Jonkman (SJ), t0 Q(t0) / (K - 1) with t0 the variance of the y (divisor K); v may be 0.

    Positive unless all y are equal, so far too large where tau^2 is 0.
    """
    start = y.var(axis=-1)
    safe = np.where(start > 0, start, 1.0)
    return np.where(start > 0, safe * q_statistic(y, v, safe) / (y.shape[-1] - 1), 0.0)


def solve_q(y: FloatArray, v: FloatArray, target: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Value t (...) where Q falls below a target that does not fall in t; 0 where it starts there.

    The target takes t (...) and returns positive numbers; t is infinite where it is 0 for all t.
    """
    squares = ((y - y.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    low = np.zeros(squares.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Q(t) is at most squares / t.
        high = np.where(squares > 0, squares / target(np.where(squares > 0, squares, 1.0)), 0.0)
        bound = np.where(squares > 0, squares / target(low), 0.0)
    high = np.minimum(np.maximum(high, squares), bound)
    unbounded = np.isinf(high)
    high = np.where(unbounded, 0.0, high)
    inside = q_statistic(y, v, low) > target(low)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = q_statistic(y, v, middle) > target(middle)
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(unbounded, np.inf, np.where(inside, (low + high) / 2, 0.0))


def dersimonian_laird_error(y: FloatArray, v: FloatArray, t: FloatArray) -> FloatArray:
    """Standard error of the DL estimate if tau^2 is t, (...).

    sqrt(2 (K - 1) + 4 t tr P + 2 t^2 sum P^2) / tr P with P = W - w w' / sum w.
    """
    w = np.broadcast_to(1 / v, np.broadcast_shapes(y.shape, v.shape))
    sum_1, sum_2, sum_3 = ((w**power).sum(axis=-1) for power in (1, 2, 3))
    trace = sum_1 - sum_2 / sum_1
    squares = sum_2 - 2 * sum_3 / sum_1 + (sum_2 / sum_1) ** 2
    error = np.sqrt(2 * (y.shape[-1] - 1) + 4 * t * trace + 2 * t**2 * squares) / trace
    return np.asarray(error, dtype=np.float64)


def i_squared(y: FloatArray, v: FloatArray) -> FloatArray:
    """Share of the spread of the y that sampling does not explain, max(0, 1 - (K - 1) / Q), in [0, 1).

    Higgins, Thompson (2002), doi:10.1002/sim.1186.
    """
    q = q_statistic(y, v)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(0.0, 1 - (y.shape[-1] - 1) / q), dtype=np.float64)
