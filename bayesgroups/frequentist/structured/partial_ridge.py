"""Refit after a lasso: least squares on the columns it selected, and partial ridge on all columns.

Least squares undoes the shrinkage of the selected columns and leaves the others at 0. Partial ridge does not
penalise the selected columns and shrinks the others a little, so that small coefficients are not lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.structured.fixed_columns import FixedColumns
from bayesgroups.frequentist.structured.linear import RANK, Centred, Line, centred, line

Scale = Literal["variance", "norm", "raw"]


def lasso_ols(x: FloatArray, z: FloatArray, w: FloatArray, selected: BoolArray) -> Line:
    """Weighted least squares on the columns that the lasso kept: the mean of every subgroup, were the selection right.

    With the smallest norm if columns are redundant; 0 outside the selection, the weighted mean if it is empty.

    >>> x, z, w = np.eye(3), np.array([0.2, 0.4, 0.9]), np.array([10.0, 10.0, 5.0])
    >>> lasso_ols(x, z, w, np.array([False, False, True])).at(x).round(6).tolist()
    [0.3, 0.3, 0.9]
    """
    of = centred(x, w)
    mean, y = of.response(z)
    coefficient = np.zeros(x.shape[1])
    coefficient[selected] = np.linalg.pinv(of.x[:, selected], rcond=RANK) @ y
    return line(of, float(mean), coefficient)


def partial_ridge(x: FloatArray, z: FloatArray, w: FloatArray, selected: BoolArray, scale: Scale = "variance") -> Line:
    """Ridge regression that penalises only the columns that were not selected; arguments as in `lasso_ols`.

    Minimises (1 / 2K) sum_a w~_a (b0 + b . x_a - z_a)^2 + (1 / 2K) sum over unselected columns of (s_j b_j)^2, with w~
    the weights divided by their average, K the number of subgroups and s_j the scale, which a penalised column is divided
    by: its weighted standard deviation, its norm on the scale where the weights average 1, or nothing. With unit standard
    deviation an orthogonal column keeps K / (K + 1) of its coefficient; with unit norm, as a published package has it,
    one half. Liu, Xu, Li (2020), Statistica Sinica 30, 1333-1355, for rows of one weight; weights and scale are our
    choice.

    >>> x, z, w = np.eye(2), np.array([0.6, 0.2]), np.array([10.0, 10.0])
    >>> partial_ridge(x, z, w, np.array([False, False])).at(x).round(6).tolist()
    [0.56, 0.24]
    """
    of = centred(x, w)
    mean, y = of.response(z)
    return line(of, float(mean), penalised(of, scale).coefficient(y[None], selected)[0])


@dataclass(frozen=True)
class Penalised:
    """Partial ridge on given columns, for any responses and selections.

    ``length`` (column,) divides a penalised column, 0 where one does not vary. On the scale of the penalty I + P P' with all
    columns P is a covariance of the responses: ``independent`` (subgroup,) is its diagonal part, of errors and indicators, and
    ``shared`` (subgroup, column) are the other columns. Those of a selection and the intercept are fixed effects, which generalised
    least squares takes out whatever variance they are given beside: one covariance serves every selection, without what indicators
    have in common with the intercept.
    """

    of: Centred
    length: FloatArray
    independent: FloatArray
    shared: FloatArray

    def coefficient(self, y: FloatArray, selected: BoolArray) -> FloatArray:
        """Coefficients (response, column) of partial ridge, of centred responses (response, subgroup).

        A subgroup whose indicator is selected is fitted whatever the other columns say, so that these are fitted to the rest.
        """
        x, length = self.of.x, self.length
        free, held = selected & (length > 0), ~selected & (length > 0)
        fitted, indicators = np.unique(np.where(free, self.of.subgroup, -1), return_index=True)
        fitted, indicators = fitted[fitted >= 0], indicators[fitted >= 0]
        free[indicators] = False
        rest = np.setdiff1d(np.arange(len(x)), fitted)
        fixed = FixedColumns.over(rest, np.column_stack([np.sqrt(self.of.share), x[:, free]]))
        pull = np.zeros_like(y)
        pull[:, rest] = fixed.leave(y[:, rest], self.independent[rest], self.shared[rest])
        with np.errstate(divide="ignore", invalid="ignore"):
            coefficient = np.where(held, (pull @ x) * (len(x) / length**2), 0.0)
        unexplained = y - coefficient @ x.T
        coefficient[:, free], coefficient[:, indicators] = fixed.coefficients(
            unexplained[:, rest], fitted, unexplained[:, fitted]
        )
        return coefficient


def penalised(of: Centred, scale: Scale = "variance") -> Penalised:
    """Partial ridge on columns; InputError if the scale does not exist."""
    length = scales(of, scale)
    varied = length > 0
    # With w~ for weights the columns are sqrt(K) times as long; the penalty K lambda2 is 1.
    size = np.sqrt(len(of.x)) / np.where(varied, length, 1.0)
    alone, common = varied & (of.subgroup >= 0), varied & (of.subgroup < 0)
    indicators = np.bincount(of.subgroup[alone], size[alone] ** 2, len(of.x)) * of.share
    return Penalised(of, length, 1 + indicators, of.x[:, common] * size[common])


def scales(of: Centred, scale: Scale) -> FloatArray:
    """Divisor of each column in the penalty, (column,); 0 where a column does not vary. InputError if the scale does not exist.

    >>> [scales(centred(np.array([[2.0], [0.0]]), np.ones(2)), scale).round(6).tolist() for scale in get_args(Scale)]
    [[1.0], [1.414214], [1.0]]
    """
    if scale not in get_args(Scale):
        raise InputError(f"scale={scale!r} does not exist; it is one of {', '.join(get_args(Scale))}")
    deviation: FloatArray = np.sqrt((of.x**2).sum(axis=0))
    if scale == "variance":
        return deviation
    if scale == "norm":
        return np.asarray(deviation * np.sqrt(len(of.share)))
    return np.where(deviation > 0, 1.0, 0.0)
