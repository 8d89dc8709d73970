"""Moments of warped scores at many warps of the same rows, at a cost that depends on cells and not on rows.

With u the inverse hyperbolic sine of a score, A = exp(delta m - epsilon), m the mean of u in a cell and d = u - m,

    2 sinh(delta u - epsilon) = A exp(delta d) - exp(-delta d) / A

so that mean and scatter of a cell need sums over its rows of expm1(delta d), expm1(-delta d) and their squares only: four smooth
functions of delta alone. They are interpolated between Chebyshev nodes of pieces so short that the error is that of rounding.
Deviations from the mean of the cell enter as such, so that small scatters keep their digits. The sum of log derivatives is one of
a smooth function of u over all rows, for which rows are replaced by few nodes that interpolate it.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

from bayesgroups.data.arrays import FloatArray
from bayesgroups.scores.shapes import BinnedScores
from bayesgroups.scores.warps import Warp

NODES = 12
"""Nodes of a piece of delta."""
REACH = 0.25
"""Half the length of a piece of delta, times the largest distance of a row from the mean of its cell."""
WIDTH, NODES_OF_ROWS = 0.125, 10
"""Length of an interval of rows, and its nodes."""


class WarpedSums:
    """Mean and scatter of warped scores of the same rows, as by `bayesgroups.scores.shapes.warped_moments`."""

    def __init__(self, rows: BinnedScores) -> None:
        self._start = np.flatnonzero(np.diff(rows.cell, prepend=-1))  # rows are sorted by cell
        self._some, self._cells = rows.cell[self._start], rows.cells
        u = rows.arcsinh
        count = np.add.reduceat(rows.weight, self._start)
        self._count = np.where(count > 0, count, 1.0)
        self._weight = rows.weight
        self._middle = np.add.reduceat(rows.weight * u, self._start) / self._count
        sizes = np.diff(np.append(self._start, len(u)))
        deviation = u - np.repeat(self._middle, sizes)
        self._away = np.where(
            np.repeat(sizes, sizes) > 1, deviation, 0.0
        )  # nothing but rounding where there is one bin
        self._within = rows.weight * rows.within * rows.narrowing**2
        self._sum_within = np.add.reduceat(self._within, self._start)
        self._length = 2 * REACH / max(float(np.abs(self._away).max(initial=0.0)), REACH)
        self._pieces: dict[int, FloatArray] = {}
        self._log_narrowing = float(np.log(rows.narrowing) @ rows.weight)
        self._total = float(rows.weight.sum())
        self._at, self._mass = _few(u, rows.weight)

    def moments(self, parameters: Warp) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean and scatter (warp, cell), 0 for cells without rows, and the sum of log derivatives (warp,), of warps (warp,)."""
        delta, epsilon, b = (
            np.exp(parameters.log_delta)[:, None],
            parameters.epsilon[:, None],
            parameters.scale[:, None],
        )
        up_mean, down_mean, up_squares, down_squares = np.stack(
            [self._sums(float(value)) for value in delta[:, 0]], axis=1
        )
        a = np.exp(delta * self._middle - epsilon)
        inverse = 1 / a
        rise = 0.5 * (a * up_mean - inverse * down_mean)  # of the mean over the warp of the middle
        mean, scatter = np.zeros((2, len(delta), self._cells))
        mean[:, self._some] = (0.5 * (a - inverse) + rise - parameters.shift[:, None]) / b
        both = self._count * (up_mean + down_mean) + delta**2 * self._sum_within
        squares = 0.25 * (a**2 * up_squares + inverse**2 * down_squares + 2 * both)
        scatter[:, self._some] = np.maximum(squares - self._count * rise**2, 0.0) / b**2
        z = np.abs(delta * self._at - epsilon)
        slope = (z + np.log1p(np.exp(-2 * z)) - np.log(2)) @ self._mass
        return mean, scatter, slope + self._log_narrowing + self._total * np.log(delta / b)[:, 0]

    def _sums(self, delta: float) -> FloatArray:
        """Means of expm1(delta d) and expm1(-delta d), and sums of their squares and of slopes within bins (4, cell)."""
        if not 0 < delta < np.inf:
            return np.full((4, len(self._some)), np.nan)
        piece = int(delta / self._length)
        if piece not in self._pieces:
            self._pieces[piece] = self._piece((piece + 0.5) * self._length)
        place = 2 * (delta / self._length - piece) - 1
        polynomials = np.cos(np.arange(NODES) * np.arccos(np.clip(place, -1, 1)))
        return np.asarray(np.tensordot(polynomials, self._pieces[piece], 1), dtype=np.float64)

    def _piece(self, centre: float) -> FloatArray:
        """Chebyshev coefficients (node, 4, cell) of the sums, of a piece of delta."""
        nodes = chebyshev.chebpts1(NODES)
        values = np.empty((NODES, 4, len(self._some)))
        for value, delta in zip(values, centre + 0.5 * self._length * nodes, strict=True):
            up, down = np.expm1(delta * self._away), np.expm1(-delta * self._away)
            for i, (rise, weight) in enumerate(((up, self._weight), (down, self._weight))):
                value[i] = np.add.reduceat(weight * rise, self._start) / self._count
                within = delta**2 * self._within * (1 + rise) ** 2
                value[2 + i] = np.add.reduceat(weight * rise**2 + within, self._start)
        turn = chebyshev.chebvander(nodes, NODES - 1).T * (2 / NODES)
        turn[0] /= 2
        return np.asarray(np.tensordot(turn, values, 1), dtype=np.float64)


def _few(u: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Few nodes and their weights, with the same sums over rows of any function that is smooth over an interval.

    >>> at, mass = _few(np.linspace(-2, 2, 5000), np.ones(5000))
    >>> len(at), bool(abs(np.log(np.cosh(at)) @ mass / np.log(np.cosh(np.linspace(-2, 2, 5000))).sum() - 1) < 1e-13)
    (330, True)
    """
    interval, which = np.unique(np.floor(u / WIDTH), return_inverse=True)
    nodes = chebyshev.chebpts1(NODES_OF_ROWS)
    powers = chebyshev.chebvander(2 * (u / WIDTH - interval[which]) - 1, NODES_OF_ROWS - 1)
    sums = np.stack([np.bincount(which, weight * power, minlength=len(interval)) for power in powers.T], axis=1)
    turn = chebyshev.chebvander(nodes, NODES_OF_ROWS - 1).T * (2 / NODES_OF_ROWS)
    turn[0] /= 2
    at = (interval[:, None] + 0.5 * (nodes + 1)) * WIDTH
    return at.ravel(), np.asarray(sums @ turn, dtype=np.float64).ravel()
