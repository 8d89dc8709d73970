"""Random effects of clusters, integrated out: what is left of each subgroup is one estimate and its variance.

    m_gc ~ Normal(mu_g + b_gc, row_sd^2 / n_gc),   b_gc ~ Normal(0, cluster_sd^2)

Given both standard deviations the clusters of subgroup g say of mu_g as much as a single normal estimate, the mean of the
m_gc with weights 1 / (cluster_sd^2 + row_sd^2 / n_gc), and 1 / (sum of these weights) for variance.
"""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError


def integrate_clusters(
    metric: xr.Dataset, *, cluster_sd: float | None = None, row_sd: float | None = None
) -> xr.Dataset:
    """Estimates and variances (subgroup) that stand for all clusters of each subgroup, exactly; NaN where no row counts.

    The estimand is the value of a subgroup when the mean of a cluster has nothing to do with its size. Standard
    deviations of the cluster effects and of rows within a cluster, in units of the metric, are by default those of the
    tally, from its ``icc`` and ``pooled_variance``. When the clusters of a subgroup have one size these are the estimate
    and the variance of the ``robust`` analysis; otherwise large clusters weigh less than their rows do. InputError if
    there are no clusters, the metric is neither rate nor mean, or a standard deviation is negative or both are 0. Gelman
    et al. (2013), Bayesian Data Analysis, section 5.4.
    """
    name = str(metric["metric"].values)
    if "cluster_cell" not in metric.dims:
        raise InputError(f"metric {name!r} has no clusters to integrate out; tally the rows with cluster=")
    if str(metric["row_kind"].values) not in ("rate", "mean"):
        raise InputError(f"metric {name!r} is neither rate nor mean, so it has no effects of clusters")
    rho, variance = float(metric["icc"]), float(metric["pooled_variance"])
    rho = 1.0 if math.isnan(rho) else rho
    across = math.sqrt(rho * variance) if cluster_sd is None else cluster_sd
    within = math.sqrt((1 - rho) * variance) if row_sd is None else row_sd
    if not (across >= 0 and within >= 0 and across + within > 0):
        raise InputError(f"cluster_sd={across} and row_sd={within} must not be negative, nor both 0")
    weight, total = metric["cluster_weight"].values, metric["cluster_sum"].values
    squares = metric.get("cluster_weight_squares", metric["cluster_weight"]).values
    some = weight > 0
    size = metric.sizes["subgroup"]
    subgroup, mean = metric["cluster_subgroup"].values[some], total[some] / weight[some]
    precision = 1 / (across**2 + within**2 * squares[some] / weight[some] ** 2)
    information = np.bincount(subgroup, weights=precision, minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.bincount(subgroup, weights=precision * mean, minlength=size) / information
        left = np.where(information > 0, 1 / information, np.nan)
    return xr.Dataset(
        {"estimate": ("subgroup", estimate), "sampling_variance": ("subgroup", left)},
        coords={"subgroup": metric["subgroup"].values},
    )
