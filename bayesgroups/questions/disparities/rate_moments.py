"""Unbiased estimates of the moments that the error of a variance between subgroups depends on.

A rate and its sampling variance go together, so products of estimates of them are biased; falling factorials are not.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def product_of_means(y: FloatArray, v: FloatArray, v_squared: FloatArray) -> FloatArray:
    """Sum over subgroups of (mu_a - mean)^2 times the sampling variance, without bias if y and v are uncorrelated, (...)."""
    k = y.shape[-1]
    deviation = (y - y.mean(axis=-1, keepdims=True)) ** 2
    inner = v * deviation - v_squared * (1 - 2 / k) - v * v.mean(axis=-1, keepdims=True) / k
    return np.asarray(inner.sum(axis=-1), dtype=np.float64)


def product_of_rates(successes: FloatArray, count: FloatArray, v: FloatArray) -> FloatArray:
    """The same for rates, without bias, (...); successes and counts (..., subgroup) are whole numbers or not.

    Powers of a rate are estimated by falling factorials, s (s - 1) / (d (d - 1)) ..., which need four rows. Subgroups of
    fewer are taken as by `product_of_means`.
    """
    k = count.shape[-1]
    y = successes / count
    enough = count >= 4
    power_1, power_2, power_3, power_4 = _powers(successes, count)
    mean_of_rest = (y.sum(axis=-1, keepdims=True) - y) / (k - 1)
    error_of_rest = (v.sum(axis=-1, keepdims=True) - v) / (k - 1) ** 2
    inner = (
        (power_3 - power_4)
        - 2 * mean_of_rest * (power_2 - power_3)
        + (mean_of_rest**2 - error_of_rest) * (power_1 - power_2)
    )
    plain = v * (y - mean_of_rest) ** 2 - v * error_of_rest - v**2
    return np.asarray(((1 - 1 / k) ** 2 * np.where(enough, inner / count, plain)).sum(axis=-1), dtype=np.float64)


def squares_of_rates(successes: FloatArray, count: FloatArray, v: FloatArray, pooled: FloatArray) -> FloatArray:
    """Squares of the sampling variances of rates, without bias, (..., subgroup).

    ``pooled`` are sampling variances from one rate for all: ``v`` times it is taken where there are fewer than four rows.
    """
    _, two, three, four = _powers(successes, count)
    return np.where(count >= 4, (two - 2 * three + four) / count**2, v * pooled)


def _powers(successes: FloatArray, count: FloatArray) -> list[FloatArray]:
    """Unbiased estimates of the first four powers of a rate."""
    power, powers = np.ones(np.broadcast_shapes(successes.shape, count.shape)), []
    for step in range(4):
        power = power * np.maximum(successes - step, 0.0) / np.where(count >= 4, count - step, 1.0)
        powers.append(power)
    return powers
