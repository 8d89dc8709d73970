"""Crossed effects integrated out in the space of the observed subgroups: matrices as large as there are subgroups.

The covariance of the observations is diag(v) plus a sum of agreement matrices; draws are made by Matheron's rule (Journel and
Huijbregts 1978): draw everything from the prior, and correct it by what the data say about the difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, cholesky, chunks

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SubgroupSpace:
    """See `bayesgroups.inference.collapsed.crossed.predictor.Space`."""

    predictor: Predictor
    y: FloatArray
    v: FloatArray
    seen: NDArray[np.bool_] = field(init=False)
    agreement: FloatArray = field(init=False)
    fixed: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        seen = np.isfinite(self.v)
        cells, x = self.predictor.cells[:-1], self.predictor.covariates
        agreement = (cells[:, :, None] == cells[:, None, seen]).astype(np.float64)
        fixed = self.predictor.overall_scale**2 + self.predictor.coefficient_scale**2 * (x @ x[seen].T)
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "agreement", agreement)
        object.__setattr__(self, "fixed", fixed)

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log density of the data."""
        y, number = self.y[self.seen], int(self.seen.sum())
        found = np.empty(len(tau))
        for block in chunks(len(tau), (number + 1) ** 2):
            # Bordered with the data, one Cholesky gives the determinant and the quadratic form at once.
            bordered = np.empty((block.stop - block.start, number + 1, number + 1))
            bordered[:, :number, :number] = self._covariance(tau[block])
            bordered[:, number, :number] = bordered[:, :number, number] = y
            # The corner need only be larger than the quadratic form; only the rest of its row is used.
            bordered[:, number, number] = 2 * (1 + (y**2 / self.v[self.seen]).sum())
            factor = cholesky(bordered)
            log_root = np.log(np.diagonal(factor, axis1=1, axis2=2)[:, :number]).sum(axis=1)
            found[block] = -log_root - 0.5 * (factor[:, number, :number] ** 2).sum(axis=1)
        return np.where(np.isnan(found), -np.inf, found) - 0.5 * number * math.log(2 * math.pi)

    def draw(self, tau: FloatArray, rng: np.random.Generator) -> Drawn:
        """Draw the predictor given the data."""
        predictor, seen = self.predictor, self.seen
        total, number = len(tau), int(seen.sum())
        overall = predictor.overall_scale * rng.standard_normal(total)
        beta = predictor.coefficient_scale * rng.standard_normal((total, predictor.covariates.shape[1]))
        shared = overall[:, None] + beta @ predictor.covariates.T
        for k, cells in enumerate(predictor.cells[:-1]):
            shared += tau[:, k, None] * rng.standard_normal((total, int(cells.max()) + 1))[:, cells]
        noise = np.sqrt(self.v[seen] + tau[:, -1:] ** 2) * rng.standard_normal((total, number))
        gap = self.y[seen] - shared[:, seen] - noise
        x = predictor.covariates[seen]
        for block in chunks(total, max(number, 1) * len(seen)):
            weight = np.linalg.solve(self._covariance(tau[block]), gap[block, :, None])[..., 0]
            overall[block] += predictor.overall_scale**2 * weight.sum(axis=1)
            beta[block] += predictor.coefficient_scale**2 * (weight @ x)
            shared[block] += weight @ self.fixed.T
            for k in range(len(self.agreement)):
                shared[block] += tau[block, k, None] ** 2 * (weight @ self.agreement[k].T)
        return Drawn(shared, overall, beta)

    def moments(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of eta in every subgroup."""
        own = tau[-1] ** 2
        across = self.fixed + np.tensordot(tau[:-1] ** 2, self.agreement, axes=1)
        across[self.seen] += own * np.eye(int(self.seen.sum()))
        x = self.predictor.covariates
        alone = (
            self.predictor.overall_scale**2 + self.predictor.coefficient_scale**2 * (x**2).sum(axis=1) + (tau**2).sum()
        )
        weight = np.linalg.solve(self._covariance(tau[None])[0], across.T).T
        return weight @ self.y[self.seen], alone - (weight * across).sum(axis=1)

    def _covariance(self, tau: FloatArray) -> FloatArray:
        """Covariances of the observations, (draw, observed, observed)."""
        found = np.tensordot(tau[:, :-1] ** 2, self.agreement[:, self.seen], axes=1) + self.fixed[self.seen]
        diagonal = np.arange(found.shape[1])
        found[:, diagonal, diagonal] += self.v[self.seen] + tau[:, -1:] ** 2
        covariance: FloatArray = found
        return covariance
