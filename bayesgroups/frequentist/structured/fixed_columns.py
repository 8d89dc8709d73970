"""Columns of fixed effects beside indicators of single subgroups, which are fitted exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.frequentist.structured.linear import RANK


@dataclass(frozen=True)
class FixedColumns:
    """Columns (subgroup, column), the intercept first, and their singular values over subgroups without an indicator.

    ``left`` (subgroup, direction), ``values`` (direction,), and ``right`` (column, column): over these subgroups the columns do
    not have its last directions.
    """

    columns: FloatArray
    left: FloatArray
    values: FloatArray
    right: FloatArray

    @classmethod
    def over(cls, rest: IntArray, columns: FloatArray) -> FixedColumns:
        """Columns decomposed over the subgroups ``rest``."""
        some = columns[rest]
        left, values, right = np.linalg.svd(some, full_matrices=len(some) < columns.shape[1])
        rank = int((values > RANK * values.max(initial=0.0)).sum())
        return cls(columns, left[:, :rank], values[:rank], right.T)

    def leave(self, y: FloatArray, independent: FloatArray, shared: FloatArray) -> FloatArray:
        """Inverse of a covariance times what generalised least squares leaves of responses (response, subgroup).

        The covariance is that of ``independent`` parts, variances (subgroup,), and of columns ``shared`` (subgroup, column),
        diag(independent) + shared shared', inverted by Woodbury's formula.
        """
        if not y.size:
            return np.zeros_like(y)
        scaled = shared / independent[:, None]
        solved = np.vstack([self.left.T, y]) / independent
        solved -= np.linalg.solve(np.eye(shared.shape[1]) + shared.T @ scaled, (solved @ shared).T).T @ scaled.T
        weighted, pull = solved[: len(self.values)], solved[len(self.values) :]
        level = np.linalg.solve(weighted @ self.left, (pull @ self.left).T)
        return np.asarray(pull - level.T @ weighted)

    def coefficients(self, y: FloatArray, fitted: IntArray, y_fitted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients (response, column) without the intercept, and of indicators of the subgroups ``fitted``.

        They give responses ``y`` (response, subgroup) without an indicator, and ``y_fitted`` with one, and have the smallest norm.
        """
        rank, root = len(self.values), self.columns[fitted, 0]
        effect = (y @ self.left / self.values) @ self.right[:, :rank].T
        open_directions = self.right[:, rank:]
        reach, target = self.columns[fitted] / root[:, None], y_fitted / root
        both = np.vstack([np.eye(len(self.right))[1:], reach])
        gap = np.hstack([-effect[:, 1:], target - effect @ reach.T])
        effect += gap @ np.linalg.pinv(both @ open_directions, rcond=RANK).T @ open_directions.T
        return effect[:, 1:], target - effect @ reach.T
