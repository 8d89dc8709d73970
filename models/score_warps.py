"""The sinh-arcsinh warp of scores as PyTensor expressions, and the density of warped scores in bins.

    T(x) = (sinh(delta arcsinh(x) - epsilon) - a) / b

with a and b such that T of a standard normal x has mean 0 and variance 1. Jones and Pewsey (2009), doi:10.1093/biomet/asp053.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from .shared.score_cells import ScoreCells

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

WARP_SCALE = 0.5
"""Standard deviation of the normal priors of epsilon and log delta."""
NODES = 61
"""Of the quadrature for a and b."""


@dataclass(frozen=True)
class ScoreBins:
    """Rows in bins, in standard units; arrays (bin,).

    ``x`` mean score, ``within`` variance about it, ``weight`` rows, ``subgroup`` and ``outcome`` positions.
    """

    x: FloatArray
    within: FloatArray
    weight: FloatArray
    subgroup: NDArray[np.int64]
    outcome: NDArray[np.int64]


def score_bins(tally: xr.Dataset, scores: ScoreCells) -> ScoreBins:
    """Bins of a tally that keeps score moments.

    Parameters
    ----------
    tally : xr.Dataset
        Read are the variables along ``score_bin`` and the setting ``score_bin_width``.
    scores : ScoreCells
        Its cells.

    Returns
    -------
    ScoreBins

    Raises
    ------
    ValueError
        If the tally keeps no bins.
    """
    if "score_bin" not in tally.dims:
        raise ValueError("the tally keeps no bins of scores, so residuals='skewed' has nothing to look at")
    width = float(json.loads(str(tally.attrs["settings"]))["score_bin_width"])
    names = ("subgroup", "outcome", "index", "weight", "total", "total_squares")
    subgroup, outcome, index, weight, total, squares = (tally[f"bin_{name}"].values for name in names)
    mean = (index + 0.5) * width + total / weight
    within = np.maximum(squares / weight - (total / weight) ** 2, 0.0)
    sums = np.zeros_like(scores.count)
    np.add.at(sums, (subgroup, outcome), weight)
    rows = weight * scores.count[subgroup, outcome] / sums[subgroup, outcome]
    return ScoreBins((mean - scores.centre) / scores.unit, within / scores.unit**2, rows, subgroup, outcome)


@dataclass(frozen=True)
class Warp:
    """A warp with unknown parameters: tensors."""

    epsilon: Tensor
    delta: Tensor
    shift: Tensor
    scale: Tensor

    def apply(self, x: FloatArray | float) -> Tensor:
        """Warped scores."""
        return (pm.math.sinh(self.delta * np.arcsinh(x) - self.epsilon) - self.shift) / self.scale

    def slope(self, x: FloatArray) -> Tensor:
        """Derivative of the warp."""
        inner = pm.math.cosh(self.delta * np.arcsinh(x) - self.epsilon)
        return inner * self.delta / (self.scale * np.sqrt(1 + x**2))

    def undo(self, value: Tensor) -> Tensor:
        """Scores from warped scores."""
        raw = value * self.scale + self.shift
        return pm.math.sinh((pm.math.log(raw + pm.math.sqrt(raw**2 + 1)) + self.epsilon) / self.delta)


def warp(parameters: Tensor) -> Warp:
    """The warp with parameters (epsilon, log delta).

    Examples
    --------
    >>> one = warp(pm.math.constant(np.zeros(2)))
    >>> one.apply(np.array([-1.0, 2.0])).eval().round(9).tolist()
    [-1.0, 2.0]
    """
    epsilon, delta = parameters[0], pm.math.exp(parameters[1])
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    values = pm.math.sinh(delta * np.arcsinh(nodes) - epsilon)
    shift = (values * weights).sum()
    return Warp(epsilon, delta, shift, pm.math.sqrt(((values - shift) ** 2 * weights).sum()))


def log_density(bins: ScoreBins, one: Warp, mean: Tensor, variance: Tensor) -> Tensor:
    """Log density of the rows, with ``mean`` and ``variance`` (subgroup, outcome) of warped scores."""
    where = (bins.subgroup, bins.outcome)
    slope = one.slope(bins.x)
    gap = (one.apply(bins.x) - mean[where]) ** 2 + slope**2 * bins.within
    return (bins.weight * (pm.math.log(slope) - 0.5 * pm.math.log(variance[where]) - 0.5 * gap / variance[where])).sum()


def warped_moments(bins: ScoreBins, one: Warp, count: FloatArray) -> tuple[Tensor, Tensor]:
    """Means of warped scores and sums of squares about them, in the shape of ``count`` (subgroup, outcome).

    Examples
    --------
    >>> zero = np.zeros(2, dtype=np.int64)
    >>> bins = ScoreBins(np.array([-1.0, 2.0]), np.zeros(2), np.array([3.0, 1.0]), zero, zero)
    >>> mean, scatter = warped_moments(bins, warp(pm.math.constant(np.zeros(2))), np.array([[4.0, 0.0]]))
    >>> mean.eval().round(9).tolist(), scatter.eval().round(9).tolist()
    ([[-0.25, 0.0]], [[6.75, 0.0]])
    """
    cell = np.ravel_multi_index((bins.subgroup, bins.outcome), count.shape)
    member = (cell[:, None] == np.arange(count.size)) * bins.weight[:, None]
    values = one.apply(bins.x)
    mean = (values @ member) / np.maximum(count, 1e-300).ravel()
    squares = (values - mean[cell]) ** 2 + one.slope(bins.x) ** 2 * bins.within
    return mean.reshape(count.shape), (squares @ member).reshape(count.shape)
