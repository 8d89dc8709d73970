"""Variances of contrasts of independent values: weights (contrast, cell) of two sums, values and variances (cell,).

A contrast compares ``over @ values`` with ``under @ values``. Cells may be on both sides, as where everyone is the reference of a
subgroup. Cells without weight take no part, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray

MIN_CONTRASTS = 50
"""Contrasts from which it pays to take weights apart."""


def weighted_sum(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Sums (..., contrast) of values (..., cell), NaN where a cell with weight has no value.

    >>> weighted_sum(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0.2, np.nan])).tolist()
    [0.2, nan]
    """
    finite = np.isfinite(values)
    if finite.all():
        return np.asarray(values @ weights.T, dtype=np.float64)
    lacking = (~finite).astype(np.float64) @ (weights != 0).T.astype(np.float64)
    total = np.where(finite, values, 0.0) @ weights.T
    return np.where(lacking > 0, np.nan, total)


class AllButOne(NamedTuple):
    """Weights (contrast, cell) that are ``factor`` (contrast,) times ``shares`` (cell,) in all cells but ``cell`` (contrast,)."""

    shares: FloatArray
    cell: IntArray
    factor: FloatArray


def all_but_one(weights: FloatArray) -> AllButOne | None:
    """Those weights taken apart, each without a cell of its own; None of other weights.

    >>> people = np.array([1.0, 2, 5])
    >>> weights = np.tile(people, (60, 1)) * (np.arange(3) != np.arange(60)[:, None] % 3)
    >>> apart = all_but_one(weights / weights.sum(axis=1, keepdims=True))
    >>> apart.cell[:3].tolist(), (apart.shares / apart.shares[0]).round(12).tolist()
    ([0, 1, 2], [1.0, 2.0, 5.0])
    """
    if len(weights) < MIN_CONTRASTS or np.count_nonzero(weights) != weights.size - len(weights):
        return None
    absent = weights == 0
    if not (absent.sum(axis=1) == 1).all():
        return None
    cell = absent.argmax(axis=1)
    second = int((cell != cell[0]).argmax())
    if cell[second] == cell[0]:
        return None
    shares = weights[0].copy()
    both = np.flatnonzero((weights[0] > 0) & (weights[second] > 0))
    if not len(both):
        return None
    shares[cell[0]] = weights[second, cell[0]] * weights[0, both[0]] / weights[second, both[0]]
    factor = weights.sum(axis=1) / (shares.sum() - shares[cell])
    expected = factor[:, None] * np.where(absent, 0.0, shares)
    return AllButOne(shares, cell, factor) if np.allclose(weights, expected, rtol=1e-12, atol=0) else None


class Sums:
    """Sums of draws by weights (contrast, cell), whose pattern is looked at once.

    Columns where one cell has all the weight, one sum where all contrasts have the same weights; where each is that of all
    cells but one, as that of the rest is, it is the sum of all less that cell.

    >>> sums = Sums(np.array([[1.0, 0, 0], [0, 0.25, 0.75]])).on(np.array([[1.0, 2, 4], [5, 2, 2]]))
    >>> sums(slice(None)).tolist(), sums(slice(1, 2)).tolist()
    ([[1.0, 3.5], [5.0, 2.0]], [[3.5], [2.0]])
    """

    def __init__(self, weights: FloatArray) -> None:
        self._weights = weights
        self._alike = len(weights) > 1 and bool((weights == weights[0]).all())
        single = np.count_nonzero(weights) == len(weights) and bool((weights.max(axis=1) == 1).all())
        self._cell = weights.argmax(axis=1) if single else None
        self._apart = None if single else all_but_one(weights)

    def on(self, draws: FloatArray) -> Callable[[slice], FloatArray]:
        """Function from places of contrasts to their sums (draw, contrast), so that few are in memory at once."""
        many = len(self._weights)
        if self._alike:
            whole = np.broadcast_to(weighted_sum(self._weights[:1], draws), (len(draws), many))
        elif self._cell is not None:
            cell = self._cell
            return lambda some: draws.T[cell[some]].T
        elif self._apart is not None and np.isfinite(draws).all():
            shares, cell, factor = self._apart
            total = (draws @ shares)[:, None]
            return lambda some: (total - draws.T[cell[some]].T * shares[cell[some]]) * factor[some]
        else:
            whole = weighted_sum(self._weights, draws)
        return lambda some: whole[:, some]


def difference_factor(over: FloatArray, under: FloatArray, variances: FloatArray) -> FloatArray:
    """Factor (contrast, cell) of the covariance of differences.

    >>> shares = np.array([[60, 150, 40, 25]]) / 275
    >>> rates = np.array([0.3, 0.2, 0.45, 0.24])
    >>> v = rates * (1 - rates) / (np.array([60, 150, 40, 25]) - 1)
    >>> factor = difference_factor(np.array([[0.0, 0, 1, 0]]), shares, v)
    >>> np.sqrt((factor**2).sum(axis=1)).round(6).tolist()
    [0.072014]
    """
    weights = over - under
    return np.where(weights != 0, weights * np.sqrt(variances), 0.0)


def log_ratio_factor(over: FloatArray, under: FloatArray, values: FloatArray, variances: FloatArray) -> FloatArray:
    """Factor (contrast, cell) of the covariance of log ratios, by their gradient; NaN or infinite where a sum is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = weighted_sum(over, values)[:, None], weighted_sum(under, values)[:, None]
        gradient = np.where(over != 0, over / first, 0.0) - np.where(under != 0, under / second, 0.0)
        return np.where((over != 0) | (under != 0), gradient * np.sqrt(variances), 0.0)


def freedom(factor: FloatArray, counts: FloatArray) -> FloatArray:
    """Degrees of freedom (contrast,) of variances that are sums of those of cells, by Satterthwaite.

    (sum f^2)^2 / sum(f^4 / (n - 1)): Welch's for two means. Satterthwaite (1946), doi:10.2307/3002019. Cells of one row, whose
    variance is not their own, are counted as if they had two; infinite where counts are.
    """
    squares = factor**2
    total = squares.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total**2 / (squares**2 / np.maximum(counts - 1, 1.0)).sum(axis=1), dtype=np.float64)


def clustered_freedom(gradient: FloatArray, covariance: FloatArray, shared: FloatArray) -> FloatArray:
    """Degrees of freedom (contrast,) of variances of sums over clusters that cells share, by Satterthwaite.

    With h = g * (V g) the parts of the cells in the variance g'Vg, K their numbers of clusters and S (cell, cell) the numbers
    of ``shared`` ones, (sum h)^2 / sum h h' S / sqrt(K K' (K - 1) (K' - 1)): every cluster adds the parts of its cells in
    proportion. Cells without a cluster in common have the degrees of `freedom`; cells with the same ones the clusters less one
    that the paired t test has. A cell of one cluster is counted as there.

    >>> covariance = np.array([[4.0, 2.0, 0.0, 0.0], [2.0, 4.0, 0.0, 0.0], [0.0, 0.0, 9.0, 5.0], [0.0, 0.0, 5.0, 9.0]])
    >>> shared = np.array([[30, 30, 0, 0], [30, 30, 0, 0], [0, 0, 5, 5], [0, 0, 5, 5]])
    >>> pairs = np.array([[1.0, -1, 0, 0], [0, 0, 1, -1], [0.97, -0.97, 0.03, -0.03]])
    >>> clustered_freedom(pairs, covariance, shared).round(3).tolist()
    [29.0, 4.0, 29.11]
    """
    clusters = np.diagonal(shared)
    spread = np.sqrt(np.maximum(clusters, 1.0) * np.maximum(clusters - 1, 1.0))
    used = np.isfinite(np.diagonal(covariance))
    along = np.where(used, gradient, np.where(gradient != 0, np.nan, 0.0))
    parts = along * (along @ np.where(used[:, None] & used, covariance, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        unlike = np.einsum("ci,ij,cj->c", parts, shared / (spread[:, None] * spread), parts, optimize=True)
        return np.asarray(parts.sum(axis=1) ** 2 / unlike, dtype=np.float64)
