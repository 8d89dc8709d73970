"""Contrasts of draws: posterior draws, or replicates of a bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import normal_quantile
from bayesgroups.frequentist.intervals.linear_contrasts import weighted_sum
from bayesgroups.questions.contrasts.scales import Scale, equality, is_log
from bayesgroups.questions.contrasts.weighing import Weighted

AT_ONCE = 32
"""Contrasts whose draws are summarised at once: few enough that they stay in the cache of a processor."""


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
    return contrasts_on(draws, weighted, scale, best=best)(slice(None))


def contrasts_on(
    draws: FloatArray, weighted: Weighted, scale: Scale, *, best: int = 0
) -> Callable[[slice], FloatArray]:
    """Function from places of contrasts to their draws, those of `contrast_draws`, so that few are in memory at once."""
    if weighted.vector.any():
        whole = _vectors(draws, weighted.coefficients, scale)
        return lambda some: whole[:, some]
    first, second = weighted.first.on(draws), weighted.second.on(draws)
    if best:
        second = partial(_same, _ends(draws[:, weighted.under.any(axis=0)], best))
    elif weighted.number.any():
        second = partial(_part, weighted.value[None])
    common = weighted.common if scale == "odds_ratio" else {}

    def contrasts(some: slice) -> FloatArray:
        answer = compare(first(some), second(some), scale)
        places = range(len(weighted.over))[some]
        for i, place in enumerate(places):
            if place in common:
                answer[:, i] = common[place].odds_ratio(draws)
        answer[:, ~weighted.estimable[some]] = np.nan
        return answer

    return contrasts


def _ends(among: FloatArray, best: int) -> FloatArray:
    """The best value (draw, 1) of each draw among these (draw, cell), NaN where there are none."""
    if not among.shape[1]:
        return np.full((len(among), 1), np.nan)
    return np.asarray((among.max(axis=1) if best > 0 else among.min(axis=1))[:, None])


def _same(values: FloatArray, _: slice) -> FloatArray:
    """Values (draw, 1) that are the same for all contrasts."""
    return values


def _part(values: FloatArray, some: slice) -> FloatArray:
    """Values (1, contrast) at places."""
    return values[:, some]


def compare(first: FloatArray, second: FloatArray, scale: Scale) -> FloatArray:
    """Difference, ratio or odds ratio of values; of zeros over zeros NaN, of others over zero infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if scale == "difference":
            return np.asarray(first - second)
        if scale == "ratio":
            return np.asarray(first / second)
        return np.asarray((first / (1 - first)) / (second / (1 - second)))


def summarise(
    draws: FloatArray, weighted: Weighted, scale: Scale, level: float, sign: int, thresholds: FloatArray, *,
    best: int = 0, together: bool,
) -> Summary:  # fmt: skip
    """Summary of the contrasts of draws (draw, cell), faster where those of a cell lie together in memory.

    ``sign`` is 1 where larger values of the metric are better, and ``best`` as in `contrast_draws`.
    """
    of_draws, many = contrasts_on(draws, weighted, scale, best=best), len(weighted.over)
    mean, centre, error, worse, equal = (np.full(many, np.nan) for _ in range(5))
    beyond, at = np.full((many, len(thresholds)), np.nan), ((1 - level) / 2, 0.5, (1 + level) / 2)
    quantiles, largest, null = np.full((many, len(at)), np.nan), np.zeros(len(draws)), equality(scale)
    for start in range(0, many, AT_ONCE):
        block = slice(start, start + AT_ONCE)
        rows = np.ascontiguousarray(of_draws(block).T)
        finite = np.isfinite(rows)
        whole = finite.all(axis=1)
        defined = finite if whole.all() else ~np.isnan(rows)
        drawn = _counts(defined)
        drawn[drawn == 0] = np.nan
        worse[block] = _counts(rows < null if sign > 0 else rows > null) / drawn
        equal[block] = _counts(rows == null) / drawn
        for j, threshold in enumerate(thresholds):
            beyond[block, j] = _counts(rows < threshold if threshold < null else rows > threshold) / drawn
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            mean[block] = np.where(whole, rows.mean(axis=1), np.nan)
            on_scale = np.log(rows) if is_log(scale) else rows
            centre[block] = on_scale.mean(axis=1) if is_log(scale) else mean[block]
            apart = on_scale - centre[block, None]
            error[block] = np.sqrt(np.einsum("ij,ij->i", apart, apart) / (apart.shape[1] - 1))
            usable = np.isfinite(error[block])
            error[block], centre[block] = (
                np.where(usable, error[block], np.nan),
                np.where(usable, centre[block], np.nan),
            )
        if together:
            for row, spread in zip(apart, error[block], strict=True):
                if spread > 0:
                    np.maximum(largest, np.abs(row, out=row) / spread, out=largest)
        for i in np.flatnonzero(~whole & defined.any(axis=1)):
            row = rows[i][defined[i]]
            quantiles[start + i] = np.quantile(row, at, method="inverted_cdf")
            mean[start + i] = row.mean() if np.isfinite(row).all() else np.nan
        quantiles[block] = np.where(whole[:, None], _quantiles(rows, at), quantiles[block])
    z, low_together, high_together = np.nan, np.full(many, np.nan), np.full(many, np.nan)
    if together and np.isfinite(error).any():
        z = float(np.quantile(largest, level)) if (error > 0).any() else normal_quantile(level)
        ends = centre - z * error, centre + z * error
        low_together, high_together = np.exp(ends) if is_log(scale) else ends
    low, median, high = quantiles.T
    return Summary(mean, median, error, low, high, low_together, high_together, worse, beyond, equal, z)


def _counts(rows: BoolArray) -> FloatArray:
    """Numbers (contrast,) of draws that hold."""
    return np.array([np.count_nonzero(row) for row in rows], dtype=np.float64)


def _quantiles(rows: FloatArray, at: Sequence[float]) -> FloatArray:
    """Quantiles (row, probability) of rows, from the few order statistics between which they lie; changes the order of rows."""
    place = np.asarray(at) * (rows.shape[1] - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, rows.shape[1] - 1)
    rows.partition(np.unique([below, above]), axis=1)
    low, high = rows[:, below], rows[:, above]
    with np.errstate(invalid="ignore"):
        return np.asarray(low + (place - below) * (high - low))


def _vectors(draws: FloatArray, coefficients: FloatArray, scale: Scale) -> FloatArray:
    """Sums of values, exponentials of sums of logs, or of logits."""
    if scale == "difference":
        return weighted_sum(coefficients, draws)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = np.log(draws) if scale == "ratio" else np.log(draws) - np.log1p(-draws)
        used = np.where((coefficients != 0).any(axis=0), logs, 0.0)
        return np.asarray(np.exp(used @ coefficients.T))
