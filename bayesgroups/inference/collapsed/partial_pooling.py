"""Exact posterior of exchangeable partial pooling, either likelihood."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.inference.collapsed import binomial, gaussian
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, check_scale, natural_scale
from bayesgroups.report.diagnostics import Check, at_most, independent_draws
from bayesgroups.report.posterior import Posterior, generator, lay_out

EDGE_MASS = 1e-6
"""Largest share of the posterior that may lie in the outermost cells of the grid."""
GRID_ERROR = 1e-3
"""Largest numerical error of the grid (total variation; change of the log evidence)."""
QUADRATURE_ERROR = 1e-2
"""Largest spread of the error of the log likelihood over posterior draws."""


def sample(
    tally: xr.Dataset,
    *,
    seed: int,
    draws: int = 4000,
    binomial_likelihood: bool = True,
    overall_scale: float | None = None,
    tau_scale: float | None = None,
) -> Posterior:
    """Independent draws from the posterior of one metric.

    The same model as `bayesgroups.models.partial_pooling`: binomial counts with a hierarchy of logits, or normal
    estimates with known variances. Prior scales of the centre and of the spread are on the logit scale for the former and
    in units of the metric otherwise; by default those of `bayesgroups.models.shared.scales`.
    """
    metric = str(tally["metric"].values[0])
    rng = generator(seed, metric, "partial_pooling")
    for name, scale in (("overall_scale", overall_scale), ("tau_scale", tau_scale)):
        if scale is not None:
            check_scale(scale, name, logit=binomial_likelihood)
    if binomial_likelihood:
        counts = tally.isel(metric=0)
        k, n = np.nan_to_num(counts["successes"].values), counts["count"].values
        wide, narrow = overall_scale or LOGIT_OVERALL_SCALE, tau_scale or LOGIT_TAU_SCALE
        drawn = binomial.sample(k, n, rng, draws=draws, overall_scale=wide, tau_scale=narrow)
        checks = grid_checks(metric, draws, drawn.surface.edge_mass, drawn.surface.interpolation_error)
        checks += (quadrature_check(metric, drawn.quadrature_error),)
        return Posterior(lay_out(tally, drawn.mu, {"overall": drawn.overall, "tau": drawn.tau}), checks, "collapsed")
    natural = natural_scale(tally).isel(metric=0)
    normal = gaussian.sample(
        tally["estimate"].values[0],
        tally["sampling_variance"].values[0],
        rng,
        draws=draws,
        centre=float(natural["centre"]),
        overall_scale=overall_scale or float(natural["scale"]),
        tau_scale=tau_scale or float(natural["tau_scale"]),
    )
    checks = grid_checks(metric, draws, normal.edge_mass, normal.grid_error)
    return Posterior(lay_out(tally, normal.mu, {"overall": normal.overall, "tau": normal.tau}), checks, "collapsed")


def quadrature_check(metric: str, error: float) -> Check:
    """Check of the numerical integrals over subgroup effects."""
    return at_most(
        "quadrature error", metric, error, QUADRATURE_ERROR, "the error of the integrals over subgroup effects"
    )


def grid_checks(metric: str, draws: int, edge_mass: float, error: float) -> tuple[Check, ...]:
    """Checks of draws from a grid."""
    return (
        at_most("grid edge mass", metric, edge_mass, EDGE_MASS, "the posterior mass at the edge of the grid"),
        at_most("grid error", metric, error, GRID_ERROR, "the change when the grid gets finer"),
        independent_draws(metric, draws),
    )
