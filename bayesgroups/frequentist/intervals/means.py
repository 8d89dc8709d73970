"""Confidence intervals of an estimate from its variance: pooled over subgroups or the subgroup's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile

FloatArray = NDArray[np.float64]


def normal(z: FloatArray, variance: FloatArray, level: float) -> Interval:
    """z +- normal quantile x standard error.

    With the pooled sampling variance this is the interval of Herlihy et al. (2024), Eq 7; with the bootstrap variance
    of the subgroup alone that of their Appendix A, which under-covers.

    Parameters
    ----------
    z, variance : arrays
        Estimates and their sampling variances.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.means import normal
    >>> found = normal(np.array([0.75]), np.array([0.078125]), 0.95)
    >>> found.lower.round(4).tolist(), found.upper.round(4).tolist()
    ([0.2022], [1.2978])
    """
    return around(z, normal_quantile(level) * np.sqrt(variance))


def t(z: FloatArray, variance: FloatArray, df: FloatArray, level: float) -> Interval:
    """z +- t quantile x standard error.

    Parameters
    ----------
    z, variance, df : arrays
        Estimates, their sampling variances and the degrees of freedom of those; df <= 0 gives NaN.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.means import t
    >>> v = np.array([0.12, 0.30, 0.05, 0.22, 0.41])
    >>> found = t(v.mean(keepdims=True), v.var(ddof=1, keepdims=True) / 5, np.array([4.0]), 0.95)
    >>> found.lower.round(6).tolist(), found.upper.round(6).tolist()
    ([0.042872], [0.397128])
    """
    from scipy.special import stdtrit

    positive = df > 0
    quantile = np.where(positive, stdtrit(np.where(positive, df, 1.0), (1 + level) / 2), np.nan)
    return around(z, quantile * np.sqrt(variance))
