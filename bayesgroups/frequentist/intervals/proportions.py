"""Confidence intervals of a binomial proportion, k successes of d trials.

Every function takes arrays of one shape and a level, and gives NaN where d = 0. Effective counts that are not whole
are taken as they are, but for `percentile`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile

FloatArray = NDArray[np.float64]


def wilson(k: FloatArray, d: FloatArray, level: float) -> Interval:
    """Score interval of Wilson.

    Parameters
    ----------
    k, d : arrays
        Successes and trials.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval

    References
    ----------
    Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.proportions import wilson
    >>> found = wilson(np.array([9.0]), np.array([10.0]), 0.95)
    >>> found.lower.round(4).tolist(), found.upper.round(4).tolist()
    ([0.5958], [0.9821])
    """
    q2 = normal_quantile(level) ** 2
    k, d = _defined(k, d)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (k + q2 / 2) / (d + q2)
        half = np.sqrt(q2) / (d + q2) * np.sqrt(k * (d - k) / d + q2 / 4)
    # The ends are exact at the boundary, where rounding would leave -1e-17.
    return Interval(np.where(k == 0, 0 * k, centre - half), np.where(k == d, 0 * k + 1, centre + half))


def jeffreys(k: FloatArray, d: FloatArray, level: float) -> Interval:
    """Equal-tailed quantiles of Beta(k + 1/2, d - k + 1/2); 0 at k = 0 and 1 at k = d.

    Parameters
    ----------
    k, d : arrays
        Successes and trials.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval

    References
    ----------
    Brown, Cai, DasGupta (2001), doi:10.1214/ss/1009213286.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.proportions import jeffreys
    >>> found = jeffreys(np.array([0.0]), np.array([5.0]), 0.95)
    >>> found.lower.tolist(), found.upper.round(4).tolist()
    ([0.0], [0.3794])
    """
    from scipy.special import betaincinv

    k, d = _defined(k, d)
    tail = (1 - level) / 2
    lower, upper = betaincinv(k + 0.5, d - k + 0.5, tail), betaincinv(k + 0.5, d - k + 0.5, 1 - tail)
    return Interval(np.where(k == 0, 0.0, lower), np.where(k == d, 1.0, upper))


def clopper_pearson(k: FloatArray, d: FloatArray, level: float) -> Interval:
    """Exact interval of Clopper and Pearson: coverage at least the level, whatever the rate.

    Parameters
    ----------
    k, d : arrays
        Successes and trials.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval

    References
    ----------
    Clopper, Pearson (1934), doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.proportions import clopper_pearson
    >>> found = clopper_pearson(np.array([3.0]), np.array([25.0]), 0.95)
    >>> found.lower.round(4).tolist(), found.upper.round(4).tolist()
    ([0.0255], [0.3122])
    """
    from scipy.special import betaincinv

    k, d = _defined(k, d)
    tail = (1 - level) / 2
    inner = np.where(k == 0, 1.0, k)
    lower = np.where(k == 0, 0.0 * k, betaincinv(inner, d - inner + 1, tail))
    outer = np.where(k == d, k - 1, k)
    upper = np.where(k == d, 0.0 * k + 1, betaincinv(outer + 1, d - outer, 1 - tail))
    return Interval(lower, upper)


def wald(k: FloatArray, d: FloatArray, level: float) -> Interval:
    """Normal interval with the subgroup's own variance; too short in small samples and empty at 0 and 1.

    Parameters
    ----------
    k, d : arrays
        Successes and trials.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.proportions import wald
    >>> found = wald(np.array([9.0]), np.array([10.0]), 0.95)
    >>> found.lower.round(4).tolist(), found.upper.round(4).tolist()
    ([0.7141], [1.0859])
    """
    k, d = _defined(k, d)
    z = k / d
    return around(z, normal_quantile(level) * np.sqrt(z * (1 - z) / d))


def percentile(k: FloatArray, d: FloatArray, level: float) -> Interval:
    """Percentile interval of the bootstrap with denominators held fixed: quantiles of Binomial(d, k/d) / d.

    Parameters
    ----------
    k, d : arrays
        Successes and trials, whole numbers.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval
        Exact, without resampling; a point at k = 0 and k = d.

    Raises
    ------
    InputError
        If a count is not whole, as with weights.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.proportions import percentile
    >>> found = percentile(np.array([9.0, 1.0]), np.array([10.0, 5.0]), 0.95)
    >>> found.lower.tolist(), found.upper.tolist()
    ([0.7, 0.0], [1.0, 0.6])
    """
    k, d = _defined(k, d)
    known = np.isfinite(d)
    if (d[known] != np.round(d[known])).any() or (np.abs(k[known] - np.round(k[known])) > 1e-6).any():
        raise InputError(
            "percentile intervals resample rows, so counts must be whole; with weights= use interval='wilson' instead"
        )
    tail = (1 - level) / 2
    z = np.where(known, k / d, 0.5)
    size = np.where(known, d, 1.0)
    lower, upper = (_binomial_quantile(q, size, z) / size for q in (tail, 1 - tail))
    return Interval(np.where(known, lower, np.nan), np.where(known, upper, np.nan))


def _binomial_quantile(q: float, d: FloatArray, p: FloatArray) -> FloatArray:
    """Smallest j with P(Binomial(d, p) <= j) >= q."""
    from scipy.special import betainc

    low, high = np.full(d.shape, -1.0), d.copy()
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        inside = np.clip(middle, 0, np.maximum(d - 1, 0))
        mass = np.where(middle >= d, 1.0, betainc(np.maximum(d - inside, 1), inside + 1, 1 - p))
        below = mass >= q
        high, low = np.where(below, middle, high), np.where(below, low, middle)
    return high


def _defined(k: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
    k, d = np.asarray(k, dtype=np.float64), np.asarray(d, dtype=np.float64)
    some = d > 0
    return np.where(some, k, np.nan), np.where(some, d, np.nan)
