"""Answers of the methods that learn a judge's errors from labels among the judged rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, TextArray
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile
from bayesgroups.frequentist.intervals.post_stratified import mover
from bayesgroups.frequentist.intervals.prediction_powered import of_counts, prediction_powered, tuned_weight
from bayesgroups.frequentist.judged_confusion import limits_of, method_of
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.partial_labels import read_partial
from bayesgroups.tallies.partial_metrics import forms_of

CELL = ("metric", "subgroup")
MIN_LABELS = 30
"""Number of labels of a subgroup below which normal limits of prediction-powered inference are not to be relied on.

With 6 to 30 they cover 85 to 96 % in the study of few labels, with 2 to 10 from 74 %, where 95 % is asked for.
"""


@dataclass(frozen=True)
class Corrected:
    """Estimates, standard errors, statuses and reasons (metric, subgroup), limits (metric, subgroup, level), and methods."""

    estimate: FloatArray
    std_error: FloatArray
    limits: Interval
    status: TextArray
    reason: TextArray
    methods: list[str]


def post_stratified_answer(tally: xr.Dataset) -> Corrected:
    """Post-stratified values of all metrics."""
    decisions, cells = read_partial(tally).effective
    methods = [method_of(tally, i, "mover") for i in range(tally.sizes["metric"])]
    limits = []
    for i, method in enumerate(methods):
        each = [limits_of(tally, i, decisions, cells, method, level) for level in LEVELS]
        if method == "mover":  # a decision without a label takes part with limits 0 and 1
            some = cells.sum(axis=(1, 2)) > 0
            free = [mover(decisions, cells, forms_of(tally, i)[0], level, unlabelled=True) for level in LEVELS]
            each = [of.where(np.isfinite(of.lower) | ~some, other) for of, other in zip(each, free, strict=True)]
        limits.append(each)
    return Corrected(
        tally["estimate"].transpose(*CELL).values,
        np.sqrt(tally["sampling_variance"].transpose(*CELL).values),
        clipped(tally, limits),
        tally["status"].transpose(*CELL).values,
        tally["reason"].transpose(*CELL).values,
        methods,
    )


def outcome_of(tally: xr.Dataset, i: int) -> int | None:
    """The outcome (its position) whose share a metric is; ``None`` for any other metric."""
    numerator, denominator = forms_of(tally, i)
    if not (denominator == 1).all():
        return None
    rows = (numerator == 1).all(axis=1)
    return int(np.argmax(rows)) if rows.sum() == 1 and numerator.sum() == numerator.shape[1] else None


def ppi_answer(tally: xr.Dataset, *, tuned: bool) -> Corrected:
    """Prediction-powered shares of outcomes; any other metric has a reason in their place."""
    sums, shape = read_partial(tally), (tally.sizes["metric"], tally.sizes["subgroup"])
    judged, cells = sums.effective
    labelled = cells.sum(axis=1)
    estimates, errors = np.full(shape, np.nan), np.full(shape, np.nan)
    status = tally["status"].transpose(*CELL).values.astype("<U10")
    reason = tally["reason"].transpose(*CELL).values.astype("<U200")
    limits = []
    for i in range(shape[0]):
        outcome = outcome_of(tally, i)
        if outcome is None:
            status[i], reason[i] = "undefined", "prediction-powered inference is of the share of an outcome"
        else:
            chosen = np.arange(cells.shape[1]) == outcome
            two = [np.stack([of[:, ~chosen].sum(axis=1), of[:, chosen].sum(axis=1)], axis=1)
                   for of in (cells[:, outcome], labelled, judged)]  # fmt: skip
            moments = of_counts(two[0], two[1], np.maximum(two[2], two[1]))
            lam = tuned_weight(*moments) if tuned else np.ones(shape[1])
            values, spread = prediction_powered(*moments, lam)
            missing = ~np.isfinite(values)
            estimates[i], errors[i] = values, np.where(missing, np.nan, spread)
            rest = judged.sum(axis=1) - labelled.sum(axis=1)
            status[i, missing] = "undefined"
            reason[i, missing] = np.where(
                labelled.sum(axis=1)[missing] == 0,
                reason[i, missing],
                np.where(rest[missing] <= 0, "no unlabelled row", reason[i, missing]),
            )
            flat = ~missing & (errors[i] == 0)
            status[i, flat], reason[i, flat] = "degenerate", "labelled rows and judgements have no spread"
            errors[i, flat] = np.nan  # a variance of 0 is no certainty
            status[i, ~missing & ~flat] = "ok"
        z = [normal_quantile(level) * errors[i] for level in LEVELS]
        limits.append([around(estimates[i], half) for half in z])
    methods = ["normal" if outcome_of(tally, i) is not None else "none" for i in range(shape[0])]
    reason = few_labels_told(reason, status, labelled.sum(axis=1), tally["subgroup"].values, "post_stratified")
    return Corrected(estimates, errors, clipped(tally, limits), status, reason, methods)


def few_labels_told(
    reason: TextArray, status: TextArray, labelled: FloatArray, subgroups: TextArray, holds: str
) -> TextArray:
    """Reasons (metric, subgroup) with a remark where an answer rests on few labels (subgroup,); ``holds`` is what to take."""
    told = reason.astype(object)
    for metric, place in zip(*np.nonzero((status == "ok") & (labelled < MIN_LABELS)), strict=True):
        remark = (
            f"subgroup {str(subgroups[place])!r} has {labelled[place]:g} labels: below {MIN_LABELS} normal limits cover too "
            f"seldom; take method={holds!r}"
        )
        told[metric, place] = "; ".join(filter(None, (str(told[metric, place]), remark)))
    return told.astype(str)


def clipped(tally: xr.Dataset, limits: list[list[Interval]]) -> Interval:
    """Limits (metric, subgroup, level) in the range of every metric, from those of each metric and level."""
    ends = (tally[name].values[:, None, None] for name in ("range_lower", "range_upper"))
    low, high = ends
    sides = (
        np.clip(np.stack([np.stack([getattr(limit, side) for limit in each], axis=-1) for each in limits]), low, high)
        for side in ("lower", "upper")
    )
    return Interval(*sides)
