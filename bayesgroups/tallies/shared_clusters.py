"""Tallies that know the covariance of subgroups which share clusters: matched prompts, templates, persons in several subgroups."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError
from bayesgroups.tallies.analyses import ClusterAnalysis
from bayesgroups.tallies.cluster_covariance import (
    correlation_between,
    pooled_covariance,
    residual_table,
    robust_covariance,
    weight_table,
)
from bayesgroups.tallies.clusters import Cells

SharedClusters = Literal["ignore", "covariance"]
MIN_CLUSTERS = 20
"""Clusters of a subgroup below which their residuals are too few for a variance of their own, and what is pooled is taken."""
SETTING = "shared_clusters"


def check_shared(shared: SharedClusters, cluster: str | None, analysis: ClusterAnalysis) -> None:
    """Refuse a choice that does not exist or has no clusters to go by."""
    if shared == "ignore":
        return
    if cluster is None:
        raise InputError("shared_clusters='covariance' needs cluster=, the column of the clusters")
    if analysis != "robust":
        raise InputError(
            f"shared_clusters='covariance' goes with cluster_analysis='robust', and {analysis!r} is asked for; leave one out"
        )


def with_covariance(tally: xr.Dataset) -> xr.Dataset:
    """The tally with ``sampling_covariance(metric, subgroup, subgroup_other)`` and its diagonal as ``sampling_variance``.

    By the clusters themselves where every subgroup has 20 and there are more of them than subgroups, else by one correlation
    of the rows of a cluster within subgroups and one between them. NaN for an AUC or F1, whose errors are no sums of
    clusters. Without a cluster of two subgroups nothing is added.
    """
    marked = marked_as(tally, "covariance")
    subgroup, cluster = places_of(tally)
    size, metrics = tally.sizes["subgroup"], tally.sizes["metric"]
    covariance = np.full((metrics, size, size), np.nan)
    for i, kind in enumerate(tally["row_kind"].values):
        if str(kind) in ("rate", "mean"):
            covariance[i] = _of_metric(tally.isel(metric=i), subgroup, cluster)
    off_diagonal = np.where(np.eye(size, dtype=bool), 0.0, covariance)
    if not (np.nan_to_num(off_diagonal) != 0).any():
        return marked
    return with_this_covariance(marked, covariance)


def marked_as(tally: xr.Dataset, how: str) -> xr.Dataset:
    """The tally with the setting that says how its covariance was made."""
    return tally.assign_attrs(settings=as_json(json.loads(tally.attrs["settings"]) | {SETTING: how}))


def with_this_covariance(tally: xr.Dataset, covariance: FloatArray) -> xr.Dataset:
    """The tally with this covariance (metric, subgroup, subgroup), and its diagonal where it has one."""
    diagonal = np.diagonal(covariance, axis1=1, axis2=2)
    variance = np.where(np.isfinite(diagonal), diagonal, tally["sampling_variance"].transpose("metric", "subgroup"))
    data = {
        "sampling_covariance": (("metric", "subgroup", "subgroup_other"), covariance),
        "sampling_variance": (("metric", "subgroup"), np.asarray(variance)),
    }
    return tally.assign_coords(subgroup_other=tally["subgroup"].values).assign(data)


def places_of(tally: xr.Dataset) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Subgroup and number of the cluster of every cell."""
    labels = np.unique(tally["cluster_label"].values, return_inverse=True)[1]
    return tally["cluster_subgroup"].values, labels.astype(np.intp)


def cells_of_metric(metric: xr.Dataset, subgroup: NDArray[np.intp]) -> Cells:
    """Clusters of one metric within their subgroups."""
    weight, total = (np.nan_to_num(metric[name].values) for name in ("cluster_weight", "cluster_sum"))
    squares = np.nan_to_num(metric.get("cluster_weight_squares", metric["cluster_weight"]).values)
    return Cells(subgroup, weight, total, squares, metric.sizes["subgroup"])


def _of_metric(metric: xr.Dataset, subgroup: NDArray[np.intp], cluster: NDArray[np.intp]) -> FloatArray:
    cells = cells_of_metric(metric, subgroup)
    weights = weight_table(cells, cluster)
    number = (weights > 0).sum(axis=0)
    some = number > 0
    enough = number[some].min(initial=MIN_CLUSTERS) >= MIN_CLUSTERS and (weights > 0).any(axis=1).sum() > some.sum()
    residuals, row_variance = (
        residual_table(cells, cluster, metric["row_mean"].values),
        float(metric["pooled_variance"]),
    )
    if enough and bool((metric["row_scatter"].values[some] > 0).all()):
        return robust_covariance(residuals, weights)
    rho = float(metric["icc"])
    between = correlation_between(residuals, weights, row_variance)
    return pooled_covariance(weights, cells.add_up(cells.squares), row_variance, 1.0 if np.isnan(rho) else rho, between)


def carry_covariance(parts: Sequence[xr.Dataset], whole: xr.Dataset) -> xr.Dataset:
    """The sum of tallies with the covariance of its subgroups, where all its parts were made with one."""
    asked = {json.loads(part.attrs["settings"]).get(SETTING, "ignore") for part in parts}
    if asked == {"ignore"}:
        return whole
    if len(asked) > 1:
        raise InputError("tallies were made with different shared_clusters; make all of them alike")
    if asked == {"two_way"}:
        raise InputError(
            "tallies of bg.two_way_clusters() cannot be added; add the tallies of each kind of cluster, then take it of the sums"
        )
    return with_covariance(whole)
