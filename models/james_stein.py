"""James-Stein: the normal hierarchy with flat priors, whose posterior mean is James and Stein's estimator made smooth.

For metric m and subgroup g, on the metric's own scale and for every kind of metric,

    theta[m, g] = alpha[m] + tau[m] z[m, g],   z[m, g] ~ Normal(0, 1)
    estimate[m, g] ~ Normal(theta[m, g], std_error[m, g]), standard errors known
    p(alpha[m], tau[m]) proportional to tau[m]     (alpha and tau^2 uniform)

    mu[m, g] = theta[m, g] and overall[m] = alpha[m], each brought to the nearest value in the range of the metric

With K estimates of equal variance v around their mean, S the sum of their squared distances to it and Q = S / v, the
posterior mean goes a share B of the way to the mean,

    B = (K - 3) / Q  P(chi2_{K-1} <= Q) / P(chi2_{K-3} <= Q),

which is James and Stein's factor for large Q, and stays below 1 where theirs is cut off: (K - 3) / (K - 1) at Q = 0.

Propriety. With alpha integrated out the likelihood of K estimates falls as tau^(1 - K) for large tau, so the posterior
density of tau falls as tau^(2 - K): it has an integral for K > 3 only. Metrics with three estimates or fewer have no
population here. Their subgroups stand alone with flat priors, theta[m, g] ~ Normal(estimate, std_error) if observed and
the weak Normal(centre, 4 scale) of ``no_pooling`` if not, and ``overall`` and ``tau`` are the weighted mean (weights
1 / std_error^2) and the standard deviation of the theta of those observed; tau is 0 with one, overall the centre with
none.

A centre that was known beforehand is alpha, a constant, and tau^2 keeps its flat prior. With S around it,

    B = (K - 2) / Q  P(chi2_K <= Q) / P(chi2_{K-2} <= Q),

which is (K - 2) / K at Q = 0: given the data v / (v + tau^2) is u / Q, u a chi-squared variable of K - 2 degrees of
freedom that is cut off at Q. The likelihood falls as tau^-K, the density of tau as tau^(1 - K), with an integral for
K > 2. With two estimates or fewer subgroups stand alone as above, those not observed around the known centre;
``overall`` is the known centre and ``tau`` the root of the mean squared distance to it of the theta of those observed.

Parameters: ``overall(metric)``, ``tau(metric)``, ``mu(metric, subgroup)``. Latent, with centre (the known one where there
is one) and scale from ``scales`` as units and no priors: ``z_overall`` = (alpha - centre) / scale, ``z_tau`` = tau / scale
and ``z`` along ``pooled_metric``, moved and scaled as in ``latent_effects``, ``z_tau_known`` and ``z_known`` likewise
along ``known_metric`` where alpha is known,
``z_alone`` = (theta - centre) / scale along ``alone_metric``. Subgroups that are not observed are drawn from the
population. With four estimates the posteriors of alpha, tau and an unobserved theta have no mean, with five no variance;
around a known centre it is three and four.

What the priors imply: nothing that could be tabulated; they have no integral, and no draws.

References
----------
Stein (1981), doi:10.1214/aos/1176345632, on the prior of the means that a flat prior of tau^2 makes. Morris and
Lysy (2012), arXiv:1203.5610. Gelman et al. (2013), Bayesian Data Analysis, 3rd edition, section 5.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from .latent_effects import PseudoData, latent_effects
from .likelihoods import observe_estimates
from .shared.cells import normal_cells
from .shared.scales import WEAK, natural_scale

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Labels = NDArray[Any]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

FEWEST = 4
"""Estimates below which flat priors leave no posterior; one less where the centre is known."""


def build(tally: xr.Dataset, *, centre: FloatArray | float | None = None) -> pm.Model:
    """Build the model of all metrics of the tally; nothing is sampled here.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with dims ``metric`` and ``subgroup``.
    centre : float or array (metric,), optional
        Centre of every metric that was known beforehand, in its range; NaN where it is estimated, as everywhere
        without it.

    Returns
    -------
    pm.Model
        With ``mu(metric, subgroup)``, ``overall(metric)`` and ``tau(metric)``.

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"count": (cells, [[9.0, 8.0, 7.0, 6.0]]), "kind": ("metric", ["mean"]),
    ...      "estimate": (cells, [[0.2, 0.8, 0.4, 0.5]]), "sampling_variance": (cells, [[0.02, 0.02, 0.03, 0.03]]),
    ...      "pooled_variance": ("metric", [0.18]), "range_lower": ("metric", [0.0]),
    ...      "range_upper": ("metric", [np.inf])},
    ...     coords={"metric": ["wer"], "subgroup": ["a", "b", "c", "d"]})
    >>> [variable.name for variable in build(tally).free_RVs]
    ['z_overall', 'z_tau', 'z']
    >>> [variable.name for variable in build(tally, centre=0.3).free_RVs]
    ['z_tau_known', 'z_known']
    """
    natural = natural_scale(tally)
    given = np.broadcast_to(np.asarray(np.nan if centre is None else centre, dtype=np.float64), tally.sizes["metric"])
    known = np.isfinite(given)
    middle, scale = np.where(known, given, natural["centre"].values), natural["scale"].values
    cells = normal_cells(tally, np.ones(tally.sizes["metric"], dtype=np.bool_), scale)
    std_error = np.full((tally.sizes["metric"], tally.sizes["subgroup"]), np.inf)
    std_error[cells.metric, cells.subgroup] = cells.std_error
    estimate = np.zeros_like(std_error)
    estimate[cells.metric, cells.subgroup] = cells.estimate
    pooled = np.isfinite(std_error).sum(axis=1) >= FEWEST - known
    kind = np.where(pooled, np.where(known, 1, 0), 2)

    coords = {"metric": tally["metric"].values, "subgroup": tally["subgroup"].values}
    low, high = tally["range_lower"].values, tally["range_upper"].values
    with pm.Model(coords=coords) as model:
        parts = []
        for which in np.unique(kind):
            at = kind == which
            metrics, units = coords["metric"][at], (middle[at], scale[at])
            data = PseudoData(estimate[at], std_error[at] ** -2)
            if which == 0:
                parts.append(_population(metrics, *units, data))
            elif which == 1:
                parts.append(_around_known(metrics, *units, data))
            else:
                parts.append(_alone(metrics, *units, std_error[at], known[at]))
        # A stable sort puts like metrics together; sorting that order gives the place of each metric in it.
        place = np.argsort(np.argsort(kind, kind="stable"))
        blocks: list[Tensor] = [pm.math.concatenate(part) for part in zip(*parts, strict=True)]
        theta, overall, tau = (block[place] for block in blocks)
        pm.Deterministic("mu", pm.math.clip(theta, low[:, None], high[:, None]), dims=("metric", "subgroup"))
        pm.Deterministic("overall", pm.math.clip(overall, low, high), dims="metric")
        pm.Deterministic("tau", tau, dims="metric")
        observe_estimates(cells, theta[cells.metric, cells.subgroup])
    return model


def _population(
    metrics: Labels, centre: FloatArray, scale: FloatArray, data: PseudoData
) -> tuple[Tensor, Tensor, Tensor]:
    """Add metrics with a population: theta (metric, subgroup), alpha and tau (metric,)."""
    model: Any = pm.modelcontext(None)
    model.add_coord("pooled_metric", metrics)
    alpha = centre + scale * pm.Flat("z_overall", dims="pooled_metric")
    spread = pm.HalfFlat("z_tau", dims="pooled_metric")
    log_spread: Any = pm.math.log(spread)
    pm.Potential("flat_tau_squared", log_spread.sum())
    tau = scale * spread
    score = data.precision * (data.estimate - alpha[:, None])
    effects = latent_effects("z", score, data.precision, tau[:, None], ("pooled_metric", "subgroup"))
    return alpha[:, None] + effects, alpha, tau


def _around_known(
    metrics: Labels, centre: FloatArray, scale: FloatArray, data: PseudoData
) -> tuple[Tensor, Tensor, Tensor]:
    """Add metrics with a population around a known centre: theta (metric, subgroup), alpha and tau (metric,)."""
    model: Any = pm.modelcontext(None)
    model.add_coord("known_metric", metrics)
    spread = pm.HalfFlat("z_tau_known", dims="known_metric")
    log_spread: Any = pm.math.log(spread)
    pm.Potential("flat_tau_squared_known", log_spread.sum())
    tau = scale * spread
    score = data.precision * (data.estimate - centre[:, None])
    effects = latent_effects("z_known", score, data.precision, tau[:, None], ("known_metric", "subgroup"))
    return centre[:, None] + effects, centre, tau


def _alone(
    metrics: Labels, centre: FloatArray, scale: FloatArray, std_error: FloatArray, known: BoolArray
) -> tuple[Tensor, Tensor, Tensor]:
    """Add metrics without one: theta (metric, subgroup), and mean and spread of the subgroups observed (metric,)."""
    model: Any = pm.modelcontext(None)
    model.add_coord("alone_metric", metrics)
    observed = np.isfinite(std_error)
    z: Tensor = pm.Flat("z_alone", dims=("alone_metric", "subgroup"))
    pm.Potential("weak_prior", -0.5 * ((z * ~observed) ** 2).sum() / WEAK**2)
    error = np.where(observed, std_error, 1.0)
    least = error.min(axis=1, keepdims=True, initial=np.inf, where=observed)
    weight = np.where(observed, least / error, 0.0) ** 2
    number, free = observed.sum(axis=1), ~known
    mean = (z * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1.0) * free
    own = (z * observed).sum(axis=1, keepdims=True) / np.maximum(number, 1)[:, None] * free[:, None]
    away = (z - own) * observed
    spread: Tensor = pm.math.sqrt((away**2).sum(axis=1) / np.maximum(number - free, 1))
    return centre[:, None] + scale[:, None] * z, centre + scale * mean, scale * spread
