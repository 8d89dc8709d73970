"""Exact posterior of exchangeable rates.

    k_a ~ Binomial(n_a, expit(eta_a)),   eta_a = alpha + tau z_a,   z_a ~ Normal(0, 1)
    alpha ~ Normal(0, overall_scale),    tau ~ HalfNormal(tau_scale), or half-t with 3 degrees of freedom and that scale

The z are integrated out by quadrature, one integral per distinct (k, n); what is left lies on a grid of two dimensions;
the eta are then drawn exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import grid, logit_normal
from bayesgroups.inference.collapsed.crossed.prior import DEGREES

CHUNK = 32_000
"""Numbers handled at once: few enough for the cache, so that memory does not grow with subgroups times draws."""
CHECKED_DRAWS = 64
"""Draws at which the quadrature is checked."""
MAX_QUADRATURE_ERROR = 1e-3
"""Quadrature error (spread of the log likelihood) at which no more nodes are tried."""
ABOUT_THE_MIDDLE = np.array([0.4, 0.5, 0.6])
"""Places along a side of the box at which it is looked at before there are draws."""
MAX_ERROR_ABOUT_THE_MIDDLE = 3e-3
"""Quadrature error there from which draws would not pass either."""


@dataclass(frozen=True)
class BinomialDraws:
    """Draws of the rates ``mu`` (draw, subgroup), of ``overall`` = expit(alpha) and ``tau`` (draw,), and the error."""

    mu: FloatArray
    overall: FloatArray
    tau: FloatArray
    surface: grid.Surface
    quadrature_error: float


def sample(
    k: FloatArray, n: FloatArray, rng: np.random.Generator, *, draws: int = 4000, overall_scale: float = 1.5,
    tau_scale: float = 0.5, family: Literal["half_normal", "half_t"] = "half_normal",
) -> BinomialDraws:  # fmt: skip
    """Independent draws from the posterior; prior scales are on the logit scale.

    Successes and trials (subgroup,) may be fractional; n = 0 is drawn from the population.

    >>> posterior = sample(np.array([3.0, 0, 40]), np.array([10.0, 2, 100]), np.random.default_rng(1))
    >>> posterior.mu.shape, posterior.surface.edge_mass < 1e-6, posterior.quadrature_error < 1e-3
    ((4000, 3), True, True)
    """
    some = n > 0
    pairs, repeats = np.unique(np.stack([k[some], n[some]]), axis=1, return_counts=True)
    share = (pairs[0] + 0.5) / (pairs[1] + 1)
    pooled = (k.sum() + 0.5) / (n.sum() + 1)
    centre = float(np.log(pooled / (1 - pooled)))
    finest = min(float(1 / np.sqrt((pairs[1] * share * (1 - share)).max(initial=0.0) + 1e-300)), tau_scale)

    def place(t: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        # tau = c sinh w is even around 0 and logarithmic beyond c, the finest scale that the data resolve; alpha is
        # measured in units that grow with tau. Together they straighten the funnel of a hierarchy.
        tau = finest * np.sinh(w)
        return centre + finest * np.cosh(w) * t, tau

    def log_posterior(t: FloatArray, w: FloatArray, quadrature: int) -> FloatArray:
        alpha, tau = place(t, w)
        value = 2 * np.log(np.cosh(w)) - 0.5 * (alpha / overall_scale) ** 2
        if family == "half_t":
            value = value - 0.5 * (DEGREES + 1) * np.log1p((tau / tau_scale) ** 2 / DEGREES)
        else:
            value = value - 0.5 * (tau / tau_scale) ** 2
        size = max(CHUNK // len(alpha), 1)
        for start in range(0, pairs.shape[1], size):
            block = slice(start, start + size)
            each = logit_normal.log_marginal(
                pairs[0, block, None], pairs[1, block, None], alpha[None, :], tau[None, :], nodes=quadrature
            )
            value = value + repeats[block] @ each
        return np.asarray(value, dtype=np.float64)

    reach = 4 * overall_scale / finest
    start = (-reach, reach), (0.0, float(np.arcsinh(6 * tau_scale / finest)))
    box = grid.locate(partial(log_posterior, quadrature=logit_normal.ROUGH), start)
    state = rng.bit_generator.state

    def gap_of(t: FloatArray, w: FloatArray, quadrature: int) -> float:
        return float(np.ptp(log_posterior(t, w, quadrature) - log_posterior(t, w, 2 * quadrature)))

    # Nodes that do not do about the middle of the box would not do for draws: no surface is made with them.
    inside = [low + (high - low) * ABOUT_THE_MIDDLE for low, high in box]
    t, w = (axis.ravel() for axis in np.meshgrid(*inside))
    few, *more = logit_normal.NODES
    while more and gap_of(t, w, few) > MAX_ERROR_ABOUT_THE_MIDDLE:
        few, *more = more
    for quadrature in (few, *more):
        rng.bit_generator.state = state
        surface = grid.draw(partial(log_posterior, quadrature=quadrature), box, draws, rng)
        gap = gap_of(surface.x[:CHECKED_DRAWS], surface.y[:CHECKED_DRAWS], quadrature)
        if gap < MAX_QUADRATURE_ERROR:
            break
    alpha, tau = place(surface.x, surface.y)
    mu = _effects(k, n, alpha, tau, rng)  # logits, in whose place rates come
    np.exp(np.negative(mu, out=mu), out=mu)
    mu += 1
    np.divide(1, mu, out=mu)
    return BinomialDraws(mu=mu, overall=1 / (1 + np.exp(-alpha)), tau=tau, surface=surface, quadrature_error=gap)


def _effects(k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray, rng: np.random.Generator) -> FloatArray:
    eta = np.empty((len(alpha), len(k)))
    size = max(CHUNK // len(alpha), 1)
    for start in range(0, len(k), size):
        block = slice(start, min(start + size, len(k)))
        drawn = logit_normal.draw(k[None, block], n[None, block], alpha[:, None], tau[:, None], rng)
        eta[:, block] = drawn
    return eta
