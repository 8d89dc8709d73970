"""Mixing of many short chains, from how much the means of single chains vary.

Autocorrelations are estimated within chains and say nothing of what takes longer than a chain. The means of C independent chains
tell: those of draws that are as good as N independent ones vary by C / N times the variance of a draw. Chains that start at one
point are a group; R-hat compares groups, each laid out as one chain (nested R-hat, Margossian et al. 2024, doi:10.1214/24-BA1453).
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.report.diagnostics import TAIL, Mixing

QUANTITIES_AT_ONCE = 200


def mixing(draws: FloatArray, groups: int) -> Mixing:
    """Mixing of draws (quantity, chain, draw) whose chains come in groups in turn.

    The largest rank-normalised split R-hat of the groups (Vehtari et al. 2021, doi:10.1214/20-BA1221), and the smallest effective
    numbers of ranks and of the draws beyond the quantiles of a tail, no more than there are draws. Quantities that do not vary are
    left out; NaN where none does or a draw is not finite.

    >>> independent = np.random.default_rng(1).standard_normal((1, 100, 40))
    >>> stuck = np.repeat(independent[..., :1], 40, axis=2)
    >>> [int(mixing(each, 4).bulk) for each in (independent, stuck)]
    [4000, 99]
    """
    flat = draws.reshape(len(draws), -1)
    varying = draws[np.ptp(flat, axis=1) > 0]
    if not len(varying) or not np.isfinite(flat).all():
        return Mixing(np.nan, np.nan, np.nan)
    parts = [_mixing(part, groups) for part in np.array_split(varying, -(-len(varying) // QUANTITIES_AT_ONCE))]
    r_hat, bulk, tail = zip(*parts, strict=True)
    return Mixing(max(r_hat), min(bulk), min(tail))


def _mixing(draws: FloatArray, groups: int) -> tuple[float, float, float]:
    quantities, chains, each = draws.shape
    number = chains * each
    flat = draws.reshape(quantities, -1)
    rank = _ranks(flat)
    r_hat = max(
        _split_r_hat(ranks, groups) for ranks in (rank, _ranks(np.abs(flat - np.median(flat, axis=1, keepdims=True))))
    )
    tails = [(rank < share * number).astype(np.float64) for share in TAIL]
    bulk, *ends = (float(_by_means(part.reshape(draws.shape)).min()) for part in (rank.astype(np.float64), *tails))
    return r_hat, bulk, min(ends)


def _ranks(values: FloatArray) -> IntArray:
    """Ranks from 0 on along the last axis."""
    ranks = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, np.argsort(values, axis=1, kind="stable"), np.arange(values.shape[1])[None], axis=1)
    return ranks


def _split_r_hat(ranks: IntArray, groups: int) -> float:
    """Largest R-hat of normal scores of ranks (quantity, draw), groups of chains laid out as chains and cut in halves."""
    from scipy.special import ndtri

    number = ranks.shape[1]
    score = ndtri((np.arange(1, number + 1) - 0.375) / (number + 0.25))[ranks].reshape(len(ranks), groups, -1)
    half = score.shape[2] // 2
    cut = np.concatenate([score[:, :, :half], score[:, :, -half:]], axis=1)
    within = cut.var(axis=2, ddof=1).mean(axis=1)
    between = cut.mean(axis=2).var(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.sqrt(between / within + (half - 1) / half).max())


def _by_means(values: FloatArray) -> FloatArray:
    """Effective number of draws of every quantity, (quantity, chain, draw) to (quantity,)."""
    chains, each = values.shape[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        number = chains * values.var(axis=(1, 2)) / values.mean(axis=2).var(axis=1, ddof=1)
    return np.asarray(np.minimum(np.where(np.isnan(number), chains * each, number), float(chains * each)))
