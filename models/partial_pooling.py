"""Exchangeable partial pooling: every subgroup value is drawn from one population per metric.

For metric m and subgroup g, with a[m] the centre of the population and tau[m] its standard deviation,

    eta[m, g] = a[m] + tau[m] z[m, g],     z[m, g] ~ Normal(0, 1)

rates (binomial likelihood, hierarchy on the logit scale)
    a = alpha ~ Normal(0, 1.5),            tau ~ HalfNormal(0.5)
    mu[m, g] = invlogit(eta[m, g]),        overall[m] = invlogit(alpha[m])
    successes[m, g] ~ Binomial(count[m, g], mu[m, g])

all other metrics (normal likelihood, hierarchy on the metric's own scale; centre and scale from ``scales``)
    a = overall ~ Normal(centre, scale),   tau ~ HalfNormal(scale / 2)
    mu[m, g] = eta[m, g]
    estimate[m, g] ~ Normal(mu[m, g], std_error[m, g]), standard errors known

with covariates the centre is a regression, its columns x as in ``area_design``
    eta[m, g] = a[m] + x[g] . beta[m] + tau[m] z[m, g]
    rates                                  a as above, beta ~ Normal(0, 2.5)
    all other metrics                      a and beta flat, unless they are given a scale

Parameters: ``overall(metric)``, ``tau(metric)``, ``mu(metric, subgroup)``; ``beta(metric, covariate)`` if there are covariates;
``alpha(metric)`` if there are rates (for other metrics it equals ``overall``); latent ``z(metric, subgroup)``, which is the z
above moved and scaled by what the data say of its subgroup, see ``latent_effects``. Subgroups that are not observed are drawn
from the population.

What the priors imply (quantiles):

=============================================  ======  =====  =====  =====  ======
quantity                                       2.5 %   25 %   50 %   75 %   97.5 %
=============================================  ======  =====  =====  =====  ======
rates: overall                                 .05     .27    .50    .73    .95
rates: tau (logit scale)                       .02     .16    .34    .58    1.12
rates: mu of a subgroup, if overall is .10     .036    .085   .100   .118   .248
rates: mu of a subgroup, if overall is .50     .25     .45    .50    .55    .75
range [0, 1], normal: overall                  -.48    .16    .50    .84    1.48
range [0, 1], normal: tau                      .01     .08    .17    .29    .56
range [0, 1], normal: mu - overall             -.55    -.09   .00    .09    .55
=============================================  ======  =====  =====  =====  ======

References
----------
Gelman et al. (2013), Bayesian Data Analysis, 3rd edition, chapter 5. Gelman (2006), priors of group-level standard
deviations, doi:10.1214/06-BA117A. Papaspiliopoulos et al. (2007), centred and non-centred parametrisations,
doi:10.1214/088342307000000014. Fay, Herriot (1979), regression of small areas, doi:10.1080/01621459.1979.10482505.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from .coefficients import weak_or_flat
from .latent_effects import latent_effects, pseudo_data
from .likelihoods import observe_estimates, observe_successes
from .shared.area_design import COEFFICIENT_LOGIT, area_design
from .shared.cells import Likelihood, binomial_cells, binomial_metrics, normal_cells
from .shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, check_scale, chosen, natural_scale

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""


def build(
    tally: xr.Dataset,
    *,
    likelihood: Likelihood = "auto",
    overall_scale: float | None = None,
    tau_scale: float | None = None,
    covariates: Sequence[str] = (),
    coefficient_scale: float | None = None,
) -> pm.Model:
    """Build the model of all metrics of the tally; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with dims ``metric`` and ``subgroup``.
    likelihood : {"auto", "binomial", "normal"}
        ``auto`` is binomial for rates and normal for all other metrics.
    overall_scale : float, optional
        Standard deviation of the prior of the centre, on the scale of the hierarchy (logit for binomial metrics, the
        metric's own otherwise), for all metrics; by default as in the module docstring.
    tau_scale : float, optional
        Scale of the half-normal prior of ``tau``, likewise.
    covariates : sequence of str
        Attributes or features of the tally that the centre is a regression on.
    coefficient_scale : float, optional
        Standard deviation of the priors of their coefficients, likewise; by default as in the module docstring.

    Returns
    -------
    pm.Model
        With ``mu(metric, subgroup)``, ``overall(metric)`` and ``tau(metric)``, and ``beta(metric, covariate)``.

    Raises
    ------
    ValueError
        If a scale is not a positive finite number, the likelihood is not one of the three, a binomial likelihood is asked
        of a metric that is not a rate, or the tally does not have a covariate.

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"count": (cells, [[10.0, 5.0]]), "successes": (cells, [[2.0, 4.0]]), "kind": ("metric", ["rate"]),
    ...      "estimate": (cells, [[0.2, 0.8]]), "sampling_variance": (cells, [[0.016, 0.032]]),
    ...      "pooled_variance": ("metric", [0.16]), "range_lower": ("metric", [0.0]),
    ...      "range_upper": ("metric", [1.0])},
    ...     coords={"metric": ["fnr"], "subgroup": ["a", "b"]})
    >>> [variable.name for variable in build(tally).free_RVs]
    ['alpha', 'tau', 'z']
    """
    binomial = binomial_metrics(tally, likelihood)
    natural = natural_scale(tally)
    counts = binomial_cells(tally, binomial)
    estimates = normal_cells(tally, ~binomial, natural["scale"].values)

    centre = np.where(binomial, 0.0, natural["centre"].values)
    width = np.where(binomial, LOGIT_OVERALL_SCALE, natural["scale"].values)
    spread = np.where(binomial, LOGIT_TAU_SCALE, natural["tau_scale"].values)
    width = chosen(width, overall_scale, "overall_scale", logit=bool(binomial.any()))
    spread = chosen(spread, tau_scale, "tau_scale", logit=bool(binomial.any()))

    width = np.where(~binomial & bool(covariates) & (overall_scale is None), np.inf, width)

    coords = {"metric": tally["metric"].values, "subgroup": tally["subgroup"].values}
    with pm.Model(coords=coords) as model:
        if binomial.any():
            location = weak_or_flat("alpha", centre, width, ("metric",))
            pm.Deterministic("overall", _own_scale(location, binomial), dims="metric")
        else:
            location = weak_or_flat("overall", centre, width, ("metric",))
        tau = pm.HalfNormal("tau", sigma=spread, dims="metric")
        data = pseudo_data((tally.sizes["metric"], tally.sizes["subgroup"]), counts, estimates, spread)
        predicted = location[:, None]
        if covariates:
            predicted = predicted + _regression(tally, covariates, coefficient_scale, binomial)
        score = data.precision * (data.estimate - predicted)
        eta = predicted + latent_effects("z", score, data.precision, tau[:, None])
        pm.Deterministic("mu", _own_scale(eta, binomial[:, None]), dims=("metric", "subgroup"))
        observe_successes(counts, pm.math.invlogit(eta[counts.metric, counts.subgroup]))
        observe_estimates(estimates, eta[estimates.metric, estimates.subgroup])
    return model


def _regression(
    tally: xr.Dataset, covariates: Sequence[str], coefficient_scale: float | None, binomial: BoolArray
) -> Tensor:
    """What the covariates add to the centre, (metric, subgroup), of the model in context."""
    design = area_design(tally, covariates)
    if coefficient_scale is not None:
        check_scale(coefficient_scale, "coefficient_scale", logit=bool(binomial.any()))
    default = np.where(binomial, COEFFICIENT_LOGIT, np.inf)
    width = default if coefficient_scale is None else np.full(len(binomial), float(coefficient_scale))
    pm.modelcontext(None).add_coord("covariate", list(design.names))
    wide = np.repeat(width[:, None], len(design.names), axis=1)
    beta = weak_or_flat("beta", np.zeros(wide.shape), wide, ("metric", "covariate"))
    return pm.math.dot(beta, design.values.T)


def _own_scale(value: Tensor, binomial: BoolArray) -> Tensor:
    """From the scale of the hierarchy to the scale of the metric; ``binomial`` broadcasts against ``value``."""
    if binomial.all():
        return pm.math.invlogit(value)
    return pm.math.switch(binomial, pm.math.invlogit(value), value) if binomial.any() else value
