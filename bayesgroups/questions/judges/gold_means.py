"""Answers of tallies of gold scores: mean scores corrected by what a judge says of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile
from bayesgroups.frequentist.intervals.means import t
from bayesgroups.frequentist.intervals.prediction_powered import (
    LabelledMoments,
    UnlabelledMoments,
    prediction_powered,
    tuned_weight,
)
from bayesgroups.questions.judges.answers import Corrected, few_labels_told
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.gold_scores import MOMENTS
from bayesgroups.tallies.judged_means import ScoreMoments


def keeps_gold_scores(tally: xr.Dataset) -> bool:
    """True if a tally is one of `bayesgroups.gold_score_tally`."""
    return "judged_rows" in tally.data_vars


def gold_mean_answer(tally: xr.Dataset, method: str) -> tuple[Corrected, dict[str, Any]]:
    """Means and normal limits by a method, and those of labelled rows alone where the judge gives scores."""
    scored = "gold_moments" in tally.data_vars
    methods = ("regression", "ppi", "ppi_tuned") if scored else ("post_stratified",)
    if method not in methods:
        kind = "scores" if scored else "classes"
        raise InputError(
            f"method={method!r} is not for gold scores beside {kind} of a judge; take {' or '.join(map(repr, methods))}"
        )
    estimate, error = tally["estimate"].values[0], np.sqrt(tally["sampling_variance"].values[0])
    status, reason = tally["status"].values.astype("<U10"), tally["reason"].values.astype("<U200")
    more: dict[str, Any] = {}
    if scored:
        moments = ScoreMoments(*(tally["gold_moments"].sel(gold_moment=name).values for name in MOMENTS))
        more = _alone(moments)
        if method != "regression":
            estimate, error = _powered(moments, tuned=method == "ppi_tuned")
            error = np.where(moments.labelled > 1, error, np.nan)
            estimate = np.where(np.isfinite(error), estimate, np.nan)
            defined = np.isfinite(estimate)
            status[0] = np.where(defined, "ok", "undefined")
            whole = (moments.rows > 0) & (moments.labelled == moments.rows)
            reason[0] = np.where(whole, "no unlabelled row", reason[0])
            reason[0] = np.where((moments.labelled == 1) & ~defined, "one label", reason[0])
            reason = few_labels_told(reason, status, moments.labelled, tally["subgroup"].values, "regression")
    sides = [around(estimate, normal_quantile(level) * error) for level in LEVELS]
    limits = Interval(
        *(np.stack([getattr(each, side) for each in sides], axis=-1)[None] for side in ("lower", "upper"))
    )
    return Corrected(estimate[None], error[None], limits, status, reason, ["normal"]), more


def _powered(given: ScoreMoments, *, tuned: bool) -> tuple[Any, Any]:
    """Prediction-powered means and standard errors."""
    m, rest = given.labelled, given.rows - given.labelled
    with np.errstate(divide="ignore", invalid="ignore"):
        judged = (given.rows * given.all_mean - m * given.judge_mean) / rest
        scatter = given.all_scatter - given.judge_scatter - m * rest / given.rows * (given.judge_mean - judged) ** 2
        labelled = LabelledMoments(
            m,
            given.gold_mean,
            given.judge_mean,
            given.gold_scatter / m,
            given.judge_scatter / m,
            given.cross_scatter / m,
        )
        unlabelled = UnlabelledMoments(rest, judged, np.maximum(scatter, 0.0) / rest)
    return prediction_powered(labelled, unlabelled, tuned_weight(labelled, unlabelled) if tuned else 1.0)


def _alone(given: ScoreMoments) -> dict[str, Any]:
    """Means of labelled rows alone with limits of Student's t."""
    cell = ("metric", "subgroup")
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(given.labelled > 1, given.gold_scatter / (given.labelled - 1), np.nan)
        limits = [t(given.gold_mean, variance, given.labelled, level) for level in LEVELS]
    sides = {side: np.stack([getattr(each, side) for each in limits], axis=-1)[None] for side in ("lower", "upper")}
    return {
        "gold_estimate": (cell, given.gold_mean[None]),
        **{f"gold_{side}": ((*cell, "level"), values) for side, values in sides.items()},
    }
