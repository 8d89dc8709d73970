"""The pair of arrays that every interval function returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError


@dataclass(frozen=True)
class Interval:
    """Lower and upper limits, of one shape; NaN where there is no interval, never clipped."""

    lower: FloatArray
    upper: FloatArray

    def where(self, condition: BoolArray, other: Interval) -> Interval:
        """Limits of this interval where a condition holds, of the other one elsewhere."""
        return Interval(np.where(condition, self.lower, other.lower), np.where(condition, self.upper, other.upper))


def stack(intervals: Sequence[Interval]) -> Interval:
    """Intervals of several metrics as one, arrays (metric, ...)."""
    return Interval(np.stack([each.lower for each in intervals]), np.stack([each.upper for each in intervals]))


def around(centre: FloatArray, half_width: FloatArray) -> Interval:
    """Symmetric interval, centre -+ half-width."""
    return Interval(centre - half_width, centre + half_width)


def tail(level: float) -> float:
    """Probability outside an interval of this level; InputError if the level is not strictly between 0 and 1."""
    outside = 1 - level
    if not 0 < level < 1 or outside == 1:  # as of 1e-320, which 1 does not feel
        raise InputError(f"level={level!r} must lie strictly between 0 and 1, such as 0.95")
    return outside


def normal_quantile(level: float) -> float:
    """Half-width, in standard errors, of the two-sided normal interval of this level.

    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    return -NormalDist().inv_cdf(tail(level) / 2)


def t_quantile(level: float, freedom: FloatArray) -> FloatArray:
    """The same for Student's t; NaN where the degrees of freedom are not positive.

    >>> t_quantile(0.95, np.array([4.0, 0.0])).round(6).tolist()
    [2.776445, nan]
    """
    from scipy.special import stdtrit

    with np.errstate(invalid="ignore"):
        some = freedom > 0
    return np.where(some, -stdtrit(np.where(some, freedom, 1.0), tail(level) / 2), np.nan)
