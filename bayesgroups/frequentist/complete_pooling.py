"""Complete pooling: the weighted mean over all subgroups, for every subgroup."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.frequentist.answer import Answer, lay_out
from bayesgroups.frequentist.intervals import Interval, means, proportions
from bayesgroups.levels import LEVELS


def estimate(tally: xr.Dataset) -> xr.Dataset:
    """Estimate one value for all subgroups.

    Estimand: the metric of all rows together, which is the metric of a subgroup only if subgroups do not differ.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist`, with ``overall(metric)``. The mean is weighted by ``count`` (by the
        inverse sampling variance for published estimates). Intervals: Wilson on the totals for rates, otherwise t with
        the pooled variance (normal where it has no degrees of freedom). Subgroups without data have status
        ``imputed``.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Figure 8 (intercept only).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import complete_pooling
    >>> counts = bg.tally_from_counts([9, 0], [10, 5], pd.DataFrame({"site": ["a", "b"]}))
    >>> complete_pooling.estimate(counts)["estimate"].values.tolist()
    [[0.6, 0.6]]
    """
    return lay_out(tally, [_one(tally.isel(metric=i)) for i in range(tally.sizes["metric"])])


def _one(one: xr.Dataset) -> Answer:
    z, v = one["estimate"].values, one["sampling_variance"].values
    size, kind, df = len(z), str(one["kind"].values), float(one["pooled_df"])
    status = np.where(one["status"].values == "undefined", "imputed", one["status"].values.astype("<U10"))
    if kind == "rate":
        total = np.array([one["count"].values.sum()])
        k = np.array([np.nan_to_num(one["successes"].values).sum()])
        mean = k / total if total[0] > 0 else np.array([np.nan])
        std_error = np.sqrt(np.array([float(one["pooled_variance"])]) / total) if total[0] > 0 else np.array([np.nan])
        intervals = [proportions.wilson(k, total, level) for level in LEVELS]
        method = "wilson"
    else:
        mean, variance = _weighted(z, v)
        std_error = np.sqrt(variance)
        method = "pooled_t" if np.isfinite(df) else "pooled_normal"
        intervals = [
            means.t(mean, variance, np.array([df]), level)
            if method == "pooled_t"
            else means.normal(mean, variance, level)
            for level in LEVELS
        ]
    if not np.isfinite(mean[0]):
        status = one["status"].values
    spread = [Interval(np.repeat(interval.lower, size), np.repeat(interval.upper, size)) for interval in intervals]
    return Answer(
        np.repeat(mean, size), np.repeat(std_error, size), spread, method, status, scalar={"overall": float(mean[0])}
    )


def _weighted(z: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean with weights 1/v and its variance; estimates known exactly outweigh all others."""
    some = np.isfinite(z) & np.isfinite(v)
    z, v = z[some], v[some]
    if len(z) == 0:
        return np.array([np.nan]), np.array([np.nan])
    if (v == 0).any():
        return np.array([z[v == 0].mean()]), np.array([0.0])
    weight = v.min() / v
    return np.array([(weight * z).sum() / weight.sum()]), np.array([v.min() / weight.sum()])
