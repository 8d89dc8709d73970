"""Posteriors of one attribute by two-dimensional quadrature, independent of the exact engines.

    eta_g = alpha + sqrt(tau^2 + floor^2) z_g,   alpha ~ Normal(centre, A),   tau from its prior

Means: estimates with known variances, alpha in closed form. Rates: binomial counts, their effects integrated by
Gauss-Hermite quadrature around each mode, alpha over a grid around its conditional mode.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import logit_normal

TAU_NODES, ALPHA_NODES, EFFECT_NODES = 601, 41, 61


class Moments(NamedTuple):
    """Mean and standard deviation of ``log tau``, and the mean of the linear predictor (subgroup,)."""

    log_tau: float
    log_tau_sd: float
    eta: FloatArray


def log_prior(tau: FloatArray, scale: float, family: Literal["half_t", "half_normal"]) -> FloatArray:
    """Log density of a standard deviation."""
    found = stats.t.logpdf(tau / scale, 3) if family == "half_t" else stats.norm.logpdf(tau / scale)
    return np.asarray(found, dtype=np.float64)


def means(
    y: FloatArray, v: FloatArray, *, overall_scale: float, tau_scale: float, family: Literal["half_t", "half_normal"]
) -> Moments:
    """Moments given estimates around the prior mean and their sampling variances."""
    log_tau = np.linspace(np.log(tau_scale) - 16, np.log(tau_scale) + 16, 20 * TAU_NODES)
    variance = v + np.exp(2 * log_tau)[:, None]
    weight = 1 / variance
    precision = weight.sum(axis=1) + overall_scale**-2
    alpha = (weight @ y) / precision
    around = (weight * y**2).sum(axis=1) - alpha**2 * precision
    log_density = -0.5 * (np.log(variance).sum(axis=1) + np.log(precision) + around) + log_tau
    log_density += log_prior(np.exp(log_tau), tau_scale, family)
    share = np.exp(log_density - log_density.max())
    share /= share.sum()
    shrink = v * weight
    return _moments(log_tau, share, share @ (y + shrink * (alpha[:, None] - y)))


def rates(
    k: FloatArray, n: FloatArray, *, overall_scale: float, tau_scale: float, family: Literal["half_t", "half_normal"]
) -> Moments:
    """Moments given counts, the predictor being a logit."""
    p = (k + 0.5) / (n + 1)
    y, v = np.log(p / (1 - p)), 1 / ((n + 1) * p * (1 - p))
    # Wide enough in log tau for a posterior anywhere between the finest scale of the counts and the largest double logit.
    log_tau = np.linspace(np.log(tau_scale) - 14, np.log(tau_scale) + 7, TAU_NODES)
    tau = np.exp(log_tau)
    weight = 1 / (v + tau[:, None] ** 2)
    precision = weight.sum(axis=1) + overall_scale**-2
    middle, spread = (weight @ y) / precision, 1 / np.sqrt(precision)
    steps = np.linspace(-12, 12, ALPHA_NODES * 3)
    alpha = middle[:, None] + spread[:, None] * steps
    log_density = (
        stats.norm.logpdf(alpha / overall_scale)
        + (log_prior(tau, tau_scale, family) + log_tau + np.log(spread))[:, None]
    )
    for successes, trials in zip(k, n, strict=True):
        log_density = log_density + logit_normal.log_marginal(
            np.array(successes), np.array(trials), alpha, np.broadcast_to(tau[:, None], alpha.shape), nodes=EFFECT_NODES
        )
    share = np.exp(log_density - log_density.max())
    share /= share.sum()
    some = np.nonzero(share > 1e-9 * share.max())
    eta = np.array(
        [
            share[some]
            @ logit_normal.moments(np.array(a), np.array(b), alpha[some], tau[some[0]], nodes=EFFECT_NODES)[0]
            for a, b in zip(k, n, strict=True)
        ]
    )
    return _moments(log_tau, share.sum(axis=1), eta / share[some].sum())


def _moments(log_tau: FloatArray, share: FloatArray, eta: FloatArray) -> Moments:
    mean = float(share @ log_tau)
    return Moments(mean, float(np.sqrt(share @ (log_tau - mean) ** 2)), eta)
