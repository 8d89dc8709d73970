"""Crossed effects integrated out in the space of the observed subgroups: matrices as large as there are subgroups.

The covariance of two observations depends on the components in whose cells the two subgroups agree, and on nothing else but
covariates: few numbers for every draw are laid out as a matrix. Draws are made by Matheron's rule (Journel and Huijbregts
1978): draw everything from the prior, and correct it by what the data say about the difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, cholesky, chunks, indicator, inverted

Covariance = Callable[[FloatArray], FloatArray]
"""From draws of the standard deviations to the covariances of the observations, (draw, observed, observed)."""

CHUNK = 1_000_000
"""Numbers handled at once."""


@dataclass(frozen=True)
class SubgroupSpace:
    """See `bayesgroups.inference.collapsed.crossed.predictor.Space`."""

    predictor: Predictor
    y: FloatArray
    v: FloatArray
    between: FloatArray | float = 0.0
    """Covariances of the errors of two observations, (observed, observed) with 0 on the diagonal; 0 of independent errors."""
    seen: NDArray[np.bool_] = field(init=False)
    pattern: IntArray = field(init=False)
    """Which components agree, as a column of ``agreement``, (subgroup, observed)."""
    agreement: FloatArray = field(init=False)
    """1 where the component agrees, (component but the last, pattern)."""
    fixed: FloatArray = field(init=False)
    """Covariance that no draw changes, (subgroup, observed)."""

    def __post_init__(self) -> None:
        seen = np.isfinite(self.v)
        x = self.predictor.covariates
        pattern, agreement = patterns(self.predictor.cells[:-1], seen)
        fixed = self.predictor.overall_scale**2 + self.predictor.coefficient_scale**2 * (x @ x[seen].T)
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "pattern", pattern)
        object.__setattr__(self, "agreement", agreement)
        object.__setattr__(self, "fixed", fixed)

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log density of the data."""
        return log_density(tau, self._covariance, self.y[self.seen], self.v[self.seen])

    def slope(self, tau: FloatArray) -> FloatArray:
        """Derivatives of the log density of the data by ``tau``, at one ``tau``, (component,)."""
        inverse = inverted(self._covariance(tau[None])[0])
        weight = inverse @ self.y[self.seen]
        pull = np.outer(weight, weight) - inverse
        summed = np.bincount(self.pattern[self.seen].ravel(), pull.ravel(), self.agreement.shape[1])
        return np.asarray(tau * np.append(self.agreement @ summed, np.trace(pull)), dtype=np.float64)

    def draw(self, tau: FloatArray, rng: np.random.Generator) -> Drawn:
        """Draw the predictor given the data."""
        predictor, seen = self.predictor, self.seen
        total, number = len(tau), int(seen.sum())
        overall = predictor.overall_scale * rng.standard_normal(total)
        beta = predictor.coefficient_scale * rng.standard_normal((total, predictor.covariates.shape[1]))
        shared = overall[:, None] + beta @ predictor.covariates.T
        for k, cells in enumerate(predictor.cells[:-1]):
            shared += tau[:, k, None] * rng.standard_normal((total, int(cells.max()) + 1))[:, cells]
        noise = self._noise(tau, rng.standard_normal((total, number)), rng)
        weight = solved(tau, self._covariance, self.y[seen] - shared[:, seen] - noise)
        overall += predictor.overall_scale**2 * weight.sum(axis=1)
        beta += predictor.coefficient_scale**2 * (weight @ predictor.covariates[seen])
        shared += weight @ self.fixed.T
        for k, cells in enumerate(predictor.cells[:-1]):
            shared += (tau[:, k, None] ** 2 * (weight @ indicator(cells)[seen]))[:, cells]
        return Drawn(shared, np.copy, overall, beta)

    def _noise(self, tau: FloatArray, normal: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Errors with the residual effects, (draw, observed)."""
        v = self.v[self.seen]
        if isinstance(self.between, float):
            return np.asarray(np.sqrt(v + tau[:, -1:] ** 2) * normal)
        values, vectors = np.linalg.eigh(self.between + np.diag(v))
        errors = (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return np.asarray(errors + tau[:, -1:] * rng.standard_normal(normal.shape))

    def moments(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of eta in every subgroup."""
        residual_variance = tau[-1] ** 2
        across = self.fixed + (tau[:-1] ** 2 @ self.agreement)[self.pattern]
        across[self.seen] += residual_variance * np.eye(int(self.seen.sum()))
        x = self.predictor.covariates
        alone = (
            self.predictor.overall_scale**2 + self.predictor.coefficient_scale**2 * (x**2).sum(axis=1) + (tau**2).sum()
        )
        weight = np.linalg.solve(self._covariance(tau[None])[0], across.T).T
        return weight @ self.y[self.seen], alone - (weight * across).sum(axis=1)

    def _covariance(self, tau: FloatArray) -> FloatArray:
        """Covariances of the observations, (draw, observed, observed)."""
        matrices = (tau[:, :-1] ** 2 @ self.agreement).take(self.pattern[self.seen], axis=1)
        matrices += self.fixed[self.seen] + self.between
        diagonal = np.arange(matrices.shape[1])
        matrices[:, diagonal, diagonal] += self.v[self.seen] + tau[:, -1:] ** 2
        covariance: FloatArray = matrices
        return covariance


def patterns(cells: IntArray, seen: NDArray[np.bool_]) -> tuple[IntArray, FloatArray]:
    """Number of the pattern of agreement of every two subgroups, and the patterns (component, pattern)."""
    code = np.zeros((cells.shape[1], int(seen.sum())), dtype=np.int64)
    for each in cells:
        if code.max(initial=0) > 2**61:
            code = np.unique(code, return_inverse=True)[1].reshape(code.shape)
        code = 2 * code + (each[:, None] == each[seen])
    _, first, pattern = np.unique(code, return_index=True, return_inverse=True)
    row, other = np.unravel_index(first, code.shape) if code.size else (first, first)
    agreement = cells[:, row] == cells[:, seen][:, other]
    return pattern.reshape(code.shape), agreement.astype(np.float64)


def log_density(tau: FloatArray, covariance: Covariance, y: FloatArray, v: FloatArray) -> FloatArray:
    """Log density (draw,) of observations around 0, with the variances ``v`` of their errors.

    ``covariance`` takes ``tau`` (draw, component) and gives covariances of the observations, their errors with them.
    Minus infinity where rounding has left one indefinite.

    >>> log_density(np.zeros((1, 1)), lambda tau: np.eye(2)[None], np.zeros(2), np.ones(2)).round(3).tolist()
    [-1.838]
    """
    number, densities = len(y), np.empty(len(tau))
    for block in chunks(len(tau), (number + 1) ** 2, CHUNK):
        # Bordered with the data, one Cholesky gives the determinant and the quadratic form at once; it reads the
        # lower triangle. The corner need only be larger than the quadratic form, for it is not used.
        bordered = np.zeros((block.stop - block.start, number + 1, number + 1))
        bordered[:, :number, :number] = covariance(tau[block])
        bordered[:, number, :number] = y
        bordered[:, number, number] = 2 * (1 + (y**2 / v).sum())
        factor = cholesky(bordered)
        log_root = np.log(np.diagonal(factor, axis1=1, axis2=2)[:, :number]).sum(axis=1)
        densities[block] = -log_root - 0.5 * (factor[:, number, :number] ** 2).sum(axis=1)
    return np.where(np.isnan(densities), -np.inf, densities) - 0.5 * number * math.log(2 * math.pi)


def solved(tau: FloatArray, covariance: Covariance, gap: FloatArray) -> FloatArray:
    """Inverse covariances times the vectors ``gap`` (draw, observed).

    >>> solved(np.zeros((1, 1)), lambda tau: 2 * np.eye(2)[None], np.array([[1.0, 3.0]])).tolist()
    [[0.5, 1.5]]
    """
    solutions = np.empty_like(gap)
    for block in chunks(len(tau), max(gap.shape[1], 1) ** 2, CHUNK):
        solutions[block] = np.linalg.solve(covariance(tau[block]), gap[block, :, None])[..., 0]
    return solutions
