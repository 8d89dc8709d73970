"""The linear predictor of crossed effects.

    eta_g = overall + x_g . beta + sum over components k of tau_k effect_k[cell_k(g)],   effects ~ Normal(0, 1)

The last component has one effect per subgroup. A space integrates all of it out given the tau, when eta is observed with
normal errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Predictor:
    """Design of the linear predictor.

    Attributes
    ----------
    cells : array (component, subgroup)
        Cell of each subgroup in each component; the last component is the subgroups themselves.
    covariates : array (subgroup, column)
        Standardised; may have no columns.
    overall_scale, coefficient_scale : float
        Prior standard deviations of ``overall`` (around 0) and of ``beta``.
    """

    cells: IntArray
    covariates: FloatArray
    overall_scale: float
    coefficient_scale: float

    @property
    def effects(self) -> int:
        """Number of effects but those of single subgroups, with ``overall`` and ``beta``."""
        return int(1 + self.covariates.shape[1] + (self.cells[:-1].max(axis=1) + 1).sum())


@dataclass(frozen=True)
class Drawn:
    """Draws of ``shared`` (draw, subgroup), all of eta but the subgroup's own effect; ``overall`` (draw,), ``beta``."""

    shared: FloatArray
    overall: FloatArray
    beta: FloatArray


class Space(Protocol):
    """Where the effects are integrated out, for data ``y`` (subgroup,) with error variances ``v``, infinite where unseen."""

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log density of the data, (draw, component) to (draw,)."""
        ...

    def draw(self, tau: FloatArray, rng: np.random.Generator) -> Drawn:
        """Draw the predictor given the data, one for every row of ``tau``."""
        ...

    def moments(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of eta in every subgroup, at one ``tau`` (component,)."""
        ...


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


def _factor(matrix: FloatArray) -> FloatArray:
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)
