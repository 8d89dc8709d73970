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


def _cavities(y: FloatArray, v: FloatArray, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and precision of every logit by all sites but its own."""
    cavity = np.maximum(1 / variance - 1 / v, 1e-8 / variance)
    return (mean / variance - y / v) / cavity, cavity
