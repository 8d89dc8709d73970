"""The estimand of a metric: the value behind the rows of a subgroup, in words."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

VALUES = {
    "rate": "superpopulation rate", "mean": "superpopulation mean", "f1": "superpopulation F1 score",
    "auc": "superpopulation AUC", "estimate": "superpopulation value",
}  # fmt: skip
"""Estimands by the kind of metric: values of the population that the rows of a subgroup are drawn from."""


def reported_estimands(estimates: xr.Dataset) -> NDArray[np.str_]:
    """The estimand of every metric (metric,) in one approach of the estimates of a report; empty where none is named."""
    if "estimand" not in estimates:  # reports of older versions do not name it
        return np.full(estimates.sizes["metric"], "", dtype=str)
    return np.asarray(estimates["estimand"].values.astype(str))


def superpopulation_values(tally: xr.Dataset) -> NDArray[np.str_]:
    """The estimand of every metric of a tally (metric,), in words, such as ``superpopulation rate``."""
    kinds = tally.get("row_kind", tally["kind"]).values
    analyses = (
        tally["cluster_analysis"].values if "cluster_analysis" in tally.data_vars else np.full(len(kinds), "ignore")
    )
    weighted = " under the weights" if "weight" in tally.data_vars else ""
    return np.array(
        [
            f"{VALUES[str(kind)]}{', every cluster counting once' if analysis == 'mean' else ''}{weighted}"
            for kind, analysis in zip(kinds, analyses, strict=True)
        ],
        dtype=str,
    )
