"""No pooling: the standard estimate of every subgroup by itself, with an interval of choice."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist import anytime
from bayesgroups.frequentist.answer import assemble, check_interval
from bayesgroups.frequentist.intervals import means, proportions
from bayesgroups.frequentist.intervals.interval import Interval, stack
from bayesgroups.report.levels import LEVELS

OfRates = Literal["wilson", "jeffreys", "clopper_pearson", "wald", "percentile"]
OfEstimates = Literal["pooled_normal", "separate_normal"]
OfRows = Literal["pooled_t", "t"]
OfClusters = Literal["cluster_robust"]
Choice = Literal["auto", "anytime"] | OfRates | OfEstimates | OfRows | OfClusters

RATES: tuple[str, ...] = get_args(OfRates)
ESTIMATES: tuple[str, ...] = get_args(OfEstimates)
ROWS: tuple[str, ...] = get_args(OfRows)
CLUSTERS: tuple[str, ...] = get_args(OfClusters)


@checked_keywords
def estimate(tally: xr.Dataset, *, interval: Choice = "auto", fixed: anytime.Anytime = anytime.FIXED) -> xr.Dataset:
    """Estimate every metric in every subgroup from its own rows.

    Estimand: the value of the metric in the population of each subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally, see `bayesgroups.tallies`.
    interval : str
        ``wilson``, ``jeffreys``, ``clopper_pearson``, ``wald``, ``percentile`` for rates; ``pooled_normal``
        and ``pooled_t`` with one row variance for all subgroups; ``separate_normal`` with the bootstrap
        variance and ``t`` with the row variance of each subgroup; ``cluster_robust`` with the variance between the
        clusters of each subgroup, t with one degree of freedom less than it has clusters, and the pooled interval
        where it has one; ``anytime`` for rates and means, valid at all looks together. ``auto`` is Wilson for rates and pooled t
        for everything else, or pooled normal where the pooled variance has no degrees of freedom.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`; NaN where a subgroup has no data. ``std_error`` is
        that of the bootstrap with ``separate_normal``, that of the subgroup's own rows with ``t`` and clusters
        with ``cluster_robust``, and the pooled one otherwise.

    Raises
    ------
    InputError
        If the interval does not exist, or not for a metric of the tally; if ``percentile`` meets counts that
        are not whole; if ``cluster_robust`` meets a tally without clusters, or one that ignores them.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Eqs 1, 6, 7 and Appendix A; Liang and Zeger (1986),
    doi:10.1093/biomet/73.1.13, for clusters.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import no_pooling
    >>> site = pd.DataFrame({"site": ["a", "b", "c"]})
    >>> counts = bg.tally_from_counts([9, 0, 0], [10, 5, 0], site, metric="acc")
    >>> answer = no_pooling.estimate(counts).sel(metric="acc", level=0.95)
    >>> answer["lower"].values.round(4).tolist(), answer["upper"].values.round(4).tolist()
    ([0.5958, 0.0, nan], [0.9821, 0.4345, nan])
    """
    check_interval("no_pooling", interval, get_args(Literal["auto", "anytime"]) + RATES + ESTIMATES + ROWS + CLUSTERS)
    methods, std_error = [], np.empty((tally.sizes["metric"], tally.sizes["subgroup"]))
    by_level: list[list[Interval]] = [[] for _ in LEVELS]
    for i in range(tally.sizes["metric"]):
        metric_tally = tally.isel(metric=i)
        method = _method(metric_tally, interval)
        for level, limits in zip(LEVELS, by_level, strict=True):
            limits.append(_interval(metric_tally, method, level, fixed))
        std_error[i] = _std_error(metric_tally, method)
        methods.append(method)
    estimates, intervals = tally["estimate"].transpose("metric", "subgroup").values, [stack(each) for each in by_level]
    return assemble(tally, estimate=estimates, std_error=std_error, intervals=intervals, methods=methods)


def _method(metric_tally: xr.Dataset, interval: Choice) -> str:
    """The interval for one metric."""
    name, kind = str(metric_tally["metric"].values), str(metric_tally["kind"].values)
    if interval == "auto":
        if kind == "rate":
            return "wilson"
        return _pooled(metric_tally)
    if interval == "cluster_robust":
        _check_clusters(metric_tally)
        return interval
    if interval == "anytime":
        return anytime.method(metric_tally)
    choices = {"rate": RATES + ESTIMATES + ROWS, "estimate": ESTIMATES}.get(kind, ESTIMATES + ROWS)
    if interval not in choices:
        raise InputError(
            f"metric {name!r} has no interval {interval!r}, because its kind is {kind!r}; "
            f"use 'auto' or one of {', '.join(repr(choice) for choice in choices)}"
        )
    return interval


def _pooled(metric_tally: xr.Dataset) -> Literal["pooled_t", "pooled_normal"]:
    return "pooled_t" if float(metric_tally["pooled_df"]) > 0 else "pooled_normal"


def _check_clusters(metric_tally: xr.Dataset) -> None:
    name = str(metric_tally["metric"].values)
    if "cluster_analysis" not in metric_tally:
        raise InputError(
            f"metric {name!r} has no interval 'cluster_robust', because the tally has no clusters; "
            "name their column, as bg.tally(..., cluster='speaker')"
        )
    if str(metric_tally["cluster_analysis"].values) == "ignore":
        fix = (
            "an AUC has no analysis by clusters"
            if str(metric_tally["kind"].values) == "auc"
            else "use 'robust' or 'mean'"
        )
        raise InputError(
            f"metric {name!r} has no interval 'cluster_robust', because its cluster_analysis is 'ignore'; {fix}"
        )


def _interval(metric_tally: xr.Dataset, method: str, level: float, fixed: anytime.Anytime) -> Interval:
    """The interval of all subgroups of one metric."""
    z = metric_tally["estimate"].values
    match method:
        case "pooled_normal":
            return means.pooled_normal(z, metric_tally["sampling_variance"].values, level)
        case "pooled_t":
            return means.pooled_t(z, metric_tally["sampling_variance"].values, float(metric_tally["pooled_df"]), level)
        case "separate_normal":
            return means.separate_normal(z, metric_tally["bootstrap_variance"].values, level)
        case "t":
            return means.t(z, metric_tally["row_variance"].values, metric_tally["count"].values, level)
        case "cluster_robust":
            clusters, variance = metric_tally["cluster_count"].values, metric_tally["cluster_robust_variance"].values
            # A single cluster does not show how far clusters lie apart.
            shared = _interval(metric_tally, _pooled(metric_tally), level, fixed)
            return shared.where(np.isnan(variance), means.t(z, variance * clusters, clusters, level))
        case "anytime_beta" | "anytime_normal":
            return anytime.limits(metric_tally, level, fixed)
    k, n = metric_tally["successes"].values, metric_tally["count"].values
    match method:
        case "jeffreys":
            return proportions.jeffreys(k, n, level)
        case "clopper_pearson":
            return proportions.clopper_pearson(k, n, level)
        case "wald":
            return proportions.wald(k, n, level)
        case "percentile":
            try:
                return proportions.percentile(k, n, level)
            except InputError as problem:
                raise InputError(f"metric {str(metric_tally['metric'].values)!r}: {problem}") from None
    return proportions.wilson(k, n, level)


def _std_error(metric_tally: xr.Dataset, method: str) -> FloatArray:
    if method == "separate_normal":
        variance = metric_tally["bootstrap_variance"].values
    elif method == "t":
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = metric_tally["row_variance"].values / metric_tally["count"].values
    elif method == "cluster_robust":
        robust_variance = metric_tally["cluster_robust_variance"].values
        variance = np.where(np.isnan(robust_variance), metric_tally["sampling_variance"].values, robust_variance)
    else:
        variance = metric_tally["sampling_variance"].values
    return np.where(np.isfinite(metric_tally["estimate"].values), np.sqrt(variance), np.nan)
