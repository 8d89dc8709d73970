"""Ratio of weighted sums over confusion cells for one target, with its linearised error."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile
from bayesgroups.questions.populations.answers import Answer, between
from bayesgroups.questions.populations.conditional import Confusion, ratio_bounds, ratio_variance
from bayesgroups.questions.populations.target_answer import Target
from bayesgroups.questions.populations.variances import cell_variance
from bayesgroups.report.levels import LEVELS


def ratio_answer(target: Target, confusion: Confusion) -> Answer:
    """Ratio of sums over confusion cells, with its linearised error."""
    above, below = (np.asarray((target.weights * part).sum()) for part in confusion.parts)
    if not float(below) > 0 and target.gap == 0:
        return Answer(status="undefined", reason="nobody in the denominator")
    if target.gap > 0:
        low, high = ratio_bounds(confusion, above, below, np.asarray(target.gap))
        errors = [
            float(np.sqrt(ratio_variance(confusion, target.weights, end, below))) for end in (low, high) if below > 0
        ]
        return between((float(low), float(high)), max(errors, default=0.0))
    ratio = above / below
    variance = float(ratio_variance(confusion, target.weights, ratio, below)) + _shared_error(
        target, confusion, ratio, below
    )
    error, value = float(np.sqrt(variance)), float(ratio)
    cells = target.side.cells
    part = target.weights * confusion.parts[1] / below
    base = float(cell_variance(part, np.where(part > 0, cells.variance, 0.0)))
    if cells.kind == "rate":
        scale = variance / base if base > 0 else 1.0
        low, high = target.rate_limits(part)
        limits = Interval(value - np.sqrt(scale) * (value - low), value + np.sqrt(scale) * (high - value))
        return Answer(value, error, limits, (value, value), method=target.method)
    half = np.array([normal_quantile(level) for level in LEVELS]) * error
    return Answer(value, error, Interval(value - half, value + half), (value, value), method="delta")


def _shared_error(target: Target, confusion: Confusion, ratio: FloatArray, below: FloatArray) -> float:
    """Variance that shares from a second sample add to a ratio: that of the linearised variable between cells."""
    above, under = confusion.parts
    return target.composition(np.asarray((above - ratio * under) / below))
