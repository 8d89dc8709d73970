"""Latent effects in the form that their data allow: centred where a subgroup says much, non-centred where it says little.

An effect eta ~ Normal(location, spread) has a latent variable z of its own. With pseudo-data of eta, an ``estimate`` whose variance
is 1 / ``precision``, w = 1 + spread^2 precision and delta = precision (estimate - location),

    eta = location + spread^2 delta / w + spread z / sqrt(w),      z ~ Normal(-spread delta / sqrt(w), sqrt(w)).

For any pseudo-data eta is Normal(location, spread), so that the model is the same one; and where they hold what the likelihood
says of eta, the posterior of z is about Normal(0, 1) whatever location and spread are. Without data (precision 0) that is the
non-centred form, for endless precision the centred one, and in between a partly centred one whose share
spread^2 precision / w follows the spread itself rather than a guess of it.

References
----------
Papaspiliopoulos, Roberts and Skold (2007), partially non-centred parametrisations, doi:10.1214/088342307000000014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray

from .shared.cells import BinomialCells, NormalCells

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

NEWTON_STEPS = 25
"""Steps of Newton's method to the mode of a logit; the density is log-concave and starts where it is steepest."""


@dataclass(frozen=True)
class PseudoData:
    """Normal approximation of what the likelihood says of every effect, both (metric, subgroup).

    ``estimate`` is on the scale of the hierarchy (logit for binomial metrics) and ``precision``, the inverse of its variance, is 0
    where nothing was observed.
    """

    estimate: FloatArray
    precision: FloatArray

    def of(self, metrics: Sequence[int] | NDArray[np.intp]) -> PseudoData:
        """Those of some metrics, by their positions."""
        return PseudoData(self.estimate[metrics], self.precision[metrics])


def pseudo_data(
    shape: tuple[int, int], counts: BinomialCells, estimates: NormalCells, reference_spread: FloatArray
) -> PseudoData:
    """Normal approximation of the likelihood of every subgroup.

    Parameters
    ----------
    shape : tuple of int
        Numbers of metrics and subgroups.
    counts : BinomialCells
        Observed counts: the working response of a logistic regression at the mode of the logit given a population around the
        pooled rate, which is finite where all rows succeed or none.
    estimates : NormalCells
        Observed estimates, taken as they are.
    reference_spread : FloatArray
        Shape (metric,): standard deviation of that population, on the logit scale.

    Returns
    -------
    PseudoData

    Examples
    --------
    >>> first, subgroup = np.array([0, 0]), np.array([0, 1])
    >>> counts = BinomialCells(first, subgroup, ["fnr | a", "fnr | b"], np.array([0.0, 40.0]), np.array([3.0, 80.0]))
    >>> nothing = NormalCells(first[:0], subgroup[:0], [], np.zeros(0), np.zeros(0))
    >>> data = pseudo_data((1, 3), counts, nothing, np.array([0.5]))
    >>> data.estimate.round(2).tolist(), data.precision.round(2).tolist()
    ([[-2.06, 0.0, 0.0]], [[0.72, 20.0, 0.0]])
    """
    estimate, precision = np.zeros(shape), np.zeros(shape)
    estimate[estimates.metric, estimates.subgroup] = estimates.estimate
    precision[estimates.metric, estimates.subgroup] = estimates.std_error**-2
    if counts.label:
        successes, trials = (
            np.bincount(counts.metric, weights=values, minlength=shape[0])
            for values in (counts.successes, counts.count)
        )
        pooled = (successes + 0.5) / (trials + 1)
        centre = np.log(pooled / (1 - pooled))[counts.metric]
        logit = _mode(counts, centre, reference_spread[counts.metric])
        rate = 1 / (1 + np.exp(-logit))
        information = counts.count * rate * (1 - rate)
        estimate[counts.metric, counts.subgroup] = logit + (counts.successes - counts.count * rate) / information
        precision[counts.metric, counts.subgroup] = information
    return PseudoData(estimate, precision)


def _mode(counts: BinomialCells, centre: FloatArray, spread: FloatArray) -> FloatArray:
    """Mode of each logit (cell,) under Normal(centre, spread), by Newton's method with steps of one spread at most."""
    logit = centre.copy()
    for _ in range(NEWTON_STEPS):
        rate = 1 / (1 + np.exp(-logit))
        slope = counts.successes - counts.count * rate - (logit - centre) / spread**2
        step = slope / (counts.count * rate * (1 - rate) + spread**-2)
        logit += np.clip(step, -spread, spread)
    return logit


def latent_effects(
    name: str, score: Tensor, precision: Tensor, spread: Tensor, dims: tuple[str, ...] = ("metric", "subgroup")
) -> Tensor:
    """Effects Normal(0, spread) of the model in context, by a latent variable each.

    Parameters
    ----------
    name : str
        Name of the latent variable.
    score : Tensor
        ``precision`` times the pseudo-estimate of each effect, the location taken off; in the shape of the effects.
    precision : Tensor
        What the likelihood says of each effect, likewise.
    spread : Tensor
        Standard deviation, broadcasting to that shape.
    dims : tuple of str
        Dims of the latent variable.

    Returns
    -------
    Tensor
        The effects.

    Examples
    --------
    >>> data = PseudoData(np.array([[0.3, 0.0]]), np.array([[100.0, 0.0]]))
    >>> with pm.Model(coords={"metric": ["fnr"], "subgroup": ["a", "b"]}) as model:
    ...     alpha, tau = pm.Normal("alpha"), pm.HalfNormal("tau")
    ...     eta = alpha + latent_effects("z", data.precision * (data.estimate - alpha), data.precision, tau)
    >>> [variable.name for variable in model.free_RVs]
    ['alpha', 'tau', 'z']
    """
    root: Tensor = pm.math.sqrt(1 + spread**2 * precision)
    pull = spread * score / root
    z = pm.Normal(name, mu=-pull, sigma=root, dims=dims)
    return spread * (pull + z) / root
