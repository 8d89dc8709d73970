"""Posterior of sparse regression on features: Markov chains of scales and coefficients, which go on until they have mixed."""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import short_chains
from bayesgroups.inference.gibbs import Chains, CoefficientDraws
from bayesgroups.inference.scale_mixtures import CoefficientPrior
from bayesgroups.inference.short_chains import GIBBS_CHAINS_OF_A_GROUP
from bayesgroups.inference.value_nodes import unclipped
from bayesgroups.models.shared.cells import normal_cells
from bayesgroups.models.shared.scales import natural_scale
from bayesgroups.models.shared.sparsity import global_scale
from bayesgroups.report.diagnostics import Mixing
from bayesgroups.report.posterior import CHAINS, Posterior, generator, lay_out

LONGER = (1, 2, 4)
"""Transitions per draw of stretches that follow where chains have not mixed; each is as long as all before it together."""


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
    columns, ``beta(chain, draw, metric, coefficient)``. Whether chains have mixed is looked at before values are brought
    into the range. Chains that have not go on, up to eight times as
    long; every draw that is kept then stands for more of them.
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
    chains = Chains(x, z, std_error**2, coefficient_prior, rng, groups=CHAINS)
    each = -(-draws // GIBBS_CHAINS_OF_A_GROUP)

    def followed(drawn: CoefficientDraws) -> tuple[FloatArray, Mixing]:
        """Values of subgroups (chain, draw, subgroup) before they are brought into the range, and whether chains have mixed."""
        theta = drawn.intercept[..., None] + drawn.beta @ x.T
        every = [theta, drawn.intercept[..., None], drawn.tau[..., None], drawn.beta]
        return theta, short_chains.mixing([np.moveaxis(each, -1, 0) for each in every], CHAINS)

    drawn = chains.sample(each)
    theta, mixed = followed(drawn)
    for thin in LONGER:
        if mixed.passed:
            break
        drawn = drawn.followed_by(chains.sample(each, thin))
        theta, mixed = followed(drawn)

    def laid(values: FloatArray) -> FloatArray:
        """Values in units of the metric (draw, ...), the chains of a group one after another as if they were one."""
        return scale * short_chains.in_groups(values, CHAINS, draws).reshape(-1, *values.shape[2:])

    latent, overall = centre + laid(theta), np.clip(centre + laid(drawn.intercept), low, high)
    laid_out = lay_out(tally, np.clip(latent, low, high), {"overall": overall, "tau": laid(drawn.tau)})
    if x.shape[1]:
        columns = np.array([str(name) for name in features["coefficient"].values])
        laid_out = laid_out.assign_coords(coefficient=columns)
        beta = laid(drawn.beta).reshape(CHAINS, draws, 1, len(columns))
        laid_out["beta"] = (("chain", "draw", "metric", "coefficient"), beta)
    return Posterior(laid_out, tuple(mixed.checks(metric)), "gibbs", latent=unclipped(tally, latent))
