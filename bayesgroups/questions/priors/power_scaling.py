"""Power-scaling of draws: what a posterior would be were its prior, or its likelihood, raised to another power.

Raising a normal or half-normal prior to the power a divides its scale by the root of a: the power 4 halves it, 1/4 doubles
it. The posterior under the other power has the old draws with weights proportional to the density to the power a - 1.
"""

from __future__ import annotations

import math

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.importance import pareto_k

POWERS_OF_DERIVATIVE = (0.99, 1.01)
"""Powers between which the derivative is taken."""
_TINY = np.finfo(np.float64).tiny


def weights(log_density: FloatArray, power: float) -> tuple[FloatArray, float]:
    """Weights (draw,), of sum 1, of draws under another power of one factor of the posterior, and their Pareto k-hat.

    ``log_density`` (draw,) is the log of that factor, up to a constant. Above a k-hat of 0.7 they cannot be trusted.
    """
    return _weights(log_density, power), pareto_k((power - 1) * log_density)


def sensitivity(draws: FloatArray, log_density: FloatArray) -> FloatArray:
    """Derivative of the distribution of each quantity (quantity,) with respect to the power of one factor of the posterior.

    Of the cumulative Jensen-Shannon distance by the binary log of the power; 0 for quantities that do not vary. Above 0.05
    the factor matters. Kallioinen, Paananen, Burkner, Vehtari (2024), https://doi.org/10.1007/s11222-023-10366-5, Eqs 7-11.
    """
    weightings = [_weights(log_density, power) for power in POWERS_OF_DERIVATIVE]
    derivative = np.zeros(draws.shape[1])
    for j in range(draws.shape[1]):  # one at a time: they stay in the cache, and thousands of subgroups in memory
        order = np.argsort(draws[:, j])
        for power, weight in zip(POWERS_OF_DERIVATIVE, weightings, strict=True):
            derivative[j] += (
                _distance(draws[order, j, None], weight[order, None])[0]
                / abs(math.log2(power))
                / len(POWERS_OF_DERIVATIVE)
            )
    return derivative


def _weights(log_density: FloatArray, power: float) -> FloatArray:
    log_weight = (power - 1) * log_density
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())


def _distance(ordered: FloatArray, weight: FloatArray) -> FloatArray:
    """Cumulative Jensen-Shannon distance, the larger of both directions, of ordered draws with and without weights."""
    width = np.diff(ordered, axis=0)
    number = len(ordered)
    below = np.linspace(1 / number, 1 - 1 / number, number - 1)[:, None]
    weighted = np.clip(np.cumsum(weight, axis=0)[:-1], _TINY, 1 - np.finfo(np.float64).epsneg)
    return np.maximum(_divergence(below, weighted, width), _divergence(1 - below, 1 - weighted, width))


def _divergence(p: FloatArray, q: FloatArray, width: FloatArray) -> FloatArray:
    """Root of the symmetric divergence of two cumulative functions, as a share of its bound."""
    both = p + q
    # The two remainders of the definition are equal and opposite, so that they leave the sum.
    apart = p * np.log2(p) + q * np.log2(q) - both * (np.log2(both) - 1)
    bound = np.einsum("ij,ij->j", both, width)
    total = np.maximum(np.einsum("ij,ij->j", apart, width), 0.0)
    return np.asarray(np.sqrt(np.divide(total, bound, out=np.zeros_like(total), where=bound > 0)))
