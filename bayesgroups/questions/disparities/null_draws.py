"""Draws of estimates given true values, for the noise in a measure of disparity."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import moments
from bayesgroups.questions.sampling_variances import Estimates


def if_equal(estimates: Estimates, rng: np.random.Generator, draws: int) -> FloatArray:
    """Estimates if all subgroups had one true value, (draw, subgroup).

    Of a rate, all rows dealt out again among the subgroups, denominators and the sum of successes kept: the exact
    permutation law. Of other metrics, normal draws about the precision-weighted mean.
    """
    size = np.round(estimates.count)
    if estimates.binomial and size.sum() < 1e9:  # the limit of the generator
        successes = round(float((estimates.y * size).sum()))
        dealt = rng.multivariate_hypergeometric(size.astype(np.int64), successes, size=draws, method="marginals")
        return dealt / size
    precise = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    weight = np.ones_like(precise) if (precise == 0).any() else 1 / precise
    mean = float(np.average(estimates.y, weights=weight))
    if estimates.binomial:
        return rng.binomial(size.astype(np.int64), mean, size=(draws, len(size))) / size
    return mean + np.sqrt(precise) * rng.standard_normal((draws, len(precise)))


def shrunken_truth(estimates: Estimates) -> FloatArray:
    """True values (subgroup,) that are about as unequal as those behind the estimates.

    mean + sqrt(tau^2 / (tau^2 + v)) (y - mean), with DerSimonian and Laird's tau^2: unlike the estimates, which are too far
    apart, and their posterior means, which are too close, these have the variance tau^2. Louis (1984),
    doi:10.1080/01621459.1984.10478062.
    """
    v = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    if not (v > 0).all():
        return estimates.y
    estimate = moments.between(estimates.y, v, np.ones(len(v), dtype=bool))
    return np.asarray(
        estimate.overall + np.sqrt(estimate.tau_squared / (estimate.tau_squared + v)) * (estimates.y - estimate.overall)
    )


def given_truth(truth: FloatArray, estimates: Estimates, rng: np.random.Generator, draws: int) -> FloatArray:
    """Estimates if these were the true values, (draw, subgroup): binomial for rates, else normal."""
    if estimates.binomial:
        size = np.maximum(np.round(estimates.count), 1.0)
        return rng.binomial(size.astype(np.int64), np.clip(truth, 0.0, 1.0), size=(draws, len(size))) / size
    v = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    return truth + np.sqrt(v) * rng.standard_normal((draws, len(v)))
