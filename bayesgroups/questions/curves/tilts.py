"""Smooth differences between the score distributions of subgroups: location, spread and skewness, each with its own pooling.

With q the distribution over bins that subgroups share and phi_1, phi_2, phi_3 the first polynomials of its normal scores, made
orthonormal under q,

    p[g, bin] ~ q[bin] exp(sum over j of theta[g, j] phi_j[bin]),   theta[g, j] ~ Normal(0, tau_j),   tau_j ~ HalfNormal(1/2).

theta[g, 1] is a shift in standard deviations of the shared scores, and ranks are all that enters. The likelihood of
theta is concave and taken for a normal one around its penalised maximum; tau is drawn from a grid.

References
----------
Neyman (1937), smooth tests, doi:10.1080/03461238.1937.10404821; Anderson (1979), density ratios,
doi:10.1093/biomet/66.1.17; Qin (1998), doi:10.1093/biomet/85.3.619.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray

Derivatives = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Gradient of a log likelihood and its information, at given tilts."""

DEGREE = 3
"""Polynomials: location, spread, skewness."""
SCALE = 0.5
"""Scale of the half-normal prior of tau."""
MIN_SUBGROUPS = 2
"""Subgroups with rows below which none differ."""
STEPS = 30
"""Newton steps towards each penalised maximum."""
FOLLOWING = 2
"""Newton steps of a subgroup's tilts from their best value to that for a draw of the shared distribution."""
TAUS = np.exp(np.linspace(np.log(2e-3), np.log(4.0), 80))
"""Grid of tau."""
MIN_INFORMATION = 1e-9
"""Information about a direction that the bins cannot show, so that it can be inverted."""


@dataclass(frozen=True, eq=False)
class Tilts:
    """Polynomials (tilt, bin), penalised maxima (subgroup, tilt), and draws (draw, tilt) of the spread between subgroups."""

    basis: FloatArray
    best: FloatArray
    tau: FloatArray


def centre(counts: FloatArray) -> FloatArray:
    """Distribution over bins from which subgroups are taken to differ, (bin,).

    The mean over subgroups, each with the weight n s / (n + s), s the median number of rows, so that the largest subgroup
    is not the centre; a row spread over the bins is added.
    """
    rows = counts.sum(axis=1)
    some = rows > 0
    bins = counts.shape[1]
    if not some.any():
        return np.full(bins, 1 / bins)
    half = np.median(rows[some])
    weight = half / (rows[some] + half)
    total = (weight[:, None] * counts[some]).sum(axis=0) + 1 / bins
    return np.asarray(total / total.sum(), dtype=np.float64)


def polynomials(q: FloatArray) -> FloatArray:
    """Polynomials of the normal scores of the bins, orthonormal under q: (tilt, bin), fewer where there are few bins."""
    middle = np.cumsum(q) - q / 2
    normal = np.array([NormalDist().inv_cdf(min(max(float(u), 1e-9), 1 - 1e-9)) for u in middle])
    degree = min(DEGREE, len(q) - 1)
    powers = np.stack([normal**power for power in range(degree + 1)], axis=1)
    # Orthonormal columns of sqrt(q) x powers; the first is sqrt(q) itself, the constant.
    columns, upper = np.linalg.qr(np.sqrt(q)[:, None] * powers)
    columns = columns * np.sign(np.diag(upper))
    return np.asarray((columns[:, 1:] / np.sqrt(q)[:, None]).T, dtype=np.float64)


def tilted(q: FloatArray, basis: FloatArray, theta: FloatArray) -> FloatArray:
    """Distributions q exp(theta . basis), normalised: q (..., bin) and theta (..., tilt) give (..., bin)."""
    exponent = theta @ basis
    density = q * np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return np.asarray(density / density.sum(axis=-1, keepdims=True), dtype=np.float64)


def fit(counts: FloatArray, rng: np.random.Generator, draws: int) -> Tilts | None:
    """Tilts of all subgroups, with draws of their spread, from rows (subgroup, bin).

    ``None`` with fewer than two subgroups that have rows, or with two bins.
    """
    if ((counts.sum(axis=1) > 0).sum() < MIN_SUBGROUPS) or counts.shape[1] < 3:
        return None
    q = centre(counts)
    basis = polynomials(q)
    likelihoods = [partial(_derivatives, q, basis, rows) for rows in counts]
    return fit_spread(basis, likelihoods, counts.sum(axis=1) > 0, rng, draws)


def fit_spread(
    basis: FloatArray, likelihoods: Sequence[Derivatives], some: BoolArray, rng: np.random.Generator, draws: int
) -> Tilts:
    """Penalised maxima of all subgroups, and draws of the spread between ``some`` (subgroup,), those with rows.

    Likelihoods are taken for normal ones, with precision ``information`` and precision times mean ``score``.
    """
    best = np.stack([newton(derivatives, len(basis)) for derivatives in likelihoods])
    at_best = [derivatives(theta) for derivatives, theta in zip(likelihoods, best, strict=True)]
    information = np.stack([precision for _, precision in at_best])
    score = np.stack([gradient + precision @ theta for (gradient, precision), theta in zip(at_best, best, strict=True)])
    variances = np.linalg.inv(information[some])
    values = np.einsum("gij,gj->gi", variances, score[some])
    drawn = [_spread(values[:, j], variances[:, j, j], rng, draws) for j in range(len(basis))]
    return Tilts(basis, best, np.stack(drawn, axis=1))


def members(fitted: Tilts, q: FloatArray, rows: FloatArray, subgroup: int, rng: np.random.Generator) -> FloatArray:
    """Draws (draw, tilt) of the tilts of one subgroup for draws of the shared distribution q (draw, bin).

    The tilts of a subgroup with ``rows`` (bin,) follow q; one without has draws from the population.
    """
    size = len(fitted.basis)
    squares = (fitted.basis[:, None] * fitted.basis).reshape(size**2, -1)

    def derivatives(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = tilted(q, fitted.basis, theta)
        mean = p @ fitted.basis.T
        spread = (p @ squares.T).reshape(-1, size, size) - mean[:, :, None] * mean[:, None]
        return fitted.basis @ rows - rows.sum() * mean, rows.sum() * spread + MIN_INFORMATION * np.eye(size)

    return follow(fitted, subgroup, derivatives, rng)


def follow(fitted: Tilts, subgroup: int, derivatives: Derivatives, rng: np.random.Generator) -> FloatArray:
    """Draws (draw, tilt) of one subgroup, from its best tilts, by gradients and informations for draws of what is shared."""
    theta = np.broadcast_to(fitted.best[subgroup], fitted.tau.shape)
    prior = np.eye(len(fitted.basis)) / fitted.tau[:, None, :] ** 2
    precision = prior
    for _ in range(FOLLOWING):
        gradient, information = derivatives(theta)
        precision = information + prior
        step = np.linalg.solve(precision, (gradient - theta / fitted.tau**2)[..., None])[..., 0]
        theta = theta + step / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1.0)
    root = np.linalg.inv(np.linalg.cholesky(precision))  # precision^-1 = root' root
    return np.asarray(theta + np.einsum("dji,dj->di", root, rng.standard_normal(theta.shape)), dtype=np.float64)


def _derivatives(
    q: FloatArray, basis: FloatArray, rows: FloatArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient of the log likelihood and its information."""
    p = tilted(q, basis, theta)
    mean = basis @ p
    spread = (basis * p) @ basis.T - np.outer(mean, mean)
    return basis @ rows - rows.sum() * mean, rows.sum() * spread + MIN_INFORMATION * np.eye(len(basis))


def newton(derivatives: Derivatives, size: int) -> FloatArray:
    """Maximum of a concave log likelihood less the penalty of a normal prior with the standard deviation `SCALE`."""
    theta = np.zeros(size)
    for _ in range(STEPS):
        gradient, precision = derivatives(theta)
        step = np.linalg.solve(precision + np.eye(size) / SCALE**2, gradient - theta / SCALE**2)
        theta = theta + step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-12))  # no step longer than 1
        if np.abs(step).max() < 1e-9:
            break
    return theta


def _spread(value: FloatArray, variance: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray:
    """Draws of tau from value[g] ~ Normal(0, variance[g] + tau^2)."""
    total = variance + TAUS[:, None] ** 2
    log_density = -0.5 * (np.log(total) + value**2 / total).sum(axis=1)
    log_density += -0.5 * (TAUS / SCALE) ** 2 + np.log(TAUS)  # the grid is even in log tau
    weight = np.exp(log_density - log_density.max())
    place = rng.choice(len(TAUS), size=draws, p=weight / weight.sum())
    return np.asarray(TAUS[place] * np.exp(np.log(TAUS[1] / TAUS[0]) * (rng.random(draws) - 0.5)), dtype=np.float64)
