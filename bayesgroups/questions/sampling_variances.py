"""Sampling variances of one metric in the subgroups of a tally where it can be estimated, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import SchemaError
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.denominators import denominators
from bayesgroups.tallies.participation import participants


@dataclass(frozen=True)
class Estimates:
    """Estimates of one metric with their sampling variances; arrays (subgroup,) of the subgroups that are used.

    ``count`` are effective denominators, infinite for published estimates, and ``denominators`` the rows or weights
    themselves; ``v`` is the unbiased estimate of the sampling variance from the subgroup's own rows, ``pooled`` that from
    the pooled row variance, which stands for ``v`` too where a second row is lacking (``rests_on_pooling``). ``resampled``
    is the variance that resampling the rows adds, denominators kept. ``used`` is over all subgroups of the tally,
    ``left_out`` the labels of the others with reasons, ``binomial`` tells of a rate of independent rows.
    """

    metric: str
    kind: str
    y: FloatArray
    count: FloatArray
    denominators: FloatArray
    v: FloatArray
    pooled: FloatArray
    resampled: FloatArray
    rests_on_pooling: BoolArray
    used: BoolArray
    left_out: str
    binomial: bool


def check_tally(tally: object) -> None:
    """Refusal, as a SchemaError, of anything but a tally; as an InputError of targets, which overlap."""
    refuse_overlapping(tally, "a tally")
    if not isinstance(tally, xr.Dataset) or tally.attrs.get("schema") != SCHEMA:
        raise SchemaError(f"tally must come from bg.tally() or a related function; got {type(tally).__name__}")


def read_estimates(tally: xr.Dataset, position: int) -> Estimates:
    """Estimates of the metric at a position, and their sampling variances."""
    metric = tally.isel(metric=position)
    y, count, row_variance, pooled = (
        np.asarray(metric[name].values, dtype=np.float64)
        for name in ("estimate", "count", "row_variance", "sampling_variance")
    )
    kind = str(metric["kind"].values)
    taking_part = participants(metric, np.isfinite(y) & np.isfinite(pooled), "leave_out")
    used = taking_part.included
    published = kind == "estimate"
    if published:
        count = np.full(count.shape, np.inf)
    lacks_row = ~np.isfinite(row_variance) | (count <= 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        v = np.where(lacks_row, pooled, row_variance / count)
    clustered = "cluster_analysis" in tally.data_vars and str(metric["cluster_analysis"].values) != "ignore"
    if published:
        resampled = pooled
    elif kind == "auc" or clustered:
        resampled = np.asarray(metric["bootstrap_variance"].values, dtype=np.float64)
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            resampled = np.where(lacks_row, 0.0, v * (count - 1) / count)
    return Estimates(
        metric=str(metric["metric"].values),
        kind=kind,
        y=y[used],
        count=count[used],
        denominators=denominators(metric)[used],
        v=v[used],
        pooled=pooled[used],
        resampled=resampled[used],
        rests_on_pooling=lacks_row[used] & (not published),
        used=used,
        left_out=taking_part.names,
        binomial=kind == "rate" and not clustered,
    )


def covariance_of(metric: xr.Dataset, used: BoolArray) -> FloatArray | None:
    """Covariance of the errors of a metric's cells, NaN in those that take no part; None where errors are independent."""
    if "sampling_covariance" not in metric or not np.isfinite(metric["sampling_covariance"].values).any():
        return None
    return np.where(used[:, None] & used, metric["sampling_covariance"].values, np.nan)


def clusters_in_common(metric: xr.Dataset) -> FloatArray:
    """Number of clusters (cell, cell) with a row that counts for a metric in both cells."""
    from scipy.sparse import coo_array

    labels = np.unique(metric["cluster_label"].values, return_inverse=True)[1]
    cells = metric["cluster_subgroup"].values
    counts = (np.nan_to_num(metric["cluster_weight"].values) > 0).astype(np.float64)
    shape = metric.sizes["subgroup"], int(labels.max(initial=-1)) + 1
    table = coo_array((counts, (cells, labels)), shape=shape).tocsr()
    return np.asarray((table @ table.T).todense(), dtype=np.float64)
