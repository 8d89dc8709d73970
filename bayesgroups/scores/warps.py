"""Skewed and heavy-tailed scores as warped normal ones: the sinh-arcsinh transformation.

    T(x) = (sinh(delta arcsinh(x) - epsilon) - a) / b

with x a score in standard units; a and b make T of a standard normal x have mean 0 and variance 1, so that the warp says
nothing of location and spread. epsilon > 0 stands for scores skewed to the right, delta < 1 for heavy tails; epsilon = 0 and
delta = 1 is the identity. One warp is shared by all subgroups and outcomes: warped scores are normal in every cell. Since T
increases, thresholds and orders of scores go along.

References
----------
Jones and Pewsey (2009), "Sinh-arcsinh distributions", doi:10.1093/biomet/asp053.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from bayesgroups.data.arrays import FloatArray

NODES = 61
"""Nodes of the quadrature for the mean and the variance of a warped normal variable."""


@dataclass(frozen=True)
class Warp:
    """A warp, or several: ``epsilon``, ``log_delta``, and the ``shift`` a and the ``scale`` b that go with them."""

    epsilon: FloatArray
    log_delta: FloatArray
    shift: FloatArray
    scale: FloatArray


def warp(epsilon: FloatArray | float, log_delta: FloatArray | float) -> Warp:
    """Warp of two parameters; arrays give several."""
    skew, tail = np.broadcast_arrays(np.asarray(epsilon, dtype=np.float64), np.asarray(log_delta, dtype=np.float64))
    nodes, weights = _normal_nodes()
    values = np.sinh(np.exp(tail)[..., None] * np.arcsinh(nodes) - skew[..., None])
    shift = values @ weights
    return Warp(skew, tail, shift, np.sqrt(((values - shift[..., None]) ** 2) @ weights))


@cache
def _normal_nodes() -> tuple[FloatArray, FloatArray]:
    """Nodes (node,) of the standard normal law, and their weights, which sum to 1."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, weights / weights.sum()


def apply(parameters: Warp, x: FloatArray) -> FloatArray:
    """Warped scores; the last axis of ``x`` is added to the shape of the warps. Infinite ones stay what they are."""
    finite = np.isfinite(x)
    return np.where(finite, apply_with_slope(parameters, np.arcsinh(np.where(finite, x, 0.0)))[0], x)


def apply_with_slope(
    parameters: Warp, arcsinh: FloatArray, narrowing: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Warped scores and the derivative of the warp, from the inverse hyperbolic sines of scores.

    ``narrowing`` is the derivative of the inverse hyperbolic sine, 1 / cosh(arcsinh), if it is at hand: it depends on the scores
    alone.
    """
    delta = np.exp(parameters.log_delta)[..., None]
    with np.errstate(over="ignore"):
        up = np.exp(delta * arcsinh - parameters.epsilon[..., None])
        down = 1 / up
        value = (0.5 * (up - down) - parameters.shift[..., None]) / parameters.scale[..., None]
        if narrowing is None:
            narrowing = 1 / np.cosh(arcsinh)
        slope = (0.5 * (up + down) * narrowing) * (delta / parameters.scale[..., None])
    return np.asarray(value, dtype=np.float64), np.asarray(slope, dtype=np.float64)


def undo(parameters: Warp, value: FloatArray) -> FloatArray:
    """Scores from warped scores.

    >>> undo(warp(0.4, -0.3), apply(warp(0.4, -0.3), np.array([-1.0, 2.0]))).round(9).tolist()
    [-1.0, 2.0]
    """
    raw = value * parameters.scale[..., None] + parameters.shift[..., None]
    return np.asarray(
        np.sinh((np.arcsinh(raw) + parameters.epsilon[..., None]) / np.exp(parameters.log_delta)[..., None])
    )
