"""Weighted lasso with a free intercept.

    sum_a w_a (t0 + t . x_a - z_a)^2 + penalty ||t||_1,   w_a = 1 / sampling variance

Nothing is halved or averaged in this objective; a solver that divides the squares by 2 sum w takes penalty / (2 sum w).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.structured.linear import RANK, Centred, Line, centred, least_squares, line

TOLERANCES = tuple(10.0**-digits for digits in range(7, 13))
"""Duality gaps, relative to the weighted sum of squares, after each of which the active columns may be those of the solution."""
SWEEPS = 30_000
"""Sweeps over the columns for each of these, at most."""
ROUNDING = 1e-12
"""Share of the largest penalty that is rounding."""
NEGLIGIBLE = 1e-10
"""Share of the largest coefficient, of columns of one length, that is rounding."""
SLACK = 1e-9
"""Share of the penalty by which derivatives at a solution may be off."""


def penalty_max(x: FloatArray, z: FloatArray, w: FloatArray) -> float:
    """Smallest penalty at which all coefficients are 0.

    2 max_j | sum_a w_a x_aj (z_a - mean) |, with the weighted mean of the estimates; 0 without columns.

    >>> round(penalty_max(np.array([[1.0], [0.0]]), np.array([0.6, 0.2]), np.array([10.0, 10.0])), 6)
    4.0
    """
    of = centred(x, w)
    return largest_penalty(of, of.response(z)[1])


def fit(x: FloatArray, z: FloatArray, w: FloatArray, penalty: float) -> Line:
    """Weighted lasso at one penalty, in the units of weight times squared metric. Herlihy et al. (2024), Eq 5.

    Features are used as they are; weights are 1 / sampling variance. At penalty 0 least squares with the smallest norm;
    from `penalty_max` on, the weighted mean. InputError if the penalty is negative or not finite. Values at the subgroups
    are unique. With redundant columns the coefficients are not: these are where cyclic coordinate descent from zero in the
    order of the columns leads.

    >>> fit(np.eye(2), np.array([0.6, 0.2]), np.array([10.0, 10.0]), penalty=1.0).at(np.eye(2)).round(6).tolist()
    [0.55, 0.25]
    """
    of = centred(x, w)
    mean, y = of.response(z)
    return line(of, float(mean), solve(of, y, penalty))


def solve(of: Centred, y: FloatArray, penalty: float) -> FloatArray:
    """Lasso coefficients (column,) for a centred response, as in `fit`."""
    if not (np.isfinite(penalty) and penalty >= 0):
        raise InputError("a penalty must be finite and not negative")
    largest = largest_penalty(of, y)
    if penalty >= largest * (1 - ROUNDING):
        return np.zeros(of.x.shape[1])
    if penalty <= largest * ROUNDING:
        return least_squares(of, y)
    return _descend(of.x, y, penalty / of.total)


def largest_penalty(of: Centred, y: FloatArray) -> float:
    """`penalty_max` of centred columns and responses."""
    return 2 * of.total * float(np.abs(y @ of.x).max(initial=0.0))


def _descend(x: FloatArray, y: FloatArray, price: float) -> FloatArray:
    """Coefficients (column,) that minimise sum (y - x b)^2 + price ||b||_1."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lasso_path

    solver: Any = lasso_path  # its defaults are not the types it takes
    columns, products = np.asfortranarray(x), x.T @ x
    length, solution = np.sqrt(np.diagonal(products)), np.zeros(x.shape[1])
    for tolerance in TOLERANCES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = solver(
                columns, y, alphas=[price / (2 * len(y))], precompute=products, coef_init=solution, tol=tolerance,
                max_iter=SWEEPS,
            )[1][:, 0]  # fmt: skip
        size = np.abs(solution) * length
        solution = np.where(size > NEGLIGIBLE * size.max(), solution, 0.0)
        limit = _limit(x, y, price, solution)
        if limit is not None:
            return limit
    return solution


def _limit(x: FloatArray, y: FloatArray, price: float, solution: FloatArray) -> FloatArray | None:
    """Coefficients that coordinate descent tends to, or None if other columns are active there or a sign is another one.

    A sweep over active columns X is a step of Gauss and Seidel on X' X b = X' y - price / 2 sign. With L the lower triangle of X' X
    it takes b on by L^-1 times what these equations lack, which is X' times something: it leaves N' L b alone, for all N with
    X N = 0. The limit is the solution with that.
    """
    from scipy.linalg import qr, solve_triangular

    active = np.flatnonzero(solution)
    some, sign = x[:, active], np.sign(solution[active])
    decomposed: Any = qr(some, mode="r", pivoting=True)
    triangle, order = decomposed
    rank = int((np.abs(np.diagonal(triangle)) > RANK * np.abs(triangle[0, 0])).sum()) if len(active) else 0
    wanted = (some.T @ y - price / 2 * sign)[order]
    above, beside = triangle[:rank, :rank], triangle[:rank, rank:]
    half = solve_triangular(above, wanted[:rank], trans=1)
    if np.abs(beside.T @ half - wanted[rank:]).max(initial=0.0) > SLACK * price:
        return None
    limit = np.zeros(len(active))
    limit[order[:rank]] = solve_triangular(above, half)
    if rank < len(active):
        nothing = np.zeros((len(active), len(active) - rank))
        nothing[order[:rank]], nothing[order[rank:]] = -solve_triangular(above, beside), np.eye(len(active) - rank)
        kept = nothing.T @ np.tril(some.T @ some)
        limit += nothing @ np.linalg.solve(kept @ nothing, kept @ (solution[active] - limit))
    inactive = np.ones(x.shape[1], dtype=np.bool_)
    inactive[active] = False
    steep = np.abs((y - some @ limit) @ x[:, inactive]).max(initial=0.0)
    if (np.sign(limit) != sign).any() or steep > price / 2 * (1 + SLACK):
        return None
    every = np.zeros(len(solution))
    every[active] = limit
    return every
