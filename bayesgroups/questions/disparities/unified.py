"""Division of the error of an interval between its two ends, for a parameter that cannot be negative.

A two-sided interval for a variance takes 2.5 % at either end. Where the variance is 0 its lower end cannot err, so it covers 97.5
% and spends width on an error that it cannot make. Ordered by likelihood ratio instead (Feldman and Cousins), an interval is
one-sided where the data say 0, two-sided where they are far from it, never empty, and keeps its level everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import tail

BISECTIONS = 60


@dataclass(frozen=True)
class Tails:
    """Probabilities of data that are too small and too large for a value, of one shape; they sum to 1 - level."""

    below: FloatArray
    above: FloatArray


def tails(distance: FloatArray, level: float) -> Tails:
    """Probabilities cut off below and above, for a value so many standard errors (of its estimate if it is true) from 0.

    Of the likelihood-ratio ordering for a normal estimate of a mean that is not negative: all above at 0, half and half
    from the two-sided normal quantile on. Feldman, Cousins (1998), doi:10.1103/PhysRevD.57.3873, section IV.B.
    """
    error = tail(level)
    mean = np.maximum(np.asarray(distance, dtype=np.float64), 0.0)
    near = mean < ndtri(1 - error / 2)
    inside = np.where(near & (mean > 0), mean, 1.0)
    # The acceptance region [x1, x2] of an estimate has equal likelihood ratios at its ends. With x1 < 0, where the best
    # mean is 0, that is x1 = (mean^2 - (x2 - mean)^2) / (2 mean); the width x2 - mean is found by bisection.
    low = np.full(mean.shape, float(ndtri(1 - error)))
    high = np.full(mean.shape, float(ndtri(1 - error / 2)))
    for _ in range(BISECTIONS if near.any() else 0):
        middle = (low + high) / 2
        lower = (inside**2 - middle**2) / (2 * inside) - inside  # x1 - mean for the x2 - mean that is given
        narrow = ndtr(middle) - ndtr(lower) < level
        low, high = np.where(narrow, middle, low), np.where(narrow, high, middle)
    above = np.where(mean > 0, np.where(near, ndtr(-(low + high) / 2), error / 2), error)
    return Tails(error - above, above)
