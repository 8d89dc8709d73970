"""A log density learned from points where it has been computed: a ridge regression on smooth functions of every coordinate.

Standard deviations are functions of standard normal numbers u that change nothing where u is low and much where it is high, so that
a softplus of u bends least; the density is quadratic in these, with a few terms more along every coordinate. Beyond the points that
it was learned from the functions stay what they are at the last of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray

RIDGE = 1e-6
"""Penalty of a squared coefficient, in points."""
FALL = 2.0
"""Fall of the log weight of a point with its log density under the highest one, for every coordinate."""
MIN_WEIGHT_IN_RANGE = 0.1
"""Weight of the points that say how far the functions reach."""


@dataclass(frozen=True)
class Emulator:
    """Fitted log density; ``low`` and ``high`` are the ranges of the points (parameter,)."""

    low: FloatArray
    high: FloatArray
    shift: FloatArray
    scale: FloatArray
    coefficients: FloatArray
    interactions: FloatArray
    """Coefficients of products of softplus functions, (parameter, parameter)."""

    def __call__(self, u: FloatArray) -> FloatArray:
        """Log densities (point,) at points (point, parameter)."""
        terms = (_terms(np.clip(u, self.low, self.high)) - self.shift) / self.scale
        bent = terms[:, : u.shape[1]]
        return np.asarray(terms @ self.coefficients + ((bent @ self.interactions) * bent).sum(axis=1), dtype=np.float64)


def fitted(u: FloatArray, log_density: FloatArray, height: FloatArray) -> Emulator:
    """Emulator from points (point, parameter), their log densities, and the heights of the posterior there that weigh them.

    >>> points = np.random.default_rng(1).standard_normal((400, 2))
    >>> density = -0.5 * ((points - 1) ** 2).sum(axis=1)
    >>> emulator = fitted(points, density, density)
    >>> bool(np.std((emulator(points) - density)[density > -2]) < 0.05)
    True
    """
    finite = np.isfinite(log_density)
    u, log_density, height = u[finite], log_density[finite], height[finite]
    dimension = u.shape[1]
    weight = np.exp(-FALL * (height.max() - height) / dimension)
    low, high = (end(u[weight > MIN_WEIGHT_IN_RANGE], axis=0) for end in (np.min, np.max))
    terms = _terms(np.clip(u, low, high))
    total = weight.sum()
    shift = weight @ terms / total
    scale = np.sqrt(weight @ (terms - shift) ** 2 / total) + 1e-12
    terms = (terms - shift) / scale
    first, second = np.triu_indices(dimension)
    design = np.column_stack([np.ones(len(u)), terms, terms[:, first] * terms[:, second]])
    weighted = design * weight[:, None]
    penalty = np.full(design.shape[1], RIDGE * total)
    penalty[0] = 0.0
    solution = np.linalg.solve(design.T @ weighted + np.diag(penalty), weighted.T @ log_density)
    interactions = np.zeros((dimension, dimension))
    interactions[first, second] = solution[1 + terms.shape[1] :]
    return Emulator(low, high, shift, scale, solution[1 : 1 + terms.shape[1]], interactions)


def _terms(u: FloatArray) -> FloatArray:
    """Functions of the coordinates: softplus, its cube, and two powers."""
    bent = np.logaddexp(0.0, 2 * u)
    return np.concatenate([bent, bent**2 * np.sqrt(bent), u, u**2], axis=1)
