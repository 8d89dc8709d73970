"""Counts of both classes between thresholds, all that is left of the scores, and replicates of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import FloatArray, numbers
from bayesgroups.errors import InputError
from bayesgroups.questions.curves.scores import Scores

STEPS = 51
"""Thresholds when none are given."""
BORROWED = 1.0
"""Rows of the pooled distribution that are added to each subgroup's own, so that no curve is known where it is 0 or 1."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts per subgroup and bin, ``positives`` and ``negatives`` (subgroup, threshold + 1).

    Bin 0 lies below the first of the ``thresholds`` (threshold,), bin j holds scores from threshold j - 1, included, up to
    threshold j, and the last bin the scores from the last threshold on.
    """

    thresholds: FloatArray
    positives: FloatArray
    negatives: FloatArray


@dataclass(frozen=True, eq=False)
class Replicates:
    """Resampled counts (replicate, bin) of one subgroup, and shares (bin,) of their law, which sum to 1 over both classes."""

    positives: FloatArray
    negatives: FloatArray
    positive_share: FloatArray
    negative_share: FloatArray


def histogram(scores: Scores, thresholds: FloatArray) -> Histogram:
    """Counts of scores between thresholds."""
    bins = len(thresholds) + 1
    place = scores.subgroup * bins + np.searchsorted(thresholds, scores.score, side="right")

    def count(weights: FloatArray) -> FloatArray:
        return np.bincount(place, weights=weights, minlength=scores.size * bins).reshape(scores.size, bins)

    return Histogram(thresholds, count(scores.positives), count(scores.negatives))


def resample(counts: Histogram, subgroup: int, rng: np.random.Generator, draws: int) -> Replicates:
    """Replicates of the rows of one subgroup, which must have one (Efron 1979, doi:10.1214/aos/1176344552).

    Each has the subgroup's (effective, rounded) number of rows, from its own distribution over class and bin with one row
    of all subgroups together added to it.
    """
    cells = np.stack([counts.positives, counts.negatives])
    everyone = cells.sum(axis=1)
    mixed = cells[:, subgroup] + BORROWED * everyone / everyone.sum()
    share = mixed / mixed.sum()
    rows = max(int(np.rint(cells[:, subgroup].sum())), 1)
    drawn = rng.multinomial(rows, share.ravel() / share.sum(), size=draws).reshape(draws, *share.shape)
    replicates = drawn.astype(np.float64)
    return Replicates(replicates[:, 0], replicates[:, 1], share[0], share[1])


def at_least(counts: FloatArray) -> FloatArray:
    """Number of scores at or above each threshold, from counts per bin along the last axis."""
    return np.asarray(np.cumsum(counts[..., ::-1], axis=-1)[..., -2::-1], dtype=np.float64)


def choose_thresholds(scores: Scores, thresholds: ArrayLike | None) -> FloatArray:
    """Thresholds as given, sorted and without repeats, or by default; an InputError if there is none or one is not finite.

    The default is 51 even thresholds from 0 to 1 where all scores lie there, else the scores at 51 even ranks of all rows.
    """
    if thresholds is None:
        if scores.score.min() >= 0 and scores.score.max() <= 1:
            return np.linspace(0.0, 1.0, STEPS)
        return ranked(scores.score, scores.positives + scores.negatives, STEPS)
    chosen = np.unique(numbers(thresholds)) + 0.0
    if len(chosen) == 0 or not np.isfinite(chosen).all():
        raise InputError("thresholds= must hold finite numbers, at least one, such as np.linspace(0, 1, 51)")
    return chosen


def ranked(score: FloatArray, weight: FloatArray, steps: int) -> FloatArray:
    """Scores at evenly spaced ranks: values that occur, so that they move with any increasing map of the scores."""
    some = weight > 0
    order = np.argsort(score[some], kind="stable")
    value, reached = score[some][order], np.cumsum(weight[some][order])
    wanted = np.linspace(0.0, 1.0, steps) * reached[-1]
    # A hair below each rank, so that rounding of the sums does not decide.
    place = np.searchsorted(reached, wanted * (1 - 1e-12))
    return np.unique(value[np.minimum(place, len(value) - 1)])
