"""The performance-fairness curve as arrays: who is efficient, the curve through the efficient and the anchor, and its areas.

Pure functions of arrays (..., candidate) and of corners (..., corner) by rising performance; every leading index, such as a
draw, has a frontier of its own. Areas are sums over the straight segments between neighbours, whole or where constraints hold.
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


@dataclass(frozen=True)
class Part:
    """Part of a curve where constraints hold: its area down to fairness 0, and the length of performance that it spans, (...).

    It begins at ``lower`` and ends at ``upper``, NaN where there is none; between them it may have holes.
    """

    area: FloatArray
    length: FloatArray
    lower: FloatArray
    upper: FloatArray


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


def ends(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values at the left and at the right end of each piece."""
    return values[..., :-1], values[..., 1:]


def steps_area(curve: Curve, start: float) -> FloatArray:
    """Area under the steps: the best fairness among candidates of at least that performance, from ``start`` on."""
    left, right = ends(np.maximum(curve.performance, start))
    return np.asarray(((right - left) * curve.fairness[..., 1:]).sum(axis=-1))


def polar_area(curve: Curve, pole: tuple[float, float]) -> FloatArray:
    """Area between the curve and the pole: half the integral of the squared distance over the angle."""
    (ax, ay), (bx, by) = _to_pole(curve, pole)
    return np.asarray(np.abs(ax * by - ay * bx).sum(axis=-1) / 2)


def polar_dto(curve: Curve, pole: tuple[float, float]) -> FloatArray:
    """Integral of the distance to the pole over the angle, which is no area."""
    (ax, ay), (bx, by) = _to_pole(curve, pole)
    cross = np.abs(ax * by - ay * bx)
    length = np.hypot(bx - ax, by - ay)
    seen = (cross > 0) & (length > 0)
    unit = np.where(seen, length, 1.0)
    ex, ey, d = (bx - ax) / unit, (by - ay) / unit, np.where(seen, cross, 1.0) / unit
    swept = d * np.abs(np.arcsinh((bx * ex + by * ey) / d) - np.arcsinh((ax * ex + ay * ey) / d))
    return np.asarray(np.where(seen, swept, 0.0).sum(axis=-1))


def part(
    curve: Curve,
    *,
    performance: float = -np.inf,
    fairness: float = -np.inf,
    distance: float = np.inf,
    pole: tuple[float, float] = (1.0, 1.0),
    scale: tuple[float, float] = (1.0, 1.0),
) -> Part:
    """Part of a curve with at least that performance and fairness and at most that distance to the pole; infinite for no bound.

    Each goal is divided by its ``scale`` before distances are taken.
    """
    (p0, p1), (f0, f1) = ends(curve.performance), ends(curve.fairness)
    low, high = np.zeros(p0.shape), np.ones(p0.shape)
    for start, end, least in ((p0, p1, performance), (f0, f1, fairness)):
        if np.isfinite(least):
            low, high = _meet(low, high, _above(start, end, least))
    if np.isfinite(distance):
        low, high = _meet(low, high, _within(curve, distance, pole, scale))
    share = np.maximum(high - low, 0.0)
    met = high >= low
    heights = 2 * f0 + (f1 - f0) * (low + high)
    span = (p1 - p0) * share
    begins, finishes = p0 + (p1 - p0) * low, p0 + (p1 - p0) * high
    lower = np.where(met, begins, np.inf).min(axis=-1)
    upper = np.where(met, finishes, -np.inf).max(axis=-1)
    anywhere = met.any(axis=-1)
    return Part(
        np.asarray((span * heights / 2).sum(axis=-1)),
        np.asarray(span.sum(axis=-1)),
        np.where(anywhere, lower, np.nan),
        np.where(anywhere, upper, np.nan),
    )


def _to_pole(curve: Curve, pole: tuple[float, float]) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Vectors to the pole from the left and from the right end of each piece."""
    x, y = ends(pole[0] - curve.performance), ends(pole[1] - curve.fairness)
    return (x[0], y[0]), (x[1], y[1])


def _meet(low: FloatArray, high: FloatArray, other: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    return np.maximum(low, other[0]), np.minimum(high, other[1])


def _above(start: FloatArray, end: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    """Range along a segment (0 to 1) where a goal is at least so large; the first number is larger where it never is."""
    rise = end - start
    crossing = np.divide(least - start, rise, out=np.zeros(rise.shape), where=rise != 0)
    flat = np.where(start >= least, 0.0, 2.0)
    low = np.where(rise > 0, crossing, np.where(rise < 0, 0.0, flat))
    high = np.where(rise < 0, crossing, 1.0)
    return low, high


def _within(
    curve: Curve, most: float, pole: tuple[float, float], scale: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Range along a segment where the distance to the pole is at most so large."""
    (x, x1), (y, y1) = (
        ends((at - values) / unit)
        for at, values, unit in zip(pole, (curve.performance, curve.fairness), scale, strict=True)
    )
    dx, dy = x1 - x, y1 - y
    squares = dx**2 + dy**2
    half = x * dx + y * dy
    inside = half**2 - squares * (x**2 + y**2 - most**2)
    moving = squares > 0
    root = np.sqrt(np.maximum(inside, 0.0))
    unit = np.where(moving, squares, 1.0)
    near = np.where(np.hypot(x, y) <= most, 0.0, 2.0)
    low = np.where(moving, np.where(inside >= 0, (-half - root) / unit, 2.0), near)
    high = np.where(moving, np.where(inside >= 0, (-half + root) / unit, -1.0), 1.0)
    return low, high
