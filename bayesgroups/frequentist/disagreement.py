"""Disagreement feedback without a model: bounds of every rate, and what sampling makes of them."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.frequentist.answer import assemble
from bayesgroups.frequentist.bounds.replicates import units_of
from bayesgroups.frequentist.bounds.sets import DRAWS, Resample, confidence_sets
from bayesgroups.frequentist.intervals import proportions
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.disagreement_notions import DEFINITE, NOTIONS, Form


@checked_keywords
def estimate(
    tally: xr.Dataset, *, seed: int = 0, form: Form = "sharp", resample: Resample = "all", draws: int = DRAWS
) -> xr.Dataset:
    """Bound every rate of a tally of disagreement.

    Estimand: the rate in the population that judgements, critics and items of each subgroup were drawn from.

    Parameters
    ----------
    tally : xr.Dataset
        From `bayesgroups.disagreement_tally`.
    seed : int
        Source of randomness of the bootstrap.
    form : {"sharp", "published"}
        The identified set, or the formulas of the paper, errors included.
    resample : {"all", "judgements", "critics", "items"}
        As in `bayesgroups.frequentist.bounds.confidence_sets`.
    draws : int
        Number of bootstrap replicates.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`. ``interval_kind`` is ``bound`` where a rate is known within bounds
        only and ``confidence`` where it is known exactly; the estimate is the middle of the bounds. ``bound_lower`` and
        ``bound_upper`` (metric, subgroup) are the bounds themselves.

    Notes
    -----
    A rate that is known exactly has Wilson's interval if judgements are all that is resampled, and a normal interval with
    the bootstrap's error otherwise.

    References
    ----------
    As in `bayesgroups.frequentist.bounds`.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist.disagreement import estimate
    >>> rows = pd.DataFrame({"sex": ["f"] * 9, "label": list("abc") * 3, "disagrees": [0, 0, 0, 1, 0, 1, 0, 1, 0]})
    >>> answer = estimate(bg.disagreement_tally(rows, ["sex"], "label", "disagrees"))
    >>> answer["interval_kind"].sel(metric=["acc", "tpr[a]"]).values.tolist()
    ['confidence', 'bound']
    """
    shape = (tally.sizes["metric"], tally.sizes["subgroup"])
    middle, error, low, high = (np.full(shape, np.nan) for _ in range(4))
    lower, upper = np.full((*shape, len(LEVELS)), np.nan), np.full((*shape, len(LEVELS)), np.nan)
    notions = tally["notion"].values.astype(str)
    labels = tally["metric_label"].values.astype(str)
    for notion in NOTIONS:
        if notion not in notions:
            continue
        sets = confidence_sets(tally, notion, seed=seed, form=form, resample=resample, draws=draws)
        at = np.flatnonzero(notions == notion)
        label_sets = sets.sel(label=labels[at])
        low[at], high[at], middle[at] = (label_sets[name].values for name in ("lower", "upper", "midpoint"))
        error[at] = np.fmax(label_sets["lower_std_error"].values, label_sets["upper_std_error"].values)
        lower[at], upper[at] = label_sets["confidence_lower"].values, label_sets["confidence_upper"].values
    exact = _exactly_known(tally, form)
    methods = np.where(exact, "bootstrap_normal", "imbens_manski")
    if units_of(tally) == ("judgements",) or resample == "judgements":
        methods[exact] = "wilson"
        for i, level in enumerate(LEVELS):
            wilson = proportions.wilson(tally["successes"].values[exact], tally["count"].values[exact], level)
            lower[exact, :, i], upper[exact, :, i] = wilson.lower, wilson.upper
    undefined = tally["status"].values == "undefined"
    answer = assemble(
        tally, estimate=middle, std_error=error,
        intervals=[Interval(lower[..., i], upper[..., i]) for i in range(len(LEVELS))],
        methods=methods.tolist(), imputed=undefined,
        extra={"bound_lower": (("metric", "subgroup"), low), "bound_upper": (("metric", "subgroup"), high)},
    )  # fmt: skip
    return answer.assign(interval_kind=("metric", np.where(exact, "confidence", "bound")))


def _exactly_known(tally: xr.Dataset, form: Form) -> NDArray[np.bool_]:
    """Metrics whose bounds coincide, whatever the counts."""
    definite = np.isin(tally["notion"].values.astype(str), sorted(DEFINITE))
    return definite | (form == "sharp" and tally.sizes["label"] == 2)
