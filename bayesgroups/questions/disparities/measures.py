"""Measures of disparity of numbers per subgroup: the meta-metrics of Lum et al., the Gini coefficient, the gap of the worst.

Pure functions of arrays (..., subgroup) of at least one value and, where a mean is taken, of weights (subgroup,), positive
or 0, of any sum; without them every subgroup counts the same. NaN in, NaN out: leave undefined subgroups out beforehand.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def shares(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Weights that sum to 1, (subgroup,); equal where none are given."""
    if weights is None:
        return np.full(y.shape[-1], 1 / y.shape[-1])
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def centre(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Mean over subgroups, (...)."""
    return np.asarray(y @ shares(y, weights), dtype=np.float64)


def max_min_difference(y: FloatArray) -> FloatArray:
    """Largest minus smallest, in the units of y."""
    return np.asarray(y.max(axis=-1) - y.min(axis=-1), dtype=np.float64)


def max_min_ratio(y: FloatArray, *, smoothing: float = 0.0) -> FloatArray:
    """(max y + smoothing) / (min y + smoothing); the definition has no smoothing, the published simulations 0.05.

    Infinite where only the smallest is 0; NaN where both are, or a value is negative.
    """
    low, high = y.min(axis=-1) + smoothing, y.max(axis=-1) + smoothing
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(low >= 0, high / low, np.nan)


def max_absolute_difference(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Largest distance from the mean, in the units of y."""
    return np.asarray(np.abs(y - centre(y, weights)[..., None]).max(axis=-1), dtype=np.float64)


def mean_absolute_deviation(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Mean of |y - mean|, in the units of y."""
    return np.asarray(np.abs(y - centre(y, weights)[..., None]) @ shares(y, weights), dtype=np.float64)


def variance(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Variance over subgroups, in squared units of y: half the mean squared difference between two subgroups.

    With shares w it is sum w (y - mean)^2 / (1 - sum w^2), half the expected squared difference between two that are drawn by w,
    given that they are of different subgroups. With equal weights its divisor is K - 1, as usual. NaN for one subgroup.
    """
    w = shares(y, weights)
    squares = (y - centre(y, weights)[..., None]) ** 2 @ w
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(squares / different(w) if y.shape[-1] > 1 else np.full_like(squares, np.nan))


def different(w: FloatArray) -> FloatArray:
    """Probability that two that are drawn by the shares w are of different subgroups, 1 - sum w^2."""
    return np.asarray((w * (1 - w)).sum(axis=-1), dtype=np.float64)


def generalised_entropy(y: FloatArray, alpha: float, weights: FloatArray | None = None) -> FloatArray:
    """Generalised entropy index, without a unit.

    NaN unless the mean is positive and no value negative, nor 0 for ``alpha <= 0``. The larger ``alpha``, the more the
    largest values count: 0 is the mean log deviation, 1 the index of Theil, 2 half the squared coefficient of variation.
    Shorrocks (1980), doi:10.2307/1913126; Lum, Zhang, Bower (2022), doi:10.1145/3531146.3533105, Table 1.
    """
    w = shares(y, weights)
    mean = centre(y, weights)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = y / mean[..., None]
        if alpha == 1:
            value = np.where(relative > 0, relative * np.log(relative), 0.0) @ w
        elif alpha == 0:
            value = -np.log(relative) @ w
        else:
            value = (relative**alpha - 1) @ w / (alpha * (alpha - 1))
    lowest = y.min(axis=-1)
    allowed = (mean > 0) & ((lowest >= 0) if alpha > 0 else (lowest > 0))
    return np.where(allowed, value, np.nan)


def gini(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Gini coefficient sum_ab w_a w_b |y_a - y_b| / (2 mean), in [0, 1).

    NaN unless the mean is positive and no value negative.
    """
    order = np.argsort(y, axis=-1, kind="stable")
    ordered = np.take_along_axis(y, order, axis=-1)
    w = shares(y, weights)[order]
    rank = np.cumsum(w, axis=-1) - w / 2  # share below, half of the own subgroup included
    mean = centre(y, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (w * ordered * (2 * rank - 1)).sum(axis=-1) / mean
    return np.where((mean > 0) & (ordered[..., 0] >= 0), np.maximum(value, 0.0), np.nan)


def worst_group_gap(y: FloatArray, *, larger_is_better: bool, weights: FloatArray | None = None) -> FloatArray:
    """Difference between the mean and the worst subgroup, in the units of y; never negative."""
    mean = centre(y, weights)
    gap = mean - y.min(axis=-1) if larger_is_better else y.max(axis=-1) - mean
    return np.asarray(np.maximum(gap, 0.0), dtype=np.float64)
