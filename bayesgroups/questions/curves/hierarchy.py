"""Distributions over cells, shrunk towards one that all subgroups share.

For family f (a class of the outcome; a bin of the score) and subgroup g, with counts n over C cells,

    n[f, g] ~ Multinomial(p[f, g]),   p[f, g] ~ Dirichlet(kappa q[f]),   q[f] ~ Dirichlet(1 / C, ..., 1 / C),
    kappa ~ the law under which s / (s + kappa) is uniform, s the median number of rows.

A kappa of 0 pools nothing (the Bayesian bootstrap, nearly), an infinite one all. Draws are independent: kappa from a grid of
its marginal likelihood, then q, then p. The law of q given kappa is taken for a Dirichlet with the information that the
subgroups have about it, n (kappa + 1) / (n + kappa) rows each: exact where kappa is infinite and, in mean and variance, for
a single subgroup; close in between.

References
----------
Minka (2000), Estimating a Dirichlet distribution; Daniels (1999), a prior for the variance in hierarchical models,
doi:10.2307/3316112; Rubin (1981), the Bayesian bootstrap, doi:10.1214/aos/1176345338.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray

GRID = np.exp(np.linspace(np.log(0.05), np.log(1e6), 120))
"""Values of kappa."""
TINY = 1e-300
"""Added to every gamma variate, so that two that underflow have a ratio."""


@dataclass(frozen=True, eq=False)
class Shared:
    """Parameters that subgroups share: ``kappa`` (draw,) and ``base`` q (draw, family, cell)."""

    kappa: FloatArray
    base: FloatArray


def shared(counts: FloatArray, rng: np.random.Generator, draws: int, *, expected: FloatArray | None = None) -> Shared:
    """Draws of what the subgroups share, from rows (family, subgroup, cell).

    ``expected`` (family, subgroup, cell) are distributions around which to look for kappa, in place of q: what is known of
    how a subgroup differs. Then n in the information about q is at most s, since subgroups differ by more than kappa says.
    """
    rows = counts.sum(axis=-1)
    size = float(np.median(rows[rows > 0])) if (rows > 0).any() else 1.0
    information, mean = _about_base(counts, rows, np.inf if expected is None else size)
    log_density = _log_marginal(counts, rows, information, mean, expected) + np.log(GRID) - 2 * np.log(size + GRID)
    weight = np.exp(log_density - log_density.max())
    # Between grid points, evenly in log kappa; q is that of the point below.
    place = rng.choice(len(GRID), size=draws, p=weight / weight.sum())
    step = np.log(GRID[1] / GRID[0])
    kappa = GRID[place] * np.exp(step * (rng.random(draws) - 0.5))
    alpha = 1 / counts.shape[-1] + information[place][..., None] * mean[place]
    return Shared(kappa, _dirichlet(alpha, rng))


def members(common: Shared, counts: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws (draw, family, cell) of the distributions of one subgroup from its rows (family, cell), summing to 1 along cells.

    Rows that are all 0 give draws from the population of subgroups.
    """
    return _dirichlet(counts + common.kappa[:, None, None] * common.base, rng)


def _dirichlet(alpha: FloatArray, rng: np.random.Generator) -> FloatArray:
    drawn = rng.standard_gamma(alpha) + TINY
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True), dtype=np.float64)


def _about_base(counts: FloatArray, rows: FloatArray, most: float) -> tuple[FloatArray, FloatArray]:
    """Information about q and its mean for every kappa of the grid: (kappa, family) and (kappa, family, cell)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(rows[..., None] > 0, counts / rows[..., None], 0.0)
        kappa = np.minimum(GRID, most)[:, None, None]
        worth = rows * (kappa + 1) / (rows + kappa)  # (kappa, family, subgroup)
        information = worth.sum(axis=-1)
        total = np.einsum("kfg,fgc->kfc", worth, share)
        mean = np.where(information[..., None] > 0, total / information[..., None], 0.0)
    return information, mean


def _log_marginal(
    counts: FloatArray, rows: FloatArray, information: FloatArray, mean: FloatArray, expected: FloatArray | None
) -> FloatArray:
    """Log marginal likelihood of every kappa of the grid, q integrated out around its mean."""
    from scipy.special import gammaln

    log_density = np.zeros(len(GRID))
    cells = counts.shape[-1]
    for position, kappa in enumerate(GRID):
        m, n = mean[position], information[position]
        alpha = kappa * (m[:, None, :] if expected is None else expected)
        with np.errstate(invalid="ignore"):
            each = np.where(counts > 0, gammaln(counts + alpha) - gammaln(np.where(counts > 0, alpha, 1.0)), 0.0)
        likelihood = each.sum() + (gammaln(kappa) - gammaln(kappa + rows)).sum()
        if expected is not None:  # q is not looked for here
            log_density[position] = likelihood
            continue
        logs = np.log(np.where(m > 0, m, 1.0))
        prior = 1 / cells
        volume = gammaln(prior + n[:, None] * m).sum() - cells * len(m) * gammaln(prior) - gammaln(1 + n).sum()
        log_density[position] = likelihood + volume - (n[:, None] * m * logs).sum()
    return log_density
