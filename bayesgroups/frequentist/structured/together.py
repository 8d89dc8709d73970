"""Many lassos on the same columns at the same penalty, solved together.

Coordinate descent is slow at small penalties when columns are nearly redundant, as indicators are, and would be
repeated for every replicate of a bootstrap. Splitting the problem (alternating direction method of multipliers)
needs one matrix for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.structured.lasso import ROUNDING, largest_penalty
from bayesgroups.frequentist.structured.linear import Centred, least_squares

STEP = 0.03
"""Weight of the agreement between the two halves of the problem, for columns of unit length."""
RELAXATION = 1.6
TOLERANCE = 1e-7
"""Largest change and disagreement of a coefficient of a unit column, relative to the length of the response."""
ROUNDS, CHECK = 4000, 50
"""Rounds at most, and how many pass between two looks at the tolerance."""
CHUNK = 20_000
"""Numbers that are worked on at once, which stay in the cache."""
RANK = 1e-13
"""Eigenvalues below this share of the largest are rounding."""


def solve_together(of: Centred, y: FloatArray, penalty: float) -> FloatArray:
    """Lasso coefficients (response, column) for several centred responses (response, subgroup) at one penalty, with exact zeros.

    Fitted values agree with those of `bayesgroups.frequentist.structured.lasso.solve` to about a ten-thousandth of a
    standard error; redundant columns may share what that gives to one of them. InputError if the penalty is negative or
    not finite. Boyd, Parikh, Chu, Peleato, Eckstein (2011), section 6.4, doi:10.1561/2200000016.
    """
    if not (np.isfinite(penalty) and penalty >= 0):
        raise InputError("a penalty must be finite and not negative")
    length = np.sqrt((of.x**2).sum(axis=0))
    varying = length > 0
    solutions = np.zeros((len(y), len(length)))
    if not varying.any() or len(y) == 0:
        return solutions
    if penalty <= ROUNDING * max(largest_penalty(of, response) for response in y):
        return least_squares(of, y)
    columns = of.x[:, varying] / length[varying]
    threshold = penalty / of.total / 2 / length[varying] / STEP
    # What an indicator has to itself of the square of its length; the rest it shares with the intercept.
    alone = np.where(of.subgroup < 0, 0.0, of.share[of.subgroup])[varying] / length[varying] ** 2
    solutions[:, varying] = _split(columns, y, threshold, alone) / length[varying]
    return solutions


def _split(columns: FloatArray, y: FloatArray, threshold: FloatArray, alone: FloatArray) -> FloatArray:
    inverse = np.linalg.inv(columns.T @ columns + STEP * np.eye(columns.shape[1]))
    start = (y @ columns) @ inverse
    size = np.sqrt((y**2).sum(axis=1, keepdims=True)) + np.finfo(np.float64).tiny
    product = _Product.of(STEP * inverse, STEP / (alone + STEP))
    sparse, price, before, dense = (np.zeros_like(start) for _ in range(4))
    chunks = np.array_split(np.arange(len(y)), -(-start.size // CHUNK))
    for _ in range(ROUNDS // CHECK):
        for rows in chunks:
            some = slice(rows[0], rows[-1] + 1)
            _advance(start[some], threshold, product, sparse[some], price[some], before[some], dense[some])
        moved = np.maximum(np.abs(sparse - before), np.abs(sparse - dense))
        if (moved <= TOLERANCE * size).all():
            break
    return sparse


def _advance(
    start: FloatArray, threshold: FloatArray, product: _Product,
    sparse: FloatArray, price: FloatArray, before: FloatArray, dense: FloatArray,
) -> None:  # fmt: skip
    """Rounds until the next look, of some responses, in place."""
    for turn in range(CHECK):
        np.subtract(sparse, price, out=dense)
        product.into(dense)
        dense += start
        if turn == CHECK - 1:
            before[:] = sparse
        sparse *= 1 - RELAXATION
        sparse += price
        sparse += RELAXATION * dense
        np.clip(sparse, -threshold, threshold, out=price)
        sparse -= price


@dataclass(frozen=True)
class _Product:
    """Symmetric matrix in the form ``diagonal + left right'``, with few columns where indicators share little."""

    diagonal: FloatArray
    left: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, matrix: FloatArray, diagonal: FloatArray) -> _Product:
        values, vectors = np.linalg.eigh(matrix - np.diag(diagonal))
        kept = np.abs(values) > RANK * np.abs(values).max()
        return cls(diagonal, vectors[:, kept] * values[kept], vectors[:, kept].T)

    def into(self, x: FloatArray) -> None:
        """Take the place of rows (row, column) by their products with the matrix."""
        across = x @ self.left
        x *= self.diagonal
        x += across @ self.right
