"""Exact posterior of subgroups that stand alone: conjugate, one subgroup at a time."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.inference.collapsed import conjugate
from bayesgroups.inference.correlated_errors import covariance_of, directions_of
from bayesgroups.models.shared.scales import JEFFREYS, WEAK, natural_scale
from bayesgroups.report.diagnostics import independent_draws
from bayesgroups.report.posterior import Posterior, generator, lay_out


def sample(tally: xr.Dataset, *, seed: int, draws: int = 4000, binomial_likelihood: bool = True) -> Posterior:
    """Independent draws from the posterior of one metric.

    The same model as `bayesgroups.models.no_pooling`: a rate has the Jeffreys prior Beta(1/2, 1/2), anything else a weak
    normal prior around the centre of its scale; errors are correlated where the tally says so. A subgroup without data gets
    draws from its prior.
    """
    metric = str(tally["metric"].values[0])
    rng = generator(seed, metric, "no_pooling")
    metric_tally = tally.isel(metric=0)
    if binomial_likelihood:
        k, n = np.nan_to_num(metric_tally["successes"].values), metric_tally["count"].values
        mu = conjugate.beta(k, n, rng, draws=draws, prior=JEFFREYS)
    else:
        natural = natural_scale(tally).isel(metric=0)
        z, v = metric_tally["estimate"].values, metric_tally["sampling_variance"].values
        centre, wide = float(natural["centre"]), WEAK * float(natural["scale"])
        covariance = covariance_of(tally)
        if covariance is None:
            mu = conjugate.normal(z, v, rng, draws=draws, prior_mean=centre, prior_sd=wide)
        else:
            turned = directions_of(covariance)
            along = turned.along(z - centre)
            drawn = conjugate.normal(along, turned.variance, rng, draws=draws, prior_mean=0.0, prior_sd=wide)
            mu = centre + turned.back(drawn)
    return Posterior(lay_out(tally, mu, {}), (independent_draws(metric, draws),), "collapsed")
