"""Normal likelihoods that stand in for binomial ones: expectation propagation (Minka 2001, arXiv:1301.2294).

A site is a pseudo-estimate of the logit with an error variance, such that with the site in the place of the count the mean
and variance of the logit are what the count makes them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import logit_normal

Moments = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

NODES = 21
SWEEPS = 4
DAMPING = 0.9
MAX_SKEWNESS = 0.35
"""Skewness of a logit given its count beyond which no site stands for the count."""
REACH, POINTS = 8.0, 161
"""Standard deviations on either side that a skewness is summed over, and at how many points."""


def start(k: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sites from the counts alone, half a success and half a failure added: (y, v), v infinite without trials."""
    share = (k + 0.5) / (n + 1)
    with np.errstate(divide="ignore"):
        variance = np.where(n > 0, 1 / (n * share * (1 - share)), np.inf)
    return np.where(n > 0, np.log(share / (1 - share)), 0.0), variance


def refine(
    k: FloatArray, n: FloatArray, y: FloatArray, v: FloatArray, moments: Moments
) -> tuple[FloatArray, FloatArray]:
    """Sites (subgroup,) that fit one posterior, from counts and the sites to start from.

    ``moments`` gives mean and variance of the logits of all subgroups at given sites.
    """
    seen = n > 0
    for _ in range(SWEEPS):
        precision, weighted = 1 / v[seen], y[seen] / v[seen]
        centre, cavity = _cavities(y[seen], v[seen], *(part[seen] for part in moments(y, v)))
        tilted_mean, tilted_variance = logit_normal.moments(k[seen], n[seen], centre, np.sqrt(1 / cavity), nodes=NODES)
        new = np.maximum(1 / tilted_variance - cavity, 1e-10 * cavity)
        new_weighted = tilted_mean * (cavity + new) - centre * cavity
        precision = (1 - DAMPING) * precision + DAMPING * new
        weighted = (1 - DAMPING) * weighted + DAMPING * new_weighted
        y, v = y.copy(), v.copy()
        y[seen], v[seen] = weighted / precision, 1 / precision
    return y, v


def skewness(k: FloatArray, n: FloatArray, y: FloatArray, v: FloatArray, moments: Moments) -> float:
    """Largest skewness, without its sign, of a logit given its count and what all other sites say of it.

    A site has none; beyond `MAX_SKEWNESS` it leaves out much of one tail. 0 if there are no trials.
    """
    seen = n > 0
    if not seen.any():
        return 0.0
    k, n = k[seen], n[seen]
    centre, cavity = _cavities(y[seen], v[seen], *(part[seen] for part in moments(y, v)))
    mean, variance = logit_normal.moments(k, n, centre, np.sqrt(1 / cavity), nodes=NODES)
    standard = np.linspace(-REACH, REACH, POINTS)[:, None]
    logit = mean + np.sqrt(variance) * standard
    log_density = k * logit - n * np.logaddexp(0.0, logit) - 0.5 * cavity * (logit - centre) ** 2
    weight = np.exp(log_density - log_density.max(axis=0))
    weight /= weight.sum(axis=0)
    middle = (weight * standard).sum(axis=0)
    second, third = ((weight * (standard - middle) ** power).sum(axis=0) for power in (2, 3))
    return float(np.abs(third / second**1.5).max())


def _cavities(y: FloatArray, v: FloatArray, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and precision of every logit by all sites but its own."""
    cavity = np.maximum(1 / variance - 1 / v, 1e-8 / variance)
    return (mean / variance - y / v) / cavity, cavity
