"""The performance-fairness curve as arrays: who is efficient, and the curve through the efficient and the anchor.

Pure functions of arrays (..., candidate); every leading index, such as a draw, has a frontier of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class Curve:
    """Corners (..., candidate + 1) of a curve by rising performance; a frontier of fewer corners repeats some."""

    performance: FloatArray
    fairness: FloatArray


def efficient(performance: FloatArray, fairness: FloatArray) -> BoolArray:
    """Mask of the candidates that no other beats: none is as good in both goals and better in one.

    Of equal ones the first is kept. NaN is never efficient.
    """
    order, kept = _sorted(performance, fairness)
    mask = np.empty(kept.shape, dtype=bool)
    np.put_along_axis(mask, order, kept, axis=-1)
    return mask


def curve(performance: FloatArray, fairness: FloatArray, anchor: tuple[float, float]) -> Curve:
    """Curve through the efficient candidates and the anchor, in the order of performance; one candidate or more, no NaN."""
    order, kept = _sorted(performance, fairness)
    # Whoever is not efficient stands where the efficient one before it stands: a piece of length 0.
    stand_in = np.maximum.accumulate(np.where(kept, np.arange(kept.shape[-1]), 0), axis=-1)
    chosen = np.take_along_axis(order, stand_in, axis=-1)
    corners = [
        np.concatenate([np.take_along_axis(values, chosen, axis=-1), np.full((*values.shape[:-1], 1), at)], axis=-1)
        for values, at in zip((performance, fairness), anchor, strict=True)
    ]
    rising = np.lexsort((-corners[1], corners[0]), axis=-1)
    return Curve(*(np.take_along_axis(values, rising, axis=-1) for values in corners))


def _sorted(performance: FloatArray, fairness: FloatArray) -> tuple[NDArray[np.intp], BoolArray]:
    """Order by falling performance, and which of those in that order are efficient."""
    unknown = np.isnan(performance) | np.isnan(fairness)
    p, f = np.where(unknown, -np.inf, performance), np.where(unknown, -np.inf, fairness)
    order = np.lexsort((-f, -p), axis=-1)
    height = np.take_along_axis(f, order, axis=-1)
    before = np.full(height.shape, -np.inf)
    before[..., 1:] = np.maximum.accumulate(height, axis=-1)[..., :-1]
    return order, height > before
