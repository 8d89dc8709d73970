"""Two-sided intervals for a mean: one variance for all groups, or each group its own."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile, t_quantile


def pooled_normal(estimate: FloatArray, sampling_variance: FloatArray, level: float) -> Interval:
    """Normal interval with the row variance pooled over groups.

    Parameters
    ----------
    estimate, sampling_variance : arrays of one shape
        Estimates, and pooled row variance divided by the count; NaN where undefined.
    level : float
        Nominal coverage.

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Eq 7.

    Examples
    --------
    >>> import numpy as np
    >>> found = pooled_normal(np.array([0.75]), np.array([0.3125 / 4]), 0.95)
    >>> found.lower.round(4).tolist(), found.upper.round(4).tolist()
    ([0.2022], [1.2978])
    """
    return around(estimate, normal_quantile(level) * np.sqrt(sampling_variance))


def pooled_t(
    estimate: FloatArray, sampling_variance: FloatArray, freedom: FloatArray | float, level: float
) -> Interval:
    """Student's t interval with the row variance pooled over groups.

    Parameters
    ----------
    estimate, sampling_variance : arrays of one shape
        Estimates, and pooled row variance divided by the count; NaN where undefined.
    freedom : float or array that broadcasts
        Degrees of freedom of the pooled variance, sum of (count - 1).
    level : float
        Nominal coverage.

    Returns
    -------
    Interval
        NaN where there are no degrees of freedom.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> found = pooled_t(np.array([0.75]), np.array([0.3125 / 4]), 4.0, 0.95)
    >>> found.lower.round(4).tolist(), found.upper.round(4).tolist()
    ([-0.026], [1.526])
    """
    quantile = t_quantile(level, np.asarray(freedom, dtype=np.float64))
    return around(estimate, quantile * np.sqrt(sampling_variance))


def separate_normal(estimate: FloatArray, bootstrap_variance: FloatArray, level: float) -> Interval:
    """Normal interval with the bootstrap variance of each group: covers too seldom in small groups.

    Parameters
    ----------
    estimate, bootstrap_variance : arrays of one shape
        Estimates and their exact bootstrap variances; 0 where all rows of a group agree.
    level : float
        Nominal coverage.

    Returns
    -------
    Interval

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> found = separate_normal(np.array([0.5]), np.array([0.125]), 0.95)
    >>> found.lower.round(4).tolist(), found.upper.round(4).tolist()
    ([-0.193], [1.193])
    """
    return around(estimate, normal_quantile(level) * np.sqrt(bootstrap_variance))


def t(estimate: FloatArray, row_variance: FloatArray, count: FloatArray, level: float) -> Interval:
    """Student's t interval of each group by itself.

    Parameters
    ----------
    estimate, row_variance, count : arrays of one shape
        Means, variances of the rows (divisor count - 1) and numbers of rows.
    level : float
        Nominal coverage.

    Returns
    -------
    Interval
        NaN where a group has fewer than two rows.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> found = t(np.array([0.22]), np.array([0.142653**2]), np.array([5.0]), 0.95)
    >>> found.lower.round(6).tolist(), found.upper.round(6).tolist()
    ([0.042873], [0.397127])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        half = t_quantile(level, count - 1) * np.sqrt(row_variance / count)
    return around(estimate, half)
