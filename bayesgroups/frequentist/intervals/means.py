"""Two-sided intervals for a mean: one variance for all groups, or each group its own."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile, t_quantile


def pooled_normal(estimate: FloatArray, sampling_variance: FloatArray, level: float) -> Interval:
    """Normal interval with the row variance pooled over groups. Herlihy, Truong, Chouldechova, Dudik (2024), Eq 7.

    ``sampling_variance`` is the pooled row variance divided by the count; NaN where undefined.

    >>> limits = pooled_normal(np.array([0.75]), np.array([0.3125 / 4]), 0.95)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([0.2022], [1.2978])
    """
    return around(estimate, normal_quantile(level) * np.sqrt(sampling_variance))


def pooled_t(
    estimate: FloatArray, sampling_variance: FloatArray, freedom: FloatArray | float, level: float
) -> Interval:
    """Student's t interval with the row variance pooled over groups, as in `pooled_normal`.

    ``freedom`` are the degrees of freedom of the pooled variance, sum of (count - 1); NaN where there are none.

    >>> limits = pooled_t(np.array([0.75]), np.array([0.3125 / 4]), 4.0, 0.95)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([-0.026], [1.526])
    """
    quantile = t_quantile(level, np.asarray(freedom, dtype=np.float64))
    return around(estimate, quantile * np.sqrt(sampling_variance))


def separate_normal(estimate: FloatArray, bootstrap_variance: FloatArray, level: float) -> Interval:
    """Normal interval with the exact bootstrap variance of each group: covers too seldom in small groups.

    The variance is 0 where all rows of a group agree. Herlihy, Truong, Chouldechova, Dudik (2024), Appendix A.
    """
    return around(estimate, normal_quantile(level) * np.sqrt(bootstrap_variance))


def t(estimate: FloatArray, row_variance: FloatArray, count: FloatArray, level: float) -> Interval:
    """Student's t interval of each group by itself; NaN where a group has fewer than two rows.

    ``row_variance`` is the variance of the rows (divisor count - 1).

    >>> limits = t(np.array([0.22]), np.array([0.142653**2]), np.array([5.0]), 0.95)
    >>> limits.lower.round(6).tolist(), limits.upper.round(6).tolist()
    ([0.042873], [0.397127])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        half = t_quantile(level, count - 1) * np.sqrt(row_variance / count)
    return around(estimate, half)
