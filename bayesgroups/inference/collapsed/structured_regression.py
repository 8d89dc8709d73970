"""Posterior of sparse regression on features: coefficients integrated out, then Markov chains of their scales."""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.inference import gibbs
from bayesgroups.inference.gibbs import CoefficientPrior
from bayesgroups.inference.value_nodes import unclipped
from bayesgroups.models.shared.cells import normal_cells
from bayesgroups.models.shared.scales import natural_scale
from bayesgroups.models.shared.sparsity import global_scale
from bayesgroups.report.diagnostics import chain_checks, usable
from bayesgroups.report.posterior import CHAINS, Posterior, generator, lay_out

FIRST = (300, 1)
"""Transitions of the warm-up and per draw."""
LONGER = (1000, 5)
"""The same, if the checks do not pass."""


def sample(
    tally: xr.Dataset,
    *,
    seed: int,
    features: xr.DataArray,
    prior: Literal["horseshoe", "laplace"] = "horseshoe",
    expected_effects: float = 1.0,
    slab_scale: float | None = None,
    local_df: float = 3.0,
    draws: int = 1000,
) -> Posterior:
    """Markov chains of one metric.

    The same model as `bayesgroups.models.structured_regression`. ``features`` have dims ``subgroup``, in the order of the
    tally, and ``coefficient``, without an intercept. ``expected_effects`` is the number of coefficients expected to
    matter, for the horseshoe; ``slab_scale`` the standard deviation of one that escapes shrinkage, in units of the
    metric, by default its scale; ``local_df`` are degrees of freedom of the local scales; ``draws`` are of each chain.
    See `bayesgroups.inference.gibbs`.

    Drawn are ``mu(chain, draw, metric, subgroup)``, ``overall`` and ``tau(chain, draw, metric)`` and, if there are
    columns, ``beta(chain, draw, metric, coefficient)``. If the checks do not pass the chains are run once more, five
    times as long.
    """
    metric = str(tally["metric"].values[0])
    natural = natural_scale(tally).isel(metric=0)
    centre, scale = float(natural["centre"]), float(natural["scale"])
    cells = normal_cells(tally, np.ones(1, dtype=np.bool_), np.array([scale]))
    z, std_error = np.full((2, tally.sizes["subgroup"]), np.nan)
    z[cells.subgroup], std_error[cells.subgroup] = (cells.estimate - centre) / scale, cells.std_error / scale
    x = np.asarray(features.transpose("subgroup", "coefficient").values, dtype=np.float64)
    if prior == "horseshoe":
        slab = 1.0 if slab_scale is None else slab_scale / scale
        coefficient_prior = CoefficientPrior(global_scale(x, std_error, expected_effects), "horseshoe", slab, local_df)
    else:
        coefficient_prior = CoefficientPrior(float(natural["tau_scale"]) / scale / np.sqrt(2), "laplace")
    low, high = float(tally["range_lower"].values[0]), float(tally["range_upper"].values[0])
    rng = generator(seed, metric, "structured_regression")

    def attempt(tune: int, thin: int) -> Posterior:
        drawn = gibbs.sample(
            x, z, std_error**2, coefficient_prior, rng, chains=CHAINS, draws=draws, tune=tune, thin=thin
        )
        intercept, beta = centre + scale * drawn.intercept, scale * drawn.beta
        theta = intercept[..., None] + beta @ x.T
        mu = np.clip(theta, low, high)
        overall = np.clip(intercept, low, high)
        laid_out = lay_out(
            tally, mu.reshape(-1, len(z)), {"overall": overall.ravel(), "tau": scale * drawn.tau.ravel()}
        )
        if x.shape[1]:
            columns = np.array([str(name) for name in features["coefficient"].values])
            laid_out = laid_out.assign_coords(coefficient=columns)
            laid_out["beta"] = (("chain", "draw", "metric", "coefficient"), beta[:, :, None])
        latent = unclipped(tally, theta.reshape(-1, len(z)))
        return Posterior(laid_out, tuple(chain_checks(laid_out, metric)), "gibbs", latent=latent)

    first = attempt(*FIRST)
    return first if usable(first.checks) else attempt(*LONGER)
