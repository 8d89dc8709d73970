"""Weighted lasso with a free intercept.

    sum_a w_a (t0 + t . x_a - z_a)^2 + penalty ||t||_1,   w_a = 1 / sampling variance

Nothing is halved or averaged in this objective; a solver that divides the squares by 2 sum w takes penalty / (2 sum w).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.structured.linear import Centred, Line, centred, least_squares, line

TOLERANCE = 1e-12
"""Duality gap relative to the weighted sum of squares."""
SWEEPS = 100_000
"""Sweeps over the columns, at most."""
ROUNDING = 1e-12
"""Share of the largest penalty that is rounding."""


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
    are unique. With redundant columns the coefficients are not: these come from cyclic coordinate descent from zero in
    the order of the columns.

    >>> fit(np.eye(2), np.array([0.6, 0.2]), np.array([10.0, 10.0]), penalty=1.0).at(np.eye(2)).round(6).tolist()
    [0.55, 0.25]
    """
    of = centred(x, w)
    mean, y = of.response(z)
    return line(of, float(mean), solve(of, y, np.array([penalty]))[0])


def path(
    x: FloatArray, z: FloatArray, w: FloatArray, penalties: FloatArray, tolerance: float = TOLERANCE
) -> list[Line]:
    """Lasso at several decreasing penalties, each fit from where the last one ended: faster than one by one.

    ``tolerance`` is the duality gap at which to stop, relative to the weighted sum of squares.
    """
    of = centred(x, w)
    mean, y = of.response(z)
    return [line(of, float(mean), coefficient) for coefficient in solve(of, y, penalties, tolerance)]


def solve(of: Centred, y: FloatArray, penalties: FloatArray, tolerance: float = TOLERANCE) -> FloatArray:
    """Lasso coefficients (penalty, column) for a centred response, as in `path`.

    InputError if a penalty is negative or not finite, or larger than the one before it.
    """
    if not (np.isfinite(penalties) & (penalties >= 0)).all():
        raise InputError("a penalty must be finite and not negative")
    if (np.diff(penalties) > 0).any():
        raise InputError("penalties must not increase; sort them from the largest to the smallest")
    coefficients = np.zeros((len(penalties), of.x.shape[1]))
    largest = largest_penalty(of, y)
    rounding = ROUNDING * largest
    none, free = penalties >= largest - rounding, penalties <= rounding
    if largest > 0 and free.any():
        coefficients[free] = least_squares(of, y)
    some = ~(none | free)
    if some.any():
        coefficients[some] = _descend(of.x, y, penalties[some] / of.total, tolerance)
    return coefficients


def largest_penalty(of: Centred, y: FloatArray) -> float:
    """`penalty_max` of centred columns and responses."""
    return 2 * of.total * float(np.abs(y @ of.x).max(initial=0.0))


@contextmanager
def unconverged() -> Iterator[None]:
    """No warning of redundant coefficients that still move: after so many sweeps the fitted values stand still.

    Fits on threads are surrounded by another one, since filters of warnings belong to the process.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _descend(x: FloatArray, y: FloatArray, penalties: FloatArray, tolerance: float) -> FloatArray:
    """Coefficients (penalty, column) that minimise sum (y - x b)^2 + penalty ||b||_1."""
    from sklearn.linear_model import lasso_path

    with unconverged():
        solver: Any = lasso_path  # its defaults are not the types it takes
        _, coefficient, _ = solver(
            np.asfortranarray(x), y, alphas=penalties / (2 * len(y)), precompute=x.T @ x, tol=tolerance, max_iter=SWEEPS
        )
    solution: FloatArray = coefficient.T + 0.0  # no -0.0
    return solution
