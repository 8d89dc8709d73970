"""Exact posterior of one value shared by all subgroups: conjugate, on the totals."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.inference.collapsed import conjugate
from bayesgroups.models.shared.scales import JEFFREYS, WEAK, natural_scale
from bayesgroups.report.diagnostics import independent_draws
from bayesgroups.report.posterior import Posterior, generator, lay_out


def sample(tally: xr.Dataset, *, seed: int, draws: int = 4000, binomial_likelihood: bool = True) -> Posterior:
    """Independent draws from the posterior of one metric; every subgroup has the same value.

    The same model as `bayesgroups.models.complete_pooling`: binomial counts, or normal estimates with known variances.
    """
    metric = str(tally["metric"].values[0])
    rng = generator(seed, metric, "complete_pooling")
    metric_tally = tally.isel(metric=0)
    if binomial_likelihood:
        k, n = np.nan_to_num(metric_tally["successes"].values), metric_tally["count"].values
        overall = conjugate.beta(k.sum(keepdims=True), n.sum(keepdims=True), rng, draws=draws, prior=JEFFREYS)
    else:
        natural = natural_scale(tally).isel(metric=0)
        z, v = conjugate.precision_weighted(metric_tally["estimate"].values, metric_tally["sampling_variance"].values)
        overall = conjugate.normal(
            z, v, rng, draws=draws, prior_mean=float(natural["centre"]), prior_sd=WEAK * float(natural["scale"])
        )
    mu = np.repeat(overall, tally.sizes["subgroup"], axis=1)
    laid_out = lay_out(tally, mu, {"overall": overall[:, 0]})
    return Posterior(laid_out, (independent_draws(metric, draws),), "collapsed")
