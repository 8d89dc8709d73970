"""Exact posterior of means around a regression, with known sampling variances.

    z_a ~ Normal(mu_a, v_a),   mu_a ~ Normal(x_a . b, tau),   tau ~ HalfNormal(tau_scale)
    b_j ~ Normal(0, scale_j), or flat

Given tau everything is normal and integrated in closed form; tau lies on a grid; coefficients and means are then drawn exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import gaussian, half_line

CHUNK = 256_000
"""Numbers handled at once, so that memory does not grow with subgroups times draws."""


@dataclass(frozen=True)
class RegressionDraws:
    """Draws of ``mu`` (draw, subgroup), ``beta`` (draw, column) and ``tau`` (draw,), and the error as in `gaussian`."""

    mu: FloatArray
    beta: FloatArray
    tau: FloatArray
    edge_mass: float
    grid_error: float


def sample(
    z: FloatArray, v: FloatArray, x: FloatArray, rng: np.random.Generator, *, precision: FloatArray, tau_scale: float,
    draws: int = 4000, nodes: int = 1024,
) -> RegressionDraws:  # fmt: skip
    """Independent draws from the posterior; priors in the units of the metric.

    Where an estimate (subgroup,) is NaN the value is drawn from the population. ``precision`` (column,) are inverse prior
    variances of the coefficients of ``x`` (subgroup, column), around 0; where they are 0 the prior is flat and the columns must
    have full rank among the subgroups with an estimate.

    Rao, Molina (2015), Small area estimation, second edition, section 10.3.

    >>> z, v = np.array([0.2, 0.25, 0.4, 0.1, 0.75, 0.35]), np.array([0.0032, 0.0053, 0.0107, 0.02, 0.04, 0.008])
    >>> x = np.column_stack([np.ones(6), [0, 1, 2, 0, 3, 1]])
    >>> posterior = sample(z, v, x, np.random.default_rng(1), precision=np.zeros(2), tau_scale=0.2)
    >>> posterior.beta.mean(axis=0).round(2).tolist(), posterior.mu.mean(axis=0).round(2).tolist()
    ([0.16, 0.15], [0.18, 0.29, 0.44, 0.15, 0.61, 0.32])
    """
    some = np.isfinite(z) & np.isfinite(v)
    y, columns = z[some], x[some]
    s2 = np.maximum(v[some], (1e-6 * tau_scale) ** 2)  # as in `gaussian`: none would put infinite density on 0
    finest = min(float(np.sqrt(s2.min())), tau_scale)

    def log_posterior(w: NDArray[np.floating]) -> FloatArray:
        tau = finest * np.sinh(w)
        value = np.log(np.cosh(w)) - 0.5 * (tau / tau_scale) ** 2
        for block in _blocks(len(w), columns.size):
            weight, factor, b = _regression(tau[block], y, s2, columns, precision)
            residual = y - b @ columns.T
            around = (weight * residual**2).sum(axis=1) + (b * b) @ precision
            log_det = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
            value[block] += 0.5 * (np.log(weight).sum(axis=1) - log_det - around)
        return np.asarray(value, dtype=np.float64)

    low, high = half_line.locate(log_posterior, float(np.arcsinh(8 * tau_scale / finest)))
    w, edge_mass, grid_error = half_line.draw(log_posterior, low, high, draws, nodes, rng)
    tau = finest * np.sinh(w)
    beta = np.empty((draws, x.shape[1]))
    mu = np.empty((draws, len(z)))
    observed, error = np.where(some, z, 0.0), np.where(some, np.where(some, v, 0.0), np.inf)
    for block in _blocks(draws, x.size):
        _, factor, mean = _regression(tau[block], y, s2, columns, precision)
        noise = rng.standard_normal(mean.shape)
        beta[block] = mean + np.linalg.solve(np.swapaxes(factor, 1, 2), noise[..., None])[..., 0]
        mu[block] = gaussian.effects(observed, error, beta[block] @ x.T, tau[block], rng)
    return RegressionDraws(mu, beta, tau, edge_mass, grid_error)


def _regression(
    tau: FloatArray, y: FloatArray, v: FloatArray, x: FloatArray, precision: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights (tau, subgroup), Cholesky factors of the precision of the coefficients, and their means (tau, column)."""
    weight = 1 / (v + tau[:, None] ** 2)
    information = np.einsum("ti,ij,ik->tjk", weight, x, x, optimize=True) + np.diag(precision)
    factor = np.linalg.cholesky(information)
    along = np.linalg.solve(factor, ((weight * y) @ x)[..., None])
    return weight, factor, np.linalg.solve(np.swapaxes(factor, 1, 2), along)[..., 0]


def _blocks(number: int, each: int) -> list[slice]:
    size = max(CHUNK // max(each, 1), 1)
    return [slice(start, min(start + size, number)) for start in range(0, number, size)]
