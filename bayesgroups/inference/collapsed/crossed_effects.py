"""Exact posterior of crossed effects, either likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import binomial
from bayesgroups.inference.collapsed.crossed import engine
from bayesgroups.inference.collapsed.crossed.predictor import Predictor, chunks
from bayesgroups.inference.collapsed.crossed.prior import Family, Prior
from bayesgroups.inference.collapsed.logit_normal import expit
from bayesgroups.inference.collapsed.partial_pooling import grid_checks, quadrature_check
from bayesgroups.inference.correlated_errors import covariance_of
from bayesgroups.models.shared.component_scales import (
    COEFFICIENT,
    OVERALL_LOGIT,
    OWN_EFFECT,
    ScaleByOrder,
    scales_by_order,
)
from bayesgroups.models.shared.covariates import standardised
from bayesgroups.models.shared.ordered_levels import Ordered, ordered_blocks
from bayesgroups.models.shared.scales import natural_scale
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.models.shared.tasks import stack
from bayesgroups.models.shared.variances import RowVariances, with_shrunk_variances
from bayesgroups.report.posterior import Posterior, generator, with_chains

OwnEffects = Literal["floored", "fixed", "learned"]

SMALLEST_STD_ERROR = 1e-6
"""Floor of a standard error as a share of the metric's scale, as in `bayesgroups.models.shared.cells`."""

NUMBERS_AT_ONCE = 10_000
"""Predictors of draws that turn into rates at once."""


def sample(
    tally: xr.Dataset,
    *,
    seed: int,
    draws: int = 4000,
    binomial_likelihood: bool = True,
    order: int | None = None,
    covariates: Sequence[str] = (),
    prior: Family = "half_t",
    tau_scale: ScaleByOrder = None,
    own_effects: OwnEffects = "floored",
    tasks: bool = False,
    component_sd: Sequence[float] | None = None,
    overall_logit_sd: float = OVERALL_LOGIT,
    ordered: Ordered | None = None,
    cyclic: Sequence[str] = (),
    row_variances: RowVariances = "shrunk",
) -> Posterior:
    """Independent draws from the posterior of one metric, or of several that are tasks.

    The same model as `bayesgroups.models.crossed_effects`, with the settings of its ``build``: binomial counts with a
    predictor of logits, or normal estimates with known variances. ``component_sd`` are standard deviations of all
    components, where they are known, in the place of their prior and of the known part of residual effects, ``overall_logit_sd``
    that of the prior of an overall logit. ValueError if the tally does not have what is asked for, or has not so many components.
    """
    source = with_shrunk_variances(stack(tally) if tasks else tally, row_variances)
    components = subsets(source, order)
    along = ordered_blocks(source, components, ordered or {}, cyclic)
    natural = natural_scale(source).isel(metric=0)
    every, main = scales_by_order(source, np.array([binomial_likelihood]), tau_scale, components.attributes)
    scales = tuple(float(each) for each in every[0])
    scale = scales[-1]
    wide = overall_logit_sd if binomial_likelihood else float(natural["scale"])
    x = np.asarray(standardised(source, covariates).values) if covariates else np.empty((source.sizes["subgroup"], 0))
    predictor = Predictor(components.cells, x, wide, COEFFICIENT * float(main[0]))
    fixed = own_effects == "fixed" and len(components.names) > 1
    if fixed:
        along = along.without(len(components.names) - 1)
    spread = Prior(prior, scales, OWN_EFFECT * scale if fixed else None)
    if component_sd is not None:
        if len(component_sd) != len(components.names):
            raise ValueError(
                f"component_sd must have {len(components.names)} numbers, as {', '.join(components.names)}"
            )
        spread = Prior("known", tuple(component_sd))
    names = ", ".join(str(metric) for metric in tally["metric"].values)
    rng = generator(seed, names, "crossed_effects")
    floored = own_effects == "floored" and len(components.names) > 1 and component_sd is None
    floor = (OWN_EFFECT * scale) ** 2 if floored else 0.0
    known_variance = np.full(source.sizes["subgroup"], floor)
    exchangeable = len(components.names) == 1 and not (covariates or along.blocks) and component_sd is None
    if binomial_likelihood:
        count = np.asarray(source["count"].values[0], dtype=np.float64)
        successes = np.where(count > 0, source["successes"].values[0], 0.0)
        if exchangeable and prior in ("half_normal", "half_t"):
            posterior = _exchangeable(tally, successes, count, rng, draws, wide, scale, prior, components.names)
            if all(check.passed for check in posterior.checks):
                return posterior
        drawn = engine.binomial(
            predictor, successes, count, spread, rng, draws=draws, known=known_variance, ordered=along
        )
        for rows in chunks(len(drawn.eta), drawn.eta.shape[1], NUMBERS_AT_ONCE):
            drawn.eta[rows] = expit(drawn.eta[rows])  # with many subgroups a copy of all is most of the memory
        mu, overall = drawn.eta, expit(drawn.overall)
    else:
        z, v = source["estimate"].values[0], source["sampling_variance"].values[0]
        present = np.isfinite(z) & np.isfinite(v)
        least = (SMALLEST_STD_ERROR * float(natural["scale"])) ** 2
        error = np.where(present, np.maximum(np.where(present, v, 1.0), least), np.inf)
        centre = float(natural["centre"])
        deviation = np.where(present, z, centre) - centre
        covariance = None if tasks else covariance_of(source)
        if covariance is not None:
            covariance = covariance + np.diag(np.where(present, error - np.diagonal(covariance), 0.0))
        drawn = engine.gaussian(
            predictor,
            deviation,
            error,
            spread,
            rng,
            draws=draws,
            known=known_variance,
            ordered=along,
            covariance=covariance,
        )
        drawn.eta[:] += centre
        mu, overall = drawn.eta, centre + drawn.overall
    shown = components.names[:-1] if fixed else components.names
    laid_out = _lay_out(tally, mu, overall, drawn.tau, shown, covariates, drawn.beta, floor=floor)
    if along.shares:
        share = drawn.share[:, None].repeat(tally.sizes["metric"], axis=1)
        laid_out = laid_out.merge(
            with_chains(tally, {"ordered_share": ("metric ordered", share)}, ordered=list(along.shares))
        )
    return Posterior(laid_out, tuple(drawn.checks(names)), drawn.engine)


def _exchangeable(
    tally: xr.Dataset,
    k: FloatArray,
    n: FloatArray,
    rng: np.random.Generator,
    draws: int,
    overall_scale: float,
    scale: float,
    family: Literal["half_normal", "half_t"],
    components: Sequence[str],
) -> Posterior:
    """One attribute's rates, whose two parameters lie on a grid: weights of a few rows each have too long a tail.

    Where next to nothing is a success the tail of the half-t is too long for the grid, and weights take its place.
    """
    drawn = binomial.sample(k, n, rng, draws=draws, overall_scale=overall_scale, tau_scale=scale, family=family)
    names = ", ".join(str(metric) for metric in tally["metric"].values)
    checks = grid_checks(names, draws, drawn.surface.edge_mass, drawn.surface.interpolation_error)
    checks += (quadrature_check(names, drawn.quadrature_error),)
    return Posterior(_lay_out(tally, drawn.mu, drawn.overall, drawn.tau[:, None], components), checks, "collapsed")


def _lay_out(
    tally: xr.Dataset,
    mu: FloatArray,
    overall: FloatArray,
    tau: FloatArray,
    components: Sequence[str],
    covariates: Sequence[str] = (),
    beta: FloatArray | None = None,
    *,
    floor: float = 0.0,
) -> xr.Dataset:
    """Draws with chains, along the metrics of the tally; tasks share their hyper-parameters.

    ``floor`` is the known variance of a single subgroup beside the components, a part of what subgroups differ by.
    """
    metrics = tally.sizes["metric"]

    def along(values: FloatArray) -> FloatArray:
        return np.repeat(values[:, None], metrics, axis=1)

    data = {
        "mu": ("metric subgroup", mu.reshape(len(mu), metrics, -1)),
        "overall": ("metric", along(overall)),
        "tau": ("metric", along(np.sqrt((tau**2).sum(axis=1) + floor))),
        "component_sd": ("metric component", along(tau[:, : len(components)])),
    }
    coordinates = {"component": list(components)}
    if beta is not None and covariates:
        data["beta"] = ("metric covariate", along(beta))
        coordinates["covariate"] = list(covariates)
    return with_chains(tally, data, **coordinates)
