"""Sampling variances of one metric in the subgroups of a tally where it can be estimated, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.errors import SchemaError
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.participation import participants

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Estimates:
    """Estimates of one metric with their sampling variances; arrays (subgroup,) of the subgroups that are used.

    Attributes
    ----------
    metric, kind : str
        As in the tally.
    y, count : array
        Estimate, effective denominator; the latter is infinite for published estimates.
    v, pooled : array
        Unbiased estimate of the sampling variance from the subgroup's own rows, and from the pooled row variance; the
        former is the latter where there is one row.
    resampled : array
        Variance that resampling the rows adds, denominators kept.
    rests_on_pooling : bool array
        Where ``v`` is ``pooled`` for lack of a second row.
    used : bool array
        Over all subgroups of the tally.
    left_out : str
        Labels of the others, with the reasons, joined by "; ".
    binomial : bool
        Whether the metric is a rate of independent rows.
    """

    metric: str
    kind: str
    y: FloatArray
    count: FloatArray
    v: FloatArray
    pooled: FloatArray
    resampled: FloatArray
    rests_on_pooling: BoolArray
    used: BoolArray
    left_out: str
    binomial: bool


def check_tally(tally: object) -> None:
    """Check that something is a tally.

    Raises
    ------
    SchemaError
        If it is not.
    """
    if not isinstance(tally, xr.Dataset) or tally.attrs.get("schema") != SCHEMA:
        raise SchemaError(f"tally must come from bg.tally() or a related function; got {type(tally).__name__}")


def read_estimates(tally: xr.Dataset, position: int) -> Estimates:
    """Read the estimates of one metric and their sampling variances.

    Parameters
    ----------
    tally : xr.Dataset
    position : int
        Of the metric.

    Returns
    -------
    Estimates

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> sites = pd.DataFrame({"site": ["a", "b", "c", "d"]})
    >>> estimates = read_estimates(bg.tally_from_counts([1, 3, 0, 1], [4, 9, 0, 1], sites), 0)
    >>> estimates.y.round(3).tolist(), estimates.left_out
    ([0.25, 0.333, 1.0], 'c (no rows)')
    >>> estimates.v.round(3).tolist(), estimates.rests_on_pooling.tolist()
    ([0.062, 0.028, 0.25], [False, False, True])
    """
    one = tally.isel(metric=position)
    y, count, row_variance, pooled = (
        np.asarray(one[name].values, dtype=np.float64)
        for name in ("estimate", "count", "row_variance", "sampling_variance")
    )
    kind = str(one["kind"].values)
    taking_part = participants(one, np.isfinite(y) & np.isfinite(pooled), "leave_out")
    used = taking_part.included
    published = kind == "estimate"
    if published:
        count = np.full(count.shape, np.inf)
    lacks_row = ~np.isfinite(row_variance) | (count <= 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        v = np.where(lacks_row, pooled, row_variance / count)
    clustered = "cluster_analysis" in tally and str(one["cluster_analysis"].values) != "ignore"
    if published:
        resampled = pooled
    elif kind == "auc" or clustered:
        resampled = np.asarray(one["bootstrap_variance"].values, dtype=np.float64)
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            resampled = np.where(lacks_row, 0.0, v * (count - 1) / count)
    return Estimates(
        metric=str(one["metric"].values),
        kind=kind,
        y=y[used],
        count=count[used],
        v=v[used],
        pooled=pooled[used],
        resampled=resampled[used],
        rests_on_pooling=lacks_row[used] & (not published),
        used=used,
        left_out=taking_part.names,
        binomial=kind == "rate" and not clustered,
    )
