"""Checks of a model of scores: the shape of their distribution, and the metrics that rest on it.

Two checks per metric, the same whichever engine made the draws. `shape`: the probability integral transform of the rows, each
cell with the mean and standard deviation of its own, may not be visibly far from uniform. `misfit`: what the model says of the
metric, over all subgroups together, may be off by half a posterior standard deviation of a subgroup at most, beyond what chance
explains (two standard errors); with more, intervals are about the wrong place.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.report.diagnostics import Check, at_most
from bayesgroups.scores.inputs import is_skewed, rows_of, with_scores
from bayesgroups.scores.shapes import LARGEST_DISTANCE, Residuals, distance, fit

CHANCE = 1.36
"""Quantile of the Kolmogorov distribution, times the root of the number of rows."""
LARGEST_MISFIT = 0.5
"""Posterior standard deviations of a typical subgroup."""
ELSEWHERE = "bg.ConfusionModel() and bg.CrossedEffects() need none"


def checks(tally: xr.Dataset, draws: xr.Dataset, *, residuals: Residuals) -> tuple[Check, ...]:
    """``score shape`` and ``misfit`` of every metric that is defined somewhere, for draws ``mu(chain, draw, metric, subgroup)``.

    ``residuals`` is the setting of the estimator. Dawid (1984), the prequential approach, doi:10.2307/2981683, for the
    transform. The bounds are ours.
    """
    source = with_scores(tally)
    rows = rows_of(source)
    best, skewed = fit(rows), is_skewed(source, residuals)
    normal, size = distance(rows, 0.0, 0.0)
    warped, _ = distance(rows, best.epsilon, best.log_delta)
    used, other = (warped, normal) if skewed else (normal, warped)
    words = ("skewed", "normal") if skewed else ("normal", "skewed")
    bound = LARGEST_DISTANCE + CHANCE / np.sqrt(max(size, 1.0))
    remark = (
        f"with {words[0]} scores the largest distance between fitted and observed distribution functions ({other:.3f} with "
        f"{words[1]} ones)"
    )
    fits = other <= bound
    advice = (
        f"Scores look {words[1]}; say residuals={words[1]!r}" if fits else f"Scores follow neither law; {ELSEWHERE}"
    )
    results: list[Check] = []
    for i, name in enumerate(str(metric) for metric in tally["metric"].values):
        if not np.isfinite(tally["estimate"].values[i]).any():
            continue
        if size > 0:
            results.append(_with_advice(at_most("score shape", name, used, float(bound), remark), advice))
        mu = draws["mu"].sel(metric=name).transpose("chain", "draw", "subgroup").values
        value = misfit(tally.isel(metric=i), mu.reshape(-1, mu.shape[-1]))
        quantity = "what the model is off over all subgroups beyond chance, in posterior standard deviations of one,"
        where = "The law of scores is wrong where this metric looks; " + ELSEWHERE
        results.append(_with_advice(at_most("misfit", name, value, LARGEST_MISFIT, quantity), where))
    return tuple(results)


def _with_advice(check: Check, advice: str) -> Check:
    """The check, saying what to do if it failed."""
    return check if check.passed else replace(check, sentence=f"{check.sentence} {advice}.")


def misfit(metric_tally: xr.Dataset, mu: FloatArray) -> float:
    """Misfit over all subgroups beyond two standard errors, in posterior standard deviations of a subgroup.

    The tally is without the dim ``metric``, draws are (draw, subgroup).
    """
    estimate, count, variance = (metric_tally[name].values for name in ("estimate", "count", "sampling_variance"))
    some = np.isfinite(estimate) & (count > 0) & np.isfinite(variance)
    if not some.any():
        return 0.0
    weight = count[some] / count[some].sum()
    gap = float(weight @ (estimate[some] - mu[:, some].mean(axis=0)))
    error = float(np.sqrt(weight**2 @ variance[some]))
    spread = float(np.average(mu[:, some].std(axis=0), weights=weight))
    return max(abs(gap) - 2 * error, 0.0) / spread if spread > 0 else float("nan")
