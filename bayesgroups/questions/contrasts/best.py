"""Contrasts of a tally with the best of the other subgroups, which nobody knows: Hsu's constrained limits."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.comparisons_with_best import LARGEST_TABLE, WithBest, critical_values, with_best
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.intervals.linear_contrasts import weighted_sum
from bayesgroups.frequentist.intervals.odds_ratios import score_odds_ratio
from bayesgroups.frequentist.intervals.proportions import wilson_limits
from bayesgroups.frequentist.intervals.rate_ratios import mover_ratio, score_ratio
from bayesgroups.questions.contrasts.draws import compare
from bayesgroups.questions.contrasts.estimates import CellEstimates
from bayesgroups.questions.contrasts.limits import Limits
from bayesgroups.questions.contrasts.scales import Scale, equality
from bayesgroups.questions.contrasts.weighing import Weighted


def best_limits(
    weighted: Weighted, cells: CellEstimates, scale: Scale, level: float, sign: int
) -> tuple[Limits, WithBest | None]:
    """Limits of every subgroup against the best of the others, which hold together; ``sign`` is 1 where larger is better.

    Normal limits of differences; Koopman's (MOVER of more than 60 subgroups) and score limits of every pair for
    ratios of rates, delta limits of other ratios.
    """
    estimate, lower, upper = (np.full(len(weighted.over), np.nan) for _ in range(3))
    taking_part = weighted.under.any(axis=0) & np.isfinite(cells.value)
    places = np.flatnonzero(taking_part)
    method = np.full(estimate.shape, "hsu")
    if len(places) < 2:
        return Limits(estimate, Interval(lower, upper), method), None
    value, variance = cells.value[places], cells.variance[places]
    critical = critical_values(np.maximum(variance, np.finfo(np.float64).tiny), level)
    answer = with_best(lambda z: _pairwise(cells, places, scale, z, sign), critical, equal=equality(scale))
    low, high = answer.limits.lower, answer.limits.upper
    if sign < 0:  # the pairs were turned round, so that larger is better
        with np.errstate(divide="ignore"):
            low, high = (-high, -low) if scale == "difference" else (1 / high, 1 / low)
    best_rest = np.where(np.eye(len(places), dtype=bool), -np.inf, sign * value[None, :]).max(axis=1) * sign
    contrast = compare(value, best_rest, scale)
    row = np.full(len(cells.value), -1)
    row[places] = np.arange(len(places))
    asked = row[weighted.over.argmax(axis=1)]
    some = (asked >= 0) & weighted.estimable
    estimate[some], lower[some], upper[some] = (part[asked[some]] for part in (contrast, low, high))
    return Limits(estimate, Interval(lower, upper), method), answer


def candidates(answer: WithBest, weighted: Weighted, cells: CellEstimates) -> FloatArray:
    """1 for subgroups that may be the best, 0 for those shown not to be, NaN without a value (contrast,)."""
    along = np.full(len(cells.value), np.nan)
    along[weighted.under.any(axis=0) & np.isfinite(cells.value)] = answer.candidates
    return np.where(weighted.estimable, weighted_sum(weighted.over, along), np.nan)


def _pairwise(cells: CellEstimates, places: np.ndarray, scale: Scale, z: FloatArray, sign: int) -> Interval:
    """Limits (value, other) of every pair, oriented so that larger is better."""
    value, variance = cells.value[places], cells.variance[places]
    first, second = (value[:, None], value[None, :]) if sign > 0 else (value[None, :], value[:, None])
    if scale == "difference":
        half = z * np.sqrt(variance[:, None] + variance[None, :])
        return Interval(first - second - half, first - second + half)
    shape = (len(places), len(places))
    if cells.rate:
        rows = [part[places] for part in (cells.successes, cells.count)]
        k, n = ([np.broadcast_to(part[:, None], shape), np.broadcast_to(part[None, :], shape)] for part in rows)
        k, n = (k, n) if sign > 0 else (k[::-1], n[::-1])
        if scale == "ratio" and len(places) > LARGEST_TABLE:  # a search per pair would take seconds
            rates = k[0] / n[0], k[1] / n[1]
            limits = [wilson_limits(rate, trials, z) for rate, trials in zip(rates, n, strict=True)]
            return mover_ratio(rates[0], limits[0], rates[1], limits[1])
        score = score_ratio if scale == "ratio" else score_odds_ratio
        return score(k[0], n[0], k[1], n[1], np.broadcast_to(z, shape))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, relative = first / second, variance / value**2
        spread = np.exp(z * np.sqrt(relative[:, None] + relative[None, :]))
        return Interval(ratio / spread, ratio * spread)
