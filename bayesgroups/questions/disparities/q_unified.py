"""The interval for tau^2 that keeps its level at 0: Q(t) between limits that are ordered by likelihood ratio.

A two-sided Q-profile interval covers 97.5 % at tau^2 = 0, where its lower end cannot err, and can be empty. Ordered as by
Feldman and Cousins the same test is one-sided at 0, two-sided far from it, and exact everywhere.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtr, chdtri, lambertw

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.questions.disparities.heterogeneity import q_statistic

BISECTIONS = 80


def interval(y: FloatArray, v: FloatArray, level: float) -> Interval:
    """All t with Q(t) within the limits, (...), never empty; v > 0, two subgroups or more.

    It covers with the probability ``level`` where the y are normal with known variances, at tau^2 = 0 too (more often there
    for levels of about one half and less). The limits depend on rho = u / (u + t) with u a typical sampling variance.
    Whatever u is, the level is exact; where all variances are the same the order is that of the restricted likelihood
    ratio. Feldman, Cousins (1998), doi:10.1103/PhysRevD.57.3873; Viechtbauer (2007), doi:10.1002/sim.2514.
    """
    error = tail(level)
    y, v = np.broadcast_arrays(y, v)
    freedom = float(y.shape[-1] - 1)
    typical = _typical(v)
    squares = ((y - y.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)

    def crossing(top: FloatArray, *, large: bool) -> FloatArray:
        """Root of Q(t), where it stops being too large or starts being too small, for t in [0, top]."""
        low, high = np.zeros(top.shape), top
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            s = q_statistic(y, v, middle) / freedom
            out = probability_of_likelier(s, typical / (typical + middle), freedom) > level
            onwards = (s > 1) & out if large else (s > 1) | ~out
            low, high = np.where(onwards, middle, low), np.where(onwards, high, middle)
        return (low + high) / 2

    s = q_statistic(y, v) / freedom
    starts_inside = (s <= 1) | (probability_of_likelier(s, np.ones(s.shape), freedom) <= level)
    lower = np.where(starts_inside, 0.0, crossing(squares / float(chdtri(freedom, error)), large=True))
    smallest = _smallest(freedom, level)  # no lower limit of s is larger, nor is it reached before rho is as small
    enough = np.maximum(typical * (1 / smallest - 1), squares / (freedom * smallest))
    return Interval(lower, crossing(enough, large=False))


def probability_of_likelier(s: FloatArray, rho: FloatArray, freedom: float) -> FloatArray:
    """Probability of data that speak less against a tau^2 than these do; one minus the p-value of the test.

    ``s`` is Q / freedom, with Q a chi-square; ``rho`` the sampling variance over the total variance, 1 where tau^2 is 0.
    Data are ordered by -2 log of the ratio of the likelihood to its maximum over tau^2 >= 0, which is, over freedom, s - 1
    - log s, and s - s / rho - log rho for s below rho, where that maximum is at 0.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_rho = np.log(rho)
        free = s - 1 - np.log(s)
        ratio = np.maximum(np.where(s < rho, s - s / rho - log_rho, free), 0.0)
        point = -np.exp(-1 - ratio)
        upper = -lambertw(point, -1).real
        bounded = np.where(rho < 1, np.maximum(rho * (-log_rho - ratio) / (1 - rho), 0.0), 0.0)
        lower = np.where(ratio > rho - 1 - log_rho, bounded, -lambertw(point).real)
    upper, lower = np.where(s > 1, s, upper), np.where(s > 1, lower, s)
    lower = np.where((s <= 1) & (rho == 1), 0.0, lower)  # all such s are alike: nothing is likelier than tau^2 = 0
    upper = np.where((s <= 1) & (rho == 1), 0.0, upper)
    return np.asarray(chdtr(freedom, freedom * upper) - chdtr(freedom, freedom * lower), dtype=np.float64)


def _smallest(freedom: float, level: float) -> float:
    """The lower limit of s far from 0."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        out = float(probability_of_likelier(np.array(middle), np.zeros(()), freedom)) > level
        low, high = (middle, high) if out else (low, middle)
    return high


def _typical(v: FloatArray) -> FloatArray:
    """(K - 1) sum w / ((sum w)^2 - sum w^2), the common variance where there is one, (...)."""
    least = v.min(axis=-1)
    w = least[..., None] / v
    total = w.sum(axis=-1)
    pairs = total**2 - (w**2).sum(axis=-1)
    return np.asarray(least * (v.shape[-1] - 1) * total / np.where(pairs > 0, pairs, np.inf), dtype=np.float64)
