"""Effective numbers of draws of many short chains, from how much the means of single chains vary.

Autocorrelations are estimated within chains and say nothing of what takes longer than a chain. The means of C independent chains
tell: those of draws that are as good as N independent ones vary by C / N times the variance of a draw.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.report.diagnostics import TAIL


class Effective(NamedTuple):
    """Smallest effective numbers of draws, of ranks and of the draws beyond the quantiles of a tail."""

    bulk: float
    tail: float


def effective(draws: FloatArray) -> Effective:
    """Effective numbers of draws (chain, draw, quantity), no more than there are; a quantity that does not vary is left out.

    NaN where nothing varies or a draw is not finite.

    >>> independent = np.random.default_rng(1).standard_normal((100, 40, 1))
    >>> stuck = np.repeat(independent[:, :1], 40, axis=1)
    >>> [int(effective(each).bulk) for each in (independent, stuck)]
    [4000, 99]
    """
    flat = draws.reshape(-1, draws.shape[2])
    varying = np.ptp(flat, axis=0) > 0
    if not varying.any() or not np.isfinite(flat).all():
        return Effective(np.nan, np.nan)
    shape = (*draws.shape[:2], int(varying.sum()))
    flat = flat[:, varying]
    rank = np.argsort(np.argsort(flat, axis=0, kind="stable"), axis=0).astype(np.float64)
    tails = [(flat <= np.quantile(flat, share, axis=0)).astype(np.float64) for share in TAIL]
    bulk, *ends = (float(_by_means(each.reshape(shape)).min()) for each in (rank, *tails))
    return Effective(bulk, min(ends))


def _by_means(values: FloatArray) -> FloatArray:
    """Effective number of draws of every quantity."""
    chains, each = values.shape[:2]
    with np.errstate(divide="ignore", invalid="ignore"):
        number = chains * values.var(axis=(0, 1)) / values.mean(axis=1).var(axis=0, ddof=1)
    return np.asarray(np.minimum(np.where(np.isnan(number), chains * each, number), float(chains * each)))
