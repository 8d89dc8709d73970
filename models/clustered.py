"""Exchangeable partial pooling with a random effect of every cluster of rows, integrated out in closed form.

For metric m, subgroup g and its clusters c with n[c] rows that count, and rho[m] the correlation of two rows of a cluster,

rates (beta-binomial; the rate of a cluster is a draw from Beta(mu k, (1 - mu) k) with k = 1 / rho - 1)
    alpha ~ Normal(0, 1.5), tau ~ HalfNormal(0.5), mu[m, g] = invlogit(alpha[m] + tau[m] z[m, g])
    successes[c] ~ BetaBinomial(n[c], mu[m, g] k[m], (1 - mu[m, g]) k[m])

means (normal; the mean of a cluster is a draw from Normal(mu, sqrt(rho) sigma), a row from there with sd sqrt(1 - rho) sigma)
    overall ~ Normal(centre, scale), tau ~ HalfNormal(scale / 2), mu[m, g] = overall[m] + tau[m] z[m, g]
    mean[c] ~ Normal(mu[m, g], sigma[m] sqrt(rho[m] + (1 - rho[m]) / n[c]))
    within[m] ~ (1 - rho[m]) sigma[m]^2 chi^2(rows - clusters), the sum of squares within clusters

with rho[m] ~ Beta(1, 3), sigma[m] ~ HalfNormal(2 row_sd) with the pooled standard deviation of a row, and z standard
normal. Centre and scale come from ``scales``. Clusters are taken to be the same whatever their size, so the value of a
subgroup is both that of its rows and that of a new cluster.

What the priors imply: two rows of a cluster correlate by .01, .09, .21, .37, .71 at the quantiles 2.5, 25, 50, 75,
97.5 %; the rest is as in ``partial_pooling``.

References
----------
Gelman and Hill (2007), chapter 12; Williams (1975), the beta-binomial for clusters, doi:10.2307/2529820.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from .shared.cells import Likelihood
from .shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, chosen, natural_scale

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

CORRELATION = (1.0, 3.0)
"""Parameters of the Beta prior of the correlation of two rows of one cluster."""
ROW_SD = 2.0
"""Scale of the half-normal prior of the standard deviation of a row, as a multiple of the pooled one."""


@dataclass(frozen=True)
class _Cells:
    """Clusters with a row that counts: positions of metric and subgroup, rows and sums of values, all (C,)."""

    metric: IntArray
    subgroup: IntArray
    rows: FloatArray
    total: FloatArray


def build_with_clusters(
    tally: xr.Dataset,
    *,
    likelihood: Likelihood = "auto",
    overall_scale: float | None = None,
    tau_scale: float | None = None,
) -> pm.Model:
    """Build the model of all metrics of a tally with clusters; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        From ``bg.tally(..., cluster=...)`` without weights, whatever its analysis of clusters; rates and means.
    likelihood, overall_scale, tau_scale
        As in ``partial_pooling.build``; ``normal`` gives clusters of rates a normal likelihood as well.

    Returns
    -------
    pm.Model
        With ``mu(metric, subgroup)``, ``overall(metric)``, ``tau(metric)`` and ``icc(metric)``; ``row_sd(mean_metric)``
        where there are means.

    Raises
    ------
    ValueError
        If the tally has no clusters, has weights, a metric is neither rate nor mean, or a setting is refused as in
        ``partial_pooling.build``.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"g": list("aaabbb"), "speaker": [1, 1, 2, 3, 3, 4], "hit": [1, 1, 0, 0, 0, 1]})
    >>> tally = bg.tally(rows, ["g"], ["sel"], y_pred="hit", cluster="speaker")
    >>> [variable.name for variable in build_with_clusters(tally).free_RVs]
    ['alpha', 'tau', 'z', 'icc']
    """
    _check(tally, likelihood)
    rate = (tally["row_kind"].values == "rate") & (likelihood != "normal")
    natural, cells = natural_scale(tally), _cells(tally)
    centre = np.where(rate, 0.0, natural["centre"].values)
    width = chosen(
        np.where(rate, LOGIT_OVERALL_SCALE, natural["scale"].values),
        overall_scale,
        "overall_scale",
        logit=bool(rate.any()),
    )
    spread = chosen(
        np.where(rate, LOGIT_TAU_SCALE, natural["tau_scale"].values), tau_scale, "tau_scale", logit=bool(rate.any())
    )
    coords = {"metric": tally["metric"].values, "subgroup": tally["subgroup"].values}
    with pm.Model(coords=coords) as model:
        location = pm.Normal("alpha" if rate.any() else "overall", mu=centre, sigma=width, dims="metric")
        if rate.any():
            pm.Deterministic("overall", _own_scale(location, rate), dims="metric")
        tau = pm.HalfNormal("tau", sigma=spread, dims="metric")
        z = pm.Normal("z", dims=("metric", "subgroup"))
        eta = location[:, None] + tau[:, None] * z
        pm.Deterministic("mu", _own_scale(eta, rate[:, None]), dims=("metric", "subgroup"))
        icc = pm.Beta("icc", *CORRELATION, dims="metric")
        _observe_rates(cells, rate, eta, icc)
        _observe_means(tally, cells, ~rate, eta, icc)
    return model


def _check(tally: xr.Dataset, likelihood: str) -> None:
    if "cluster_cell" not in tally.dims:
        raise ValueError("the tally has no clusters; name their column, as bg.tally(..., cluster='speaker')")
    if "weight" in tally.data_vars:
        raise ValueError("rows have weights, and a likelihood of clusters needs whole rows; tally without weights=")
    for name, kind in zip(tally["metric"].values, tally["row_kind"].values, strict=True):
        if kind not in ("rate", "mean"):
            raise ValueError(f"metric {str(name)!r} has no likelihood of clusters, because its kind is {str(kind)!r}")
        if likelihood == "binomial" and kind != "rate":
            raise ValueError(
                f"metric {str(name)!r} is not a rate (kind {str(kind)!r}), so it has no binomial likelihood"
            )


def _cells(tally: xr.Dataset) -> _Cells:
    rows = tally["cluster_weight"].values
    metric, cell = np.nonzero(rows > 0)
    subgroup, total = tally["cluster_subgroup"].values, tally["cluster_sum"].values
    return _Cells(metric, subgroup[cell], rows[metric, cell], total[metric, cell])


def _observe_rates(cells: _Cells, rate: BoolArray, eta: Tensor, icc: Tensor) -> None:
    some = rate[cells.metric]
    if not some.any():
        return
    metric, subgroup = cells.metric[some], cells.subgroup[some]
    size = 1 / icc[metric] - 1
    pm.BetaBinomial(
        "successes",
        n=cells.rows[some].astype(np.int64),
        alpha=pm.math.invlogit(eta[metric, subgroup]) * size,
        beta=pm.math.invlogit(-eta[metric, subgroup]) * size,
        observed=cells.total[some].astype(np.int64),
    )


def _observe_means(tally: xr.Dataset, cells: _Cells, mean: BoolArray, eta: Tensor, icc: Tensor) -> None:
    some = mean[cells.metric]
    if not some.any():
        return
    model: Any = pm.modelcontext(None)
    model.add_coord("mean_metric", tally["metric"].values[mean])
    typical = np.sqrt(tally["pooled_variance"].values)[mean]
    sd = pm.HalfNormal("row_sd", sigma=ROW_SD * np.where(typical > 0, typical, 1.0), dims="mean_metric")
    metric, subgroup, rows = cells.metric[some], cells.subgroup[some], cells.rows[some]
    own = (np.cumsum(mean) - 1)[metric]
    correlation = icc[metric]
    value = cells.total[some] / rows
    pm.Normal(
        "cluster_mean",
        mu=eta[metric, subgroup],
        sigma=sd[own] * pm.math.sqrt(correlation + (1 - correlation) / rows),
        observed=value,
    )
    freedom = np.bincount(own, weights=rows - 1)
    centre = tally["row_mean"].values[metric, subgroup]
    between = np.bincount(own, weights=rows * (value - centre) ** 2)
    within = tally["row_scatter"].values[mean].sum(axis=1) - between
    seen = np.flatnonzero((freedom > 0) & (within > 0))
    if len(seen):
        variance = (1 - icc[np.flatnonzero(mean)[seen]]) * sd[seen] ** 2
        pm.Gamma("within", alpha=freedom[seen] / 2, beta=1 / (2 * variance), observed=within[seen])


def _own_scale(value: Tensor, rate: BoolArray) -> Tensor:
    """From the scale of the hierarchy to the scale of the metric; ``rate`` broadcasts against ``value``."""
    if rate.all():
        return pm.math.invlogit(value)
    return pm.math.switch(rate, pm.math.invlogit(value), value) if rate.any() else value
