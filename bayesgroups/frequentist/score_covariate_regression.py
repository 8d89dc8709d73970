"""Regression of a score on outcome, attributes and covariates of the rows, and its bootstrap. Pure functions on arrays.

    u_i ~ Normal(x_i . beta + (c_i, y_i c_i) . slope, exp(z_i . gamma)^2)

As `bayesgroups.frequentist.score_regression`, with sums of products in place of sums: rows of one kind share x, y and z, and
enter by their products of (1, c) with itself and with u. Leading axes are replicates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.score_regression import RIDGE, Coefficients, Kinds, Totals, by_turns, scales
from bayesgroups.tallies.score_covariates import Packets


@dataclass(frozen=True)
class Products:
    """Sums over the rows of each kind, with a = (1, c).

    ``inner`` (..., kind, 1 + covariate, 1 + covariate) of a a', ``cross`` (..., kind, 1 + covariate) of a u, ``squares``
    (..., kind) of u^2.
    """

    inner: FloatArray
    cross: FloatArray
    squares: FloatArray

    @property
    def number(self) -> FloatArray:
        """Rows."""
        return np.asarray(self.inner[..., 0, 0])


def products(packets: Packets, centre: float, unit: float) -> Products:
    """Sums of every packet, scores in standard units."""
    size = len(packets.names)
    inner = np.empty((len(packets.rows), 1 + size, 1 + size))
    inner[:, 0, 0], inner[:, 0, 1:], inner[:, 1:, 0] = packets.rows, packets.covariate, packets.covariate
    inner[:, 1:, 1:] = packets.product
    shift = packets.centre - centre
    score, squares = (
        packets.score + shift * packets.rows,
        packets.squares + shift * (2 * packets.score + shift * packets.rows),
    )
    cross = np.concatenate([score[:, None], packets.cross + shift * packets.covariate], axis=1)
    return Products(inner, cross / unit, squares / unit**2)


def add_up(parts: Products, kind: NDArray[np.int64], kinds: int) -> Products:
    """The sums of packets by kind."""

    def total(values: FloatArray) -> FloatArray:
        totals = np.zeros((kinds, *values.shape[1:]))
        np.add.at(totals, kind, values)
        return totals

    return Products(total(parts.inner), total(parts.cross), total(parts.squares))


def resample(
    parts: Products, kind: NDArray[np.int64], kinds: int, replicates: int, rng: np.random.Generator
) -> Products:
    """Sums (replicate, kind, ...) of bootstrap replicates, from the sums of packets and their kinds, sorted.

    Numbers of rows of the kinds are drawn as if from all rows with replacement. Of a kind, as many packets are drawn as
    there are for that number of rows, and their sums brought to it: where each packet is a row, that is the bootstrap of
    rows; where it is many, sums of packets dealt at random have the same variance.
    """
    rows = parts.number
    number = np.bincount(kind, rows, kinds)
    packets = np.bincount(kind, minlength=kinds)
    drawn = rng.multinomial(int(np.rint(number.sum())), number / number.sum(), size=replicates)
    size = parts.cross.shape[1]
    flat = np.concatenate([parts.inner.reshape(len(rows), -1), parts.cross, parts.squares[:, None]], axis=1)
    resampled = np.zeros((replicates, kinds, flat.shape[1]))
    first = np.concatenate([[0], np.cumsum(packets)])
    for k in np.flatnonzero(packets):
        times = np.maximum(np.rint(drawn[:, k] * (packets[k] / number[k])), drawn[:, k] > 0).astype(np.int64)
        chosen = rng.multinomial(times, np.full(packets[k], 1 / packets[k])).astype(np.float64)
        group_sums = chosen @ flat[first[k] : first[k + 1]]
        resampled[:, k] = group_sums * (drawn[:, k] / np.where(group_sums[:, 0] > 0, group_sums[:, 0], 1.0))[:, None]
    inner = resampled[..., : size * size].reshape(replicates, kinds, size, size)
    return Products(inner, resampled[..., size * size : -1], resampled[..., -1])


def fit(kinds: Kinds, covariates: int, sums: Products) -> Coefficients:
    """Maximum likelihood, as `bayesgroups.frequentist.score_regression.fit`, for one sample or several.

    The second column of ``kinds.z`` is the outcome. The last columns of ``beta`` are the slopes of outcome 0 and what
    outcome 1 adds to them.
    """
    design = _design(kinds, covariates)
    equations, squares = partial(_normal, design, sums), partial(residual_squares, design, sums)
    totals = Totals(sums.number, sums.cross[..., 0], sums.squares)
    return by_turns(totals, kinds.z, design.shape[-1], equations, squares)


def one_step(
    kinds: Kinds, covariates: int, sums: Products, coefficients: Coefficients, replicates: Products
) -> Coefficients:
    """Fast bootstrap, as `bayesgroups.frequentist.score_regression.one_step`."""
    design, z = _design(kinds, covariates), kinds.z
    precision = np.exp(-2 * (z @ coefficients.gamma))
    size = design.shape[-1]
    rows = sums.number.sum()
    top, right = _normal(design, sums, precision)
    fitted = np.einsum("kpi,i->kp", design, coefficients.beta)
    gap = np.einsum(
        "kpi,kp->ki", design, (sums.cross - np.einsum("kpq,kq->kp", sums.inner, fitted)) * precision[:, None]
    )
    scaled_squares = residual_squares(design, sums, coefficients.beta) * precision
    corner = 2 * gap.T @ z
    bottom = 2 * (z.T * scaled_squares) @ z
    information = np.block([[top, corner], [corner.T, bottom]]) + RIDGE * rows * np.eye(size + z.shape[1])
    score = np.concatenate([right - top @ coefficients.beta, (scaled_squares - sums.number) @ z])
    normal, right = _normal(design, replicates, np.broadcast_to(precision, replicates.squares.shape))
    squares = residual_squares(design, replicates, coefficients.beta) * precision
    gradient = np.concatenate([right - normal @ coefficients.beta, (squares - replicates.number) @ z], axis=-1) - score
    step = np.linalg.solve(information, gradient.T).T
    return Coefficients(coefficients.beta + step[:, :size], coefficients.gamma + step[:, size:])


def laws(kinds: Kinds, covariates: int, fitted: Coefficients, sums: Products) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation (..., kind) of scores over the rows of each kind, whose covariates count as normal."""
    design = _design(kinds, covariates)
    coefficients = np.einsum("kpi,...i->...kp", design, fitted.beta)
    n = np.where(sums.number > 0, sums.number, 1.0)
    middle = sums.inner[..., 0, 1:] / n[..., None]
    covariance = sums.inner[..., 1:, 1:] / n[..., None, None] - middle[..., :, None] * middle[..., None, :]
    slope = coefficients[..., 1:]
    mean = coefficients[..., 0] + (middle * slope).sum(axis=-1)
    spread = np.einsum("...ki,...kij,...kj->...k", slope, covariance, slope)
    return mean, np.sqrt(scales(kinds, fitted) ** 2 + np.maximum(spread, 0.0))


def residual_squares(design: FloatArray, sums: Products, beta: FloatArray) -> FloatArray:
    """Sums of squared residuals, (..., kind)."""
    fitted = np.einsum("kpi,...i->...kp", design, beta)
    through = (fitted * sums.cross).sum(axis=-1)
    quadratic = np.einsum("...kp,...kpq,...kq->...k", fitted, sums.inner, fitted, optimize=True)
    return np.asarray(np.maximum(sums.squares - 2 * through + quadratic, 0.0), dtype=np.float64)


def _design(kinds: Kinds, covariates: int) -> FloatArray:
    """Linear map from coefficients to those of (1, c) for rows of a kind, (kind, 1 + covariate, column)."""
    number, plain = kinds.x.shape
    design = np.zeros((number, 1 + covariates, plain + 2 * covariates))
    design[:, 0, :plain] = kinds.x
    design[:, 1:, plain : plain + covariates] = np.eye(covariates)
    design[:, 1:, plain + covariates :] = kinds.z[:, 1, None, None] * np.eye(covariates)
    return design


def _normal(design: FloatArray, sums: Products, precision: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Normal equations: matrix (..., column, column) and right side (..., column)."""
    weighted = sums.inner * precision[..., None, None]
    columns = design.shape[-1]
    applied = weighted @ design
    flat = design.reshape(-1, columns)
    normal = flat.T @ applied.reshape(*applied.shape[:-3], -1, columns)
    right = (sums.cross * precision[..., None]).reshape(*sums.cross.shape[:-2], -1) @ flat
    return normal, right
