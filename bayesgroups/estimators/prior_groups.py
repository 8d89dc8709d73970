"""The groups of a report about its priors: draws from them, data that they imply, and their density at the posterior draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.likelihood_groups import SAMPLES, LikelihoodGroups, joined, likelihood_groups, parts_of
from bayesgroups.inference.nuts import along_metrics
from bayesgroups.inference.prior_draws import is_flat, sample_prior
from bayesgroups.report.posterior import Posterior

PRIOR_DRAWS = 1000
"""Draws from the prior, in one chain."""
PREDICTIVE = "posterior_predictive"
FLAT = "the priors are flat, so nothing can be drawn from them"


def prior_groups(
    tally: xr.Dataset, estimator: Estimator, posterior: xr.Dataset, wanted: Sequence[str], *, seed: int
) -> LikelihoodGroups:
    """Draws of the parameters that the posterior has, and of the observed nodes; all metrics are in one model."""
    if not wanted:
        return LikelihoodGroups({}, {})
    model = estimator.model(tally)
    if is_flat(model):
        return LikelihoodGroups({}, dict.fromkeys(wanted, FLAT))
    parameters = [str(name) for name in posterior.data_vars if name in model.named_vars]
    nodes = [variable.name for variable in model.observed_RVs]
    drawn = sample_prior(
        model, [*parameters, *(nodes if estimator.hides_parameters else ())], draws=PRIOR_DRAWS, seed=seed
    )
    prior = _as_in(drawn["prior"], posterior)
    groups = {"prior": prior} if "prior" in wanted else {}
    if "prior_predictive" not in wanted:
        return LikelihoodGroups(groups, {})
    made = joined([_predicted(prior, part, estimator, seed) for part in parts_of(tally, estimator)])
    if made.hidden and "prior_predictive" in drawn:  # from the parameters that PyMC has
        return LikelihoodGroups({**groups, "prior_predictive": drawn["prior_predictive"]}, {})
    if PREDICTIVE in made.reasons:
        return LikelihoodGroups(groups, {"prior_predictive": made.reasons[PREDICTIVE]})
    return LikelihoodGroups({**groups, "prior_predictive": made.groups[PREDICTIVE]}, {})


def _predicted(prior: xr.Dataset, tally: xr.Dataset, estimator: Estimator, seed: int) -> LikelihoodGroups:
    draws = Posterior(prior.sel(metric=tally["metric"].values), (), "prior")
    return likelihood_groups(draws, tally, estimator, [PREDICTIVE], seed=seed)


def log_prior_group(tally: xr.Dataset, estimator: Estimator, posterior: xr.Dataset) -> LikelihoodGroups:
    """Log density of the hyper-priors at the posterior draws, see `bayesgroups.inference.prior_densities`.

    One variable: ``hyper_parameters(chain, draw, metric)``, without ``metric`` where metrics are fitted together; or
    ``mu(chain, draw, metric, subgroup)`` where every subgroup has a prior of its own. Metrics that were not fitted have none.
    """
    drawn = posterior.stack(sample=SAMPLES, create_index=False)
    sizes = (posterior.sizes["chain"], posterior.sizes["draw"])
    densities, labels = [], []
    for metric in posterior["metric"].values:
        draws = drawn.sel(metric=metric)
        if not np.isfinite(draws["mu"].values).any():
            continue
        density = estimator.log_prior(draws, tally if estimator.joint else tally.sel(metric=[metric]))
        if density.value is None:
            return LikelihoodGroups({}, {"log_prior": density.reason})
        densities.append(density.value.reshape(*sizes, *density.value.shape[1:]))
        labels.append(metric)
        if estimator.joint:
            break
    if not densities:
        return LikelihoodGroups({}, {"log_prior": "every metric is undefined in every subgroup"})
    coordinates = {name: posterior[name].values for name in SAMPLES}
    if estimator.joint:
        return _of_one(xr.Dataset({"hyper_parameters": (SAMPLES, densities[0])}, coordinates))
    coordinates["metric"] = np.array(labels)
    stacked = np.stack(densities, axis=2)
    if stacked.ndim == 3:
        return _of_one(xr.Dataset({"hyper_parameters": ((*SAMPLES, "metric"), stacked)}, coordinates))
    values = xr.DataArray(
        stacked, {**coordinates, "subgroup": posterior["subgroup"].values}, (*SAMPLES, "metric", "subgroup")
    )
    return _of_one(xr.Dataset({"mu": values}))


def _of_one(group: xr.Dataset) -> LikelihoodGroups:
    return LikelihoodGroups({"log_prior": group}, {})


def _as_in(prior: xr.Dataset, posterior: xr.Dataset) -> xr.Dataset:
    """Draws from the prior with the dims, in their order, and the labels of the posterior."""
    prior = along_metrics(prior)
    kept = {str(name): prior[name].transpose(*posterior[name].dims) for name in posterior.data_vars if name in prior}
    used = {dim for values in kept.values() for dim in values.dims} - set(SAMPLES)
    labels = {str(dim): posterior[dim].values for dim in used if dim in posterior.coords}
    return xr.Dataset(kept).assign_coords(labels)
