"""Variance of a weighted sum of cell estimates, weights known, and the degrees of freedom of its estimate.

With weights W_g and cells sampled independently given their rows n_g, sum W_g^2 v_g is exactly unbiased if v_g is, which
z (1 - z) / (n - 1) of a rate and s^2 / n of a mean are. Survey packages take n / (n - 1) once, for all rows of a simple
random sample, in place of n_g / (n_g - 1) per cell. Särndal, Swensson, Wretman (1992), Model Assisted Survey Sampling,
section 7.6, for poststratification; Satterthwaite (1946), doi:10.2307/3002019, for the degrees of freedom.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def cell_variance(weights: FloatArray, variance: FloatArray) -> FloatArray:
    """Variance of sum W z from unbiased variances of the cells, over the last axis; cells of weight 0 may have none."""
    return np.asarray(np.where(weights > 0, weights**2 * np.where(weights > 0, variance, 0.0), 0.0).sum(axis=-1))


def survey_variance(weights: FloatArray, variance: FloatArray, rows: FloatArray) -> FloatArray:
    """The same by the convention of surveys, from the same unbiased variances and the ``rows`` of all cells.

    >>> rates, rows = np.array([101 / 142, 0.36, 14 / 33]), np.array([142.0, 25, 33])
    >>> share = np.array([4421, 755, 1018]) / 6194
    >>> round(float(np.sqrt(survey_variance(share, rates * (1 - rates) / (rows - 1), rows))), 6)
    0.032849
    """
    total = float(rows.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        biased = np.where(rows > 1, variance * (rows - 1) / rows, variance)
        factor = total / (total - 1)
    return factor * cell_variance(weights, biased)


def satterthwaite(weights: FloatArray, variance: FloatArray, freedom: FloatArray) -> FloatArray:
    """Degrees of freedom V^2 / sum W^4 v^2 / d of the variance of a sum; infinite where every variance is known.

    ``freedom`` d is that of the estimate v of each cell, infinite where v is known.

    >>> float(satterthwaite(np.array([0.5, 0.5]), np.array([1.0, 1.0]), np.array([4.0, 9.0])).round(6))
    11.076923
    """
    used = weights > 0
    terms = np.where(used, weights**4 * np.where(used, variance, 0.0) ** 2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(np.isfinite(freedom), terms / np.where(freedom > 0, freedom, np.nan), 0.0)
        spread = np.where(terms > 0, spread, 0.0).sum(axis=-1)
        return np.asarray(np.where(spread > 0, cell_variance(weights, variance) ** 2 / spread, np.inf))
