"""Expected log predictive densities from densities at draws, by Pareto-smoothed importance sampling of ArviZ.

References
----------
Vehtari, Simpson, Gelman, Yao and Gabry (2024), Pareto smoothed importance sampling, JMLR 25(72).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bayesgroups.data.arrays import FloatArray

GOOD_K = 0.7
"""k-hat above which importance weights are not relied on, with 2,200 draws or more."""
EQUAL_WEIGHTS = 1e-12
"""Range of log weights below which they are equal to rounding, and have no tail."""


class Smoothed(NamedTuple):
    """Of every cell: log density of its data without it (``elpd``) and with it (``lpd``), and k-hat of the weights."""

    elpd: FloatArray
    lpd: FloatArray
    pareto_k: FloatArray


def threshold(draws: int) -> float:
    """Largest k-hat that is relied on, with so many draws, as in ArviZ.

    >>> threshold(4000), round(threshold(400), 3)
    (0.7, 0.616)
    """
    return min(1 - 1 / float(np.log10(draws)), GOOD_K) if draws > 1 else GOOD_K


def smoothed(
    log_density: FloatArray,
    moved: tuple[FloatArray, FloatArray] | None = None,
    *,
    efficiency: float | None = None,
) -> Smoothed:
    """Densities (chain, draw, cell) averaged with and without importance weights, which are their inverses.

    ``moved`` has the logarithms of other weights, and densities at moved draws, of the same dims. Equal weights need no
    smoothing; their k-hat is NaN. ``efficiency`` is by default `relative_efficiency`.
    """
    from arviz_stats.base.array import array_stats

    chains, draws, cells = log_density.shape
    flat = log_density.reshape(chains * draws, cells)
    lpd = np.asarray(logsumexp(flat, axis=0) - np.log(len(flat)))
    log_weight, density = (-log_density, log_density) if moved is None else moved
    weights, densities = (values.reshape(chains * draws, cells) for values in (log_weight, density))
    elpd, pareto_k = np.asarray(logsumexp(densities, axis=0) - np.log(len(flat))), np.full(cells, np.nan)
    vary = np.flatnonzero(np.ptp(weights, axis=0) > EQUAL_WEIGHTS)
    if len(vary):
        share = relative_efficiency(log_weight[:, :, vary]) if efficiency is None else efficiency
        normalised, pareto_k[vary] = array_stats.psislw(-weights[:, vary].T, r_eff=share)  # pyright: ignore[reportArgumentType]
        elpd[vary] = logsumexp(normalised + densities[:, vary].T, axis=1)
    return Smoothed(elpd, lpd, pareto_k)


def relative_efficiency(log_weight: FloatArray) -> float:
    """Effective number of draws (chain, draw, cell) as a share of their number, mean over cells; near 1 for exact draws."""
    from arviz_stats.base.array import array_stats

    effective = array_stats.ess(log_weight, chain_axis=0, draw_axis=1, method="mean")
    return float(np.nanmean(effective) / (log_weight.shape[0] * log_weight.shape[1]))
