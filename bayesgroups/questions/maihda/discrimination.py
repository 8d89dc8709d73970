"""Area under the ROC curve of a score per stratum for single people, from counts."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray


def auc(score: FloatArray, successes: FloatArray, count: FloatArray) -> FloatArray:
    """The area (...,) of scores (..., stratum), ties counting half; successes and counts broadcast and may be fractional.

    >>> auc(np.array([0.1, 0.5, 0.5]), np.array([1.0, 2, 3]), np.array([4.0, 4, 4])).round(4).item()
    0.6667
    """
    score, positive, total = np.broadcast_arrays(score, successes, count)
    order = np.argsort(score, axis=-1, kind="stable")
    s, p, n = (np.take_along_axis(each, order, axis=-1) for each in (score, positive, total))
    negative = n - p
    inclusive = np.cumsum(negative, axis=-1)
    first = np.ones(s.shape, dtype=bool)
    first[..., 1:] = s[..., 1:] > s[..., :-1]
    last = np.ones(s.shape, dtype=bool)
    last[..., :-1] = first[..., 1:]
    below = np.maximum.accumulate(np.where(first, inclusive - negative, 0.0), axis=-1)
    upto = np.minimum.accumulate(np.where(last, inclusive, np.inf)[..., ::-1], axis=-1)[..., ::-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        area = (p * (below + upto)).sum(axis=-1) / 2 / (p.sum(axis=-1) * negative.sum(axis=-1))
    return np.asarray(area, dtype=np.float64)


def delong(score: FloatArray, successes: FloatArray, count: FloatArray) -> float:
    """Standard error of the area of one score, NaN without two successes and two failures to tell it.

    DeLong, DeLong, Clarke-Pearson (1988), doi:10.2307/2531595.

    >>> round(delong(np.array([0.1, 0.5, 0.5]), np.array([10.0, 20, 30]), np.array([40.0, 40, 40])), 4)
    0.0406
    """
    negative = count - successes
    k, m = successes.sum(), negative.sum()
    if min(k, m) <= 1:
        return float("nan")
    higher = np.sign(score[:, None] - score[None, :]) / 2 + 0.5
    area = float(successes @ higher @ negative / (k * m))
    of_positive, of_negative = higher @ negative / m, successes @ higher / k
    first = (successes @ (of_positive - area) ** 2) / (k - 1)
    second = (negative @ (of_negative - area) ** 2) / (m - 1)
    return float(np.sqrt(first / k + second / m))
