"""Crossed effects integrated out in the space of the effects: matrices as large as there are effects, however many subgroups.

With D = diag(v + tau_own^2) and effects scaled to unit variance, theta ~ Normal(0, I), the posterior precision is
I + T M T with M = Z' D^-1 Z. The effects of one component never share a subgroup, so that their block of M is diagonal: the
largest component is integrated out first, number by number, and matrices are as large as the other effects. M and related matrices
depend on the subgroups through tau_own alone and smoothly, so they are summed over subgroups once: as they are where tau_own
is known, and otherwise at Chebyshev nodes, to be interpolated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, cholesky, chunks

NODES_PER_UNIT, MIN_NODES = 6.5, 20
"""Chebyshev nodes for every unit of asinh(tau_own / finest), and at least: errors of a log density are then below 1e-5."""
CHUNK = 32_000
"""Numbers of a block of draws over subgroups, so that it stays in the cache."""


class _Sums(NamedTuple):
    """M and related matrices, one or along nodes: the rest bordered with the data, the largest by the rest, and itself."""

    rest: FloatArray
    across: FloatArray
    largest: FloatArray
    log_noise: FloatArray


class _Factored(NamedTuple):
    """Posterior precisions at some draws: Cholesky factors of the rest bordered with the data, and what came before them."""

    factor: FloatArray
    across: FloatArray
    """Scaled precision between the largest component and the rest, the data last, (draw, effect, rest + 1)."""
    precision: FloatArray
    """Precision of every effect of the largest component given the rest, (draw, effect)."""
    log_noise: FloatArray


@dataclass(frozen=True)
class EffectSpace:
    """See `bayesgroups.inference.collapsed.crossed.predictor.Space`.

    ``residual_sd`` is tau_own where it is the same in all draws, and then the only one; otherwise ``largest`` is the largest
    tau_own that is told apart.
    """

    predictor: Predictor
    y: FloatArray
    v: FloatArray
    largest: float
    residual_sd: float | None = None
    columns: IntArray = field(init=False)
    eliminated: slice = field(init=False)
    finest: float = field(init=False)
    nodes: FloatArray = field(init=False)
    sums: _Sums = field(init=False)

    def __post_init__(self) -> None:
        sizes = self.predictor.sizes
        starts = 1 + self.predictor.covariates.shape[1] + np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        eliminated = int(np.argmax(sizes)) if len(sizes) else 0
        eliminated_effects = slice(
            int(starts[eliminated]), int(starts[eliminated] + (sizes[eliminated] if len(sizes) else 0))
        )
        object.__setattr__(self, "columns", self.predictor.cells[:-1] + starts[:-1, None])
        object.__setattr__(self, "eliminated", eliminated_effects)
        object.__setattr__(self, "finest", min(math.sqrt(float(self.v.min())), self.largest / 3))
        top = math.asinh(self.largest / self.finest)
        number = max(math.ceil(NODES_PER_UNIT * top), MIN_NODES)
        nodes = 0.5 * top * (1 + np.cos(np.pi * (np.arange(number) + 0.5) / number))
        object.__setattr__(self, "nodes", nodes)
        if self.residual_sd is not None:
            sums = self._sums(self.residual_sd)
        else:
            every = [self._sums(self.finest * math.sinh(w)) for w in nodes]
            sums = _Sums(*(np.stack(parts) for parts in zip(*every, strict=True)))
        object.__setattr__(self, "sums", sums)

    @property
    def size(self) -> int:
        """Numbers that a draw takes while it is worked on."""
        length = int(self.eliminated.stop - self.eliminated.start)
        rest = self.predictor.effects - length + 1
        return rest**2 + 2 * rest * length

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log density of the data."""
        log_density = np.empty(len(tau))
        for block in chunks(len(tau), self.size):
            factor, _, precision, log_noise = self._factor(tau[block])
            number = factor.shape[1] - 1
            log_root = np.log(np.diagonal(factor, axis1=1, axis2=2)[:, :number]).sum(axis=1)
            log_root += 0.5 * np.log(precision).sum(axis=1)
            # The corner was 1 + y' D^-1 y, so what is left of it is 1 plus the quadratic form.
            log_density[block] = -log_root - 0.5 * log_noise - 0.5 * (factor[:, number, number] ** 2 - 1)
        return np.where(np.isnan(log_density), -np.inf, log_density) - 0.5 * int(np.isfinite(self.v).sum()) * math.log(
            2 * math.pi
        )

    def draw(self, tau: FloatArray, rng: np.random.Generator) -> Drawn:
        """Draw the predictor given the data."""
        theta = np.empty((len(tau), self.predictor.effects))
        for block in chunks(len(tau), self.size):
            theta[block] = self._drawn(self._factor(tau[block]), rng)
        theta *= self._scales(tau)
        return Drawn(theta, self._predict, theta[:, 0], theta[:, 1 : 1 + self.predictor.covariates.shape[1]])

    def _drawn(self, factored: _Factored, rng: np.random.Generator) -> FloatArray:
        """A draw of the scaled effects for every factor."""
        number, rest = len(factored.factor), factored.factor.shape[1] - 1
        root = factored.factor[:, :rest, :rest]
        z = factored.factor[:, rest, :rest] + rng.standard_normal((number, rest))
        drawn = np.linalg.solve(np.swapaxes(root, 1, 2), z[..., None])[..., 0]
        noise = rng.standard_normal((number, factored.precision.shape[1])) / np.sqrt(factored.precision)
        return self._whole(drawn, self._given(drawn, factored) + noise)

    def moments(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of eta in every subgroup."""
        scale = self._scales(tau[None])
        factored = self._factor(tau[None])
        number = factored.factor.shape[1] - 1
        root = factored.factor[0, :number, :number]
        centre = np.linalg.solve(root.T, factored.factor[0, number, :number])[None]
        mean = self._predict(self._whole(centre, self._given(centre, factored)) * scale)[0]
        # Covariance of the rest is half' half; the largest component follows it, and has its own variance besides.
        half = np.linalg.inv(root)
        follows = -(half @ factored.across[0, :, :number].T) / factored.precision
        variance = np.zeros(len(self.y))
        for block in chunks(number, len(self.y), CHUNK):
            variance += (self._predict(self._whole(half[block], follows[block]) * scale) ** 2).sum(axis=0)
        alone = np.zeros(self.predictor.effects)
        alone[self.eliminated] = scale[0, self.eliminated] ** 2 / factored.precision[0]
        variance += self._predict(alone[None])[0]
        residual_variance = tau[-1] ** 2
        with np.errstate(invalid="ignore"):
            shrink = np.where(np.isfinite(self.v), self.v / (self.v + residual_variance), 1.0)
        return mean + (1 - shrink) * (
            np.where(shrink < 1, self.y, 0.0) - mean
        ), shrink**2 * variance + shrink * residual_variance

    def _scales(self, tau: FloatArray) -> FloatArray:
        """Prior standard deviation of every effect, (draw, effect)."""
        predictor = self.predictor
        fixed = np.full((len(tau), 1 + predictor.covariates.shape[1]), predictor.coefficient_scale)
        fixed[:, 0] = predictor.overall_scale
        return np.concatenate([fixed, np.repeat(tau[:, :-1], predictor.sizes, axis=1)], axis=1)

    def _factor(self, tau: FloatArray) -> _Factored:
        scale, sums = self._scales(tau), self.sums
        if self.residual_sd is None:
            at = np.arcsinh(np.minimum(tau[:, -1], self.largest) / self.finest)
            weight = _barycentric(self.nodes, at)
            sums = _Sums(*(np.tensordot(weight, part, axes=1) for part in sums))
        eliminated_scale = scale[:, self.eliminated]
        rest = np.column_stack([np.delete(scale, self.eliminated, axis=1), np.ones(len(tau))])
        precision = 1 + eliminated_scale**2 * sums.largest
        across = sums.across * eliminated_scale[:, :, None]
        across *= rest[:, None, :]
        bordered = sums.rest * rest[:, :, None]
        bordered *= rest[:, None, :]
        half = across / np.sqrt(precision)[:, :, None]
        bordered -= np.swapaxes(half, 1, 2) @ half
        diagonal = np.arange(bordered.shape[1])
        bordered[:, diagonal, diagonal] += 1
        return _Factored(cholesky(bordered), across, precision, np.broadcast_to(sums.log_noise, len(tau)))

    def _given(self, rest: FloatArray, factored: _Factored) -> FloatArray:
        """Mean of the largest component's effects given the rest, (draw, effect)."""
        pull = factored.across[:, :, -1] - (factored.across[:, :, :-1] @ rest[..., None])[..., 0]
        return np.asarray(pull / factored.precision, dtype=np.float64)

    def _whole(self, rest: FloatArray, largest: FloatArray) -> FloatArray:
        start = self.eliminated.start
        return np.concatenate([rest[:, :start], largest, rest[:, start:]], axis=1)

    def _predict(self, theta: FloatArray) -> FloatArray:
        """Linear predictor of every subgroup, (draw, subgroup)."""
        fixed = 1 + self.predictor.covariates.shape[1]
        predicted = np.empty((len(theta), len(self.y)))
        for block in chunks(len(theta), predicted.shape[1], CHUNK):
            part, out = theta[block], predicted[block]
            if len(self.columns):
                # The overall level goes with the first component, before there are as many numbers as subgroups.
                (part[:, :1] + part).take(self.columns[0], axis=1, out=out, mode="clip")
                each = np.empty_like(out)
                for column in self.columns[1:]:
                    out += part.take(column, axis=1, out=each, mode="clip")
            else:
                out[:] = part[:, :1]
            if fixed > 1:
                out += part[:, 1:fixed] @ self.predictor.covariates.T
        return predicted

    def _sums(self, residual_variance: float) -> _Sums:
        """Z' D^-1 Z bordered with Z' D^-1 y and y' D^-1 y, in parts, and log |D|."""
        seen = np.isfinite(self.v)
        weight = 1 / (self.v[seen] + residual_variance**2)
        x, ones = self.predictor.covariates[seen], np.ones(int(seen.sum()))
        start, length = self.eliminated.start, self.eliminated.stop - self.eliminated.start
        number = self.predictor.effects - length
        # Every subgroup has an entry in each of these columns: overall, covariates, one cell per component, data.
        fixed = np.repeat(np.array([0, *range(1, 1 + x.shape[1]), number])[:, None], len(ones), axis=1)
        kept = [each[seen] - (length if each[0] >= start else 0) for each in self.columns if not self._goes(each)]
        cells = np.reshape(np.array(kept, dtype=np.int64), (len(kept), len(ones)))
        place = np.concatenate([fixed[:-1], cells, fixed[-1:]])
        value = np.concatenate([ones[None], x.T, np.ones(cells.shape), self.y[None, seen]])
        rest = np.zeros((number + 1, number + 1))
        for row, entry in zip(place, value, strict=True):
            flat = (row * (number + 1) + place).ravel()
            rest += np.bincount(flat, (weight * entry * value).ravel(), rest.size).reshape(rest.shape)
        across, largest = np.zeros((length, number + 1)), np.zeros(length)
        for each in self.columns:
            if self._goes(each):
                cell = each[seen] - start
                flat = (cell * (number + 1) + place).ravel()
                across += np.bincount(flat, (weight * value).ravel(), across.size).reshape(across.shape)
                largest += np.bincount(cell, weight, length)
        return _Sums(rest, across, largest, np.asarray(-np.log(weight).sum()))

    def _goes(self, column: IntArray) -> bool:
        return bool(self.eliminated.start <= column[0] < self.eliminated.stop)


def _barycentric(nodes: FloatArray, at: FloatArray) -> FloatArray:
    """Weights (point, node) of the values at Chebyshev nodes of the first kind."""
    number = len(nodes)
    sign = (-1.0) ** np.arange(number) * np.sin(np.pi * (np.arange(number) + 0.5) / number)
    gap = at[:, None] - nodes
    hit = np.abs(gap) < 1e-14
    weight = sign / np.where(hit, 1.0, gap)
    weight = np.where(hit.any(axis=1, keepdims=True), hit.astype(np.float64), weight)
    weights: FloatArray = weight / weight.sum(axis=1, keepdims=True)
    return weights
