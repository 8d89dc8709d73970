"""Between-stratum variance on scales that papers print: shares of the variance and the median odds ratio."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.maihda.shares import project

LOGISTIC = math.pi**2 / 3
"""Variance of the standard logistic distribution, which stands for a single row on the latent scale of a logit."""
THREE_QUARTERS = 0.6744897501960817
"""Upper quartile of the standard normal distribution."""
NODES = 80
"""Gauss-Hermite nodes of an integral over strata."""


def latent(between: FloatArray, residual: FloatArray | float = LOGISTIC) -> FloatArray:
    """Variance partition coefficient on the scale of the predictor: 1 of an infinite variance.

    >>> latent(np.array([0.2227, np.inf])).round(4).tolist()
    [0.0634, 1.0]
    """
    between = np.asarray(between, dtype=np.float64)
    return np.divide(between, between + residual, out=np.ones_like(between), where=~np.isinf(between))


def linearised(between: FloatArray, centre: FloatArray) -> FloatArray:
    """The same of rates, linearised around the logit ``centre``: method A of Goldstein, Browne, Rasbash (2002).

    >>> linearised(np.array([0.13562169634763782]), np.array([-0.40241482680472596])).round(6).tolist()
    [0.031542]
    """
    rate = expit(centre)
    q = rate * (1 - rate)
    return np.asarray(between * q / (between * q + 1), dtype=np.float64)


def integrated(between: FloatArray, centre: FloatArray) -> FloatArray:
    """The same of rates, Var(p) / (E p (1 - E p)) with p over the population of strata, by quadrature.

    >>> integrated(np.array([0.13562169634763782]), np.array([-0.40241482680472596])).round(6).tolist()
    [0.030757]
    """
    points, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    rate = expit(np.asarray(centre)[..., None] + np.sqrt(between)[..., None] * points)
    mean = rate @ weights
    variance = (rate - mean[..., None]) ** 2 @ weights
    return np.asarray(variance / (mean * (1 - mean)), dtype=np.float64)


def realised(rates: FloatArray, weight: FloatArray) -> FloatArray:
    """The same over the strata at hand, from their rates (..., stratum) and weights (stratum,).

    >>> realised(np.array([0.2, 0.4]), np.ones(2)).round(6).item()
    0.047619
    """
    mean = rates @ (weight / weight.sum())
    split = project(rates, np.ones((len(weight), 1)), weight)
    return np.asarray(split.interaction / (mean * (1 - mean)), dtype=np.float64)


def median_odds_ratio(between: FloatArray) -> FloatArray:
    """Median odds ratio of two strata drawn at random, higher over lower. Larsen, Merlo (2005), doi:10.1093/aje/kwi017.

    >>> median_odds_ratio(np.array([0.2227])).round(4).tolist()
    [1.5685]
    """
    return np.asarray(np.exp(np.sqrt(2 * between) * THREE_QUARTERS), dtype=np.float64)
