"""Conjugate posteriors: a beta for a count, a normal for an estimate with known variance."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def beta(k: FloatArray, n: FloatArray, rng: np.random.Generator, *, draws: int, prior: float) -> FloatArray:
    """Draws (draw, subgroup) of rates: Beta(prior + k, prior + n - k); n = 0 gives the prior."""
    return rng.beta(prior + k, prior + n - k, size=(draws, len(k)))


def normal(
    z: FloatArray, v: FloatArray, rng: np.random.Generator, *, draws: int, prior_mean: float, prior_sd: float
) -> FloatArray:
    """Draws (draw, subgroup) of the normal posterior of an estimate z with variance v under a normal prior; NaN gives the prior."""
    some = np.isfinite(z) & np.isfinite(v)
    variance = np.where(some, v, 1.0)
    shrink = np.where(some, variance / (variance + prior_sd**2), 1.0)
    mean = np.where(some, z, 0.0)
    mean = mean + shrink * (prior_mean - mean)
    return mean + np.sqrt(shrink) * prior_sd * rng.standard_normal((draws, len(z)))


def precision_weighted(z: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean of estimates weighted by 1/variance and its variance, each of shape (1,); NaN if there is none.

    >>> mean, variance = precision_weighted(np.array([1.0, 2.0, np.nan]), np.array([1.0, 0.5, np.nan]))
    >>> round(float(mean[0]), 6), round(float(variance[0]), 6)
    (1.666667, 0.333333)
    """
    some = np.isfinite(z) & np.isfinite(v)
    z, v = z[some], v[some]
    if len(z) == 0:
        return np.array([np.nan]), np.array([np.nan])
    exact = v == 0
    if exact.any():
        return z[exact].mean(keepdims=True), np.array([0.0])
    weight = v.min() / v
    return np.array([(weight * z).sum() / weight.sum()]), np.array([v.min() / weight.sum()])
