"""Many lassos on the same columns at the same penalty, solved together.

Coordinate descent is slow at small penalties when columns are nearly redundant, as indicators are, and would be
repeated for every replicate of a bootstrap. Splitting the problem (alternating direction method of multipliers)
needs one matrix for all of them.
"""

from __future__ import annotations

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
    solutions[:, varying] = _split(columns, y, threshold) / length[varying]
    return solutions


def _split(columns: FloatArray, y: FloatArray, threshold: FloatArray) -> FloatArray:
    inverse = np.linalg.inv(columns.T @ columns + STEP * np.eye(columns.shape[1]))
    start = (y @ columns) @ inverse
    size = np.sqrt((y**2).sum(axis=1, keepdims=True)) + np.finfo(np.float64).tiny
    sparse, price = np.zeros_like(start), np.zeros_like(start)
    for turn in range(1, ROUNDS + 1):
        dense = start + (sparse - price) @ (STEP * inverse)
        mixed = RELAXATION * dense + (1 - RELAXATION) * sparse + price
        price = np.clip(mixed, -threshold, threshold)
        before, sparse = sparse, mixed - price
        if turn % CHECK == 0:
            moved = np.maximum(np.abs(sparse - before), np.abs(sparse - dense))
            if (moved <= TOLERANCE * size).all():
                break
    return sparse
