"""Shape of the scores of a cell: normal, or skewed by a common warp; and its goodness of fit.

Rows of one subgroup and outcome are taken to be normal after a warp, with a mean and a standard deviation of their own. The
warp that makes the rows most likely has two parameters more than none; the Bayesian information criterion says whether they
are worth it. The fit is seen in the probability integral transform of the rows: its largest distance from the uniform law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.scores.warps import Warp, apply_with_slope, warp
from bayesgroups.tallies.score_moments import ScoreBins

Residuals = Literal["auto", "normal", "skewed"]

MIN_ROWS_FOR_SHAPE = 5
"""Rows of a cell below which it says nothing of shapes."""
PRIOR_SD = 0.5
"""Standard deviation of the normal priors of both parameters of the warp."""
MIN_VARIANCE = 1e-6
LARGEST_DISTANCE = 0.02
"""Distance of a visible misfit in the limit of many rows; with n rows, 1.36 / sqrt(n) is added for chance."""


@dataclass(frozen=True)
class BinnedScores:
    """Rows in bins, sorted by cell, arrays (bin,).

    ``x`` is the mean score of the rows of the bin, in standard units, ``weight`` their number, ``within`` the variance of
    their scores about the mean, ``cell`` subgroup times 2 plus outcome; ``cells`` is the number of cells, empty ones
    included.
    """

    x: FloatArray
    weight: FloatArray
    within: FloatArray
    cell: NDArray[np.int64]
    cells: int

    @cached_property
    def arcsinh(self) -> FloatArray:
        """Inverse hyperbolic sine of ``x``."""
        return np.asarray(np.arcsinh(self.x), dtype=np.float64)

    @cached_property
    def narrowing(self) -> FloatArray:
        """Derivative of the inverse hyperbolic sine at ``x``."""
        return np.asarray(1 / np.sqrt(1 + self.x**2), dtype=np.float64)


@dataclass(frozen=True)
class Shape:
    """A fitted warp with the curvature of its log posterior, and how it compares with none.

    ``hessian`` (2, 2) is minus the second derivative; ``gain`` the increase of the log likelihood over no warp, and ``worth``
    whether the information criterion prefers it.
    """

    epsilon: float
    log_delta: float
    hessian: FloatArray
    gain: float
    worth: bool


def binned(bins: ScoreBins, subgroups: int, centre: float, unit: float) -> BinnedScores:
    """Bins of a tally in standard units; weighted rows count as in the moments of their cell."""
    cell = bins.subgroup * 2 + bins.outcome
    total, squares = (np.bincount(cell, weights=w, minlength=2 * subgroups) for w in (bins.weight, bins.squares))
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(total > 0, total / squares, 0.0)[cell]
    within = np.maximum(bins.total_squares / bins.weight - (bins.total / bins.weight) ** 2, 0.0) / unit**2
    return BinnedScores((bins.mean - centre) / unit, bins.weight * worth, within, cell, 2 * subgroups)


def warped_moments(rows: BinnedScores, parameters: Warp) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean and scatter of warped scores, (..., cell), and the sum of log derivatives, (...)."""
    value, slope = apply_with_slope(parameters, rows.arcsinh, rows.narrowing)
    count = np.bincount(rows.cell, weights=rows.weight, minlength=rows.cells)
    safe = np.where(count > 0, count, 1.0)
    mean = _by_cell(rows, rows.weight * value) / safe
    deviation = value - mean[..., rows.cell]
    scatter = _by_cell(rows, rows.weight * (deviation**2 + slope**2 * rows.within))
    return mean, scatter, np.log(slope) @ rows.weight


def fit(rows: BinnedScores) -> Shape:
    """Most likely warp, with a weak prior that keeps it near none in small data; none where no cell has rows enough."""
    count = np.bincount(rows.cell, weights=rows.weight, minlength=rows.cells)
    large = count >= MIN_ROWS_FOR_SHAPE
    flat = np.eye(2) / PRIOR_SD**2
    if not large.any():
        return Shape(0.0, 0.0, flat, 0.0, worth=False)

    def log_posterior(point: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            _, scatter, slope = warped_moments(rows, warp(point[..., 0], point[..., 1]))
            variance = np.maximum(scatter / np.maximum(count, 1.0), MIN_VARIANCE)
            # Small cells have too few rows to fit a variance of their own; the jacobian must count the same rows.
            value = -0.5 * (count * np.log(variance))[..., large].sum(axis=-1) + slope
            value = value - 0.5 * (point**2).sum(axis=-1) / PRIOR_SD**2
        return np.where(np.isfinite(value), value, -np.inf)

    rows = _of_cells(rows, large)
    point, step = np.zeros(2), 0.1
    while step > 1e-4:  # a pattern search: two parameters, a smooth hill, no derivatives
        offsets = step * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1]])
        best = int(np.argmax(log_posterior(point + offsets)))
        if best == 0:
            step /= 3
        else:
            point = point + offsets[best]
        if np.abs(point).max() > 4 * PRIOR_SD:
            break
    h = 0.5 / np.sqrt(rows.weight.sum())
    hessian = np.empty((2, 2))
    e = h * np.eye(2)
    middle = log_posterior(point)
    for i in range(2):
        for j in range(2):
            four = log_posterior(
                np.array([point + e[i] + e[j], point + e[i] - e[j], point - e[i] + e[j], point - e[i] - e[j]])
            )
            hessian[i, j] = -(four[0] - four[1] - four[2] + four[3]) / (4 * h * h)
    if not (np.isfinite(hessian).all() and (np.linalg.eigvalsh(hessian) > 0).all()):
        hessian = flat + np.eye(2) * rows.weight.sum()
    gain = float(middle - log_posterior(np.zeros(2)))
    return Shape(float(point[0]), float(point[1]), hessian, gain, worth=bool(gain > np.log(rows.weight.sum())))


def chosen(rows: BinnedScores, residuals: Residuals) -> Warp:
    """The warp that is asked for: none, the best one, or whichever the information criterion prefers."""
    if residuals == "normal":
        return warp(0.0, 0.0)
    fitted = fit(rows)
    skewed = residuals == "skewed" or fitted.worth
    return warp(fitted.epsilon, fitted.log_delta) if skewed else warp(0.0, 0.0)


def distance(rows: BinnedScores, epsilon: float, log_delta: float) -> tuple[float, float]:
    """Largest distance of the transforms of the rows from the uniform law, and how many rows there are.

    Each cell has the mean and the standard deviation of its own rows; cells with few rows are left out, for which the
    distance is NaN if there are no others. Only edges between bins are looked at, where the rows on either side are known.
    """
    count = np.bincount(rows.cell, weights=rows.weight, minlength=rows.cells)
    large = count >= MIN_ROWS_FOR_SHAPE
    if not large.any():
        return float("nan"), 0.0
    some = _of_cells(rows, large)
    parameters = warp(epsilon, log_delta)
    mean, scatter, _ = warped_moments(some, parameters)
    sd = np.sqrt(np.maximum(scatter / np.maximum(count - 1, 1.0), MIN_VARIANCE))
    transform = ndtr((apply_with_slope(parameters, some.arcsinh)[0] - mean[some.cell]) / sd[some.cell])
    order = np.argsort(transform, kind="stable")
    below = (np.cumsum(some.weight[order]) - 0.5 * some.weight[order]) / some.weight.sum()
    return float(np.abs(below - transform[order]).max()), float(some.weight.sum())


def _of_cells(rows: BinnedScores, wanted: NDArray[np.bool_]) -> BinnedScores:
    some = wanted[rows.cell]
    return BinnedScores(rows.x[some], rows.weight[some], rows.within[some], rows.cell[some], rows.cells)


def _by_cell(rows: BinnedScores, values: FloatArray) -> FloatArray:
    """Sums (..., cell) of values (..., bin); the bins are sorted by cell."""
    sums = np.zeros((*values.shape[:-1], rows.cells))
    start = np.flatnonzero(np.diff(rows.cell, prepend=-1))
    sums[..., rows.cell[start]] = np.add.reduceat(values, start, axis=-1)
    return sums
