"""Measures of disparity of numbers per subgroup: the meta-metrics of Lum et al., the Gini coefficient, the gap of the worst.

Pure functions of arrays (..., subgroup) of at least one value and, where a mean is taken, of weights (subgroup,), positive
or 0, of any sum; without them every subgroup counts the same. NaN in, NaN out: leave undefined subgroups out beforehand.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def shares(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Weights that sum to 1, (subgroup,); equal where none are given.

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.zeros((2, 4))).tolist(), shares(np.zeros(2), np.array([30.0, 10.0])).tolist()
    ([0.25, 0.25, 0.25, 0.25], [0.75, 0.25])
    """
    if weights is None:
        return np.full(y.shape[-1], 1 / y.shape[-1])
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def centre(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Mean over subgroups, (...).

    Examples
    --------
    >>> import numpy as np
    >>> float(centre(np.array([0.2, 0.4]))), round(float(centre(np.array([0.2, 0.4]), np.array([3.0, 1.0]))), 6)
    (0.30000000000000004, 0.25)
    """
    return np.asarray(y @ shares(y, weights), dtype=np.float64)


def max_min_difference(y: FloatArray) -> FloatArray:
    """Largest minus smallest, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(max_min_difference(np.array([0.9, 0.8, 0.7, 0.6]))), 6)
    0.3
    """
    return np.asarray(y.max(axis=-1) - y.min(axis=-1), dtype=np.float64)


def max_min_ratio(y: FloatArray, *, smoothing: float = 0.0) -> FloatArray:
    """(max y + smoothing) / (min y + smoothing), for values that are not negative.

    Parameters
    ----------
    y : array (..., subgroup)
    smoothing : float
        0 in the definition; the published simulations add 0.05 to both.

    Returns
    -------
    array (...)
        Infinite where only the smallest is 0; NaN where both are, or a value is negative.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.9, 0.8, 0.7, 0.6])
    >>> float(max_min_ratio(y)), round(float(max_min_ratio(y, smoothing=0.05)), 6), float(max_min_ratio(y - 0.6))
    (1.5, 1.461538, inf)
    """
    low, high = y.min(axis=-1) + smoothing, y.max(axis=-1) + smoothing
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(low >= 0, high / low, np.nan)


def max_absolute_difference(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Largest distance from the mean, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(max_absolute_difference(np.array([0.9, 0.8, 0.7, 0.6]))), 6)
    0.15
    """
    return np.asarray(np.abs(y - centre(y, weights)[..., None]).max(axis=-1), dtype=np.float64)


def mean_absolute_deviation(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Mean of |y - mean|, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(mean_absolute_deviation(np.array([0.9, 0.8, 0.7, 0.6]))), 6)
    0.1
    """
    return np.asarray(np.abs(y - centre(y, weights)[..., None]) @ shares(y, weights), dtype=np.float64)


def variance(y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Variance over subgroups, in squared units of y: half the mean squared difference between two subgroups.

    Parameters
    ----------
    y : array (..., subgroup)
    weights : array (subgroup,), optional
        Shares w of the subgroups.

    Returns
    -------
    array (...)
        sum w (y - mean)^2 / (1 - sum w^2): half the expected squared difference between two that are drawn by w, given
        that they are of different subgroups. With equal weights its divisor is K - 1, as usual. NaN for one subgroup.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.9, 0.8, 0.7, 0.6])
    >>> round(float(variance(y)), 6), round(float(variance(y, np.array([40.0, 20, 10, 5]))), 6)
    (0.016667, 0.013857)
    """
    w = shares(y, weights)
    squares = (y - centre(y, weights)[..., None]) ** 2 @ w
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(squares / different(w) if y.shape[-1] > 1 else np.full_like(squares, np.nan))


def different(w: FloatArray) -> FloatArray:
    """Probability that two that are drawn by the shares w are of different subgroups, 1 - sum w^2.

    Examples
    --------
    >>> import numpy as np
    >>> float(different(np.array([0.5, 0.5])))
    0.5
    """
    return np.asarray((w * (1 - w)).sum(axis=-1), dtype=np.float64)


def generalised_entropy(y: FloatArray, alpha: float, weights: FloatArray | None = None) -> FloatArray:
    """Generalised entropy index, without a unit.

    Parameters
    ----------
    y : array (..., subgroup)
        Values with a positive mean, none negative, none 0 for ``alpha <= 0``.
    alpha : float
        The larger, the more the largest values count. 0 is the mean log deviation, 1 the index of Theil, 2 half the
        squared coefficient of variation.
    weights : array (subgroup,), optional

    Returns
    -------
    array (...)
        NaN where the values do not allow it.

    References
    ----------
    Shorrocks (1980), doi:10.2307/1913126; Lum, Zhang, Bower (2022), doi:10.1145/3531146.3533105, Table 1.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.9, 0.8, 0.7, 0.6])
    >>> [round(float(generalised_entropy(y, alpha)), 6) for alpha in (2, 0.5, 1, 0)]
    [0.011111, 0.01124, 0.01118, 0.011319]
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
    """Gini coefficient, without a unit: mean difference of two subgroups over twice the mean.

    Parameters
    ----------
    y : array (..., subgroup)
        Values with a positive mean, none negative.
    weights : array (subgroup,), optional
        Shares w of the subgroups.

    Returns
    -------
    array (...)
        sum_ab w_a w_b |y_a - y_b| / (2 mean), in [0, 1); NaN where the values do not allow it.

    Examples
    --------
    >>> import numpy as np
    >>> float(gini(np.array([0.0, 0.0, 0.0, 1.0]))), round(float(gini(np.array([0.9, 0.8, 0.7, 0.6]))), 6)
    (0.75, 0.083333)
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
    """Difference between the mean and the worst subgroup, in the units of y; never negative.

    Parameters
    ----------
    y : array (..., subgroup)
    larger_is_better : bool
        The worst subgroup is the one with the smallest value, else with the largest.
    weights : array (subgroup,), optional

    Returns
    -------
    array (...)

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.9, 0.8, 0.7, 0.2])
    >>> [round(float(worst_group_gap(y, larger_is_better=better)), 6) for better in (True, False)]
    [0.45, 0.25]
    """
    mean = centre(y, weights)
    gap = mean - y.min(axis=-1) if larger_is_better else y.max(axis=-1) - mean
    return np.asarray(np.maximum(gap, 0.0), dtype=np.float64)
