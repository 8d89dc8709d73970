"""Crossed effects integrated out in the space of the effects: matrices as large as there are effects, however many subgroups.

With D = diag(v + tau_own^2) and effects scaled to unit variance, theta ~ Normal(0, I), the posterior precision is
I + T M T with M = Z' D^-1 Z. M and its kin depend on the subgroups through tau_own alone and smoothly, so they are summed over
subgroups once, at Chebyshev nodes, and interpolated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, cholesky, chunks

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NODES = 40
CHUNK = 400_000
"""Numbers of a block of draws over subgroups, so that it stays in the cache."""


@dataclass(frozen=True)
class EffectSpace:
    """See `bayesgroups.inference.collapsed.crossed.predictor.Space`; ``largest`` is the largest tau_own that is told apart."""

    predictor: Predictor
    y: FloatArray
    v: FloatArray
    largest: float
    columns: IntArray = field(init=False)
    finest: float = field(init=False)
    nodes: FloatArray = field(init=False)
    tables: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        cells = self.predictor.cells[:-1]
        offset = 1 + self.predictor.covariates.shape[1]
        starts = (
            offset + np.concatenate([[0], np.cumsum(cells.max(axis=1, initial=-1) + 1)[:-1]]) if len(cells) else cells
        )
        object.__setattr__(self, "columns", (cells + np.reshape(starts, (-1, 1))).astype(np.int64))
        object.__setattr__(self, "finest", min(math.sqrt(float(self.v.min())), self.largest / 3))
        top = math.asinh(self.largest / self.finest)
        nodes = 0.5 * top * (1 + np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES))
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "tables", np.stack([self._sums(self.finest * math.sinh(w)) for w in nodes]))

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log density of the data."""
        number = self.predictor.effects
        found = np.empty(len(tau))
        for block in chunks(len(tau), (number + 1) ** 2):
            factor, log_noise = self._factor(tau[block])
            log_root = np.log(np.diagonal(factor, axis1=1, axis2=2)[:, :number]).sum(axis=1)
            # The corner was 1 + y' D^-1 y, so what is left of it is 1 plus the quadratic form.
            found[block] = -log_root - 0.5 * log_noise - 0.5 * (factor[:, number, number] ** 2 - 1)
        return np.where(np.isnan(found), -np.inf, found) - 0.5 * int(np.isfinite(self.v).sum()) * math.log(2 * math.pi)

    def draw(self, tau: FloatArray, rng: np.random.Generator) -> Drawn:
        """Draw the predictor given the data."""
        number, scale = self.predictor.effects, self._scales(tau)
        theta = np.empty((len(tau), number))
        for block in chunks(len(tau), (number + 1) ** 2):
            factor, _ = self._factor(tau[block])
            root = factor[:, :number, :number]
            z = factor[:, number, :number] + rng.standard_normal((len(root), number))
            theta[block] = np.linalg.solve(np.swapaxes(root, 1, 2), z[..., None])[..., 0]
        theta *= scale
        return Drawn(self._predict(theta), theta[:, 0], theta[:, 1 : 1 + self.predictor.covariates.shape[1]])

    def moments(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of eta in every subgroup."""
        number, scale = self.predictor.effects, self._scales(tau[None])[0]
        factor = self._factor(tau[None])[0][0]
        root = factor[:number, :number]
        mean = self._predict((scale * np.linalg.solve(root.T, factor[number, :number]))[None])[0]
        half = np.linalg.inv(root) * scale  # covariance of the scaled effects is half' half
        variance = np.zeros(len(self.y))
        for row in half:
            variance += self._predict(row[None])[0] ** 2
        own = tau[-1] ** 2
        with np.errstate(invalid="ignore"):
            shrink = np.where(np.isfinite(self.v), self.v / (self.v + own), 1.0)
        return mean + (1 - shrink) * (np.where(shrink < 1, self.y, 0.0) - mean), shrink**2 * variance + shrink * own

    def _scales(self, tau: FloatArray) -> FloatArray:
        """Prior standard deviation of every effect, (draw, effect)."""
        predictor = self.predictor
        sizes = predictor.cells[:-1].max(axis=1, initial=-1) + 1
        fixed = np.full((len(tau), 1 + predictor.covariates.shape[1]), predictor.coefficient_scale)
        fixed[:, 0] = predictor.overall_scale
        return np.concatenate([fixed, np.repeat(tau[:, :-1], sizes, axis=1)], axis=1)

    def _factor(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Cholesky factors of the precisions bordered with the data, and the log determinants of D."""
        number, scale = self.predictor.effects, self._scales(tau)
        at = np.arcsinh(np.minimum(tau[:, -1], self.largest) / self.finest)
        table = (_barycentric(self.nodes, at) @ self.tables.reshape(NODES, -1)).reshape(-1, *self.tables.shape[1:])
        log_noise = table[:, number, number + 1].copy()
        bordered = table[:, :, : number + 1].copy()
        bordered[:, :number, :number] *= scale[:, :, None] * scale[:, None, :]
        bordered[:, number, :number] *= scale
        bordered[:, :number, number] *= scale
        diagonal = np.arange(number + 1)
        bordered[:, diagonal, diagonal] += 1
        return cholesky(bordered), log_noise

    def _predict(self, theta: FloatArray) -> FloatArray:
        """Linear predictor of every subgroup, (draw, subgroup)."""
        fixed = 1 + self.predictor.covariates.shape[1]
        found = np.empty((len(theta), len(self.y)))
        for block in chunks(len(theta), found.shape[1], CHUNK):
            part, out = theta[block], found[block]
            out[:] = part[:, :1]
            if fixed > 1:
                out += part[:, 1:fixed] @ self.predictor.covariates.T
            for column in self.columns:
                out += part.take(column, axis=1)
        return found

    def _sums(self, own: float) -> FloatArray:
        """Z' D^-1 Z bordered with Z' D^-1 y and y' D^-1 y, and log |D| beside it, (effect + 1, effect + 2)."""
        seen = np.isfinite(self.v)
        weight = 1 / (self.v[seen] + own**2)
        number, x = self.predictor.effects, self.predictor.covariates[seen]
        ones = np.ones(int(seen.sum()))
        # Every subgroup has an entry in each of these columns: overall, covariates, one cell per component, data.
        fixed = np.repeat(np.array([0, *range(1, 1 + x.shape[1]), number])[:, None], len(ones), axis=1)
        place = np.concatenate([fixed[:-1], self.columns[:, seen], fixed[-1:]])
        value = np.concatenate([ones[None], x.T, np.ones((len(self.columns), len(ones))), self.y[None, seen]])
        found = np.zeros((number + 1, number + 2))
        for row, entry in zip(place, value, strict=True):
            flat = (row * (number + 2) + place).ravel()
            found += np.bincount(flat, (weight * entry * value).ravel(), found.size).reshape(found.shape)
        found[number, number + 1] = -np.log(weight).sum()
        return found


def _barycentric(nodes: FloatArray, at: FloatArray) -> FloatArray:
    """Weights (point, node) of the values at Chebyshev nodes of the first kind."""
    number = len(nodes)
    sign = (-1.0) ** np.arange(number) * np.sin(np.pi * (np.arange(number) + 0.5) / number)
    gap = at[:, None] - nodes
    hit = np.abs(gap) < 1e-14
    weight = sign / np.where(hit, 1.0, gap)
    weight = np.where(hit.any(axis=1, keepdims=True), hit.astype(np.float64), weight)
    found: FloatArray = weight / weight.sum(axis=1, keepdims=True)
    return found
