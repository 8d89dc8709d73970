"""Ranks of draws in which ties are shared: over subgroups and over ranks the probabilities sum to 1.

Subgroups that tie over the ranks r, ..., r + m - 1 in a draw have each of these ranks with a share of 1 / m.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.certification.worst import times_worst
from bayesgroups.report.draw_blocks import blocks

SUMMARIES = ("rank", "lower", "upper", "expected_rank", "probability_best", "probability_worst")
"""Names of what `rank_summaries` gives."""


def rank(values: FloatArray) -> FloatArray:
    """Ranks along the last axis, 1 for the largest; ties share the mean of theirs, NaN has none.

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.array([0.3, 0.9, np.nan, 0.3])).tolist()
    [2.5, 1.0, nan, 2.5]
    """
    from scipy.stats import rankdata

    ranks: FloatArray = rankdata(-values, axis=-1, nan_policy="omit")
    return ranks


def times_ranked(draws: FloatArray) -> FloatArray:
    """Number of draws in which each subgroup has each rank, (subgroup, rank); ties share.

    Parameters
    ----------
    draws : array (draw, subgroup)
        Larger is better; a draw without a value in some subgroup has no ranks.

    Returns
    -------
    array (subgroup, rank)
        Rows and columns sum to the number of draws that have ranks.

    Examples
    --------
    >>> import numpy as np
    >>> times_ranked(np.array([[0.9, 0.2, 0.2], [0.1, 0.2, 0.3]])).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.5, 0.5], [1.0, 0.5, 0.5]]
    """
    from scipy.stats import rankdata

    complete = draws[np.isfinite(draws).all(axis=1)]
    groups = draws.shape[1]
    first = rankdata(-complete, method="min", axis=-1).astype(np.intp) - 1
    after = rankdata(-complete, method="max", axis=-1).astype(np.intp)
    times = np.zeros((groups, groups))
    width = groups + 1
    row = np.broadcast_to(np.arange(groups) * width, first.shape)
    for size in np.unique(after - first):
        # Whole numbers of ties that begin and end at each rank, added up along the ranks, are exact before the division.
        tied = (after - first) == size
        begin, end = (
            np.bincount((row + at)[tied], minlength=groups * width).reshape(groups, width) for at in (first, after)
        )
        times += np.cumsum(begin - end, axis=1)[:, :-1] / size
    return times


def rank_probabilities(blocks_of_draws: Iterable[FloatArray], groups: int) -> FloatArray:
    """Share of draws in which each subgroup has each rank, (subgroup, rank).

    Parameters
    ----------
    blocks_of_draws : iterable of arrays (draw, subgroup)
        Larger is better; one block in memory at a time.
    groups : int
        Number of subgroups.

    Returns
    -------
    array (subgroup, rank)
        Rank 1 first. Rows and columns sum to 1; NaN where no draw has a value in every subgroup.

    Examples
    --------
    >>> import numpy as np
    >>> rank_probabilities([np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])], 2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    times = sum((times_ranked(block) for block in blocks_of_draws), np.zeros((groups, groups)))
    with np.errstate(invalid="ignore"):
        return np.asarray(times / times.sum(axis=1, keepdims=True), dtype=np.float64)


def times_at_ends(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Number of draws in which each subgroup is the best and the worst, two arrays (subgroup,); ties share.

    They are the first and the last column of `times_ranked`, at no more cost than a pass over the draws.

    Examples
    --------
    >>> import numpy as np
    >>> best, worst = times_at_ends(np.array([[0.9, 0.2, 0.2], [0.1, 0.2, 0.3]]))
    >>> best.tolist(), worst.tolist()
    ([1.0, 0.0, 1.0], [1.0, 0.5, 0.5])
    """
    return times_worst(-draws), times_worst(draws)


def rank_summaries(blocks_of_draws: Iterable[FloatArray], draws: int, groups: int, level: float) -> FloatArray:
    """Median, limits and mean of the ranks in the draws, and the shares of draws as the best and as the worst.

    Parameters
    ----------
    blocks_of_draws : iterable of arrays (draw, subgroup)
        Larger is better; one block in memory at a time. A draw without a value in some subgroup has no ranks.
    draws : int
        Number of draws in all blocks.
    groups : int
        Number of subgroups, at least 1.
    level : float
        Probability of the equal-tailed limits.

    Returns
    -------
    array (summary, subgroup)
        In the order of `SUMMARIES`; NaN where no draw has a value in every subgroup.

    Examples
    --------
    >>> import numpy as np
    >>> summaries = rank_summaries([np.array([[0.9, 0.2], [0.3, 0.3]])], 2, 2, 0.95)
    >>> dict(zip(SUMMARIES, summaries[:, 0].tolist()))["expected_rank"], summaries[-1].tolist()
    (1.25, [0.25, 0.75])
    """
    # Ranks are whole or halves, which single precision holds as they are.
    drawn = np.empty((draws, groups), dtype=np.float32)
    best, worst, size = np.zeros(groups), np.zeros(groups), 0
    for block in blocks_of_draws:
        complete = block[np.isfinite(block).all(axis=1)]
        drawn[size : size + len(complete)] = rank(complete)
        size += len(complete)
        best_here, worst_here = times_at_ends(complete)
        best, worst = best + best_here, worst + worst_here
    summaries = np.full((len(SUMMARIES), groups), np.nan)
    if size == 0:
        return summaries
    for columns in blocks(groups, size):
        ranks = drawn[:size, columns].astype(np.float64)
        summaries[:3, columns] = np.quantile(ranks, [0.5, (1 - level) / 2, (1 + level) / 2], axis=0)
        summaries[3, columns] = ranks.mean(axis=0)
    summaries[4:] = best / size, worst / size
    return summaries
