"""Tallies that know the covariance of subgroups which share clusters: matched prompts, templates, persons in several subgroups."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError
from bayesgroups.tallies.analyses import ClusterAnalysis
from bayesgroups.tallies.cluster_covariance import (
    pooled_covariance,
    residual_table,
    robust_covariance,
    two_way_covariance,
    weight_table,
)
from bayesgroups.tallies.clusters import Cells

SharedClusters = Literal["ignore", "covariance"]
MIN_CLUSTERS = 20
"""Clusters of a subgroup below which residuals are too few for a covariance of their own, and one correlation is taken."""
MIN_LEVELS = 10
"""Clusters of either kind below which those that cross have no covariance."""
SETTING = "shared_clusters"


def check_shared(shared: SharedClusters, cluster: str | None, analysis: ClusterAnalysis) -> None:
    """Refuse a choice that does not exist or has no clusters to go by."""
    if shared not in get_args(SharedClusters):
        raise InputError(f"shared_clusters={shared!r} is not one of {', '.join(map(repr, get_args(SharedClusters)))}")
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
    for all. NaN for an AUC or F1, whose errors are no sums of clusters. Without a cluster of two subgroups nothing is added.
    """
    marked = _marked(tally, "covariance")
    subgroup, cluster = _places(tally)
    size, metrics = tally.sizes["subgroup"], tally.sizes["metric"]
    covariance = np.full((metrics, size, size), np.nan)
    for i, kind in enumerate(tally["row_kind"].values):
        if str(kind) in ("rate", "mean"):
            covariance[i] = _of_metric(tally.isel(metric=i), subgroup, cluster)
    off_diagonal = np.where(np.eye(size, dtype=bool), 0.0, covariance)
    if not (np.nan_to_num(off_diagonal) != 0).any():
        return marked
    return _assigned(marked, covariance)


def _marked(tally: xr.Dataset, how: str) -> xr.Dataset:
    """The tally with the setting that says how its covariance was made."""
    return tally.assign_attrs(settings=as_json(json.loads(tally.attrs["settings"]) | {SETTING: how}))


def _assigned(tally: xr.Dataset, covariance: FloatArray) -> xr.Dataset:
    """The tally with this covariance (metric, subgroup, subgroup), and its diagonal where it has one."""
    diagonal = np.diagonal(covariance, axis1=1, axis2=2)
    variance = np.where(np.isfinite(diagonal), diagonal, tally["sampling_variance"].transpose("metric", "subgroup"))
    data = {
        "sampling_covariance": (("metric", "subgroup", "subgroup_other"), covariance),
        "sampling_variance": (("metric", "subgroup"), np.asarray(variance)),
    }
    return tally.assign_coords(subgroup_other=tally["subgroup"].values).assign(data)


@checked_keywords
def two_way_clusters(first: xr.Dataset, second: xr.Dataset, both: xr.Dataset) -> xr.Dataset:
    """The covariance of subgroups whose rows lie in clusters of two kinds that cross, such as items and templates.

    Parameters
    ----------
    first, second, both : xr.Dataset
        Tallies of the same rows with ``cluster=`` a column of either kind, and one of their combinations.

    Returns
    -------
    xr.Dataset
        The first tally with ``sampling_covariance(metric, subgroup, subgroup_other)``: that by the first kind and by the second,
        less that by both, negative eigenvalues set to 0; its diagonal is ``sampling_variance``. In units of the metric, squared.

    Raises
    ------
    InputError
        If a tally has no clusters, the tallies are not of the same rows, or a kind has fewer than 10 clusters in a subgroup.

    References
    ----------
    Cameron, Gelbach, Miller (2011), doi:10.1198/jbes.2010.07136.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rng = np.random.default_rng(1)
    >>> item, template = (part.ravel() for part in np.indices((12, 10)))
    >>> loss = rng.normal(size=12)[item] + rng.normal(size=10)[template] + rng.normal(size=120)
    >>> rows = pd.DataFrame({"sex": np.where(rng.random(120) < 0.5, "f", "m"), "item": item, "template": template, "loss": loss})
    >>> rows["both"] = rows["item"].astype(str) + "/" + rows["template"].astype(str)
    >>> tallies = [bg.tally(rows, ["sex"], "mean", loss="loss", cluster=kind) for kind in ("item", "template", "both")]
    >>> bg.two_way_clusters(*tallies)["sampling_covariance"].dims
    ('metric', 'subgroup', 'subgroup_other')
    """
    tallies = {"first": first, "second": second, "both": both}
    for name, tally in tallies.items():
        if "cluster_cell" not in tally.dims:
            raise InputError(f"{name} has no clusters; make it with bg.tally(..., cluster=)")
        alike = tally["subgroup"].equals(first["subgroup"]) and tally["row_mean"].shape == first["row_mean"].shape
        if not alike or not np.allclose(tally["row_mean"].values, first["row_mean"].values, equal_nan=True):
            raise InputError(f"{name} is not of the same rows as first; tally the same rows with another cluster=")
        number = np.where(tally["rows"].values > 0, tally["clusters"].values, np.inf)
        if number.min() < MIN_LEVELS:
            raise InputError(
                f"{name} has {number.min():g} clusters in subgroup {str(tally['subgroup'].values[number.argmin()])!r}, and "
                f"{MIN_LEVELS} are needed; make a kind of few clusters an attribute in by="
            )
    by_kind = [_robust(tally) for tally in tallies.values()]
    covariance = np.full_like(by_kind[0], np.nan)
    for i in range(len(covariance)):
        some = np.isfinite(np.diagonal(by_kind[0][i]))
        parts = [each[i][np.ix_(some, some)] for each in by_kind]
        covariance[i][np.ix_(some, some)] = two_way_covariance(*parts)
    return _assigned(_marked(first, "two_way"), covariance)


def _robust(tally: xr.Dataset) -> FloatArray:
    """Covariances (metric, subgroup, subgroup) by the clusters themselves."""
    subgroup, cluster = _places(tally)
    covariance = np.full((tally.sizes["metric"], *[tally.sizes["subgroup"]] * 2), np.nan)
    for i, kind in enumerate(tally["row_kind"].values):
        if str(kind) in ("rate", "mean"):
            metric = tally.isel(metric=i)
            cells = _cells(metric, subgroup)
            residuals = residual_table(cells, cluster, metric["row_mean"].values)
            covariance[i] = robust_covariance(residuals, weight_table(cells, cluster))
    return covariance


def _places(tally: xr.Dataset) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Subgroup and number of the cluster of every cell."""
    labels = np.unique(tally["cluster_label"].values, return_inverse=True)[1]
    return tally["cluster_subgroup"].values, labels.astype(np.intp)


def _cells(metric: xr.Dataset, subgroup: NDArray[np.intp]) -> Cells:
    weight, total = (np.nan_to_num(metric[name].values) for name in ("cluster_weight", "cluster_sum"))
    squares = np.nan_to_num(metric.get("cluster_weight_squares", metric["cluster_weight"]).values)
    return Cells(subgroup, weight, total, squares, metric.sizes["subgroup"])


def _of_metric(metric: xr.Dataset, subgroup: NDArray[np.intp], cluster: NDArray[np.intp]) -> FloatArray:
    cells = _cells(metric, subgroup)
    weights = weight_table(cells, cluster)
    number = (weights > 0).sum(axis=0)
    some = number > 0
    enough = number[some].min(initial=MIN_CLUSTERS) >= MIN_CLUSTERS and (weights > 0).any(axis=1).sum() > some.sum()
    if enough and bool((metric["row_scatter"].values[some] > 0).all()):
        return robust_covariance(residual_table(cells, cluster, metric["row_mean"].values), weights)
    rho = float(metric["icc"])
    return pooled_covariance(
        weights, cells.add_up(cells.squares), float(metric["pooled_variance"]), 1.0 if np.isnan(rho) else rho
    )


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
