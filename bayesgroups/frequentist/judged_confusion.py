"""Confusion cells where few rows have an outcome: every metric post-stratified by decision."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.frequentist.answer import assemble, check_interval
from bayesgroups.frequentist.confusion import DRAWS, as_replicates, percentiles, ratio_of
from bayesgroups.frequentist.intervals.interval import Interval, stack
from bayesgroups.frequentist.intervals.post_stratified import delta, is_mean, logit_delta, mover
from bayesgroups.frequentist.intervals.proportions import wilson
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.partial_labels import read_partial
from bayesgroups.tallies.partial_metrics import forms_of, plain_rows
from bayesgroups.tallies.post_stratified import needs_labels

Choice = Literal["mover", "delta", "multinomial_bootstrap"]


@checked_keywords
def estimate(tally: xr.Dataset, *, interval: Choice = "mover", seed: int = 0) -> xr.Dataset:
    """Estimate every metric from all decisions and the labelled outcomes of each subgroup.

    Estimand: the value of the metric in the population of each subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally that keeps rows without an outcome, see `bayesgroups.tallies.partial_labels`.
    interval : {"mover", "delta", "multinomial_bootstrap"}
        Square-and-add of Wilson limits for means over all rows (as the prevalence), Wilson for plain shares (as ``ppv``), and the
        delta method on the logit for ratios (as ``tpr``); the delta method for all; or percentiles of the bootstrap.
    seed : int
        Source of randomness of the bootstrap.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`.

    Raises
    ------
    InputError
        If the interval does not exist.

    References
    ----------
    Begg, Greenes (1983), doi:10.2307/2530820. Zou, Donner (2008), doi:10.1002/sim.3095.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> gold = [1, 1, 0, None, None, None, 0, 0, 1, None]
    >>> rows = pd.DataFrame({"dialect": ["a"] * 10, "gold": gold, "judge": [1] * 6 + [0] * 4})
    >>> tally = bg.tally(rows, ["dialect"], ["prev"], y_true="gold", y_pred="judge", unlabelled="keep")
    >>> round(estimate(tally)["estimate"].item(), 3)  # 0.6 of 2/3 and 0.4 of 1/3
    0.533
    """
    check_interval("confusion", interval, get_args(Choice))
    decisions, cells = read_partial(tally).effective
    values = tally["estimate"].transpose("metric", "subgroup").values
    std_error = np.sqrt(tally["sampling_variance"].transpose("metric", "subgroup").values)
    if interval == "multinomial_bootstrap":
        drawn = _resample(tally, seed, DRAWS)
        intervals = [percentiles(drawn, level, np.isfinite(values)) for level in LEVELS]
        return assemble(
            tally, estimate=values, std_error=std_error, intervals=intervals, methods=[interval] * len(values)
        )
    methods: list[str] = []
    limits: list[list[Interval]] = [[] for _ in LEVELS]
    for i in range(tally.sizes["metric"]):
        methods.append(method_of(tally, i, interval))
        for level, each in zip(LEVELS, limits, strict=True):
            each.append(limits_of(tally, i, decisions, cells, methods[-1], level))
    return assemble(
        tally, estimate=values, std_error=std_error, intervals=[stack(each) for each in limits], methods=methods
    )


def replicates(tally: xr.Dataset, *, seed: int, draws: int = DRAWS) -> xr.Dataset:
    """Multinomial bootstrap of the decisions of all rows, and of the outcomes of the labelled rows of each decision.

    As `bayesgroups.frequentist.confusion.replicates`.
    """
    return as_replicates(tally, _resample(tally, seed, draws))


def _resample(tally: xr.Dataset, seed: int, draws: int) -> FloatArray:
    """Replicates (draw, metric, subgroup); effective rows are rounded."""
    rng = np.random.default_rng([seed, 0])
    decisions, cells = read_partial(tally).effective
    new, decided = np.full((draws, *cells.shape), np.nan), np.full((draws, *decisions.shape), np.nan)
    for g in np.flatnonzero(decisions.sum(axis=1) > 0):
        number = max(round(decisions[g].sum()), 1)
        decided[:, g] = drawn = rng.multinomial(number, decisions[g] / decisions[g].sum(), size=draws)
        for decision, labels in enumerate(cells[g].sum(axis=0)):
            if labels > 0:
                labelled = rng.multinomial(max(round(labels), 1), cells[g, :, decision] / labels, size=draws)
                new[:, g, :, decision] = drawn[:, [decision]] * labelled / labelled.sum(axis=1, keepdims=True)
            else:
                new[:, g, :, decision] = np.where(drawn[:, [decision]] > 0, np.nan, 0.0)
    values = []
    for i in range(tally.sizes["metric"]):
        numerator, denominator = forms_of(tally, i)
        idle = ~needs_labels(numerator, denominator)
        used = np.where(idle, decided[:, :, None] / len(numerator), new).reshape(*new.shape[:2], -1)
        values.append(ratio_of(used, numerator.reshape(1, -1), denominator.reshape(1, -1))[:, 0])
    return np.stack(values, axis=1)


def method_of(tally: xr.Dataset, i: int, interval: str) -> str:
    """The interval of one metric, by its position."""
    numerator, denominator = forms_of(tally, i)
    within = tally["range_lower"].values[i] == 0 and tally["range_upper"].values[i] == 1
    if interval == "delta":
        return "delta"
    nobody = np.zeros((1, len(numerator)))
    cells = np.zeros((1, *numerator.shape))
    if (
        within
        and np.isfinite(plain_rows(nobody, cells, numerator, denominator, complete=np.zeros(1, dtype=bool))).all()
    ):
        return "wilson"
    if is_mean(numerator, denominator):
        return "mover"
    return "logit_delta" if within else "delta"


def limits_of(
    tally: xr.Dataset, i: int, decisions: FloatArray, cells: FloatArray, method: str, level: float
) -> Interval:
    """Limits of one metric (subgroup,); NaN where it is undefined."""
    numerator, denominator = forms_of(tally, i)
    if method == "wilson":
        count, successes = (tally[name].transpose("metric", "subgroup").values[i] for name in ("count", "successes"))
        return wilson(successes, count, level)
    if method == "mover":
        limits = mover(decisions, cells, numerator, level)
        defined = np.isfinite(tally["estimate"].transpose("metric", "subgroup").values[i])
        return Interval(np.where(defined, limits.lower, np.nan), np.where(defined, limits.upper, np.nan))
    of_ratio = logit_delta if method == "logit_delta" else delta
    return of_ratio(decisions, cells, numerator, denominator, level)
