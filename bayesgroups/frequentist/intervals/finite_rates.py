"""Exact limits of the rate of a finite population, some of whom were sampled without replacement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, tail


def hypergeometric_limits(successes: FloatArray, trials: FloatArray, size: FloatArray, level: float) -> Interval:
    """Smallest and largest rate j / size that neither one-sided hypergeometric test rejects, all arrays of whole numbers.

    Covers at least as often as it says whatever the rate; of everybody it is the rate itself, of no trials 0 to 1. Of an infinite
    population it would be the interval of Clopper and Pearson. Wright (1991), Exact confidence bounds when sampling from small
    finite universes, Lecture Notes in Statistics 66.

    >>> limits = hypergeometric_limits(np.array([3.0, 3.0]), np.array([10.0, 10.0]), np.array([40.0, 10.0]), 0.95)
    >>> limits.lower.tolist(), limits.upper.tolist()
    ([0.1, 0.3], [0.6, 0.3])
    """
    from scipy.stats import hypergeom

    alpha = tail(level)
    k, n, people = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (successes, trials, size)))
    least, most = k, people - (n - k)
    lower = _first(least, most, lambda j: hypergeom.sf(k - 1, people, j, n) > alpha / 2)
    upper = _first(least, most, lambda j: hypergeom.cdf(k, people, j + 1, n) <= alpha / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Interval(lower / people, upper / people)


def _first(least: FloatArray, most: FloatArray, holds: Callable[[FloatArray], np.ndarray]) -> FloatArray:
    """Smallest whole number from ``least`` to ``most`` from which on a condition holds, by bisection; ``most`` if none is."""
    low, high = least.copy(), most.copy()
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        yes = holds(np.minimum(middle, most - 1))
        high = np.where((low < high) & yes, middle, high)
        low = np.where((low < high) & ~yes, middle + 1, low)
    return high
