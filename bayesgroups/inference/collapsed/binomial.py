"""Exact posterior of exchangeable rates.

    k_a ~ Binomial(n_a, expit(eta_a)),   eta_a = alpha + tau z_a,   z_a ~ Normal(0, 1)
    alpha ~ Normal(0, overall_scale),    tau ~ HalfNormal(tau_scale), or half-t with 3 degrees of freedom and that scale

The z are integrated out by quadrature, one integral per distinct (k, n); what is left lies on a grid of two dimensions;
the eta are then drawn exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
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
SHARE_OF_FEWER_NODES = 0.25
"""Share of the largest quadrature error that counts which keep fewer nodes may have together."""


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
    counts = _Counts.of(k, n)
    share = (counts.k + 0.5) / (counts.n + 1)
    pooled = (k.sum() + 0.5) / (n.sum() + 1)
    centre = float(np.log(pooled / (1 - pooled)))
    finest = min(float(1 / np.sqrt((counts.n * share * (1 - share)).max(initial=0.0) + 1e-300)), tau_scale)

    def place(t: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        # tau = c sinh w is even around 0 and logarithmic beyond c, the finest scale that the data resolve; alpha is
        # measured in units that grow with tau. Together they straighten the funnel of a hierarchy.
        tau = finest * np.sinh(w)
        return centre + finest * np.cosh(w) * t, tau

    def log_posterior(t: FloatArray, w: FloatArray, counts: _Counts) -> FloatArray:
        alpha, tau = place(t, w)
        value = 2 * np.log(np.cosh(w)) - 0.5 * (alpha / overall_scale) ** 2
        if family == "half_t":
            value = value - 0.5 * (DEGREES + 1) * np.log1p((tau / tau_scale) ** 2 / DEGREES)
        else:
            value = value - 0.5 * (tau / tau_scale) ** 2
        return counts.add_log_likelihood(value, alpha, tau)

    reach = 4 * overall_scale / finest
    start = (-reach, reach), (0.0, float(np.arcsinh(6 * tau_scale / finest)))
    rough = replace(counts, nodes=np.full_like(counts.nodes, logit_normal.ROUGH))
    box = grid.locate(partial(log_posterior, counts=rough), start)
    middle = np.meshgrid(*(low + (high - low) * ABOUT_THE_MIDDLE for low, high in box))
    points = place(*(axis.ravel() for axis in middle))
    # Nodes that do not do about the middle of the box would not do for draws: no surface is made with them.
    while (better := counts.with_more_nodes(counts.errors(*points))) is not counts:
        counts = better
    state = rng.bit_generator.state
    while True:
        rng.bit_generator.state = state
        surface = grid.draw(partial(log_posterior, counts=counts), box, draws, rng)
        alpha, tau = place(surface.x, surface.y)
        errors = counts.errors(alpha[:CHECKED_DRAWS], tau[:CHECKED_DRAWS])
        if (better := counts.with_more_nodes(errors)) is counts:
            break
        counts = better
    gap = float(np.ptp(errors.sum(axis=0)))
    mu = _effects(k, n, alpha, tau, rng)  # logits, in whose place rates come
    with np.errstate(over="ignore"):  # of subgroups of nothing and of everything alone, logits may be a thousand
        np.exp(np.negative(mu, out=mu), out=mu)
        mu += 1
        np.divide(1, mu, out=mu)
        overall = 1 / (1 + np.exp(-alpha))
    return BinomialDraws(mu=mu, overall=overall, tau=tau, surface=surface, quadrature_error=gap)


@dataclass(frozen=True)
class _Counts:
    """Distinct counts ``k`` of ``n`` (pair,), ``repeats`` of each, and the ``nodes`` that its integral takes."""

    k: FloatArray
    n: FloatArray
    repeats: IntArray
    nodes: IntArray

    @classmethod
    def of(cls, k: FloatArray, n: FloatArray) -> _Counts:
        """Counts (subgroup,) where there are trials, with the fewest nodes."""
        (k, n), repeats = np.unique(np.stack([k[n > 0], n[n > 0]]), axis=1, return_counts=True)
        return cls(k, n, repeats, np.full(len(repeats), logit_normal.NODES[0]))

    def with_more_nodes(self, errors: FloatArray) -> _Counts:
        """The same with more nodes for the largest ``errors`` (pair, point); these where all are small together, or have most."""
        if np.ptp(errors.sum(axis=0)) < MAX_QUADRATURE_ERROR:
            return self
        gaps = np.ptp(errors, axis=1)
        order = np.argsort(gaps)
        at = order[np.cumsum(gaps[order]) > SHARE_OF_FEWER_NODES * MAX_QUADRATURE_ERROR]
        at = at[self.nodes[at] < logit_normal.NODES[-1]]
        if not len(at):
            return self
        nodes = self.nodes.copy()
        nodes[at] = np.array(logit_normal.NODES)[np.searchsorted(logit_normal.NODES, nodes[at]) + 1]
        return replace(self, nodes=nodes)

    def add_log_likelihood(self, value: FloatArray, alpha: FloatArray, tau: FloatArray) -> FloatArray:
        """``value`` and the log likelihood at points (point,)."""
        for at, nodes in self._blocks(len(alpha)):
            value = value + self.repeats[at] @ self._each(at, alpha, tau, nodes)
        return value

    def errors(self, alpha: FloatArray, tau: FloatArray) -> FloatArray:
        """Log likelihoods (pair, point) less those with twice the nodes, those of equal counts together."""
        errors = np.empty((len(self.k), len(alpha)))
        for at, nodes in self._blocks(len(alpha)):
            few, twice = (self._each(at, alpha, tau, number * nodes) for number in (1, 2))
            errors[at] = self.repeats[at, None] * (few - twice)
        return errors

    def _blocks(self, points: int) -> Iterator[tuple[IntArray, int]]:
        """Positions of counts that are handled at once, and their nodes."""
        size = max(CHUNK // points, 1)
        for nodes in np.unique(self.nodes).tolist():
            at = np.flatnonzero(self.nodes == nodes)
            yield from ((at[start : start + size], nodes) for start in range(0, len(at), size))

    def _each(self, at: IntArray, alpha: FloatArray, tau: FloatArray, nodes: int) -> FloatArray:
        return logit_normal.log_marginal(self.k[at, None], self.n[at, None], alpha[None], tau[None], nodes=nodes)


def _effects(k: FloatArray, n: FloatArray, alpha: FloatArray, tau: FloatArray, rng: np.random.Generator) -> FloatArray:
    eta = np.empty((len(alpha), len(k)))
    size = max(CHUNK // len(alpha), 1)
    for start in range(0, len(k), size):
        block = slice(start, min(start + size, len(k)))
        drawn = logit_normal.draw(k[None, block], n[None, block], alpha[:, None], tau[:, None], rng)
        eta[:, block] = drawn
    return eta
