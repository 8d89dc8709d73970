"""Answer of the frequentist side for one target, and the forms that take no weights: bounds, and a shift to a known total."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.questions.populations.empty_cells import imbens_manski
from bayesgroups.report.levels import LEVELS

NOT_ESTIMABLE = "not estimable"
"""Status of a target that has no value without an assumption."""


@dataclass(frozen=True)
class Answer:
    """Answer for one target: limits (level,), the bounds without an assumption, a status, a reason and the interval method."""

    estimate: float = np.nan
    std_error: float = np.nan
    limits: Interval = field(
        default_factory=lambda: Interval(np.full(len(LEVELS), np.nan), np.full(len(LEVELS), np.nan))
    )
    bounds: tuple[float, float] = (np.nan, np.nan)
    status: str = "ok"
    reason: str = ""
    method: str = ""


NOBODY = Answer(status="undefined", reason="nobody in the population")


def between(ends: tuple[float, float], error: float) -> Answer:
    """Bounds and the limits around them, without an estimate."""
    width = ends[1] - ends[0]
    factors = np.array([float(imbens_manski(np.asarray(width), np.asarray(error), level)) for level in LEVELS])
    limits = Interval(ends[0] - factors * error, ends[1] + factors * error)
    return Answer(np.nan, error, limits, ends, NOT_ESTIMABLE, method="imbens_manski_bounds")


def benchmarked(
    answer: Answer, weights: FloatArray, moved: FloatArray, gap: float, range_: tuple[float, float]
) -> Answer:
    """The answer at benchmarked cell values, with its limits moved alike; NaN where the totals cannot be met."""
    used = weights > 0
    if gap > 0 or not np.isfinite(moved[used]).all():
        reason = (
            "a benchmark cannot be met by these cells" if gap == 0 else "a benchmark needs empty='drop' or 'collapse'"
        )
        return Answer(status=NOT_ESTIMABLE, reason=reason)
    estimate = float((weights[used] * moved[used]).sum())
    step = estimate - answer.estimate
    limits = Interval(*(np.clip(side + step, *range_) for side in (answer.limits.lower, answer.limits.upper)))
    return replace(answer, estimate=estimate, limits=limits, bounds=(estimate, estimate))
