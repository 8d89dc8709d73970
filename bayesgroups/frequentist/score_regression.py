"""Regression of a score on outcome and features, location and log scale, and its bootstrap. Pure functions on arrays.

    u_i ~ Normal(x_i . beta, exp(z_i . gamma)^2)

Rows that share x and z enter by their number, sum and sum of squares, so a fit costs as much as there are kinds of rows. All
functions take replicates: leading axes of the sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray

RIDGE = 1e-6
"""Penalty on the coefficients, per row: for features that no row of an outcome has."""
CONVERGED = 1e-8
MAX_ITERATIONS = 200
LARGEST_LOG_SD = 100.0
"""Largest logarithm of a standard deviation of scores, or of its inverse: steps of replicates of few rows have any length."""
SMALLEST_SD = 1e-3


@dataclass(frozen=True)
class Kinds:
    """Kinds of rows: features ``x`` (kind, column) of the mean and ``z`` (kind, scale_column) of the log scale."""

    x: FloatArray
    z: FloatArray


@dataclass(frozen=True)
class Totals:
    """Rows of each kind, the sum of their scores and of their squares, (..., kind)."""

    number: FloatArray
    score: FloatArray
    squares: FloatArray


@dataclass(frozen=True)
class Coefficients:
    """``beta`` (..., column) and ``gamma`` (..., scale_column)."""

    beta: FloatArray
    gamma: FloatArray


def fit(kinds: Kinds, totals: Totals) -> Coefficients:
    """Maximum likelihood, by turns of weighted least squares for the mean and Fisher scoring for the log scale.

    Harvey (1976), "Estimating regression models with multiplicative heteroscedasticity", doi:10.2307/1913974.

    >>> kinds = Kinds(np.eye(2), np.ones((2, 1)))
    >>> answer = fit(kinds, Totals(np.array([2.0, 2.0]), np.array([2.0, 6.0]), np.array([4.0, 20.0])))
    >>> answer.beta.round(4).tolist(), np.exp(answer.gamma).round(4).tolist()
    ([1.0, 3.0], [1.0])
    """
    x = kinds.x

    def equations(precision: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (x.T * (totals.number * precision)[..., None, :]) @ x, (totals.score * precision) @ x

    return by_turns(totals, kinds.z, x.shape[1], equations, lambda beta: _squares(totals, beta @ x.T))


def by_turns(
    totals: Totals,
    z: FloatArray,
    columns: int,
    equations: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    squares: Callable[[FloatArray], FloatArray],
) -> Coefficients:
    """Coefficients of largest likelihood, from what the regression of the mean is made of.

    ``equations`` gives the normal equations (..., column, column) and (..., column) at precisions (..., kind), and ``squares`` the
    squared residuals of each kind (..., kind) at coefficients.
    """
    n = totals.number
    rows = n.sum(axis=-1)
    mean = totals.score.sum(axis=-1) / rows
    variance = np.maximum(totals.squares.sum(axis=-1) / rows - mean**2, SMALLEST_SD**2)
    gamma = (0.5 * np.log(variance))[..., None] * np.linalg.lstsq(z, np.ones(len(z)), rcond=None)[0]
    penalty, ridge = (RIDGE * rows[..., None, None] * np.eye(size) for size in (columns, z.shape[1]))
    beta = np.zeros((*n.shape[:-1], columns))
    for _ in range(MAX_ITERATIONS):
        precision = np.exp(-2 * (gamma @ z.T))
        normal, right = equations(precision)
        new = np.linalg.solve(normal + penalty, right[..., None])[..., 0]
        score = (squares(new) * precision - n) @ z
        step = np.linalg.solve(2 * (z.T * n[..., None, :]) @ z + ridge, score[..., None])[..., 0]
        change = max(float(np.abs(new - beta).max()), float(np.abs(step).max()))
        beta = new
        gamma = _bounded(gamma + np.clip(step, -1.0, 1.0), z)
        if change < CONVERGED:
            break
    return Coefficients(beta, gamma)


def _bounded(gamma: FloatArray, z: FloatArray) -> FloatArray:
    """Coefficients of the log scale with which no kind has a standard deviation below the smallest."""
    log_sd, least = gamma @ z.T, np.log(SMALLEST_SD)
    if (log_sd >= least).all():
        return gamma
    return np.asarray(np.maximum(log_sd, least) @ np.linalg.pinv(z).T, dtype=np.float64)


def one_step(kinds: Kinds, totals: Totals, coefficients: Coefficients, replicates: Totals) -> Coefficients:
    """Fast bootstrap: coefficients (replicate, ...) by one Newton step from those of the sample.

    theta + H^-1 sum_i (W_i - 1) grad_i, with H the observed information of the sample and W_i how often row i is in the
    replicate. As the gradients of the sample sum to 0, only those of the replicate are needed.
    """
    x, z = kinds.x, kinds.z
    precision, centre = np.exp(-2 * (z @ coefficients.gamma)), x @ coefficients.beta
    gap = (totals.score - totals.number * centre) * precision
    scaled_squares = _squares(totals, centre) * precision
    top = (x.T * (totals.number * precision)) @ x + RIDGE * totals.number.sum() * np.eye(x.shape[1])
    corner = 2 * (x.T * gap) @ z
    bottom = 2 * (z.T * scaled_squares) @ z + RIDGE * totals.number.sum() * np.eye(z.shape[1])
    information = np.block([[top, corner], [corner.T, bottom]])
    score = np.concatenate([gap @ x, (scaled_squares - totals.number) @ z])
    gaps = (replicates.score - replicates.number * centre) * precision
    squares = _squares(replicates, centre) * precision
    gradient = np.concatenate([gaps @ x, (squares - replicates.number) @ z], axis=-1) - score
    step = np.linalg.solve(information, gradient.T).T
    size = x.shape[1]
    return Coefficients(coefficients.beta + step[:, :size], coefficients.gamma + step[:, size:])


def laws(kinds: Kinds, coefficients: Coefficients) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation (..., kind) of the scores of each kind."""
    return coefficients.beta @ kinds.x.T, scales(kinds, coefficients)


def scales(kinds: Kinds, coefficients: Coefficients) -> FloatArray:
    """Standard deviation (..., kind) of the scores of each kind beside their mean."""
    return np.asarray(
        np.exp(np.clip(coefficients.gamma @ kinds.z.T, -LARGEST_LOG_SD, LARGEST_LOG_SD)), dtype=np.float64
    )


def resample(
    kind: NDArray[np.int64], kinds: int, score: FloatArray, weight: FloatArray, within: FloatArray, replicates: int,
    rng: np.random.Generator,
) -> Totals:  # fmt: skip
    """Sums (replicate, kind) of bootstrap replicates of rows, drawn with replacement from all of them.

    Of each bin: the kind of its rows, sorted, their mean score, how many they are, and the variance of their scores about
    it.
    """
    rows = int(np.rint(weight.sum()))
    start = np.flatnonzero(np.diff(kind, prepend=-1))
    resampled = np.zeros((3, replicates, kinds))
    size = max(1, 4_000_000 // max(len(kind), 1))
    values = np.stack([np.ones_like(score), score, score**2 + within])
    for first in range(0, replicates, size):
        block = slice(first, min(first + size, replicates))
        times = rng.multinomial(rows, weight / weight.sum(), size=block.stop - first).astype(np.float64)
        for i, value in enumerate(values):
            resampled[i, block, kind[start]] = np.add.reduceat(times * value, start, axis=1).T
    return Totals(*resampled)


def sums(kind: NDArray[np.int64], kinds: int, score: FloatArray, weight: FloatArray, within: FloatArray) -> Totals:
    """Sums of the sample itself, as `resample` has them of replicates."""
    values = (weight, weight * score, weight * (score**2 + within))
    return Totals(*(np.bincount(kind, weights=value, minlength=kinds) for value in values))


def _squares(totals: Totals, centre: FloatArray) -> FloatArray:
    """Sums of squared distances from a centre, (..., kind)."""
    return np.maximum(totals.squares - 2 * centre * totals.score + totals.number * centre**2, 0.0)
