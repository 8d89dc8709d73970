"""Crossed effects: a subgroup is the sum of what every subset of its attributes contributes.

For metric m, subgroup g and components k (race; age; race and age; ...; the subgroup itself),

    eta[m, g] = a[m] + sum over k of component_sd[m, k] z[m, k, cell_k(g)] + x[g] . beta[m],   z ~ Normal(0, 1)

rates (binomial likelihood, logit scale)
    a = alpha ~ Normal(0, 4),               mu = invlogit(eta),      overall = invlogit(alpha)
    successes[m, g] ~ Binomial(count[m, g], mu[m, g])

all other metrics (normal likelihood, own scale; centre and scale from ``scales``)
    a = overall ~ Normal(centre, scale),    mu = eta
    estimate[m, g] ~ Normal(mu[m, g], std_error[m, g]), standard errors known, those of
    means with the shrunk row variances of ``variances``, or with one pooled over subgroups

standard deviations of the components, s being ``component_scales``
    half_t         component_sd[m, k] ~ HalfStudentT(3, s), the default
    half_normal    component_sd[m, k] ~ HalfNormal(s)
    r2d2           total[m] ~ HalfStudentT(3, s sqrt(components)),  share[m] ~ Dirichlet(1),
                   component_sd[m, k] = total[m] sqrt(share[m, k])
    fixed          the last component, the subgroup itself, has 0.5 s where there are others: few subgroups say little about
                   what sets single ones apart, and a learned scale near 0 hides those that are
    floored        ... and one that is learned beside it (the default): fixed alone hides it where all subgroups are out of line
    covariates     beta[m, j] ~ Normal(0, 2 s), standardised over rows
    ordered        a share of the variance of every component that crosses an ordered attribute follows the order,
                   ordered_share[m, o] ~ Uniform(0, 1), see ``ordered_levels``
s may differ between components that cross 1, 2, ... attributes: the known residual effect goes by that of the subgroups
themselves, coefficients of covariates by that of single attributes

``mu`` is the superpopulation value. With ``tasks`` the metrics are one more attribute: effects that tasks share, and effects of
their own.

Parameters: ``overall(metric)``, ``tau(metric)`` the root of the summed variances, that of a known residual effect too,
``component_sd(metric, component)``, ``mu(metric, subgroup)``, ``beta(metric, covariate)`` if there are covariates,
``ordered_share(metric, ordered)`` if attributes are ordered; latent ``z`` (effects that subgroups share) and
``z_residual`` (those of single subgroups), the z above summed and moved as in ``crossed_latents``, ``z_share``, ``z_tau``, and
with tasks ``z_component_sd``, ``z_beta``. A standard deviation that is fixed is no parameter. ``alpha`` is ``overall`` before the
link.

References
----------
Khodak, Mackey, Chouldechova and Dudik (2024), SureMap, arXiv:2411.09730: the same covariance, tuned by an unbiased risk
estimate. Gelman (2006), doi:10.1214/06-BA117A. Zhang et al. (2022), R2D2, doi:10.1080/01621459.2020.1825449.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from .crossed_latents import crossed_latents
from .half_normal_coordinates import NearlyNormal
from .latent_effects import pseudo_data
from .likelihoods import observe_estimates, observe_successes
from .ordered_effects import ordered_effects
from .shared.cells import Likelihood, binomial_cells, binomial_metrics, normal_cells
from .shared.component_scales import COEFFICIENT, DEGREES, OVERALL_LOGIT, OWN_EFFECT, ScaleByOrder, scales_by_order
from .shared.covariates import standardised
from .shared.ordered_levels import Ordered, ordered_blocks
from .shared.scales import natural_scale
from .shared.subsets import subsets
from .shared.tasks import stack
from .shared.variances import RowVariances, with_shrunk_variances

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Family = Literal["half_t", "half_normal", "r2d2"]
OwnEffects = Literal["floored", "fixed", "learned"]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""


def build(
    tally: xr.Dataset,
    *,
    likelihood: Likelihood = "auto",
    order: int | None = None,
    covariates: Sequence[str] = (),
    prior: Family = "half_t",
    tau_scale: ScaleByOrder = None,
    own_effects: OwnEffects = "floored",
    ordered: Ordered | None = None,
    cyclic: Sequence[str] = (),
    tasks: bool = False,
    row_variances: RowVariances = "shrunk",
) -> pm.Model:
    """Build the model of all metrics of the tally; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with dims ``metric`` and ``subgroup`` and its attributes.
    likelihood : {"auto", "binomial", "normal"}
        ``auto`` is binomial for rates and normal for all other metrics.
    order : int, optional
        Cross at most so many attributes, beside all of them together; by default every subset.
    covariates : sequence of str
        Features of the tally.
    prior : {"half_t", "half_normal", "r2d2"}
        Of the components' standard deviations.
    tau_scale : float or sequence of float, optional
        Its scale, on the logit scale for binomial metrics and in the metric's units otherwise, of all components or of those
        that cross 1, 2, ... attributes; by default ``component_scales``.
    own_effects : {"floored", "fixed", "learned"}
        Whether the standard deviation of the last of several components is fixed, learned, or both beside each other.
    ordered : mapping of str to sequence of str or None, optional
        Levels of attributes in order; None for those of the tally.
    cyclic : sequence of str
        Ordered attributes whose last level is beside the first.
    tasks : bool
        Whether the metrics are tasks that share hyper-parameters and effects.
    row_variances : {"shrunk", "pooled"}
        Of means: those of ``variances``, or one for all subgroups.

    Returns
    -------
    pm.Model
        With ``mu(metric, subgroup)``, ``overall(metric)``, ``tau(metric)`` and ``component_sd(metric, component)``.

    Raises
    ------
    ValueError
        If a choice does not exist, the scale is not positive, or the tally does not have what is asked for.

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"count": (cells, [[10.0, 5.0, 9.0, 8.0]]), "successes": (cells, [[2.0, 4.0, 3.0, 5.0]]),
    ...      "estimate": (cells, [[0.2, 0.8, 0.3, 0.6]]), "sampling_variance": (cells, [[0.02, 0.03, 0.02, 0.02]]),
    ...      "row_variance": (cells, [[0.2, 0.2, 0.2, 0.2]]), "pooled_variance": ("metric", [0.2]),
    ...      "kind": ("metric", ["rate"]), "range_lower": ("metric", [0.0]), "range_upper": ("metric", [1.0])},
    ...     coords={"metric": ["fnr"], "subgroup": ["a | f", "a | m", "b | f", "b | m"],
    ...             "race": ("subgroup", ["a", "a", "b", "b"]), "sex": ("subgroup", ["f", "m", "f", "m"])},
    ...     attrs={"by": '{"by": ["race", "sex"]}'})
    >>> [variable.name for variable in build(tally).free_RVs]
    ['alpha', 'component_sd', 'z', 'z_residual']
    """
    if prior not in get_args(Family):
        raise ValueError(f"prior must be one of {', '.join(get_args(Family))}; got {prior!r}")
    if own_effects not in get_args(OwnEffects):
        raise ValueError(f"own_effects must be one of {', '.join(get_args(OwnEffects))}; got {own_effects!r}")
    source = with_shrunk_variances(stack(tally) if tasks else tally, row_variances)
    components = subsets(source, order)
    if prior == "r2d2" and not (tau_scale is None or isinstance(tau_scale, int | float)):
        raise ValueError("prior='r2d2' has one scale, which its components share out; give tau_scale as one number")
    binomial = binomial_metrics(source, likelihood)
    along = ordered_blocks(source, components, ordered or {}, cyclic)
    natural = natural_scale(source)
    scales, scale = scales_by_order(source, binomial, tau_scale, components.attributes)
    residual_scale = scales[:, -1]
    counts = binomial_cells(source, binomial)
    estimates = normal_cells(source, ~binomial, natural["scale"].values)
    centre = np.where(binomial, 0.0, natural["centre"].values)
    width = np.where(binomial, OVERALL_LOGIT, natural["scale"].values)
    fixed = own_effects == "fixed" and len(components.names) > 1
    learned = list(components.names[:-1] if fixed else components.names)
    along = along.without(len(components.names) - 1) if fixed else along
    floored = own_effects == "floored" and len(components.names) > 1
    floor = np.zeros((len(scale), len(components.names)))
    floor[:, -1] = OWN_EFFECT * residual_scale * floored
    coords = {
        "metric": tally["metric"].values,
        "subgroup": tally["subgroup"].values,
        "component": learned,
    }
    fit = "task_fit" if tasks else "metric"  # what hyper-parameters run along
    coords |= {fit: source["metric"].values}
    with pm.Model(coords=coords) as model:
        alpha = pm.Normal("alpha", mu=centre, sigma=width, dims=fit)
        total = "z_tau" if fixed or floored else _own("tau", fit)
        spread = _component_sds(prior, scales[:, : len(learned)], (fit, "component"), total)
        every = _with_own(spread, OWN_EFFECT * residual_scale) if fixed else spread
        eta = alpha[:, None]
        if covariates:
            x = standardised(source, covariates)
            model.add_coord("covariate", list(covariates))
            beta = pm.Normal(_own("beta", fit), sigma=COEFFICIENT * scale[:, None], dims=(fit, "covariate"))
            eta = eta + pm.math.dot(beta, x.values.T)
            _report("beta", beta, tally, fit, ("metric", "covariate"))
        data = pseudo_data((source.sizes["metric"], source.sizes["subgroup"]), counts, estimates, residual_scale)
        exchangeable = every
        if along.shares:
            exchangeable, following = ordered_effects(
                along, every, len(components.names), _own("ordered_share", fit), fit
            )
            eta = eta + following
        sd = pm.math.sqrt(exchangeable**2 + floor**2) if floored else exchangeable
        names, dims = ("z", "z_residual"), (fit, "direction", "residual")
        eta = eta + crossed_latents(names, components, data, eta, sd, dims).total
        mu = _own_scale(eta, binomial[:, None])
        pm.Deterministic(
            "mu", mu.reshape((tally.sizes["metric"], tally.sizes["subgroup"])), dims=("metric", "subgroup")
        )
        _report("overall", _own_scale(alpha, binomial), tally, fit, ("metric",))
        _report("tau", pm.math.sqrt(pm.math.sum(every**2 + floor**2, axis=1)), tally, fit, ("metric",))
        _report("component_sd", spread, tally, fit, ("metric", "component"))
        if along.shares:
            _report("ordered_share", model[_own("ordered_share", fit)], tally, fit, ("metric", "ordered"))
        observe_successes(counts, pm.math.invlogit(eta[counts.metric, counts.subgroup]))
        observe_estimates(estimates, eta[estimates.metric, estimates.subgroup])
    return model


def _component_sds(prior: Family, scale: FloatArray, dims: tuple[str, str], total_name: str) -> Tensor:
    """Standard deviations (metric, component) of the components that learn theirs, whose scales these are."""
    if prior == "half_normal":
        name = _own("component_sd", dims[0])
        return pm.HalfNormal(name, sigma=scale, dims=dims, default_transform=NearlyNormal())
    if prior == "half_t":
        return pm.HalfStudentT(_own("component_sd", dims[0]), nu=DEGREES, sigma=scale, dims=dims)
    number = scale.shape[1]
    total = pm.HalfStudentT(total_name, nu=DEGREES, sigma=scale[:, 0] * np.sqrt(number), dims=dims[0])
    share = (
        pm.Dirichlet("z_share", a=np.ones((len(scale), number)), dims=dims) if number > 1 else np.ones((len(scale), 1))
    )
    return total[:, None] * pm.math.sqrt(share)


def _with_own(spread: Tensor, own: FloatArray) -> Tensor:
    return pm.math.concatenate([spread, np.asarray(own)[:, None]], axis=1)


def _own(name: str, fit: str) -> str:
    """Name of a hyper-parameter: latent where tasks share it and the reported one runs along them."""
    return name if fit == "metric" else f"z_{name}"


def _own_scale(value: Tensor, binomial: BoolArray) -> Tensor:
    """From the scale of the predictor to the scale of the metric; ``binomial`` broadcasts against ``value``."""
    if binomial.all():
        return pm.math.invlogit(value)
    return pm.math.switch(binomial, pm.math.invlogit(value), value) if binomial.any() else value


def _report(name: str, value: Tensor, tally: xr.Dataset, fit: str, dims: tuple[str, ...]) -> None:
    """A deterministic along the metrics of the tally, for tasks share theirs; none where the variable itself is there."""
    if name in pm.modelcontext(None).named_vars:
        return
    shared = tally.sizes["metric"] != len(pm.modelcontext(None).coords[fit])
    rows = np.zeros(tally.sizes["metric"], dtype=int) if shared else np.arange(tally.sizes["metric"])
    pm.Deterministic(name, value[rows], dims=dims)
