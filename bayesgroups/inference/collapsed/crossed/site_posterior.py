"""Posterior of blocks of effects given normal observations, one Cholesky factor for every draw of the loadings.

Draws are made by Matheron's rule (Journel and Huijbregts 1978): noise of the prior, and a correction that is linear in what the
data say about the difference. So a draw is a mean plus a linear function of the noise, and an ellipse of noises is one of draws.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed.crossed.blocks import Blocks
from bayesgroups.inference.collapsed.crossed.predictor import inverted


class Noise(NamedTuple):
    """Standard normal numbers of some draws: of effects (draw, effect), residual effects (draw, row) and errors (draw, seen)."""

    effects: FloatArray
    residual: FloatArray
    errors: FloatArray

    def at(self, rows: IntArray | NDArray[np.bool_]) -> Noise:
        """The noise of some draws."""
        return Noise(*(part[rows] for part in self))


class Given(NamedTuple):
    """Loadings, factors and densities at some draws of the standard normal numbers."""

    loadings: FloatArray
    residual_sd: FloatArray
    """(draw, row), known variances with it."""
    factors: FloatArray
    """Upper Cholesky factors of the covariance of the observations, (draw, seen, seen), as LAPACK lays them out."""
    log_marginal: FloatArray
    weight: FloatArray
    """Inverse covariance times the observations, (draw, seen)."""


@dataclass(frozen=True)
class SitePosterior:
    """Normal observations ``y`` (row,) with error variances ``v``, infinite where there is none, of the rows of all parts in turn.

    ``extra`` (row,) are known variances of residual effects, ``covariance`` (row, row) that of correlated errors, with ``v`` on its
    diagonal.
    """

    blocks: Blocks
    y: FloatArray
    v: FloatArray
    extra: FloatArray
    covariance: FloatArray | None = None
    seen: IntArray = field(init=False)
    pairs: tuple[tuple[slice, slice, int, int, FloatArray], ...] = field(init=False)
    """Rows and columns of the covariance by parts, the parts, and the kernels of all blocks there, (block, entry)."""

    def __post_init__(self) -> None:
        seen, subgroups = np.flatnonzero(np.isfinite(self.v)), self.blocks.subgroups
        ends = np.searchsorted(seen, subgroups * np.arange(self.blocks.parts + 1))
        rows = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        pairs = []
        for p, first in enumerate(rows):
            for q, second in enumerate(rows[: p + 1]):
                left, right = seen[first] - p * subgroups, seen[second] - q * subgroups
                kernels = np.stack([(root[left] @ root[right].T).ravel() for root in self.blocks.roots])
                pairs.append((first, second, p, q, kernels))
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "pairs", tuple(pairs))

    def given(self, u: FloatArray) -> Given:
        """Factors and log densities of the observations, for standard normal numbers (draw, parameter)."""
        from scipy.linalg import get_lapack_funcs

        (solve,) = get_lapack_funcs(("posv",), dtype=np.float64)
        loadings, residual = self.blocks.loadings(u), self._residual_sd(u)
        factors = self.covariances(loadings, residual)
        number, weight, log_marginal = len(self.seen), np.empty((len(u), len(self.seen))), np.empty(len(u))
        observations = self.y[self.seen]
        for draw, matrix in enumerate(factors):
            _, weight[draw], failed = solve(matrix.T, observations, lower=0, overwrite_a=1)
            root = matrix.diagonal()
            log_marginal[draw] = -np.inf if failed else -np.log(root).sum() - 0.5 * observations @ weight[draw]
        log_marginal[~np.isfinite(log_marginal)] = -np.inf
        return Given(loadings, residual, factors, log_marginal - 0.5 * number * np.log(2 * np.pi), weight)

    def covariances(self, loadings: FloatArray, residual: FloatArray) -> FloatArray:
        """Covariances of the observations, (draw, seen, seen); only the lower triangle is filled between parts."""
        number = len(self.seen)
        matrices = np.empty((len(loadings), number, number))
        for first, second, p, q, kernels in self.pairs:
            shape = (len(loadings), first.stop - first.start, second.stop - second.start)
            matrices[:, first, second] = ((loadings[:, p] * loadings[:, q]) @ kernels).reshape(shape)
        diagonal = np.arange(number)
        matrices[:, diagonal, diagonal] += self.v[self.seen] + residual[:, self.seen] ** 2
        if self.covariance is not None:
            between = self.covariance[np.ix_(self.seen, self.seen)]
            matrices += between - np.diag(np.diagonal(between))
        return matrices

    def centre(self, given: Given) -> FloatArray:
        """Posterior mean of every row, (draw, row)."""
        return self._corrected(np.zeros((len(given.weight), len(self.v))), given.weight, given)[0]

    def deviation(self, noise: Noise, given: Given) -> tuple[FloatArray, FloatArray]:
        """Difference of a draw from the mean of the rows, (draw, row), and of the effects, (draw, effect): linear in the noise."""
        from scipy.linalg import get_lapack_funcs

        (solve,) = get_lapack_funcs(("potrs",), dtype=np.float64)
        prior = self._flat(self.blocks.sums(noise.effects, given.loadings)) + given.residual_sd * noise.residual
        weight = -(prior[:, self.seen] + self._errors(noise.errors))
        for draw, factor in enumerate(given.factors):
            weight[draw] = solve(factor.T, weight[draw], lower=0)[0]
        rows, effects = self._corrected(prior, weight, given)
        return rows, noise.effects + effects

    def effects(self, given: Given) -> FloatArray:
        """Posterior mean of the effects, (draw, effect)."""
        return self.blocks.transposed(self._spread(given.weight), given.loadings)

    def moments(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of every row at one point (parameter,)."""
        loadings, residual = self.blocks.loadings(u[None]), self._residual_sd(u[None])[0]
        root = np.concatenate(
            [
                np.concatenate([loadings[0, p, b] * root for b, root in enumerate(self.blocks.roots)], axis=1)
                for p in range(self.blocks.parts)
            ]
        )
        full = root @ root.T + np.diag(residual**2)
        inside = full[np.ix_(self.seen, self.seen)] + np.diag(self.v[self.seen])
        weight = np.linalg.solve(inside, full[self.seen]).T
        return weight @ self.y[self.seen], np.diag(full) - (weight * full[:, self.seen]).sum(axis=1)

    def slope(self, u: FloatArray) -> FloatArray:
        """Derivatives of the log density of the observations at one point, (parameter,)."""
        loadings, residual = self.blocks.loadings(u[None]), self._residual_sd(u[None])
        covariance = self.covariances(loadings, residual)[0]
        lower = np.tril(covariance)
        inverse = inverted(lower + np.tril(covariance, -1).T)
        weight = inverse @ self.y[self.seen]
        pull = np.outer(weight, weight) - inverse
        by_loading = np.zeros((self.blocks.parts, len(self.blocks.roots)))
        by_residual = np.zeros(self.blocks.parts)
        for first, second, p, q, kernels in self.pairs:
            each = kernels @ pull[first, second].ravel()
            by_loading[p] += each * loadings[0, q]
            if p == q:
                by_residual[p] = np.trace(pull[first, first])
            else:
                by_loading[q] += each * loadings[0, p]
        loading_slope, residual_slope = self.blocks.jacobian(u)
        sd = self.blocks.residual_sd(u[None])[0]
        by_loadings = np.einsum("pb,pbu->u", by_loading, loading_slope)
        return np.asarray(by_loadings + (by_residual * sd) @ residual_slope, dtype=np.float64)

    def noise(self, draws: int, rng: np.random.Generator) -> Noise:
        """Fresh noise."""
        sizes = (self.blocks.effects, len(self.v), len(self.seen))
        return Noise(*(rng.standard_normal((draws, size)) for size in sizes))

    def _errors(self, noise: FloatArray) -> FloatArray:
        """Errors of the observations from standard normal numbers, (draw, seen)."""
        if self.covariance is None:
            return np.asarray(np.sqrt(self.v[self.seen]) * noise, dtype=np.float64)
        roots, vectors = np.linalg.eigh(self.covariance[np.ix_(self.seen, self.seen)])
        return np.asarray((noise * np.sqrt(np.maximum(roots, 0.0))) @ vectors.T, dtype=np.float64)

    def _residual_sd(self, u: FloatArray) -> FloatArray:
        each = np.repeat(self.blocks.residual_sd(u), self.blocks.subgroups, axis=1)
        return np.sqrt(each**2 + self.extra)

    def _corrected(self, prior: FloatArray, weight: FloatArray, given: Given) -> tuple[FloatArray, FloatArray]:
        """Rows (draw, row) after the correction by weights (draw, seen), and the correction of the effects."""
        spread = self._spread(weight)
        effects = self.blocks.transposed(spread, given.loadings)
        rows = prior + self._flat(self.blocks.sums(effects, given.loadings))
        rows += given.residual_sd**2 * self._flat(spread)
        return rows, effects

    def _spread(self, weight: FloatArray) -> FloatArray:
        """Weights of the observations laid out by part and subgroup, (draw, part, subgroup)."""
        spread = np.zeros((len(weight), len(self.v)))
        spread[:, self.seen] = weight
        return spread.reshape(len(weight), self.blocks.parts, -1)

    @staticmethod
    def _flat(parts: FloatArray) -> FloatArray:
        return parts.reshape(len(parts), -1)
