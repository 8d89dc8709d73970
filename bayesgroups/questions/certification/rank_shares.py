"""Ranks of draws in which ties are shared: over subgroups and over ranks the probabilities sum to 1.

Subgroups that tie over the ranks r, ..., r + m - 1 in a draw have each of these ranks with a share of 1 / m.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.certification.worst import times_worst
from bayesgroups.report.draw_blocks import blocks

SUMMARIES = ("rank", "lower", "upper", "expected_rank", "probability_best", "probability_worst")
"""Names of what `rank_summaries` gives."""


def rank(values: FloatArray) -> FloatArray:
    """Ranks along the last axis, 1 for the largest; ties share the mean of theirs, NaN has none."""
    return np.reshape(_ranked(np.atleast_2d(-values), "average"), values.shape)


def _ranked(rows: FloatArray, ties: Literal["average", "min", "max"]) -> FloatArray:
    """Ranks within rows, 1 for the smallest."""
    return np.asarray(pd.DataFrame(rows).rank(axis=1, method=ties), dtype=np.float64)


def times_ranked(draws: FloatArray) -> FloatArray:
    """Number of draws in which each subgroup has each rank, (subgroup, rank), from draws (draw, subgroup); ties share.

    Larger is better. A draw without a value in some subgroup has no ranks; rows and columns sum to the number of the others.
    """
    complete = draws[np.isfinite(draws).all(axis=1)]
    groups = draws.shape[1]
    first = _ranked(-complete, "min").astype(np.intp) - 1
    after = _ranked(-complete, "max").astype(np.intp)
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
    """Share of draws with each rank, (subgroup, rank), rank 1 first, from blocks (draw, subgroup), one in memory at a time.

    Rows and columns sum to 1; NaN where no draw has a value in every subgroup.
    """
    times = sum((times_ranked(block) for block in blocks_of_draws), np.zeros((groups, groups)))
    with np.errstate(invalid="ignore"):
        return np.asarray(times / times.sum(axis=1, keepdims=True), dtype=np.float64)


def times_at_ends(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Number of draws in which each subgroup is the best and the worst, (subgroup,) each; ties share.

    They are the first and the last column of `times_ranked`, at no more cost than a pass over the draws.
    """
    return times_worst(-draws), times_worst(draws)


def rank_summaries(blocks_of_draws: Iterable[FloatArray], draws: int, groups: int, level: float) -> FloatArray:
    """`SUMMARIES` (summary, subgroup) of the ranks in blocks of draws (draw, subgroup), larger better.

    ``draws`` is the number in all blocks, ``groups`` at least 1, ``level`` the probability of the equal-tailed limits. A
    draw without a value in some subgroup has no ranks; NaN where all are such.
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
