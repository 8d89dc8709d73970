"""Denominators of the estimates of a tally: what subgroups weigh in the value over all of its rows."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies.partial_labels import is_partial


def denominators(metric: xr.Dataset) -> FloatArray:
    """Rows (subgroup,) that the estimates of one metric are means over, or the sums of their weights.

    Unlike ``count``, which says how much an estimate tells, they do not shrink where rows are alike within clusters, weights are
    unequal, or few rows have labels; of a mean of cluster means they are the clusters. Where all rows have a decision and few an
    outcome, those are counted that the labelled ones stand for. NaN for published estimates, whose rows are not known.

    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"site": list("aaab"), "patient": [1, 1, 2, 3], "loss": [0.0, 1.0, 5.0, 3.0]})
    >>> one = bg.tally(rows, ["site"], "mean", loss="loss", cluster="patient").isel(metric=0)
    >>> one["count"].values.round(2).tolist(), denominators(one).tolist()
    ([1.84, 1.0], [3.0, 1.0])
    """
    count = np.asarray(metric["count"].values, dtype=np.float64)
    if is_partial(metric):
        return _labelled_stand_for(metric)
    if "weight" in metric.data_vars:
        rows = metric["weight"].values
    elif "cluster_analysis" in metric.data_vars and str(metric["cluster_analysis"].values) == "robust":
        rows = metric["row_weight"].values
    else:
        return count
    return np.asarray(rows if (rows > 0).any() else count, dtype=np.float64)  # an AUC is no mean over rows


def _labelled_stand_for(metric: xr.Dataset) -> FloatArray:
    """Rows of every decision, shared out over outcomes as its labelled rows are; evenly where it has none."""
    decided = metric["decision_weight" if "decision_weight" in metric else "judged"].transpose("subgroup", "decision")
    cells = metric["cell_count"].transpose("subgroup", "outcome", "decision").values
    labelled = cells.sum(axis=1, keepdims=True)
    shares = np.where(labelled > 0, cells / np.where(labelled > 0, labelled, 1.0), 1 / cells.shape[1])
    counts = metric["cell_denominator"].transpose("outcome", "decision").values
    return np.asarray((decided.values[:, None, :] * shares * counts).sum(axis=(1, 2)), dtype=np.float64)
