"""Bounds on the largest difference of a rate between two subgroups.

    GF = max over labels k and subgroups m, m' of (R[k, m] - R[k, m'])

Subgroups share no unknowns, so for one label the difference ranges over [L[k, m] - U[k, m'], U[k, m] - L[k, m']] and both
ends are attained.

References
----------
Telukunta, Nadendla, fairness evaluation from non-expert disagreement feedback, Theorem 1 and Eqs 17-18.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.tallies.disagreement_notions import Form
from bayesgroups.tallies.disagreement_rates import Bounds


@dataclass(frozen=True)
class Differences:
    """Bounds of the largest difference between subgroups for each label, arrays (..., label); NaN with fewer than two.

    ``above`` and ``below`` are the positions of the subgroups whose difference the upper end is; -1 with fewer than two.
    """

    lower: FloatArray
    upper: FloatArray
    above: IndexArray
    below: IndexArray


def differences(rate: Bounds, form: Form = "sharp") -> Differences:
    """Bounds of the largest difference between two subgroups, label by label.

    Rates are (..., label, subgroup); subgroups where they are NaN take no part. The ``sharp`` lower end is at least 0, as
    the difference is; the ``published`` one is that of the theorem as printed, which may be negative.

    >>> answer = differences(Bounds(np.array([[0.2, 0.6, 0.1]]), np.array([[0.3, 0.7, 0.4]])))
    >>> answer.lower.round(6).tolist(), answer.upper.round(6).tolist(), answer.above.tolist(), answer.below.tolist()
    ([0.3], [0.6], [1], [2])
    """
    upper, above, below = _furthest(rate.upper, rate.lower)
    lower = _furthest(rate.lower, rate.upper)[0]
    return Differences(np.maximum(lower, 0.0) if form == "sharp" else lower, upper, above, below)


def over_labels(differences: Differences) -> Bounds:
    """Bounds of the largest difference over all labels, arrays (...); labels where it is NaN take no part.

    The lower end is sharp for each label by itself; labels share their disagreement, so jointly it can be larger.
    """
    return Bounds(_nanmax(differences.lower), _nanmax(differences.upper))


def _furthest(high: FloatArray, low: FloatArray) -> tuple[FloatArray, IndexArray, IndexArray]:
    """The largest ``high[m] - low[m']`` over two different m, m', and where it is."""
    best = np.full(high.shape[:-1], np.nan)
    above, below = np.full(high.shape[:-1], -1, dtype=np.intp), np.full(high.shape[:-1], -1, dtype=np.intp)
    # The best pair is among the two best of either side, since only the same subgroup twice is excluded.
    tops = np.argsort(np.where(np.isnan(high), -np.inf, high), axis=-1)[..., :-3:-1]
    bottoms = np.argsort(np.where(np.isnan(low), np.inf, low), axis=-1)[..., :2]
    for i in range(tops.shape[-1]):
        for j in range(bottoms.shape[-1]):
            first, second = tops[..., i], bottoms[..., j]
            gap = _at(high, first) - _at(low, second)
            better = (first != second) & ~np.isnan(gap) & (np.isnan(best) | (gap > best))
            best = np.where(better, gap, best)
            above, below = np.where(better, first, above), np.where(better, second, below)
    return best, above, below


def _at(values: FloatArray, position: IndexArray) -> FloatArray:
    return np.take_along_axis(values, position[..., None], axis=-1)[..., 0]


def _nanmax(values: FloatArray) -> FloatArray:
    best = np.where(np.isnan(values), -np.inf, values).max(axis=-1)
    return np.where(np.isfinite(best), best, np.nan)
