"""Exact posterior of subgroups that stand alone: conjugate, one subgroup at a time."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.inference.collapsed import conjugate
from bayesgroups.models.shared.scales import JEFFREYS, WEAK, natural_scale
from bayesgroups.report.diagnostics import independent_draws
from bayesgroups.report.posterior import Posterior, generator, lay_out


def sample(tally: xr.Dataset, *, seed: int, draws: int = 4000, binomial_likelihood: bool = True) -> Posterior:
    """Independent draws from the posterior of one metric.

    The same model as `bayesgroups.models.no_pooling`: a rate has the Jeffreys prior Beta(1/2, 1/2), anything else a weak
    normal prior around the centre of its scale. A subgroup without data gets draws from its prior.
    """
    metric = str(tally["metric"].values[0])
    rng = generator(seed, metric, "no_pooling")
    metric_tally = tally.isel(metric=0)
    if binomial_likelihood:
        k, n = np.nan_to_num(metric_tally["successes"].values), metric_tally["count"].values
        mu = conjugate.beta(k, n, rng, draws=draws, prior=JEFFREYS)
    else:
        natural = natural_scale(tally).isel(metric=0)
        mu = conjugate.normal(
            metric_tally["estimate"].values, metric_tally["sampling_variance"].values, rng, draws=draws,
            prior_mean=float(natural["centre"]), prior_sd=WEAK * float(natural["scale"]),
        )  # fmt: skip
    return Posterior(lay_out(tally, mu, {}), (independent_draws(metric, draws),), "collapsed")
