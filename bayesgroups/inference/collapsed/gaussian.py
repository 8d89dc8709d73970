"""Exact posterior of exchangeable means with known sampling variances.

    z_a ~ Normal(mu_a, v_a),   mu_a ~ Normal(overall, tau)
    overall ~ Normal(centre, overall_scale),   tau ~ HalfNormal(tau_scale)

or, with flat priors, overall and tau^2 uniform: p(overall, tau) proportional to tau. Overall can be known instead, the
centre: the priors are then of tau alone.

Given tau everything is normal and integrated in closed form; tau lies on a grid; the rest is drawn exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.inference.collapsed import half_line

MIN_ESTIMATES_FOR_FLAT_PRIORS = 4
"""Estimates below which flat priors leave no posterior; one less where overall is known."""
CHUNK = 64_000
"""Numbers handled at once, so that memory does not grow with subgroups times draws."""


@dataclass(frozen=True)
class GaussianDraws:
    """Draws of ``mu`` (draw, subgroup), ``overall`` and ``tau`` (draw,), and the numerical error.

    ``edge_mass`` is the share of tau's mass in the last cell; ``grid_error`` the change of the log
    evidence when the nodes of that grid are halved.
    """

    mu: FloatArray
    overall: FloatArray
    tau: FloatArray
    edge_mass: float
    grid_error: float


def sample(
    z: FloatArray, v: FloatArray, rng: np.random.Generator, *, centre: float, overall_scale: float, tau_scale: float,
    draws: int = 4000, nodes: int = 1024, flat: bool = False,
    overall_known: bool = False,
) -> GaussianDraws:  # fmt: skip
    """Independent draws from the posterior; priors in the units of the metric.

    Where an estimate (subgroup,) is NaN the value is drawn from the population. Flat priors are of overall and of tau^2,
    on the whole line and half-line; the centre and the scales are then no priors, only the units of the computation. With
    ``overall_known`` overall is the centre, in every draw, and ``overall_scale`` is not used.

    InputError if the priors are flat and there are fewer than four estimates, or than three where overall is known. For
    large tau the likelihood of K estimates, overall integrated out, falls as tau^(1 - K) and the posterior density of tau
    as tau^(2 - K), which has a finite integral for K > 3 only. Where overall is known the likelihood falls as tau^-K and
    the density as tau^(1 - K), for K > 2.

    Gelman et al. (2013), Bayesian data analysis, third edition, section 5.4. On flat priors of tau^2: Stein (1981),
    doi:10.1214/aos/1176345632; Morris, Lysy (2012), arXiv:1203.5610.

    >>> z, v = np.array([0.2, 0.25, 0.4, 0.1, 0.75]), 0.16 / np.array([50, 30, 15, 8, 4])
    >>> posterior = sample(z, v, np.random.default_rng(1), centre=0.5, overall_scale=0.5, tau_scale=0.25)
    >>> posterior.mu.mean(axis=0).round(2).tolist()
    [0.22, 0.26, 0.35, 0.2, 0.44]
    """
    some = np.isfinite(z) & np.isfinite(v)
    # An estimate without any sampling variance would put infinite density on tau = 0; a millionth of the prior
    # scale is no uncertainty to anybody.
    y, s2 = z[some] - centre, np.maximum(v[some], (1e-6 * tau_scale) ** 2)
    fewest = MIN_ESTIMATES_FOR_FLAT_PRIORS - overall_known
    if flat and len(y) < fewest:
        raise InputError(f"flat priors need {fewest} estimates or more to have a posterior; there are {len(y)}")

    finest = min(float(np.sqrt(s2.min(initial=np.inf))), tau_scale)

    def log_posterior(w: NDArray[np.floating]) -> FloatArray:
        tau = finest * np.sinh(w)  # even around 0, logarithmic beyond the finest scale that the data resolve
        value = np.log(np.cosh(w))
        with np.errstate(divide="ignore"):
            value += np.log(tau / finest) if flat else -0.5 * (tau / tau_scale) ** 2
        size = max(CHUNK // max(len(y), 1), 1)
        for start in range(0, len(w), size):
            block = slice(start, start + size)
            weight = 1 / (s2 + tau[block, None] ** 2)
            if overall_known:
                value[block] += 0.5 * (np.log(weight).sum(axis=1) - weight @ (y * y))
                continue
            total = weight.sum(axis=1)
            mean = weight @ y / np.where(total > 0, total, 1.0)
            around = (weight * (y - mean[:, None]) ** 2).sum(axis=1)
            if flat:
                value[block] += 0.5 * (np.log(weight).sum(axis=1) - np.log(total) - around)
                continue
            around += total * mean**2 / (1 + total * overall_scale**2)
            value[block] += 0.5 * (np.log(weight).sum(axis=1) - np.log1p(total * overall_scale**2) - around)
        return np.asarray(value, dtype=np.float64)

    low, high = half_line.locate(log_posterior, float(np.arcsinh(8 * tau_scale / finest)))
    w, edge_mass, grid_error = half_line.draw(log_posterior, low, high, draws, nodes, rng)
    tau = finest * np.sinh(w)
    precision = 0.0 if flat or overall_known else overall_scale**-2
    overall = np.full(draws, float(centre)) if overall_known else _overall(y, s2, tau, centre, precision, rng)
    mu = effects(np.where(some, z, 0.0), np.where(some, v, np.inf), overall[:, None], tau, rng)
    return GaussianDraws(mu, overall, tau, edge_mass, grid_error)


def _overall(
    y: FloatArray, s2: FloatArray, tau: FloatArray, centre: float, precision: float, rng: np.random.Generator
) -> FloatArray:
    """Draws of overall given tau; its prior has its middle at the centre and this precision."""
    draws = len(tau)
    weight_sum, along = np.empty(draws), np.empty(draws)
    size = max(CHUNK // max(len(y), 1), 1)
    for start in range(0, draws, size):
        block = slice(start, start + size)
        weight = 1 / (s2 + tau[block, None] ** 2)
        weight_sum[block], along[block] = weight.sum(axis=1) + precision, weight @ y
    return centre + along / weight_sum + rng.standard_normal(draws) / np.sqrt(weight_sum)


def effects(z: FloatArray, v: FloatArray, centre: FloatArray, tau: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws of the subgroup means around ``centre`` (draw, subgroup), or (draw, 1) where all have one.

    An infinite ``v`` means that nothing is known of a subgroup but the population.
    """
    mu = np.empty((len(tau), len(z)))
    observed = np.isfinite(v)
    variance = np.where(observed, v, 1.0)
    size = max(CHUNK // len(z), 1)
    for start in range(0, len(tau), size):
        block = slice(start, start + size)
        t2 = tau[block, None] ** 2
        shrink = np.where(observed, variance / (variance + t2), 1.0)
        mu[block] = z + shrink * (centre[block] - z) + np.sqrt(shrink * t2) * rng.standard_normal(shrink.shape)
    return mu
