"""Variances of scores by subgroup and outcome: a hierarchy of inverse gammas, integrated out exactly.

    v[g, y] ~ InverseGamma(df / 2, df sigma[y]^2 / 2),    df = 1 / (2 spread^2)

``sigma[y]`` is the typical standard deviation and ``spread`` about the standard deviation of log sd between subgroups. With
``count`` rows and ``scatter`` the sum of their squared distances from the mean of the cell, v is inverse gamma again; what is
left are three hyper-parameters, logarithms of ``sigma[0]``, ``sigma[1]`` and ``spread``, along the last axis.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln

from bayesgroups.data.arrays import FloatArray

SMALLEST_SD = 1e-3
"""Floor of a standard deviation, in units of the pooled one: cells whose scores are all equal."""


def log_likelihood(hyper: FloatArray, count: FloatArray, scatter: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log likelihood (chain,) of the hyper-parameters with the variances integrated out, and its gradient (chain, 3).

    ``count`` are rows of each cell, ``scatter`` (chain, subgroup, outcome) sums of squared distances from the mean.

    >>> value, gradient = log_likelihood(np.zeros((1, 3)), np.array([[3.0, 0.0]]), np.array([[[3.0, 0.0]]]))
    >>> value.round(4).tolist(), gradient.round(4).tolist()
    ([-2.6983], [[0.0, 0.0, -1.2645]])
    """
    variance = np.exp(2 * hyper[:, None, :2])
    df = 0.5 * np.exp(-2 * hyper[:, 2])[:, None, None]
    prior, after = df * variance, df * variance + scatter
    shape = 0.5 * (df + count)
    value = gammaln(shape) - gammaln(0.5 * df) - 0.5 * count * np.log(0.5 * prior) - shape * np.log1p(scatter / prior)
    by_sigma = (df - 2 * shape * prior / after).sum(axis=1)
    by_df = 0.5 * (
        digamma(shape) - digamma(0.5 * df) - np.log1p(scatter / prior) + 1 - 2 * shape * variance / after
    )  # fmt: skip
    by_spread = (-2 * df * by_df).sum(axis=(1, 2))
    return value.sum(axis=(1, 2)), np.concatenate([by_sigma, by_spread[:, None]], axis=1)


def draw(hyper: FloatArray, count: FloatArray, scatter: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the variances (chain, subgroup, outcome) given the hyper-parameters."""
    df = 0.5 * np.exp(-2 * hyper[:, 2])[:, None, None]
    rate = 0.5 * (df * np.exp(2 * hyper[:, None, :2]) + scatter)
    variance = rate / rng.standard_gamma(np.broadcast_to(0.5 * (df + count), rate.shape))
    return np.asarray(np.maximum(variance, SMALLEST_SD**2), dtype=np.float64)


def redraw_sigma(hyper: FloatArray, variance: FloatArray, log_sd: float, rng: np.random.Generator) -> FloatArray:
    """Hyper-parameters (chain, 3) with sigma drawn given the variances of all cells (chain, subgroup, outcome).

    The proposal is exact but for the prior of log sigma, a normal one with standard deviation ``log_sd``.
    """
    half = 0.25 * np.exp(-2 * hyper[:, 2:])
    drawn = rng.standard_gamma(np.broadcast_to(half * variance.shape[1], hyper[:, :2].shape))
    proposal = 0.5 * np.log(drawn / (half * (1 / variance).sum(axis=1)))
    chance = 0.5 * (hyper[:, :2] ** 2 - proposal**2) / log_sd**2
    moved = np.log(rng.random(proposal.shape)) < chance
    return np.concatenate([np.where(moved, proposal, hyper[:, :2]), hyper[:, 2:]], axis=1)
