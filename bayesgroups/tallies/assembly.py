"""From sums to the tally: estimates, variances, statuses and labels in one Dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.texts import as_json
from bayesgroups.tallies import auc, variances
from bayesgroups.tallies.analyses import Analysed, ClusterAnalysis, analyse, describe_clusters
from bayesgroups.tallies.auc import ScoreCells
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.subgroups import Subgroups, check_attributes
from bayesgroups.tallies.sums import Sums

SCHEMA = "bayesgroups.tally"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Description:
    """Description of one metric of a tally besides its numbers."""

    name: str
    kind: str
    lower: float
    upper: float
    larger_is_better: bool
    undefined: str
    ties: float = 0.5


def assemble(
    subgroups: Subgroups,
    metrics: Sequence[Description],
    sums: Sums,
    *,
    pooling: variances.Pooling = "corrected",
    cluster_analysis: ClusterAnalysis = "ignore",
    settings: Mapping[str, Any],
) -> xr.Dataset:
    """The tally of sums: dims and variables as documented in `bayesgroups.tallies`.

    ``cluster_analysis`` is what is taken for independent, see `bayesgroups.tallies.analyses`; without clusters there is no
    choice. ``settings``, how the tally was made, are stored as one JSON string.
    """
    shape = (len(metrics), len(sums.rows))
    seen = analyse(sums, [metric.kind for metric in metrics], cluster_analysis)
    count, estimate = seen.moments.count.copy(), seen.moments.mean.copy()
    row_variance = seen.moments.row_variance.copy()
    successes, bootstrap = np.full(shape, np.nan), np.full(shape, np.nan)
    pooled_variance, freedom = np.full(shape[0], np.nan), np.full(shape[0], np.nan)
    for i, metric in enumerate(metrics):
        if metric.kind == "auc":
            statistics = auc.statistics(_cells(sums), shape[1], ties=metric.ties)
            estimate[i], count[i], bootstrap[i] = statistics.estimate, statistics.count, statistics.bootstrap
            row_variance[i] = statistics.count * statistics.delong
            pooled_variance[i], freedom[i] = _pooled_auc(row_variance[i], count[i])
            continue
        if seen.kinds[i] == "rate":
            successes[i] = np.where(count[i] > 0, estimate[i] * count[i], 0.0)
            successes[i] = np.round(successes[i]) if seen.whole else successes[i]
        slope = 1.0
        if seen.kinds[i] == "f1":
            slope = 2 / (1 + estimate[i]) ** 2
            estimate[i] = 2 * estimate[i] / (1 + estimate[i])
        bootstrap[i] = slope**2 * seen.bootstrap[i]
        row_variance[i] = slope**2 * row_variance[i]
        pooled_variance[i] = variances.pooled(
            row_variance[i],
            count[i],
            bootstrap[i],
            seen.size[i],
            _total_variance(seen.moments, i, seen.kinds[i]),
            pooling=pooling,
        )
        freedom[i] = seen.freedom[i].sum()
    defined = count > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        sampling = np.where(defined, pooled_variance[:, None] / count, np.nan)
    status, reason = _status(metrics, seen, estimate, count, row_variance, sums.rows)
    both = ("metric", "subgroup")
    data: dict[str, Any] = {
        "rows": ("subgroup", sums.rows),
        "count": (both, count),
        "successes": (both, successes),
        "estimate": (both, estimate),
        "row_variance": (both, row_variance),
        "sampling_variance": (both, sampling),
        "bootstrap_variance": (both, bootstrap),
        "pooled_variance": ("metric", pooled_variance),
        "pooled_df": ("metric", np.where(freedom > 0, freedom, np.nan)),
        "status": (both, status),
        "reason": (both, reason),
        **describe(metrics),
    }
    data["kind"] = ("metric", np.array(seen.kinds, dtype=str))
    if sums.weighted:
        data["weight"] = (both, sums.moments.weight)
    data |= _features(sums) | (sums.scores.variables(weighted=sums.weighted) if sums.scores is not None else {})
    if settings.get("score_grid") is not None:
        data["score_error_bound"] = ("subgroup", auc.error_bound(_cells(sums), len(sums.rows)))
    if sums.clusters is not None:
        data |= _clusters(sums, metrics, seen, cluster_analysis)
    coordinates = {"metric": np.array([metric.name for metric in metrics], dtype=str), **subgroups.coordinates()}
    if sums.features is not None:
        coordinates["feature"] = np.array(sums.features.names, dtype=str)
    check_attributes(subgroups.by, data)
    attrs = attributes(subgroups, {**settings, "pooled_variance": pooling})
    if sums.clusters is not None:
        attrs["cluster_analysis"] = cluster_analysis
    return xr.Dataset(data, coords=coordinates, attrs=attrs)


def attributes(subgroups: Subgroups, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a tally: schema, names of the attributes of subgroups with orders of levels, and how it was made."""
    orders = {"orders": {name: list(levels) for name, levels in subgroups.orders}} if subgroups.orders else {}
    by = as_json({"by": list(subgroups.by), **orders})
    return {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "by": by, "settings": as_json(settings)}


def describe(metrics: Sequence[Description]) -> dict[str, Any]:
    """The variables along ``metric`` that say what each metric is."""
    return {
        "kind": ("metric", np.array([metric.kind for metric in metrics], dtype=str)),
        "range_lower": ("metric", np.array([metric.lower for metric in metrics])),
        "range_upper": ("metric", np.array([metric.upper for metric in metrics])),
        "larger_is_better": ("metric", np.array([int(metric.larger_is_better) for metric in metrics], dtype=np.int8)),
        "undefined_when": ("metric", np.array([metric.undefined for metric in metrics], dtype=str)),
        "ties": ("metric", np.array([metric.ties for metric in metrics])),
    }


def descriptions(tally: xr.Dataset) -> list[Description]:
    """Descriptions of the metrics of a tally, the inverse of `describe`."""
    return [
        Description(
            str(metric["metric"].values), str(metric.get("row_kind", metric["kind"]).values),
            float(metric["range_lower"]), float(metric["range_upper"]),
            bool(metric["larger_is_better"]), str(metric["undefined_when"].values), float(metric["ties"]),
        )
        for metric in (tally.isel(metric=i) for i in range(tally.sizes["metric"]))
    ]  # fmt: skip


def _cells(sums: Sums) -> ScoreCells:
    assert sums.scores is not None, "an AUC is tallied with its score cells"
    return sums.scores


def _pooled_auc(row_variance: FloatArray, count: FloatArray) -> tuple[float, float]:
    """Pooled n0 n1 / (n0 + n1 + 1) x DeLong variance; the null value where no subgroup has any spread."""
    use = np.isfinite(row_variance)
    weight = float(count[use].sum())
    variance = float((count[use] * row_variance[use]).sum()) / weight if weight > 0 else 0.0
    freedom = float(np.maximum(count[use] - 1, 0).sum())
    return (variance if variance > 0 else variances.NULL_AUC_VARIANCE), freedom


def _total_variance(moments: Moments, i: int, kind: str) -> float:
    """Variance of all rows of a metric ignoring subgroups, divisor n - 1."""
    weight = moments.weight[i]
    total = weight.sum()
    if total <= 0:
        return float("nan")
    mean = np.nan_to_num(moments.mean[i])
    grand = (weight * mean).sum() / total
    scatter = (moments.scatter[i] + weight * (mean - grand) ** 2).sum()
    size = total**2 / moments.weight_squares[i].sum()
    slope = 2 / (1 + grand) ** 2 if kind == "f1" else 1.0
    return float(slope**2 * scatter / total * size / (size - 1)) if size > 1 else 0.0


def _rounding(estimate: FloatArray, row_variance: FloatArray) -> float:
    """Variance that is nothing but rounding, in one subgroup among all; 0 where there are none."""
    largest = np.nan_to_num(np.abs(estimate)).max(initial=0.0) + np.sqrt(np.nan_to_num(row_variance).max(initial=0.0))
    return float((np.finfo(np.float64).eps * largest) ** 2)


def _status(
    metrics: Sequence[Description], seen: Analysed, estimate: FloatArray, count: FloatArray, row_variance: FloatArray,
    rows: FloatArray,
) -> tuple[NDArray[np.str_], NDArray[np.str_]]:  # fmt: skip
    status = np.full(estimate.shape, "ok", dtype="<U9")
    reason = np.full(estimate.shape, "", dtype="<U60")
    for i, metric in enumerate(metrics):
        # A flat subgroup says nothing of its own spread: 0 of 3 is not certainty, nor are three equal losses.
        flat = row_variance[i] <= _rounding(estimate[i], row_variance[i])
        status[i, flat] = "saturated"
        reason[i, flat] = f"all {seen.unit}s agree"
        single = (count[i] > 0) & ~np.isfinite(row_variance[i])
        status[i, single] = "single"
        reason[i, single] = "one row of a class" if metric.kind == "auc" else seen.alone
        undefined = ~(count[i] > 0)
        status[i, undefined] = "undefined"
        reason[i, undefined] = np.where(rows[undefined] > 0, metric.undefined, "no rows")
    return status, reason


def _features(sums: Sums) -> dict[str, Any]:
    if sums.features is None:
        return {}
    weight = sums.features.weight
    with np.errstate(divide="ignore", invalid="ignore"):
        data: dict[str, Any] = {"feature_mean": (("subgroup", "feature"), sums.features.total / weight[:, None])}
    return {**data, "feature_weight": ("subgroup", weight)} if sums.weighted else data


def _clusters(sums: Sums, metrics: Sequence[Description], seen: Analysed, analysis: ClusterAnalysis) -> dict[str, Any]:
    cells, moments = sums.clusters, sums.moments
    assert cells is not None, "asked for with clusters only"
    number = np.bincount(cells.subgroup, minlength=len(sums.rows)).astype(np.float64)
    count, robust = np.full(seen.size.shape, np.nan), np.full(seen.size.shape, np.nan)
    correlation = np.full(len(metrics), np.nan)
    for i, metric in enumerate(metrics):
        if metric.kind != "auc":
            described = describe_clusters(sums, seen, i, metric.kind)
            count[i], robust[i], correlation[i] = described.number, described.robust_variance, described.correlation
    cell, both = ("metric", "cluster_cell"), ("metric", "subgroup")
    used = np.array(["ignore" if metric.kind == "auc" else analysis for metric in metrics])
    data: dict[str, Any] = {
        "clusters": ("subgroup", number),
        "cluster_analysis": ("metric", used),
        "cluster_count": (both, count),
        "cluster_robust_variance": (both, robust),
        "icc": ("metric", correlation),
        "cluster_subgroup": ("cluster_cell", cells.subgroup),
        "cluster_label": ("cluster_cell", cells.label),
        "cluster_rows": ("cluster_cell", cells.rows),
        "cluster_weight": (cell, cells.weight),
        "cluster_sum": (cell, cells.total),
        "row_kind": ("metric", np.array([metric.kind for metric in metrics], dtype=str)),
        "row_weight": (both, moments.weight),
        "row_weight_squares": (both, moments.weight_squares),
        "row_mean": (both, moments.mean),
        "row_scatter": (both, moments.scatter),
    }
    return {**data, "cluster_weight_squares": (cell, cells.squares)} if sums.weighted else data
