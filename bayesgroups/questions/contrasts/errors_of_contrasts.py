"""Sampling errors of contrasts of cells: a factor (contrast, cell) of their covariance on every scale, and nested sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.linear_contrasts import difference_factor, log_ratio_factor, weighted_sum
from bayesgroups.questions.contrasts.estimates import CellEstimates
from bayesgroups.questions.contrasts.scales import Scale
from bayesgroups.questions.contrasts.weighing import Weighted

TOUCH = 1e-12
"""Weights as small as this are taken to be 0."""


def factor(weighted: Weighted, cells: CellEstimates, scale: Scale) -> FloatArray:
    """Factor (contrast, cell) of the covariance of contrasts; of their logs on the scales of ratios.

    Logs of single rates have Katz's and Woolf's variances (divisor n), weighted sums of rates unbiased ones (n - 1).
    """
    parts = _factor(weighted, cells, scale)
    for i, effect in weighted.common.items():
        parts[i] = effect.factor(cells, scale)
    return parts


def _factor(weighted: Weighted, cells: CellEstimates, scale: Scale) -> FloatArray:
    """Factor (contrast, cell) of contrasts of weighted sums."""
    if cells.covariance is not None:
        return cells.correlated_factor(gradient_of(weighted, cells, scale))
    over, under, vector = weighted.over, weighted.under, weighted.vector[:, None]
    if scale == "difference":
        over = np.where(vector, np.maximum(weighted.coefficients, 0.0), over)
        under = np.where(vector, np.maximum(-weighted.coefficients, 0.0), under)
        return difference_factor(over, under, cells.variance)
    plain = vector[:, 0] | weighted.single
    with np.errstate(divide="ignore", invalid="ignore"):
        biased = cells.value * (1 - cells.value) / cells.count if cells.rate else cells.variance
        slope = 1 / cells.value if scale == "ratio" else 1 / (cells.value * (1 - cells.value))
        if scale == "ratio":
            gradient = log_ratio_factor(over, under, cells.value, cells.variance)
        else:
            ends = [weighted_sum(side, cells.value)[:, None] for side in (over, under)]
            slopes = [
                np.where(side != 0, side / (end * (1 - end)), 0.0)
                for side, end in zip((over, under), ends, strict=True)
            ]
            gradient = np.where((over != 0) | (under != 0), (slopes[0] - slopes[1]) * np.sqrt(cells.variance), 0.0)
        coefficients = np.where(vector, weighted.coefficients, over - under)
        direct = np.where(coefficients != 0, coefficients * slope * np.sqrt(biased), 0.0)
    return np.where(plain[:, None], direct, gradient)


def gradient_of(weighted: Weighted, cells: CellEstimates, scale: Scale) -> FloatArray:
    """Gradient (contrast, cell) of differences, of log ratios or log odds ratios of weighted sums, or of sums by coefficients."""
    if scale == "difference":
        return np.where(weighted.vector[:, None], weighted.coefficients, weighted.over - weighted.under)
    over, under, vector = weighted.over, weighted.under, weighted.vector[:, None]
    ends = [weighted_sum(side, cells.value)[:, None] for side in (over, under)]
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = [
            side / (end if scale == "ratio" else end * (1 - end)) for side, end in zip((over, under), ends, strict=True)
        ]
        single = weighted.coefficients / (cells.value if scale == "ratio" else cells.value * (1 - cells.value))
    sums = np.where(over != 0, slopes[0], 0.0) - np.where(under != 0, slopes[1], 0.0)
    return np.where(vector, np.where(weighted.coefficients != 0, single, 0.0), sums)


@dataclass(frozen=True, eq=False)
class Nested:
    """References that hold the subgroup with a ``share`` (contrast,): the ``rest`` (contrast, cell) of them, where it ``holds``."""

    share: FloatArray
    rest: FloatArray
    holds: BoolArray

    def to_all(self, ratio: FloatArray) -> FloatArray:
        """Ratio to the whole reference from that to its rest, which rises with it."""
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = ratio / (self.share * ratio + 1 - self.share)
            return np.where(np.isinf(ratio), 1 / self.share, whole)


def nested(over: FloatArray, under: FloatArray) -> Nested:
    """References as a share of the subgroup and a rest that has none of its cells; the share is 0 of disjoint sides.

    It does not hold where sides share cells in other proportions: then limits of both sides cannot be put together.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(over > TOUCH, under / over, np.inf).min(axis=1)
        share = np.where(np.isfinite(share), share, 0.0)
        rest = np.maximum(under - share[:, None] * over, 0.0)
        rest = np.where(rest > TOUCH, rest, 0.0) / (1 - share[:, None])
    holds = ~((rest > 0) & (over > TOUCH)).any(axis=1) & (share < 1 - TOUCH)
    return Nested(share, np.where(holds[:, None], rest, 0.0), holds)
