"""The linear predictor of crossed effects.

    eta_g = overall + x_g . beta + sum over components k of tau_k effect_k[cell_k(g)],   effects ~ Normal(0, 1)

The last component has one effect per subgroup. A space integrates all of it out given the tau, when eta is observed with
normal errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Predictor:
    """Design of the linear predictor.

    ``cells`` (component, subgroup) have the subgroups themselves last; ``covariates`` (subgroup, column) are
    standardised; scales are prior standard deviations of ``overall`` (around 0) and of ``beta``.
    """

    cells: IntArray
    covariates: FloatArray
    overall_scale: float
    coefficient_scale: float

    @property
    def sizes(self) -> IntArray:
        """Number of cells of every component but the last."""
        return np.asarray(self.cells[:-1].max(axis=1, initial=-1) + 1, dtype=np.int64)

    @property
    def effects(self) -> int:
        """Number of effects but those of single subgroups, with ``overall`` and ``beta``."""
        return int(1 + self.covariates.shape[1] + self.sizes.sum())


@dataclass(frozen=True)
class Drawn:
    """Draws of all of eta but the subgroups' residual effects, of ``overall`` (draw,) and of ``beta``.

    The predictor is worked out for some draws at a time, for it is the largest of all arrays: ``predict`` makes it,
    (draw, subgroup), of rows of ``state``.
    """

    state: FloatArray
    predict: Callable[[FloatArray], FloatArray]
    overall: FloatArray
    beta: FloatArray

    def shared(self, rows: slice | IntArray = slice(None)) -> FloatArray:
        """The predictor in some draws, (draw, subgroup)."""
        return self.predict(self.state[rows])


class Space(Protocol):
    """Space with the effects integrated out, for data ``y`` (subgroup,) with error variances ``v``, infinite where unseen."""

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log density of the data, (draw, component) to (draw,)."""
        ...

    def draw(self, tau: FloatArray, rng: np.random.Generator) -> Drawn:
        """Draw the predictor given the data, one for every row of ``tau``."""
        ...

    def moments(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of eta in every subgroup, at one ``tau`` (component,)."""
        ...


def indicator(cells: IntArray) -> FloatArray:
    """Matrix of a component: 1 where the subgroup is in the cell, (subgroup, cell).

    >>> indicator(np.array([0, 1, 0])).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """
    return np.asarray(cells[:, None] == np.arange(int(cells.max()) + 1), dtype=np.float64)


def chunks(number: int, each: int, budget: int = 4_000_000) -> list[slice]:
    """Blocks of rows, ``each`` numbers long, that fit a budget of numbers."""
    size = max(budget // max(each, 1), 1)
    return [slice(start, min(start + size, number)) for start in range(0, number, size)]


def cholesky(matrices: FloatArray) -> FloatArray:
    """Factors of many matrices; NaN for one that rounding has left indefinite, instead of an error for all."""
    try:
        return np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return np.stack([_factor(each) for each in matrices])


def inverted(matrix: FloatArray) -> FloatArray:
    """Inverse of one matrix; NaN where rounding has left it singular."""
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)


def _factor(matrix: FloatArray) -> FloatArray:
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)
