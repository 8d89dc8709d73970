"""Cells of rows put together per metric and subgroup, and their values held against what a metric promises."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.columns import MAX_MAGNITUDE
from bayesgroups.data.metrics import Metric
from bayesgroups.errors import InputError
from bayesgroups.tallies.moments import Moments


def check_range(metric: Metric, count: float, low: float | None, high: float | None, between: float) -> float:
    """Lowest value of a metric, once its extremes are held against its range; nothing is promised where no row counts.

    ``between`` is the sum of value x (1 - value): 0 for values of 0 and 1 alone, the only ones that a rate may have.
    """
    if not count or low is None or high is None:
        return 0.0
    if low < metric.lower or high > metric.upper or not np.isfinite([low, high]).all():
        offending = low if low < metric.lower or not np.isfinite(low) else high
        raise InputError(
            f"metric {metric.name!r} has the value {offending}, outside its range [{metric.lower}, {metric.upper}]; "
            "fix the column, or give the Metric its true range"
        )
    if max(-low, high) > MAX_MAGNITUDE:
        raise InputError(
            f"metric {metric.name!r} has the value {high if high > -low else low}, whose square no number can hold; give the "
            "column in larger units"
        )
    if metric.kind in ("rate", "f1") and (low < 0 or high > 1 or between != 0):
        raise InputError(f"metric {metric.name!r} is a rate but has values other than 0 and 1; use kind='mean'")
    return low


def promises(table: Mapping[str, FloatArray], i: int) -> tuple[float, float | None, float | None, float]:
    """Number of rows that count, their extremes, and the evidence for values between 0 and 1."""
    low, high = table[f"low{i}"], table[f"high{i}"]
    if np.isnan(low).all():
        return 0.0, None, None, 0.0
    between = table.get(f"between{i}", np.zeros(1))
    return float(table[f"n{i}"].sum()), float(np.nanmin(low)), float(np.nanmax(high)), float(between.sum())


def add_means(
    moments: Moments, i: int, table: Mapping[str, FloatArray], place: NDArray[np.intp], *, weighted: bool
) -> None:
    """Fill in metric i of the moments: its cells put together by means and scatters.

    ``table`` holds the sums of the cells, see `bayesgroups.data.expressions.moments`, and ``place`` (cell,) their subgroups.
    """
    size = moments.weight.shape[1]
    some = table[f"w{i}"] > 0
    place, w, wv, wvv = place[some], *(table[f"{name}{i}"][some] for name in ("w", "wv", "wvv"))
    low, high, shift = (table[f"{name}{i}"][some] for name in ("low", "high", "shift"))

    def add_up(values: FloatArray) -> FloatArray:
        return np.bincount(place, weights=values, minlength=size).astype(np.float64)

    # Cells with other shifts come from other parts; one middle for all of them keeps digits.
    flat = low == high
    mean = np.where(flat, low, wv / w + shift)
    scatter = np.where(flat, 0.0, np.maximum(wvv - wv**2 / w, 0.0))
    squares = table[f"ww{i}"][some] if weighted else w
    pair = table[f"there{i}"][some] == 2
    scatter[pair] = ((w**2 - squares) / (2 * w) * (high - low) ** 2)[pair]
    middle = float((w * mean).sum() / w.sum()) if len(w) else 0.0
    middle = middle if np.isfinite(middle) else 0.0
    moments.weight[i] = add_up(w)
    moments.weight_squares[i] = add_up(squares)
    used = moments.weight[i] > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        centred = add_up(w * (mean - middle)) / moments.weight[i]
    within = add_up(scatter + w * (mean - middle - np.nan_to_num(centred)[place]) ** 2)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, place, low)
    np.maximum.at(highest, place, high)
    # Whatever rounding says: equal values have no scatter, different ones at least that of the two extremes.
    with np.errstate(invalid="ignore"):
        least = np.full(size, np.finfo(np.float64).tiny) if weighted else (highest - lowest) ** 2 / 2
        alike = used & (lowest == highest)
        moments.mean[i] = np.where(alike, lowest, np.where(used, centred + middle, np.nan))
        moments.scatter[i] = np.where(used & ~alike, np.maximum(within, least), 0.0)
