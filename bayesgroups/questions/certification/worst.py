"""The value of the worst subgroup: which it is, and what draws or counts say of it.

Everything here takes smaller values to be worse; `oriented` turns metrics round where larger is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import tail


@dataclass(frozen=True)
class Critical:
    """Smallest of several limits, and where it is attained.

    ``position`` is that of the ``tied`` subgroup with the fewest rows, -1 where there is none.
    """

    value: float
    tied: BoolArray
    position: int


def critical(limit: FloatArray, count: FloatArray) -> Critical:
    """Smallest limit and the subgroups that have it; a NaN limit takes no part, a NaN denominator counts as none."""
    finite = np.isfinite(limit)
    if not finite.any():
        return Critical(float("nan"), np.zeros(limit.shape, dtype=bool), -1)
    value = float(limit[finite].min())
    tied = finite & (limit == value)
    return Critical(value, tied, int(np.argmin(np.where(tied, np.nan_to_num(count), np.inf))))


def of_draws(draws: FloatArray) -> FloatArray:
    """Value of the worst subgroup in each draw (draw,), from draws (draw, subgroup) of the subgroups that take part."""
    lowest: FloatArray = draws.min(axis=-1)
    return lowest


def times_worst(draws: FloatArray) -> FloatArray:
    """Number of draws in which each subgroup is the worst, (subgroup,); subgroups that tie in a draw share it."""
    worst = draws == draws.min(axis=-1, keepdims=True)
    times: FloatArray = (worst / worst.sum(axis=-1, keepdims=True)).sum(axis=0)
    return times


def probability_all(worst: FloatArray, standards: FloatArray) -> FloatArray:
    """Share of draws (draw,) of the worst value that reach each standard (standard,)."""
    share: FloatArray = (worst[:, None] >= standards).mean(axis=0)
    return share


def jeffreys_all(successes: FloatArray, trials: FloatArray, standards: FloatArray) -> FloatArray:
    """Probability (standard,) that every rate is above each standard, under independent Jeffreys priors, without draws."""
    from scipy.special import betainc

    c = np.clip(standards, 0.0, 1.0)[:, None]
    probability: FloatArray = (1 - betainc(successes + 0.5, trials - successes + 0.5, c)).prod(axis=1)
    return probability


def jeffreys_quantile(successes: FloatArray, trials: FloatArray, probability: float) -> float:
    """Quantile of the smallest rate under independent Jeffreys priors."""
    tail(probability)  # refuses a probability outside (0, 1)
    low, high = 0.0, 1.0
    for _ in range(60):  # the distribution function is monotone: halving is exact to the last bit
        middle = (low + high) / 2
        if 1 - jeffreys_all(successes, trials, np.array([middle]))[0] < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2
