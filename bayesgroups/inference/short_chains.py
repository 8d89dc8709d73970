"""Mixing of many short chains, from how much the means of single chains vary.

Autocorrelations are estimated within chains and say nothing of what takes longer than a chain. The means of C independent chains
tell: those of draws that are as good as N independent ones vary by C / N times the variance of a draw. Chains that start at one
point are a group; R-hat compares groups, each laid out as one chain (nested R-hat, Margossian et al. 2024, doi:10.1214/24-BA1453).
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray, IntArray
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
    order = np.argsort(flat, axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():  # ties go in turn, chain by chain
        order = np.argsort(flat, axis=1, kind="stable")
    middle = ordered[:, [(number - 1) // 2, number // 2]].mean(axis=1, keepdims=True)
    # Distances from the middle fall and rise along the order, which a stable sort merges.
    from_middle = np.argsort(np.abs(ordered - middle), axis=1, kind="stable")
    rank = _ranks(order)
    r_hat = max(_split_r_hat(ranks, groups) for ranks in (rank, _ranks(np.take_along_axis(order, from_middle, axis=1))))
    of_chains = rank.reshape(draws.shape)
    bulk = _effective(of_chains.mean(axis=2), (number**2 - 1) / 12, number)
    ends = []
    for share in TAIL:
        below = np.ceil(share * number) / number
        ends.append(_effective((of_chains < share * number).mean(axis=2), below * (1 - below), number))
    return r_hat, bulk, min(ends)


def _ranks(order: IndexArray) -> IntArray:
    """Ranks from 0 on along the last axis, of values in an order."""
    ranks = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(order.shape[1])[None], axis=1)
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


def _effective(means: FloatArray, variance: float, number: int) -> float:
    """Smallest effective number of draws, from means (quantity, chain) of values with this variance, so many in all."""
    with np.errstate(divide="ignore"):
        effective = means.shape[1] * variance / means.var(axis=1, ddof=1)
    return float(np.minimum(effective, number).min())
