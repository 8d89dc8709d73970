"""Dealing to folds: labels, successes and means."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IntArray

MOST_DEALT = 1_000_000_000
"""Trials of a subgroup that NumPy deals without replacement."""


def shares(size: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """Rows of each stratum in each fold when they are dealt in turn from a random fold on.

    With no more in all than there are folds, dealing goes on where the last stratum ended, so that no fold gets two.

    Parameters
    ----------
    size : int array (stratum,)
        How many there are.
    folds : int
        How many folds.
    rng : numpy Generator

    Returns
    -------
    int array (fold, stratum)

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.array([1, 2]), 3, np.random.default_rng(1)).sum(axis=1).tolist()
    [1, 1, 1]
    """
    start = first_folds(size, folds, rng)
    turn = (np.arange(folds)[:, None] - start) % folds
    return (size // folds + (turn < size % folds)).astype(np.int64)


def first_folds(size: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """The fold where dealing starts, for every stratum.

    Examples
    --------
    >>> import numpy as np
    >>> (np.diff(first_folds(np.array([1, 2]), 3, np.random.default_rng(1))) % 3).tolist()
    [1]
    """
    if size.sum() <= folds:
        return (np.cumsum(size) - size + rng.integers(folds)) % folds
    return rng.integers(folds, size=len(size))


def deal_labels(
    labels: Sequence[Hashable], strata: Sequence[Hashable], folds: int, rng: np.random.Generator
) -> IntArray:
    """Deal labels to folds, stratum by stratum; a label that comes again goes where it went.

    Parameters
    ----------
    labels, strata : sequences
        One entry each per item. A label counts for the stratum where it comes first.
    folds : int
        How many folds.
    rng : numpy Generator

    Returns
    -------
    int array (item,)
        The fold of every item.

    Examples
    --------
    >>> import numpy as np
    >>> found = deal_labels(["p", "q", "p", "r"], ["a", "a", "a", "b"], 2, np.random.default_rng(1))
    >>> bool(found[0] == found[2]), bool(found[0] == found[1])
    (True, False)
    """
    members: dict[Hashable, dict[Hashable, None]] = {}
    seen: dict[Hashable, Hashable] = {}
    for label, stratum in zip(labels, strata, strict=True):
        if seen.setdefault(label, stratum) == stratum:
            members.setdefault(stratum, {})[label] = None
    start = first_folds(np.array([len(group) for group in members.values()], dtype=np.int64), folds, rng)
    fold: dict[Hashable, int] = {}
    for first, group in zip(start, members.values(), strict=True):
        own = list(group)
        for turn, position in enumerate(rng.permutation(len(own))):
            fold[own[position]] = int(first + turn) % folds
    return np.array([fold[label] for label in labels], dtype=np.int64)


def deal_counts(
    successes: FloatArray, count: FloatArray, folds: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Deal the trials of every subgroup to folds without replacement.

    Parameters
    ----------
    successes, count : arrays (subgroup,)
        Whole numbers.
    folds : int
        How many folds.
    rng : numpy Generator

    Returns
    -------
    count, mean : arrays (fold, subgroup)
        Trials, and share of successes, NaN without trials.

    Examples
    --------
    >>> import numpy as np
    >>> count, mean = deal_counts(np.array([3.0]), np.array([5.0]), 2, np.random.default_rng(1))
    >>> sorted(count[:, 0].tolist()), float((count * mean).sum())
    ([2.0, 3.0], 3.0)
    """
    size = shares(count.astype(np.int64), folds, rng)
    dealt = [_deal_successes(trials, int(hits), rng) for trials, hits in zip(size.T, successes, strict=True)]
    number = size.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return number, np.array(dealt, dtype=np.float64).T / number


def _deal_successes(trials: NDArray[np.int64], hits: int, rng: np.random.Generator) -> FloatArray:
    total = int(trials.sum())
    if total < MOST_DEALT:
        return rng.multivariate_hypergeometric(trials, hits, method="marginals").astype(np.float64)
    # Beyond what NumPy deals one by one the law is normal to all digits that matter.
    noise = rng.standard_normal(len(trials)) * np.sqrt(trials * (hits / total) * (1 - hits / total))
    dealt = trials * (hits / total) + noise - noise.sum() * trials / total
    found: FloatArray = np.clip(np.round(dealt), 0, trials)
    return found


def deal_means(
    mean: FloatArray, count: FloatArray, row_variance: FloatArray, folds: int, rng: np.random.Generator, *, whole: bool
) -> tuple[FloatArray, FloatArray]:
    """Draw the means that rows dealt to folds could have, given the mean of all.

    Parameters
    ----------
    mean, count, row_variance : arrays (subgroup,)
        Mean, (effective) number of rows and their variance, divisor count - 1; mean NaN where there is none.
    folds : int
        How many folds.
    rng : numpy Generator
    whole : bool
        Whether counts are numbers of rows; otherwise every fold has an equal share.

    Returns
    -------
    count, mean : arrays (fold, subgroup)
        Sum of count times mean is that of all.

    Notes
    -----
    Sums of folds have the covariances of sampling without replacement, s^2 (d_f [f = g] - d_f d_g / d).

    Examples
    --------
    >>> import numpy as np
    >>> count, mean = deal_means(np.array([2.0]), np.array([4.0]), np.ones(1), 2, np.random.default_rng(1), whole=True)
    >>> count[:, 0].tolist(), round(float(mean.mean()), 12)
    ([2.0, 2.0], 2.0)
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
        away = noise / number - noise.sum(axis=0) / size
        return number, np.where(number > 0, mean + away, np.nan)
