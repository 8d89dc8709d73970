"""Metrics of tallies that keep rows without an outcome: their numbers, and which of them mix decisions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.data.texts import as_json
from bayesgroups.tallies.label_statuses import label_statuses
from bayesgroups.tallies.partial_labels import ARMS, CELLS, PartialCells, is_partial, read_partial
from bayesgroups.tallies.post_stratified import needs_labels, post_stratified, smoothed, weighs


def with_partial(tally: xr.Dataset, sums: PartialCells, labels: Sequence[str]) -> xr.Dataset:
    """The tally of the same rows with these cells, and with the numbers of all its metrics from them.

    It has the weights of its metrics already, ``cell_numerator`` and ``cell_denominator`` (metric, outcome, decision).
    """
    decisions, cells = sums.effective
    classes = {name: np.array(labels, dtype=str) for name in ("outcome", "decision")}
    data: dict[str, Any] = {
        "rows": ("subgroup", sums.judged.sum(axis=1)),
        "judged": (ARMS, sums.judged),
        "labelled": (ARMS, sums.labelled),
        "decision_count": (ARMS, decisions),
        "cell_count": (CELLS, cells),
    }
    if sums.squares is not None:
        data |= {
            "decision_weight": (ARMS, sums.decisions),
            "decision_weight_squares": ("subgroup", sums.squares[0]),
            "cell_weight": (ARMS, sums.cells.sum(axis=1)),
            "cell_weight_squares": (ARMS, sums.squares[1]),
        }
    whole = tally.assign(data).assign_coords(classes)
    settings = json.loads(str(whole.attrs["settings"])) | {"unlabelled": "keep"}
    return whole.assign(_numbers(whole, sums)).assign_attrs(settings=as_json(settings))


def _numbers(tally: xr.Dataset, sums: PartialCells) -> dict[str, Any]:
    """Estimates, counts, variances and statuses of all metrics, post-stratified by decision."""
    decisions, cells = sums.effective
    shape = (tally.sizes["metric"], len(decisions))
    names = ("estimate", "count", "successes", "sampling_variance")
    values = {name: np.full(shape, np.nan) for name in names}
    status, reason = np.full(shape, "", dtype="<U9"), np.full(shape, "", dtype="<U200")
    for i in range(shape[0]):
        numerator, denominator = forms_of(tally, i)
        plain = post_stratified(decisions, cells, numerator, denominator)
        used = needs_labels(numerator, denominator)
        judged = decisions if used.any() else decisions + 1 / decisions.shape[1]
        more = post_stratified(judged, smoothed(cells), numerator, denominator)
        status[i], reason[i] = label_statuses(
            sums.judged,
            cells,
            sums.labelled,
            used,
            plain.estimate,
            str(tally["undefined_when"].values[i]),
            labels_of(tally),
        )
        defined = np.isfinite(plain.estimate)
        flat = (status[i] == "saturated") | (status[i] == "single")
        variance = np.where(flat, more.variance, plain.variance)
        rows = plain_rows(decisions, cells, numerator, denominator, complete=(sums.judged == sums.labelled).all(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            alike = more.estimate * (1 - more.estimate) / more.variance
        count = np.where(np.isfinite(rows), rows, alike)
        if str(tally["kind"].values[i]) not in ("rate", "f1"):
            count = cells.sum(axis=(1, 2))
        values["estimate"][i] = plain.estimate
        values["sampling_variance"][i] = np.where(defined, variance, np.nan)
        values["count"][i] = np.where(defined, count, 0.0)
        if str(tally["kind"].values[i]) == "rate":
            values["successes"][i] = np.where(defined, count * np.where(defined, plain.estimate, 0.0), 0.0)
    row_variance = values["count"] * values["sampling_variance"]
    used_rows = np.where(np.isfinite(row_variance), values["count"], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (used_rows * np.nan_to_num(row_variance)).sum(axis=1) / used_rows.sum(axis=1)
    freedom = np.maximum(used_rows - 1, 0.0).sum(axis=1)
    both = ("metric", "subgroup")
    return {
        **{name: (both, array) for name, array in values.items()},
        "row_variance": (both, row_variance),
        "bootstrap_variance": (both, values["sampling_variance"].copy()),
        "pooled_variance": ("metric", pooled),
        "pooled_df": ("metric", np.where(freedom > 0, freedom, np.nan)),
        "status": (both, status),
        "reason": (both, reason),
    }


def labels_of(tally: xr.Dataset) -> list[str]:
    """The decisions of a tally with confusion cells, as its coordinate names them."""
    return [str(label) for label in tally["decision"].values]


def plain_rows(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray, *, complete: Any
) -> FloatArray:
    """Rows (subgroup,) of which a metric is a plain share, NaN where it mixes decisions whose outcomes are not all known.

    A share of decisions is one of all rows, and a rate given one decision is one of its labelled rows; with ``complete``
    (subgroup,) labels every rate is.
    """
    counted = (cells * denominator).sum(axis=(1, 2))
    arms = weighs(numerator, denominator)
    if not needs_labels(numerator, denominator).any():
        return np.asarray((decisions * denominator[0]).sum(axis=1))
    if arms.sum() == 1:
        return np.asarray(counted)
    return np.where(complete, counted, np.nan)


def forms_of(tally: xr.Dataset, i: int) -> tuple[FloatArray, FloatArray]:
    """Weights (outcome, decision) of numerator and denominator of one metric, by its position."""
    first, second = (
        np.asarray(tally[name].isel(metric=i).transpose("outcome", "decision").values, dtype=np.float64)
        for name in ("cell_numerator", "cell_denominator")
    )
    return first, second


def mixed(tally: xr.Dataset) -> BoolArray:
    """Metrics and subgroups (metric, subgroup) whose value mixes decisions of which some rows have no outcome."""
    shape = (tally.sizes["metric"], tally.sizes["subgroup"])
    if not is_partial(tally):
        return np.zeros(shape, dtype=np.bool_)
    sums = read_partial(tally)
    complete = (sums.judged == sums.labelled).all(axis=1)
    rows = [plain_rows(*sums.effective, *forms_of(tally, i), complete=complete) for i in range(shape[0])]
    return np.asarray(np.isnan(np.stack(rows)))


def partly_labelled(tally: xr.Dataset) -> BoolArray:
    """Of these, those with a label after some decision that the metric needs, (metric, subgroup)."""
    if not is_partial(tally):
        return mixed(tally)
    labelled = tally["labelled"].transpose(*ARMS).values
    used = np.stack([needs_labels(*forms_of(tally, i)) for i in range(tally.sizes["metric"])])
    return np.asarray(mixed(tally) & ((labelled @ used.T) > 0).T)
