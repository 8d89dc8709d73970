"""Inputs of model-based metrics in a tally, and a message for each that is missing."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.scores.laws import NAMES, SCORES
from bayesgroups.scores.shapes import BinnedScores, Residuals, binned, fit
from bayesgroups.tallies.score_moments import cell_moments, keep_scores, kept

NO_WARP = (
    "model_based_metrics: row_covariates= needs residuals='normal' (or 'auto', which then is normal): sums of products say "
    "nothing of warped scores. Leave row_covariates= out, or give the tally a score that is normal given them"
)


def with_scores(tally: xr.Dataset) -> xr.Dataset:
    """Tally with score moments and bins, see `bayesgroups.tallies.score_moments.attach`.

    It has ``auc`` among its metrics, or comes from `bayesgroups.tallies.score_moments.keep_scores`. Scores that all lie
    in [0, 1] are modelled on the logit scale and others as they are, unless it says otherwise. InputError if the tally
    keeps no scores, a metric is no functional of their distribution or needs a threshold that the tally has not, or
    scores do not vary.
    """
    if kept(tally) is None:
        if "score_cell" not in tally.dims:
            raise InputError(
                "the tally keeps no scores by outcome; make it with 'auc' among its metrics, as bg.tally(..., metrics=['fnr', "
                "'auc'], y_true=, y_score=)"
            )
        tally = keep_scores(tally)
    settings = json.loads(tally.attrs["settings"])
    for name in (str(metric) for metric in tally["metric"].values):
        if name not in NAMES:
            raise InputError(
                f"metric {name!r} is no functional of a score distribution, so it has no model-based value; those with one "
                f"are {', '.join(NAMES)}"
            )
        if name in SCORES and name != "auc" and settings["score_scale"] != "logit":
            raise InputError(f"metric {name!r} needs scores that are probabilities, on the logit scale")
        if name not in SCORES and settings.get("threshold") is None:
            raise InputError(
                f"metric {name!r} is about decisions, and the tally was made without threshold= or selection_rate=, so the "
                "score from which on rows are selected is unknown"
            )
    _refuse_constant(tally)
    return tally


def rows_of(tally: xr.Dataset) -> BinnedScores:
    """The rows of a tally from `with_scores` in bins, in standard units."""
    bins = kept(tally)
    assert bins is not None, "with_scores() attaches them"
    moments = cell_moments(bins, tally.sizes["subgroup"])
    count = moments.count
    unit = float(np.sqrt(moments.scatter.sum() / np.maximum(count - 1, 0).sum()))
    centre = float((count * np.nan_to_num(moments.mean)).sum() / count.sum())
    return binned(bins, tally.sizes["subgroup"], centre, unit)


def is_skewed(tally: xr.Dataset, residuals: Residuals) -> bool:
    """True if a setting of the residuals means a warp, for a tally from `with_scores`."""
    return residuals == "skewed" or (residuals == "auto" and fit(rows_of(tally)).worth)


def _refuse_constant(tally: xr.Dataset) -> None:
    bins = kept(tally)
    assert bins is not None, "attached above"
    moments = cell_moments(bins, tally.sizes["subgroup"])
    if moments.scatter.sum() > 0:
        return
    rows = moments.count.sum(axis=0)
    names = [str(name) for name in tally["subgroup"].values[rows > 0]]
    raise InputError(
        f"scores do not vary among rows of one outcome in any subgroup ({', '.join(map(repr, names[:3]))}"
        f"{' ...' if len(names) > 3 else ''}), so they have no distribution to model; look at the column given as y_score="
    )
