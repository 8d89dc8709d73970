"""What an interval is, and the normal quantile that most of them need."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Lower and upper ends, arrays of one shape; NaN where there is no interval."""

    lower: FloatArray
    upper: FloatArray


def normal_quantile(level: float) -> float:
    """Half-width of a two-sided normal interval in standard errors.

    Examples
    --------
    >>> from bayesgroups.frequentist.intervals.interval import normal_quantile
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf((1 + level) / 2)


def around(centre: FloatArray, half_width: FloatArray) -> Interval:
    """Symmetric interval.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.interval import around
    >>> around(np.array([1.0]), np.array([0.5]))
    Interval(lower=array([0.5]), upper=array([1.5]))
    """
    return Interval(np.asarray(centre - half_width), np.asarray(centre + half_width))
