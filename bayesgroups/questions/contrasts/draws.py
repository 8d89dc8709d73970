"""Contrasts of draws: posterior draws, or replicates of a bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.frequentist.intervals.interval import normal_quantile
from bayesgroups.frequentist.intervals.linear_contrasts import all_but_one, weighted_sum
from bayesgroups.questions.contrasts.scales import Scale, equality, is_log
from bayesgroups.questions.contrasts.weighing import Weighted


@dataclass(frozen=True, eq=False)
class Summary:
    """Contrasts summarised, each (contrast,): limits at the level alone and together, shares of draws.

    ``worse`` is the share in which the subgroup is worse than its reference, ``beyond`` (contrast, threshold) that beyond each
    threshold, ``equal`` that in which both are the same, which is the probability of being best where the best is the reference.
    """

    mean: FloatArray
    median: FloatArray
    std_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    lower_together: FloatArray
    upper_together: FloatArray
    worse: FloatArray
    beyond: FloatArray
    equal: FloatArray
    critical_value: float


def contrast_draws(draws: FloatArray, weighted: Weighted, scale: Scale, *, best: int = 0) -> FloatArray:
    """Contrasts (draw, contrast) of draws (draw, cell) on a scale; NaN where they have no value.

    ``best`` is 1 or -1 where the reference is the largest or smallest value of the draw, and 0 otherwise.
    """
    if weighted.vector.any():
        return _vectors(draws, weighted.coefficients, scale)
    first = _sums(draws, weighted.over)
    if best:
        taking_part = weighted.under.any(axis=0)
        among = draws[:, taking_part]
        second = (among.max(axis=1) if best > 0 else among.min(axis=1))[:, None]
    elif weighted.number.any():
        second = weighted.value[None]
    else:
        second = _sums(draws, weighted.under)
    answer = compare(first, second, scale)
    if scale == "odds_ratio":
        for i, effect in weighted.common.items():
            answer[:, i] = effect.odds_ratio(draws)
    answer[:, ~weighted.estimable] = np.nan
    return answer


def compare(first: FloatArray, second: FloatArray, scale: Scale) -> FloatArray:
    """Difference, ratio or odds ratio of values; of zeros over zeros NaN, of others over zero infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if scale == "difference":
            return np.asarray(first - second)
        if scale == "ratio":
            return np.asarray(first / second)
        return np.asarray((first / (1 - first)) / (second / (1 - second)))


def summarise(
    contrasts: FloatArray, scale: Scale, level: float, sign: int, thresholds: FloatArray, *, together: bool
) -> Summary:
    """Summary of contrasts (draw, contrast); ``sign`` is 1 where larger values of the metric are better."""
    by_contrast = np.ascontiguousarray(contrasts.T)
    mean, median, low, high, error, worse, equal = (np.full(len(by_contrast), np.nan) for _ in range(7))
    low_together, high_together = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    beyond = np.full((len(by_contrast), len(thresholds)), np.nan)
    finite = np.isfinite(by_contrast)
    many = finite.sum(axis=1)
    at = [(1 - level) / 2, 0.5, (1 + level) / 2]
    whole = many == by_contrast.shape[1]
    if whole.any():
        low[whole], median[whole], high[whole] = _quantiles(by_contrast if whole.all() else by_contrast[whole], at)
    for i in np.flatnonzero(~whole & (~np.isnan(by_contrast)).any(axis=1)):
        defined = by_contrast[i][~np.isnan(by_contrast[i])]
        low[i], median[i], high[i] = np.quantile(defined, at, method="inverted_cdf")
    some = np.flatnonzero((~np.isnan(by_contrast)).any(axis=1))
    null = equality(scale)
    for i in some:
        row = by_contrast[i] if whole[i] else by_contrast[i][~np.isnan(by_contrast[i])]
        worse[i] = np.count_nonzero(row < null if sign > 0 else row > null) / len(row)
        equal[i] = np.count_nonzero(row == null) / len(row)
        beyond[i] = [np.count_nonzero(row < c if c < null else row > c) / len(row) for c in thresholds]
        mean[i] = row.mean() if many[i] == len(row) else np.nan
    z = np.nan
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        on_scale = np.log(by_contrast) if is_log(scale) else by_contrast
    usable = np.flatnonzero(np.isfinite(on_scale).all(axis=1))
    on_scale = on_scale if len(usable) == len(on_scale) else on_scale[usable]
    centre = on_scale.mean(axis=1)
    error[usable] = on_scale.std(axis=1, ddof=1)
    if together and len(usable):
        z = _largest(on_scale, centre, error[usable], level)
        ends = centre - z * error[usable], centre + z * error[usable]
        low_together[usable], high_together[usable] = np.exp(ends) if is_log(scale) else ends
    return Summary(mean, median, error, low, high, low_together, high_together, worse, beyond, equal, z)


def _largest(draws: FloatArray, centre: FloatArray, scale: FloatArray, level: float) -> float:
    """Quantile of the largest standardised distance of draws (contrast, draw) from their centres; the normal one without spread."""
    spreads = scale > 0
    if not spreads.any():
        return normal_quantile(level)
    largest = np.zeros(draws.shape[1])
    for row, middle, error in zip(
        draws[spreads] if not spreads.all() else draws, centre[spreads], scale[spreads], strict=True
    ):
        np.maximum(largest, np.abs(row - middle) / error, out=largest)
    return float(np.quantile(largest, level))


def _quantiles(rows: FloatArray, at: Sequence[float]) -> FloatArray:
    """Quantiles (probability, row) of rows, from the few order statistics between which they lie."""
    place = np.asarray(at) * (rows.shape[1] - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, rows.shape[1] - 1)
    ordered = np.partition(rows, np.unique([below, above]), axis=1)
    low, high = ordered[:, below], ordered[:, above]
    return np.asarray((low + (place - below) * (high - low)).T)


def _sums(draws: FloatArray, weights: FloatArray) -> FloatArray:
    """Sums (draw, contrast) over cells: columns where one cell has all the weight, once where all contrasts have the same.

    Where each is that of all cells but one, as that of the rest is, it is the sum of all less that cell.
    """
    if (weights == weights[0]).all():
        return np.broadcast_to(weighted_sum(weights[:1], draws), (len(draws), len(weights)))
    if ((weights == 1).sum(axis=1) == 1).all() and ((weights != 0).sum(axis=1) == 1).all():
        return _columns(draws, weights.argmax(axis=1))
    apart = all_but_one(weights)
    if apart is None or not np.isfinite(draws).all():
        return weighted_sum(weights, draws)
    return np.asarray(
        ((draws @ apart.shares)[:, None] - _columns(draws, apart.cell) * apart.shares[apart.cell]) * apart.factor
    )


def _columns(draws: FloatArray, cell: IntArray) -> FloatArray:
    """Columns of draws, without a copy where they are all as they stand."""
    whole = len(cell) == draws.shape[1] and bool((cell == np.arange(len(cell))).all())
    return draws if whole else np.asarray(draws[:, cell])


def _vectors(draws: FloatArray, coefficients: FloatArray, scale: Scale) -> FloatArray:
    """Sums of values, exponentials of sums of logs, or of logits."""
    if scale == "difference":
        return weighted_sum(coefficients, draws)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = np.log(draws) if scale == "ratio" else np.log(draws) - np.log1p(-draws)
        used = np.where((coefficients != 0).any(axis=0), logs, 0.0)
        return np.asarray(np.exp(used @ coefficients.T))
