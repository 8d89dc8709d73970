"""Choice of the lasso penalty by how well it predicts rows that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.structured import huber

Rule = Literal["minimum", "one_standard_error"]

GRID = 60
MIN_PENALTY_RATIO = 1e-3
"""Size of the grid of penalties, and its last value as a share of the first."""


@dataclass(frozen=True)
class Split:
    """One fold: what is fitted, and what is left out to be predicted.

    ``x`` (subgroup, column) are features as known from the rows that are fitted, of every subgroup; ``z`` and ``w``
    (subgroup,) estimates of these rows and their weights, NaN and 0 where there are none; ``z_left`` and ``w_left`` those
    of the rows left out.
    """

    x: FloatArray
    z: FloatArray
    w: FloatArray
    z_left: FloatArray
    w_left: FloatArray


def grid(largest: float, size: int = GRID, smallest: float = MIN_PENALTY_RATIO) -> FloatArray:
    """Penalties from the largest downwards, equally spaced in their logarithm; ``smallest`` is the last as a share of the largest.

    InputError if the size is below 2 or the share not between 0 and 1.
    """
    if size < 2 or not 0 < smallest < 1:
        raise InputError(f"a grid needs size 2 or more and smallest between 0 and 1; got {size} and {smallest}")
    return largest * np.geomspace(1.0, smallest, size)


def losses(splits: Sequence[Split], penalties: FloatArray, total: float) -> FloatArray:
    """Squared error sum_a w_left (z_left - prediction)^2 of what was left out, (fold, penalty).

    Up to a constant, the expected squared error of a prediction of a row, in units of its variance; 0 in folds that fit
    or leave out nothing. Penalties decrease, as they would be used on all rows, whose weights sum to ``total``: a fold
    has its penalties in proportion to the weights that it fits.

    >>> empty, z, w = np.zeros((2, 0)), np.array([0.5, 1.0]), np.array([2.0, 1.0])
    >>> losses([Split(empty, z, w, np.array([1.0, np.nan]), np.array([1.0, 0.0]))], np.array([0.0]), total=4.0).round(6).tolist()
    [[0.111111]]
    """
    loss = np.zeros((len(splits), len(penalties)))
    weights = [np.where(np.isfinite(split.z), split.w, 0.0) for split in splits]
    left = [np.where(np.isfinite(split.z_left), split.w_left, 0.0) for split in splits]
    told = [i for i in range(len(splits)) if weights[i].any() and left[i].any()]
    if not told:
        return loss
    samples = [huber.Sample(splits[i].x, splits[i].z, weights[i]) for i in told]
    predicted = huber.predictions(samples, np.array([weights[i].sum() / total * penalties for i in told]))
    for i, fitted in zip(told, predicted, strict=True):
        some = left[i] > 0
        loss[i] = (splits[i].z_left[some] - fitted[:, some]) ** 2 @ left[i][some]
    return loss


def choose(loss: FloatArray, rule: Rule = "minimum") -> int:
    """Position of the penalty to use, from losses (fold, penalty) at decreasing penalties.

    The smallest loss, or the largest penalty whose loss lies within a standard error of that; ties go to the larger
    penalty. The standard error of the sum over F folds is sqrt(F) times the standard deviation over the folds.
    """
    if rule not in ("minimum", "one_standard_error"):
        raise InputError(f"rule={rule!r} does not exist; it is 'minimum' or 'one_standard_error'")
    total = loss.sum(axis=0)
    # Penalties that fit alike differ by rounding, which must not decide.
    best = int(np.argmax(total <= total.min() * (1 + 1e-12)))
    if rule == "minimum" or len(loss) < 2:
        return best
    error = float(np.sqrt(len(loss)) * loss[:, best].std(ddof=1))
    return int(np.argmax(total <= total[best] + error))
