"""Exact posterior of two systems' right answers to the same items.

Of the items of a subgroup a share D is discordant (one system is right, the other one wrong), of those a share T has the first
system right, and of the concordant ones a share C has both right, so that

    first = D T + (1 - D) C,  second = D (1 - T) + (1 - D) C,  first - second = D (2 T - 1).

Given the counts D, T and C are independent, each a crossed binomial with the priors of `bayesgroups.models.crossed_effects`; the
logit of the overall T has a standard deviation of 1.5. Systems in the other order turn T into 1 - T and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import crossed_effects
from bayesgroups.inference.collapsed.conjugate import beta
from bayesgroups.models.shared.component_scales import OVERALL_LOGIT
from bayesgroups.models.shared.ordered_levels import Ordered
from bayesgroups.models.shared.scales import JEFFREYS, LOGIT_OVERALL_SCALE
from bayesgroups.report.diagnostics import Check
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.assembly import Description, assemble
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.subgroups import of_tally
from bayesgroups.tallies.sums import Sums

FACTORS = ("discordant", "first right if discordant", "both right if concordant")
ATTEMPTS = 3
"""Times that a factor is drawn while its checks fail."""


def sample(
    tally: xr.Dataset, cells: FloatArray, *, seed: int, draws: int = 4000, ordered: Ordered | None = None,
    cyclic: Sequence[str] = (),
) -> tuple[FloatArray, tuple[Check, ...]]:  # fmt: skip
    """Draws (draw, system, subgroup) of both rates, partially pooled, and the checks of the factors.

    ``cells`` (2, 2, subgroup) are items by whether the first and the second system are right. NaN where no item has both. Every
    factor has the ordered attributes of `bayesgroups.models.crossed_effects.build`.
    """
    if not cells.any():
        return np.full((draws, 2, cells.shape[-1]), np.nan), ()
    cells, turned = _in_order(cells)
    shares: list[FloatArray] = []
    checks: list[Check] = []
    for name, k, n in zip(FACTORS, *_counts(cells), strict=True):
        share, of_factor = _factor(tally, name, k, n, seed, draws, ordered, cyclic)
        shares.append(share)
        checks += of_factor
    return _rates(shares, cells, turned=turned), tuple(checks)


def sample_unpooled(cells: FloatArray, *, seed: int, draws: int = 4000) -> FloatArray:
    """Draws (draw, system, subgroup) of both rates of every subgroup by itself, cells Dirichlet with Jeffreys' parameters 1/2."""
    cells, turned = _in_order(cells)
    rng, shares = generator(seed, "systems", "paired answers"), []
    for prior, k, n in zip((2 * JEFFREYS, JEFFREYS, JEFFREYS), *_counts(cells), strict=True):
        shares.append(beta(k, n, rng, draws=draws, prior=prior))
    return _rates(shares, cells, turned=turned)


def _counts(cells: FloatArray) -> tuple[list[FloatArray], list[FloatArray]]:
    """Successes and trials of the factors."""
    discordant, concordant = cells[1, 0] + cells[0, 1], cells[1, 1] + cells[0, 0]
    return [discordant, cells[1, 0], cells[1, 1]], [discordant + concordant, discordant, concordant]


def _in_order(cells: FloatArray) -> tuple[FloatArray, bool]:
    """Cells with the systems in an order that the counts choose, so that mirrored systems have mirrored draws to the byte."""
    ahead = cells[1, 0] - cells[0, 1]
    turned = bool(ahead.any()) and (ahead.sum() or ahead[np.flatnonzero(ahead)[0]]) < 0
    return (np.swapaxes(cells, 0, 1), True) if turned else (cells, False)


def _rates(shares: list[FloatArray], cells: FloatArray, *, turned: bool) -> FloatArray:
    discordant, first, both = shares
    concordant = (1 - discordant) * both
    rates = np.stack([discordant * first + concordant, discordant * (1 - first) + concordant], axis=1)
    if (cells[1, 0] == cells[0, 1]).all():
        # Systems that are level everywhere are their own mirror image, and so are the draws.
        half = len(rates) // 2
        rates[half : 2 * half] = rates[:half, ::-1]
    return rates[:, ::-1] if turned else rates


def _factor(
    tally: xr.Dataset, name: str, k: FloatArray, n: FloatArray, seed: int, draws: int, ordered: Ordered | None,
    cyclic: Sequence[str],
) -> tuple[FloatArray, tuple[Check, ...]]:  # fmt: skip
    """Draws (draw, subgroup) of a share, made again while checks fail."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = k / n
    moments = Moments(n[None], n[None].copy(), mean[None], np.where(n > 0, k * (1 - np.nan_to_num(mean)), 0.0)[None])
    described = [Description(name, "rate", 0.0, 1.0, True, "no item")]
    counts = assemble(of_tally(tally), described, Sums(n, moments, weighted=False), settings={"source": "pairs"})
    wide = LOGIT_OVERALL_SCALE if name == FACTORS[1] else OVERALL_LOGIT
    draw = partial(
        crossed_effects.sample, seed=seed, draws=draws, overall_logit_sd=wide, ordered=ordered, cyclic=cyclic
    )
    fit = draw(counts)
    for attempt in range(1, ATTEMPTS):
        if all(check.passed for check in fit.checks):
            break
        fit = draw(counts.assign_coords(metric=[f"{name}, attempt {attempt + 1}"]))
    return fit.draws["mu"].values.reshape(draws, -1), fit.checks
