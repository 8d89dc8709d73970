"""Mixing of many short chains, from how much the means of single chains vary.

Autocorrelations are estimated within chains and say nothing of what takes longer than a chain. The means of C independent chains
tell: those of draws that are as good as N independent ones vary by C / N times the variance of a draw. Chains that start at one
point are a group; R-hat compares groups, each laid out as one chain (nested R-hat, Margossian et al. 2024, doi:10.1214/24-BA1453).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray, IntArray
from bayesgroups.report.diagnostics import TAIL, UNKNOWN, Mixing, varying
from bayesgroups.report.rank_statistics import folded_order

GIBBS_CHAINS_OF_A_GROUP = 4
"""Chains of a group of Gibbs samplers, whose steps cost about as much for four as for one."""


def in_groups(values: FloatArray, groups: int, draws: int) -> FloatArray:
    """So many draws of each group (group, draw, ...), its chains laid out as one, from values (chain, draw, ...).

    >>> in_groups(np.arange(8.0).reshape(4, 2), 2, 3).tolist()
    [[0.0, 1.0, 2.0], [4.0, 5.0, 6.0]]
    """
    return values.reshape(groups, len(values) * values.shape[1] // groups, *values.shape[2:])[:, :draws]


def mixing(draws: FloatArray | Sequence[FloatArray], groups: int) -> Mixing:
    """Mixing of draws (quantity, chain, draw), in one array or several, whose chains come in groups in turn.

    The largest rank-normalised split R-hat of the groups (Vehtari et al. 2021, doi:10.1214/20-BA1221), and the smallest effective
    numbers of ranks and of the draws beyond the quantiles of a tail, no more than there are draws. Quantities that do not vary are
    left out; NaN where none does or a draw is not finite.

    >>> independent = np.random.default_rng(1).standard_normal((1, 100, 40))
    >>> stuck = np.repeat(independent[..., :1], 40, axis=2)
    >>> [int(mixing(each, 4).bulk) for each in (independent, stuck)]
    [4000, 99]
    """
    parts = []
    for some in varying(draws):
        if not np.isfinite(some).all():
            return UNKNOWN
        parts.append(_mixing(some, groups))
    if not parts:
        return UNKNOWN
    r_hat, bulk, tail = zip(*parts, strict=True)
    return Mixing(max(r_hat), min(bulk), min(tail))


def _mixing(draws: FloatArray, groups: int) -> tuple[float, float, float]:
    quantities, chains, each = draws.shape
    number = chains * each
    flat = draws.reshape(quantities, -1)
    order = np.argsort(flat, axis=1)  # the fastest sort, which leaves equal values in any order
    ordered = np.take_along_axis(flat, order, axis=1)
    middle = ordered[:, [(number - 1) // 2, number // 2]].mean(axis=1, keepdims=True)
    rank, from_middle = _twice_ranks(order, ordered), _twice_ranks(*folded_order(order, ordered, middle))
    r_hat = max(_split_r_hat(ranks, groups) for ranks in (rank, from_middle))
    of_chains = rank.reshape(draws.shape)
    bulk = _effective(of_chains.mean(axis=2), (number**2 - 1) / 3, number)
    ends = []
    for share in TAIL:
        below = np.ceil(share * number) / number
        ends.append(_effective((of_chains < 2 * share * number).mean(axis=2), below * (1 - below), number))
    return r_hat, bulk, min(ends)


def _twice_ranks(order: IndexArray, ordered: FloatArray) -> IntArray:
    """Twice the ranks from 0 on along the last axis, those of equal values their mean, from the order of values."""
    number = order.shape[1]
    twice = np.tile(2 * np.arange(number), (len(order), 1))
    # Draws of chains that stay where they are: runs of equal values, few among all.
    equal = np.zeros(order.shape, dtype=np.bool_)
    np.equal(ordered[:, 1:], ordered[:, :-1], out=equal[:, :-1])
    place = np.flatnonzero(equal)
    starts = np.flatnonzero(np.diff(place, prepend=-2) > 1)
    length = np.diff(starts, append=len(place)) + 1
    first = np.repeat(place[starts], length)
    within = np.arange(len(first)) - np.repeat(np.cumsum(length) - length, length)
    twice.ravel()[first + within] = 2 * (first % number) + np.repeat(length - 1, length)
    ranks = np.empty_like(twice)
    np.put_along_axis(ranks, order, twice, axis=1)
    return ranks


def _split_r_hat(twice_ranks: IntArray, groups: int) -> float:
    """Largest R-hat of normal scores of ranks (quantity, draw), groups of chains laid out as chains and cut in halves."""
    from scipy.special import ndtri

    quantities, number = twice_ranks.shape
    scores = ndtri((np.arange(1, number + 0.5, 0.5) - 0.375) / (number + 0.25))
    score = scores[twice_ranks].reshape(quantities, groups, -1)
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
