"""Densities of subgroups of one population, the effect of the subgroup integrated out at every draw.

Rates: the integral of Binomial(k | n, expit(eta)) Normal(eta | mean, sd) over eta, by adaptive Gauss-Hermite quadrature.
Everything else: the integral over the centre of the population too, given tau, which is normal in closed form.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.special import gammaln, xlog1py, xlogy

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.logit_normal import log_marginal
from bayesgroups.inference.left_out.answer import ESTIMATES, SUCCESSES, LeftOut, spread_out, without_answer
from bayesgroups.inference.left_out.conjugate import normal_density, weighted_mean
from bayesgroups.inference.prior_conflict import logit
from bayesgroups.models.shared.cells import binomial_cells, normal_cells
from bayesgroups.models.shared.scales import natural_scale

NODES = 15
"""Gauss-Hermite nodes around the mode."""
FLAT_ESTIMATES = 4
"""Estimates that flat priors of centre and spread need; one less where the centre is known."""
BLOCK = 500_000
"""Densities computed at once, so that their temporary arrays stay below 100 MB."""


def population_rates(draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
    """Counts of one metric whose logits are Normal(logit of overall, tau)."""
    cells = binomial_cells(tally, np.array([True]))
    centre, spread = (_scalar(draws, name)[:, None] for name in ("overall", "tau"))
    density = binomial_density(cells.successes, cells.count, logit(centre), spread)
    return LeftOut("integrated", SUCCESSES, spread_out(density, cells.subgroup, (1, tally.sizes["subgroup"])))


def population_estimates(
    draws: xr.Dataset, tally: xr.Dataset, *, overall_scale: float | None = None, flat: bool = False,
    centre: float | None = None,
) -> LeftOut:  # fmt: skip
    """Estimates of one metric whose values are Normal(overall, tau), overall being normal, flat or a known ``centre``."""
    natural = natural_scale(tally)
    cells = normal_cells(tally, np.array([True]), natural["scale"].values)
    needed = FLAT_ESTIMATES - (centre is not None)
    if flat and len(cells.estimate) <= needed:
        return without_answer(
            f"without one of {len(cells.estimate)} estimates flat priors leave no predictive distribution; "
            f"it takes {needed + 1} or more"
        )
    middle = float(natural["centre"][0]) if centre is None else centre
    total = _scalar(draws, "tau")[:, None] ** 2 + cells.std_error**2
    mean, variance = np.full_like(total, middle), np.zeros_like(total)
    if centre is None:
        width = np.inf if flat else overall_scale or float(natural["scale"][0])
        mean, variance = weighted_mean(cells.estimate, 1 / total, middle, width**-2.0, without=True)
    density = normal_density(cells.estimate, mean, variance + total)
    return LeftOut("integrated", ESTIMATES, spread_out(density, cells.subgroup, (1, tally.sizes["subgroup"])))


def binomial_density(k: FloatArray, n: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Log probability (draw, cell) of k among n where the logit of the rate is Normal(mean, sd); counts need not be whole.

    >>> k, n = np.array([1.0]), np.array([2.0])
    >>> np.exp(binomial_density(k, n, np.array([[0.0]]), np.array([[0.0]]))).round(6).tolist()
    [[0.5]]
    """
    shape = np.broadcast_shapes((1, len(k)), mean.shape, sd.shape)
    mean, sd = np.broadcast_to(mean, shape), np.broadcast_to(sd, shape)
    density = np.empty(shape)
    rows = max(BLOCK // max(shape[1], 1), 1)
    for start in range(0, shape[0], rows):
        part = slice(start, start + rows)
        density[part] = log_marginal(k[None], n[None], mean[part], sd[part], nodes=NODES)
    rate = (k + 0.5) / (n + 1)  # what log_marginal is relative to
    choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    density += choose + xlogy(k, rate) + xlog1py(n - k, -rate)
    return density


def _scalar(draws: xr.Dataset, name: str) -> FloatArray:
    return np.asarray(draws[name].isel(metric=0).transpose("sample").values, dtype=np.float64)
