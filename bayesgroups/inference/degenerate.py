"""The verdict on metrics without any variance: no posterior, a check that failed, and a note of the frequentist side."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.report.diagnostics import Check

REMEDY = {
    "rate": "use NoPooling or PartialPooling (binomial likelihood), which learn from the counts themselves",
    "estimate": "give the sampling variance of every estimate, or tally the rows",
}
"""What to do, by kind of metric."""
MORE_ROWS = "add rows until some differ: no estimator learns a variance from rows that all agree"
"""What to do for all other kinds."""


def variance_check(tally: xr.Dataset) -> Check:
    """Failed check of a metric whose between-subgroup and sampling variance are both 0, for a tally of that metric alone.

    The sentence names the metric, why it has no variance, see `bayesgroups.tallies.constant_metrics`, and what to do.
    """
    metric, kind = str(tally["metric"].values[0]), str(tally["kind"].values[0])
    remedy = REMEDY.get(kind, MORE_ROWS)
    sentence = (
        f"{metric}: between-subgroup and sampling variance are both 0, because {reason(tally)}, so that the model would take "
        f"every value for known; {remedy}."
    )
    return Check("variance", metric, 0.0, 0.0, False, sentence)


def reason(tally: xr.Dataset) -> str:
    """Reason why a metric has no variance, in words, for a tally of that metric alone."""
    if str(tally["kind"].values[0]) == "estimate":
        return "all estimates agree and were given without sampling error"
    if float(np.nansum(tally["count"].values)) <= 1:
        return "there is one row in all"
    return "all rows agree in every subgroup"


def without_limits(tally: xr.Dataset, reference: xr.Dataset, constant: NDArray[np.bool_]) -> list[str]:
    """Notes on metrics without variance whose frequentist side has no interval, although the other side may have one.

    One sentence per metric; ``constant`` (metric,) marks those without variance.
    """
    notes = []
    flat = (reference["status"] == "degenerate").transpose("metric", "subgroup").values.any(axis=1)
    for i in np.flatnonzero(constant & flat):
        metric = tally.isel(metric=[i])
        notes.append(
            f"{metric['metric'].values[0]}: {reason(metric)}, so the frequentist side "
            f"({reference['interval_method'].values[i]}) has no interval"
        )
    return notes


def not_determined(reference: xr.Dataset) -> list[str]:
    """Notes on metrics whose frequentist side has no estimate, since rows do not determine its model."""
    unknown = (reference["status"] == "not estimable").transpose("metric", "subgroup").values.any(axis=1)
    return [
        f"{reference['metric'].values[i]}: rows are too few, or vary too little, for the model of the frequentist side "
        f"({reference['interval_method'].values[i]}), so that it has no estimate"
        for i in np.flatnonzero(unknown)
    ]


def imputed_without_limits(tally: xr.Dataset, reference: xr.Dataset, constant: NDArray[np.bool_]) -> list[str]:
    """Notes on metrics whose subgroups without data have a frequentist estimate and no interval; of metrics with variance."""
    notes = []
    bare = reference["estimate"].notnull() & reference["lower"].isnull().all("level")
    open_ended = (bare & (reference["status"] == "imputed")).any("subgroup")
    for i in np.flatnonzero(~constant & open_ended.values):
        number = int((tally["sampling_variance"].isel(metric=i) > 0).sum())
        estimates = "one estimate with a sampling variance does" if number == 1 else f"{number} estimates do"
        notes.append(
            f"{tally['metric'].values[i]}: {estimates} not tell how much subgroups differ, so the frequentist side "
            f"({reference['interval_method'].values[i]}) has no interval where there are no data"
        )
    return notes
