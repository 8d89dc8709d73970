"""The classic estimates of tau^2 and their intervals, of one metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.questions.disparities import heterogeneity, q_profile, q_unified, tau_likelihood


@dataclass(frozen=True)
class Estimate:
    """A variance between subgroups: raw, its interval and its standard error (NaN where there is none)."""

    raw: float
    interval: Interval
    std_error: float = float("nan")


def of_population(
    y: FloatArray, v: FloatArray, positive: FloatArray, method: str, interval: str, level: float
) -> Estimate:
    """Estimate of tau^2 from estimates y (subgroup,) of two subgroups or more.

    ``v`` are unbiased estimates of their sampling variances, for ``he``; ``positive`` are sampling variances above 0, for
    all the rest. Method and interval are named as in `bayesgroups.between_group_variance`.
    """
    std_error = np.array(np.nan)
    restricted = method == "reml"
    if method == "he":
        raw = heterogeneity.hedges(y, v)
    elif method == "dl":
        raw = heterogeneity.dersimonian_laird(y, positive)
        std_error = heterogeneity.dersimonian_laird_error(y, positive, np.maximum(raw, 0.0))
    elif method == "pm":
        raw = heterogeneity.paule_mandel(y, positive)
    elif method == "sj":
        raw = heterogeneity.sidik_jonkman(y, positive)
    else:
        raw = tau_likelihood.maximise(y, positive, restricted=restricted)
        std_error = tau_likelihood.std_error(positive, raw, restricted=restricted)
    if interval == "q_profile":
        limits = q_profile.two_sided(y, positive, level)
    elif interval == "unified":
        limits = q_unified.interval(y, positive, level)
    elif interval == "upper":
        limits = Interval(np.zeros(()), q_profile.upper_limit(y, positive, level))
    elif interval == "sidik_jonkman":
        limits = q_profile.of_sidik_jonkman(raw, len(y), level)
    else:
        limits = tau_likelihood.interval(y, positive, raw, tail(level), restricted=restricted)
    return Estimate(float(raw), limits, float(std_error))
