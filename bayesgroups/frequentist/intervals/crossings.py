"""Crossings of decreasing functions, many at once, by halving."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray

HALVINGS = 64
"""Steps of a search: a bracket of 80 shrinks below the spacing of numbers near 1."""


def crossing(function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray) -> FloatArray:
    """Points between low and high where a decreasing function falls to 0; an end where it does not cross. NaN gives high.

    >>> crossing(lambda x: 2 - x**2, np.zeros(1), np.full(1, 4.0)).round(6).tolist()
    [1.414214]
    """
    left, right = (part.astype(np.float64) for part in np.broadcast_arrays(low, high))
    for _ in range(HALVINGS):
        middle = (left + right) / 2
        above = function(middle) > 0
        left, right = np.where(above, middle, left), np.where(above, right, middle)
    return np.asarray((left + right) / 2, dtype=np.float64)
