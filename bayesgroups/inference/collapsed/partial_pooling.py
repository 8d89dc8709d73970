"""Exact posterior of exchangeable partial pooling, either likelihood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bayesgroups.inference.collapsed import area_regression, binomial, gaussian
from bayesgroups.inference.correlated_errors import covariance_of, directions_of
from bayesgroups.models.shared.area_design import COEFFICIENT_LOGIT, AreaDesign, area_design
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, check_scale, natural_scale
from bayesgroups.report.diagnostics import Check, at_most, independent_draws
from bayesgroups.report.posterior import Posterior, generator, lay_out, with_chains

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
    covariates: Sequence[str] = (),
    coefficient_scale: float | None = None,
) -> Posterior:
    """Independent draws from the posterior of one metric.

    The same model as `bayesgroups.models.partial_pooling`: binomial counts with a hierarchy of logits, or normal
    estimates with known variances. Prior scales of the centre and of the spread are on the logit scale for the former and
    in units of the metric otherwise; by default those of `bayesgroups.models.shared.scales`. With covariates the centre is a
    regression: by the engine of crossed effects for rates, and on the grid with flat priors otherwise, unless these are given a
    scale.
    """
    metric = str(tally["metric"].values[0])
    rng = generator(seed, metric, "partial_pooling")
    scales = {"overall_scale": overall_scale, "tau_scale": tau_scale, "coefficient_scale": coefficient_scale}
    for name, scale in scales.items():
        if scale is not None:
            check_scale(scale, name, logit=binomial_likelihood)
    if covariates:
        fit = _rates if binomial_likelihood else _means
        return fit(tally, area_design(tally, covariates), rng, draws, overall_scale, tau_scale, coefficient_scale)
    if binomial_likelihood:
        counts = tally.isel(metric=0)
        k, n = np.nan_to_num(counts["successes"].values), counts["count"].values
        wide, narrow = overall_scale or LOGIT_OVERALL_SCALE, tau_scale or LOGIT_TAU_SCALE
        drawn = binomial.sample(k, n, rng, draws=draws, overall_scale=wide, tau_scale=narrow)
        checks = grid_checks(metric, draws, drawn.surface.edge_mass, drawn.surface.interpolation_error)
        checks += (quadrature_check(metric, drawn.quadrature_error),)
        return Posterior(lay_out(tally, drawn.mu, {"overall": drawn.overall, "tau": drawn.tau}), checks, "collapsed")
    if covariance_of(tally) is not None:
        return _correlated(tally, rng, draws, overall_scale, tau_scale)
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


def _rates(
    tally: xr.Dataset, design: AreaDesign, rng: np.random.Generator, draws: int,
    overall_scale: float | None, tau_scale: float | None, coefficient_scale: float | None,
) -> Posterior:  # fmt: skip
    """Rates around a regression of logits: crossed effects whose one component is the subgroups."""
    from bayesgroups.inference.collapsed.crossed import engine
    from bayesgroups.inference.collapsed.crossed.predictor import Predictor
    from bayesgroups.inference.collapsed.crossed.prior import Prior
    from bayesgroups.inference.collapsed.logit_normal import expit

    metric, counts = str(tally["metric"].values[0]), tally.isel(metric=0)
    n = np.asarray(counts["count"].values, dtype=np.float64)
    k = np.where(n > 0, counts["successes"].values, 0.0)
    wide, steep = overall_scale or LOGIT_OVERALL_SCALE, coefficient_scale or COEFFICIENT_LOGIT
    predictor = Predictor(np.arange(len(n))[None, :], design.values, wide, steep)
    prior = Prior("half_normal", (tau_scale or LOGIT_TAU_SCALE,))
    drawn = engine.binomial(predictor, k, n, prior, rng, draws=draws)
    data = {
        "mu": ("metric subgroup", expit(drawn.eta)[:, None]),
        "overall": ("metric", expit(drawn.overall)[:, None]),
        "tau": ("metric", drawn.tau[:, :1]),
        "beta": ("metric covariate", drawn.beta[:, None]),
    }
    laid_out = with_chains(tally, data, covariate=list(design.names))
    return Posterior(laid_out, tuple(drawn.checks(metric)), drawn.engine)


def _means(
    tally: xr.Dataset, design: AreaDesign, rng: np.random.Generator, draws: int,
    overall_scale: float | None, tau_scale: float | None, coefficient_scale: float | None,
) -> Posterior:  # fmt: skip
    """Means around a regression, their variances known."""
    metric, natural = str(tally["metric"].values[0]), natural_scale(tally).isel(metric=0)
    centre = float(natural["centre"])
    given = [overall_scale, *[coefficient_scale] * len(design.names)]
    drawn = area_regression.sample(
        tally["estimate"].values[0] - centre,
        tally["sampling_variance"].values[0],
        design.with_intercept,
        rng,
        precision=np.array([0.0 if scale is None else scale**-2 for scale in given]),
        tau_scale=tau_scale or float(natural["tau_scale"]),
        draws=draws,
    )
    data = {
        "mu": ("metric subgroup", centre + drawn.mu[:, None]),
        "overall": ("metric", centre + drawn.beta[:, :1]),
        "tau": ("metric", drawn.tau[:, None]),
        "beta": ("metric covariate", drawn.beta[:, None, 1:]),
    }
    checks = grid_checks(metric, draws, drawn.edge_mass, drawn.grid_error)
    return Posterior(with_chains(tally, data, covariate=list(design.names)), checks, "collapsed")


def _correlated(
    tally: xr.Dataset, rng: np.random.Generator, draws: int, overall_scale: float | None, tau_scale: float | None
) -> Posterior:
    """Means whose errors are correlated: the same population in directions of independent errors, the centre along their sums."""
    covariance, natural = covariance_of(tally), natural_scale(tally).isel(metric=0)
    assert covariance is not None, "asked before"
    turned, centre = directions_of(covariance), float(natural["centre"])
    drawn = area_regression.sample(
        turned.along(tally["estimate"].values[0] - centre),
        turned.variance,
        turned.along(np.ones(len(covariance)))[:, None],
        rng,
        precision=np.array([(overall_scale or float(natural["scale"])) ** -2]),
        tau_scale=tau_scale or float(natural["tau_scale"]),
        draws=draws,
    )
    checks = grid_checks(str(tally["metric"].values[0]), draws, drawn.edge_mass, drawn.grid_error)
    draws_by_name = {"overall": centre + drawn.beta[:, 0], "tau": drawn.tau}
    return Posterior(lay_out(tally, centre + turned.back(drawn.mu), draws_by_name), checks, "collapsed")


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
