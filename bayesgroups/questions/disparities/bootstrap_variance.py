"""The bootstrap of the variance between subgroups: what sampling adds once, what resampling adds again.

A replicate y* varies about y, which varies about mu, so the variance of the y* is too large twice; the double-corrected
estimate takes off both. Denominators are kept, rows are resampled within subgroups.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.inference.bootstrap import replicates
from bayesgroups.questions.sampling_variances import Estimates
from bayesgroups.report.posterior import generator

Correction = Literal["uncorrected", "corrected", "double_corrected"]
Form = Literal["unbiased", "published"]


def resample(tally: xr.Dataset, position: int, estimates: Estimates, *, seed: int, draws: int) -> FloatArray:
    """Replicates (draw, subgroup) of the estimates of one metric, at ``position``, of the subgroups that are used.

    By `bayesgroups.inference.bootstrap.replicates` given the denominators; published estimates have normal ones.
    """
    if estimates.kind == "estimate":
        rng = generator(seed, estimates.metric, "bootstrap")
        return estimates.y + np.sqrt(estimates.v) * rng.standard_normal((draws, len(estimates.y)))
    metric_tally = tally.isel(metric=[position])
    fixed = metric_tally.assign(rows=("subgroup", np.nan_to_num(metric_tally["count"].values[0])))
    replicated = replicates(fixed, seed=seed, draws=draws)["mu"].values[0, :, 0]
    return np.asarray(replicated[:, estimates.used], dtype=np.float64)


def noise(y: FloatArray, estimates: Estimates, correction: Correction, form: Form) -> FloatArray:
    """Variance (..., subgroup) that nothing, sampling, or sampling and resampling add to each subgroup's replicate.

    Of rates with d rows y (1 - y) (2 d - 1) / (d - 1)^2, or / d^2 as published, for both, and y (1 - y) / (d - 1), or / d,
    for sampling alone; other metrics take it from the rows that were resampled, in either form. With one row it is the
    pooled variance, for a single row says nothing of its own. Lum, Zhang, Bower (2022), doi:10.1145/3531146.3533105,
    section 5.3; the published form is low by the factor (1 - 1 / d)^2 on average.
    """
    if correction == "uncorrected":
        return np.zeros(y.shape)
    both = correction == "double_corrected"
    if not estimates.binomial:
        return np.broadcast_to(estimates.v + estimates.resampled if both else estimates.v, y.shape)
    d = estimates.count
    with np.errstate(divide="ignore", invalid="ignore"):
        if form == "published":
            factor = (2 * d - 1) / d**2 if both else 1 / d
        else:
            factor = (2 * d - 1) / (d - 1) ** 2 if both else 1 / (d - 1)
        added = y * (1 - y) * factor
    return np.where(estimates.rests_on_pooling, estimates.v, added)


def variances(replicated: FloatArray, estimates: Estimates, correction: Correction, form: Form) -> FloatArray:
    """Variance between subgroups of every replicate, (draw,), corrected, not truncated."""
    spread = replicated.var(axis=-1, ddof=1)
    return np.asarray(spread - noise(replicated, estimates, correction, form).mean(axis=-1), dtype=np.float64)


def interval(replicated: FloatArray, estimate: FloatArray | float, level: float, *, basic: bool) -> Interval:
    """Quantiles of the replicates (..., draw) of a variance, cut off at 0, or if ``basic`` their reflections in the estimate."""
    error = tail(level)
    low, high = np.quantile(replicated, [error / 2, 1 - error / 2], axis=-1)
    if basic:
        low, high = 2 * estimate - high, 2 * estimate - low
    return Interval(np.maximum(low, 0.0), np.maximum(high, 0.0))
