"""Exact posterior of the normal hierarchy with Stein's flat priors."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import gaussian
from bayesgroups.inference.collapsed.partial_pooling import grid_checks
from bayesgroups.inference.value_nodes import unclipped
from bayesgroups.models.shared.cells import SMALLEST_STD_ERROR
from bayesgroups.models.shared.scales import WEAK, natural_scale
from bayesgroups.report.diagnostics import Check, independent_draws
from bayesgroups.report.posterior import Posterior, generator, lay_out


def sample(tally: xr.Dataset, *, seed: int, draws: int = 4000, centre: float | None = None) -> Posterior:
    """Independent draws from the posterior of one metric.

    The same model as `bayesgroups.models.james_stein`: z ~ Normal(theta, v), theta ~ Normal(overall, tau), with flat
    priors of overall and of tau^2, and mu the value in the range of the metric that is nearest to theta. A known centre
    stands for overall, in every draw.

    With three estimates or fewer the posterior of every subgroup by itself, Normal(z, v), a weak prior where there is no
    estimate, and ``overall`` and ``tau`` the weighted mean and the standard deviation of the values of the subgroups with
    one. Around a known centre so it is with two estimates or fewer: the weak prior is around it, ``overall`` is it, and
    ``tau`` the root of the mean squared distance to it.
    """
    metric = str(tally["metric"].values[0])
    rng = generator(seed, metric, "james_stein")
    metric_tally, natural = tally.isel(metric=0), natural_scale(tally).isel(metric=0)
    z, v = metric_tally["estimate"].values, metric_tally["sampling_variance"].values
    centre_known, scale = centre is not None, float(natural["scale"])
    middle = float(natural["centre"]) if centre is None else centre
    checks: tuple[Check, ...] = (independent_draws(metric, draws),)
    if int((np.isfinite(z) & np.isfinite(v)).sum()) < gaussian.MIN_ESTIMATES_FOR_FLAT_PRIORS - centre_known:
        drawn = _alone(z, v, rng, draws=draws, centre=middle, scale=scale, centre_known=centre_known)
    else:
        drawn = gaussian.sample(
            z, v, rng, draws=draws, centre=middle, overall_scale=scale, tau_scale=float(natural["tau_scale"]), flat=True,
            overall_known=centre_known,
        )  # fmt: skip
        checks = grid_checks(metric, draws, drawn.edge_mass, drawn.grid_error)
    low, high = float(metric_tally["range_lower"]), float(metric_tally["range_upper"])
    scalars = {"overall": np.clip(drawn.overall, low, high), "tau": drawn.tau}
    latent = unclipped(tally, drawn.mu)
    return Posterior(lay_out(tally, np.clip(drawn.mu, low, high), scalars), checks, "collapsed", latent=latent)


def _alone(
    z: FloatArray,
    v: FloatArray,
    rng: np.random.Generator,
    *,
    draws: int,
    centre: float,
    scale: float,
    centre_known: bool,
) -> gaussian.GaussianDraws:
    """Draws of subgroups that are too few to have a population."""
    some = np.isfinite(z) & np.isfinite(v)
    noise = rng.standard_normal((draws, len(z)))
    error = np.sqrt(np.where(some, v, 0.0))
    theta = np.where(some, np.where(some, z, 0.0) + error * noise, centre + WEAK * scale * noise)
    if centre_known:
        deviation = theta[:, some] - centre
        tau = np.sqrt((deviation**2).mean(axis=1)) if some.any() else np.zeros(draws)
        return gaussian.GaussianDraws(theta, np.full(draws, centre), tau, 0.0, 0.0)
    # As in the model, an estimate that is known exactly still has a standard error here.
    precise = np.maximum(error[some], SMALLEST_STD_ERROR * scale)
    weight = (precise.min(initial=np.inf) / precise) ** 2
    overall = theta[:, some] @ weight / weight.sum() if some.any() else np.full(draws, centre)
    tau = theta[:, some].std(axis=1, ddof=1) if some.sum() > 1 else np.zeros(draws)
    return gaussian.GaussianDraws(theta, overall, tau, 0.0, 0.0)
