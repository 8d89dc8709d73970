"""Algebra of covariance matrices shared by all spaces of observations: densities and solutions for many draws."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.predictor import LOOPED, alike, cholesky, chunks

Covariance = Callable[[FloatArray], FloatArray]
"""From draws of the standard deviations to the covariances of the observations, (draw, observed, observed)."""

CHUNK = 1_000_000
"""Numbers handled at once."""


def log_marginal(tau: FloatArray, covariance: Covariance, y: FloatArray, v: FloatArray) -> FloatArray:
    """Log density (draw,) of observations around 0, with the variances ``v`` of their errors.

    ``covariance`` takes ``tau`` (draw, component) and gives covariances of the observations, their errors with them.
    Minus infinity where rounding has left one indefinite.

    >>> log_marginal(np.zeros((1, 1)), lambda tau: np.eye(2)[None], np.zeros(2), np.ones(2)).round(3).tolist()
    [-1.838]
    """
    number, log_density = len(y), np.empty(len(tau))
    for block in chunks(len(tau), (number + 1) ** 2, CHUNK):
        # Bordered with the data, one Cholesky gives the determinant and the quadratic form at once; it reads the
        # lower triangle. The corner need only be larger than the quadratic form, for it is not used.
        bordered = np.zeros((block.stop - block.start, number + 1, number + 1))
        bordered[:, :number, :number] = covariance(tau[block])
        bordered[:, number, :number] = y
        bordered[:, number, number] = 2 * (1 + (y**2 / v).sum())
        factor = cholesky(bordered)
        log_root = np.log(np.diagonal(factor, axis1=1, axis2=2)[:, :number]).sum(axis=1)
        log_density[block] = -log_root - 0.5 * (factor[:, number, :number] ** 2).sum(axis=1)
    return np.where(np.isnan(log_density), -np.inf, log_density) - 0.5 * number * math.log(2 * math.pi)


def solved(tau: FloatArray, covariance: Covariance, gap: FloatArray) -> FloatArray:
    """Inverse covariances times the vectors ``gap`` (draw, observed); draws with the same ``tau`` share a factorisation.

    >>> solved(np.zeros((1, 1)), lambda tau: 2 * np.eye(2)[None], np.array([[1.0, 3.0]])).tolist()
    [[0.5, 1.5]]
    """
    number, solutions = gap.shape[1], np.empty_like(gap)
    if number < LOOPED:
        for block in chunks(len(tau), max(number, 1) ** 2, CHUNK):
            solutions[block] = np.linalg.solve(covariance(tau[block]), gap[block, :, None])[..., 0]
        return solutions
    from scipy.linalg import get_lapack_funcs

    (solve,) = get_lapack_funcs(("posv",), dtype=np.float64)
    different, rows = alike(tau)
    for block in chunks(len(different), number**2, CHUNK):
        for row, each in zip(rows[block], covariance(different[block]), strict=True):
            _, solution, failed = solve(each, gap[row].T, lower=1)
            # A covariance that rounding has left indefinite is left to elimination with pivots.
            solutions[row] = (np.linalg.solve(each, gap[row].T) if failed else solution).T
    return solutions
