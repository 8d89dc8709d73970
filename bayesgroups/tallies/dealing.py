"""Dealing to folds: labels, successes and means."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IntArray

MAX_TRIALS_DEALT = 1_000_000_000
"""Trials of a subgroup that NumPy deals without replacement."""


def shares(size: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """Rows of each stratum in each fold (fold, stratum) when they are dealt in turn from a random fold on.

    With no more in all than there are folds, dealing goes on where the last stratum ended, so that no fold gets two.
    """
    start = first_folds(size, folds, rng)
    turn = (np.arange(folds)[:, None] - start) % folds
    return (size // folds + (turn < size % folds)).astype(np.int64)


def first_folds(size: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """The fold where dealing starts, for every stratum."""
    if size.sum() <= folds:
        return (np.cumsum(size) - size + rng.integers(folds)) % folds
    return rng.integers(folds, size=len(size))


def deal_labels(
    labels: Sequence[Hashable], strata: Sequence[Hashable], folds: int, rng: np.random.Generator
) -> IntArray:
    """The fold of every item (item,), dealt stratum by stratum; a label that comes again goes where it went.

    A label counts for the stratum where it comes first.
    """
    members: dict[Hashable, dict[Hashable, None]] = {}
    seen: dict[Hashable, Hashable] = {}
    for label, stratum in zip(labels, strata, strict=True):
        if seen.setdefault(label, stratum) == stratum:
            members.setdefault(stratum, {})[label] = None
    start = first_folds(np.array([len(group) for group in members.values()], dtype=np.int64), folds, rng)
    fold: dict[Hashable, int] = {}
    for first, group in zip(start, members.values(), strict=True):
        members_of_stratum = list(group)
        for turn, position in enumerate(rng.permutation(len(members_of_stratum))):
            fold[members_of_stratum[position]] = int(first + turn) % folds
    return np.array([fold[label] for label in labels], dtype=np.int64)


def deal_counts(
    successes: FloatArray, count: FloatArray, folds: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Trials and shares of successes (fold, subgroup), NaN without trials, dealt without replacement from whole numbers."""
    size = shares(count.astype(np.int64), folds, rng)
    dealt = [_deal_successes(trials, int(hits), rng) for trials, hits in zip(size.T, successes, strict=True)]
    number = size.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return number, np.array(dealt, dtype=np.float64).T / number


def _deal_successes(trials: NDArray[np.int64], hits: int, rng: np.random.Generator) -> FloatArray:
    total = int(trials.sum())
    if total < MAX_TRIALS_DEALT:
        return rng.multivariate_hypergeometric(trials, hits, method="marginals").astype(np.float64)
    # Beyond what NumPy deals one by one the law is normal to all digits that matter.
    noise = rng.standard_normal(len(trials)) * np.sqrt(trials * (hits / total) * (1 - hits / total))
    dealt = trials * (hits / total) + noise - noise.sum() * trials / total
    whole: FloatArray = np.clip(np.round(dealt), 0, trials)
    return whole


def deal_means(
    mean: FloatArray, count: FloatArray, row_variance: FloatArray, folds: int, rng: np.random.Generator, *, whole: bool
) -> tuple[FloatArray, FloatArray]:
    """Counts and means (fold, subgroup) that rows dealt to folds could have, given the mean of all, which they keep.

    ``count`` is the (effective) number of rows, ``row_variance`` their variance with divisor count - 1, and the mean NaN where
    there is none. Unless counts are ``whole`` numbers of rows, every fold has an equal share. Sums of folds have the covariances
    of sampling without replacement, s^2 (d_f [f = g] - d_f d_g / d).
    """
    some = np.isfinite(mean) & (count > 0)
    size = np.where(some, count, 0.0)
    if whole and (size == np.round(size)).all():
        number = shares(size.astype(np.int64), folds, rng).astype(np.float64)
    else:
        number = np.repeat(size[None] / folds, folds, axis=0)
    deviation = np.sqrt(np.where(some, np.nan_to_num(row_variance), 0.0))
    noise = rng.standard_normal(number.shape) * deviation * np.sqrt(number)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations = noise / number - noise.sum(axis=0) / size
        return number, np.where(number > 0, mean + deviations, np.nan)
