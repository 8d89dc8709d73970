"""Values of cells moved so that their weighted mean is a known total.

With weights W and a total T, minimising sum phi (x - mu)^2 subject to sum W x = T gives x = mu + (T - sum W mu) r with
r = (W / phi) / sum(W^2 / phi): phi = W moves all alike (``difference``), phi = W / mu in proportion (``ratio``), phi = 1 / v
the imprecise most (``variance``). A ``logit`` shift adds one number to every log odds, so that rates stay within 0 and 1.
Wang, Fuller, Qu (2008), Survey Methodology 34; Datta, Ghosh, Steorts, Maples (2011), doi:10.1007/s11749-010-0218-y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray

Scale = Literal["logit", "ratio", "difference", "variance"]
LARGEST_SHIFT = 60.0
"""Log odds beyond which a rate is 0 or 1 in double precision."""
BISECTIONS = 100
SWEEPS = 1000
TOLERANCE = 1e-9
"""Largest distance from a total, relative to its size (or 1), at which several totals are met together."""


@dataclass(frozen=True, eq=False)
class Benchmarked:
    """Values (..., cell) that meet the totals, NaN where none do, and the shift (...) of the first total.

    The shift is in log odds with ``logit`` and otherwise the total less the weighted mean before.
    """

    values: FloatArray
    shift: FloatArray


def benchmark(
    values: FloatArray, weights: Sequence[FloatArray], totals: Sequence[FloatArray], scale: Scale,
    variance: FloatArray | None = None,
) -> Benchmarked:  # fmt: skip
    """Values (..., cell) moved to one total, or to several in turn until all are met.

    ``weights`` (..., cell) of each total add up to 1; ``variance`` (cell,) is needed by the scale of that name.

    >>> moved = benchmark(np.array([0.7, 0.4]), [np.array([0.5, 0.5])], [np.array(0.6)], "difference")
    >>> moved.values.round(6).tolist(), round(float(moved.shift), 6)
    ([0.75, 0.45], 0.05)
    """
    moved, first = np.asarray(values, dtype=np.float64), np.zeros(values.shape[:-1])
    for sweep in range(SWEEPS):
        for position, (weight, total) in enumerate(zip(weights, totals, strict=True)):
            moved, shift = _move(moved, weight, total, scale, variance)
            first = first + shift if position == 0 else first
        miss = np.max([np.abs(_mean(moved, w) - t) / np.maximum(np.abs(t), 1.0) for w, t in zip(weights, totals, strict=True)],
                      axis=0)  # fmt: skip
        if len(totals) == 1 or not (miss > TOLERANCE).any():
            break
        if sweep == SWEEPS - 1:
            moved = np.where((miss > TOLERANCE)[..., None], np.nan, moved)
    return Benchmarked(moved, first)


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(np.where(weights > 0, weights * np.where(weights > 0, values, 0.0), 0.0).sum(axis=-1))


def _move(
    values: FloatArray, weights: FloatArray, total: FloatArray, scale: Scale, variance: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Values moved to one total, and the shift."""
    gap = total - _mean(values, weights)
    if scale == "logit":
        return _logit_shift(values, weights, total)
    used = weights > 0
    if scale == "difference":
        step = used.astype(np.float64)
    elif scale == "ratio":
        centre = _mean(values, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(used, values / centre[..., None], 0.0)
    else:
        assert variance is not None, "asked for with variances"
        loads = np.where(used, weights * np.where(used, variance, 0.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = loads / (weights * loads).sum(axis=-1, keepdims=True)
    return np.asarray(values + gap[..., None] * step), np.asarray(gap)


def _logit_shift(values: FloatArray, weights: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rates whose log odds are moved by one number, by bisection; NaN where rates of 0 and 1 keep the total out of reach."""
    from scipy.special import expit, logit

    used = weights > 0
    odds = logit(np.clip(np.where(used, values, 0.5), 0.0, 1.0))
    shape = np.broadcast_shapes(values.shape[:-1], weights.shape[:-1], np.shape(total))
    low, high = np.full(shape, -LARGEST_SHIFT), np.full(shape, LARGEST_SHIFT)
    reached = (_mean(expit(odds + low[..., None]), weights) <= total) & (
        _mean(expit(odds + high[..., None]), weights) >= total
    )
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = _mean(expit(odds + middle[..., None]), weights) < total
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    shift = np.where(reached, (low + high) / 2, np.nan)
    return np.asarray(np.where(used, expit(odds + shift[..., None]), values)), np.asarray(shift)
