"""Limits and tests of contrasts of a tally: arrays (contrast,) from weights of both sides and the estimates of cells."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray
from bayesgroups.frequentist.intervals.interval import Interval, t_quantile
from bayesgroups.frequentist.intervals.linear_contrasts import clustered_freedom, freedom, weighted_sum
from bayesgroups.frequentist.intervals.odds_ratios import (
    mover_odds_ratio,
    odds_ratio_statistic,
    score_odds_ratio,
    woolf,
)
from bayesgroups.frequentist.intervals.rate_differences import score_difference
from bayesgroups.frequentist.intervals.rate_ratios import katz, mover_ratio, ratio_statistic, score_ratio
from bayesgroups.frequentist.intervals.weighted_rates import mover_sum
from bayesgroups.questions.contrasts.draws import contrast_draws
from bayesgroups.questions.contrasts.errors_of_contrasts import gradient_of, nested
from bayesgroups.questions.contrasts.estimates import CellEstimates
from bayesgroups.questions.contrasts.scales import Scale, is_log
from bayesgroups.questions.contrasts.weighing import Weighted

Choice = Literal["auto", "score", "mid_p", "delta"]


@dataclass(frozen=True, eq=False)
class Limits:
    """Estimate, limits and method of every contrast (contrast,)."""

    estimate: FloatArray
    interval: Interval
    method: TextArray


def limits(weighted: Weighted, cells: CellEstimates, scale: Scale, z: float, choice: str, parts: FloatArray) -> Limits:
    """Limits of every contrast with a critical value, in the way that suits the metric, the scale and both sides.

    ``parts`` (contrast, cell) is the factor of their errors, `bayesgroups.questions.contrasts.errors_of_contrasts.factor`.
    """
    estimate = contrast_draws(cells.value[None], weighted, scale)[0]
    better = _of_rates(weighted, cells, scale, z, choice) if cells.rate and choice != "delta" else []
    # Rows that all agree have a common difference without a standard error, which is no certainty.
    pooled = weighted.pooled & ((scale != "difference") | (parts != 0).any(axis=1))
    better = [(mask & ~pooled, name, interval) for mask, name, interval in better]
    covered = np.logical_or.reduce([mask for mask, _, _ in better]) if better else np.zeros(estimate.shape, dtype=bool)
    nothing = np.full(estimate.shape, np.nan)
    chosen, method = Interval(nothing, nothing), np.full(estimate.shape, "", dtype="<U18")
    if not covered.all():
        chosen, method = _delta(weighted, cells, scale, z, estimate, parts)
        method = np.where(weighted.pooled, "mantel_haenszel", method)
    for mask, name, interval in better:
        chosen, method = interval.where(mask, chosen), np.where(mask, name, method)
    some = weighted.estimable
    return Limits(estimate, chosen.where(some, Interval(nothing, nothing)), np.where(some, method, ""))


def statistics(
    answer: Limits, weighted: Weighted, cells: CellEstimates, scale: Scale, z: float, choice: str, parts: FloatArray,
    at: float,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Test statistics (contrast,) of a contrast of this size, larger where the estimate is, and their degrees of freedom.

    Score statistics where two rates are compared by ratio or odds ratio; otherwise the distance in standard errors, which are
    recovered from the limit of the ``answer`` at critical value ``z`` that faces the value, so that test and limits agree.
    """
    degrees = np.full(answer.estimate.shape, np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ends = (answer.estimate, answer.interval.lower, answer.interval.upper, np.asarray(at))
        estimate, lower, upper, null = (np.log(end) if is_log(scale) else end for end in ends)
        error = np.where(estimate > null, estimate - lower, upper - estimate) / z
        if not cells.rate:
            degrees = _degrees(weighted, cells, scale, parts)
            error = np.sqrt((parts**2).sum(axis=1))
        distance = np.where(estimate == null, 0.0, (estimate - null) / error)
    if cells.rate and choice != "delta" and is_log(scale) and weighted.single.any():
        test = ratio_statistic if scale == "ratio" else odds_ratio_statistic
        distance = np.where(weighted.single, test(*_table(weighted, cells), at), distance)
    return np.where(weighted.estimable, distance, np.nan), degrees


def two_sided(statistic: FloatArray, degrees: FloatArray) -> FloatArray:
    """Two-sided p-values, by Student's law where degrees of freedom are finite."""
    return np.minimum(2 * lower_tail(-np.abs(statistic), degrees), 1.0)


def lower_tail(statistic: FloatArray, degrees: FloatArray) -> FloatArray:
    """Probability of so small a statistic."""
    from scipy.special import ndtr, stdtr

    finite = np.isfinite(degrees)
    tail: FloatArray = np.where(finite, stdtr(np.where(finite, degrees, 1.0), statistic), ndtr(statistic))
    return tail


def _of_rates(
    weighted: Weighted, cells: CellEstimates, scale: Scale, z: float, choice: str
) -> list[tuple[BoolArray, str, Interval]]:
    """Limits that do not collapse where rates are 0 or 1: later ones replace earlier ones where their mask holds."""
    single, number = weighted.single, weighted.number
    of_cells, name = cells.limits(z, exact=choice == "mid_p")
    put_together = "mover_mid_p" if choice == "mid_p" else "mover"
    alone = (weighted.over != 0).sum(axis=1) == 1
    if scale == "difference":
        weights = np.where(weighted.vector[:, None], weighted.coefficients, weighted.over - weighted.under)
        lower, upper = mover_sum(cells.value, of_cells.lower, of_cells.upper, weights)
        shift = np.where(number, weighted.value, 0.0)
        both = Interval(lower - shift, upper - shift)
        answers = [(np.ones_like(single), put_together, both), (number & alone, name, both)]
        if choice == "mid_p":
            return answers
        if choice == "score" and single.any():
            return [*answers, (single, "miettinen_nurminen", score_difference(*_table(weighted, cells), z))]
        return [*answers, (single, "newcombe", both)]
    of_first = Interval(*mover_sum(cells.value, of_cells.lower, of_cells.upper, weighted.over))
    first = weighted_sum(weighted.over, cells.value)
    if scale == "odds_ratio":
        odds = weighted.value / (1 - weighted.value)
        shifted = Interval(_odds(of_first.lower) / odds, _odds(of_first.upper) / odds)
        answers = [(number, put_together, shifted), (number & alone, name, shifted)]
        if choice == "mid_p":
            second = weighted_sum(weighted.under, cells.value)
            of_second = Interval(*mover_sum(cells.value, of_cells.lower, of_cells.upper, weighted.under))
            answers.append((single, put_together, mover_odds_ratio(first, of_first, second, of_second)))
        elif single.any():
            answers.append((single, "score", score_odds_ratio(*_table(weighted, cells), z)))
        return answers
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shifted = Interval(of_first.lower / weighted.value, of_first.upper / weighted.value)
    answers = [(number, put_together, shifted), (number & alone, name, shifted)]
    exact = choice == "mid_p"
    pairs = ~number & ~weighted.vector & (~single | exact)
    if pairs.any():
        inner = nested(weighted.over, weighted.under)
        second = weighted_sum(inner.rest, cells.value)
        of_second = Interval(*mover_sum(cells.value, of_cells.lower, of_cells.upper, inner.rest))
        to_rest = mover_ratio(first, of_first, second, of_second)
        interval = Interval(inner.to_all(to_rest.lower), inner.to_all(to_rest.upper))
        answers.append((pairs & inner.holds, put_together, interval))
    if single.any() and not exact:
        answers.append((single, "koopman", score_ratio(*_table(weighted, cells), z)))
    return answers


def _delta(
    weighted: Weighted, cells: CellEstimates, scale: Scale, z: float, estimate: FloatArray, parts: FloatArray
) -> tuple[Interval, TextArray]:
    """Normal limits (Student's of means) from variances and gradients; Katz's and Woolf's of two rates."""
    with np.errstate(invalid="ignore"):
        error = np.sqrt((parts**2).sum(axis=1))
        half = z * error
    method = np.full(error.shape, "delta", dtype="<U18")
    if not cells.rate:
        degrees = _degrees(weighted, cells, scale, parts)
        few = np.isfinite(degrees)
        half = np.where(few, t_quantile(_level(z), degrees) * error, half)
        method = np.where(few, "delta_t", "delta") if is_log(scale) else np.where(few, "welch", "normal")
    if scale == "difference":
        return Interval(estimate - half, estimate + half), method
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        spread = np.exp(half)
        interval = Interval(estimate / spread, estimate * spread)
    # A common ratio of 0 or infinity has no standard error, and so is not bounded.
    endless = weighted.pooled & ~np.isfinite(error) & ~np.isnan(estimate)
    interval = Interval(np.where(endless, 0.0, interval.lower), np.where(endless, np.inf, interval.upper))
    if cells.rate and weighted.single.any():
        plain = (katz if scale == "ratio" else woolf)(*_table(weighted, cells), z)
        interval = plain.where(weighted.single, interval)
        method = np.where(weighted.single, "katz" if scale == "ratio" else "woolf", method)
    return interval, method


def _table(weighted: Weighted, cells: CellEstimates) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Successes and trials of both sides of contrasts of two cells (contrast,); NaN for others."""
    columns = []
    for side in (weighted.over, weighted.under):
        at = side.argmax(axis=1)
        columns += [np.where(weighted.single, part[at], np.nan) for part in (cells.successes, cells.count)]
    return columns[0], columns[1], columns[2], columns[3]


def _degrees(weighted: Weighted, cells: CellEstimates, scale: Scale, parts: FloatArray) -> FloatArray:
    """Degrees of freedom (contrast,) by Satterthwaite: over the cells, or over the clusters where cells share them."""
    if cells.covariance is None or cells.shared_clusters is None:
        return freedom(parts, np.where(np.isnan(cells.freedom_count), np.inf, cells.freedom_count))
    with np.errstate(divide="ignore", invalid="ignore"):
        gradient = gradient_of(weighted, cells, scale)
    return clustered_freedom(gradient, cells.covariance, cells.shared_clusters)


def _level(z: float) -> float:
    """Two-sided level of a normal critical value."""
    return NormalDist().cdf(z) - NormalDist().cdf(-z)


def _odds(rate: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(rate / (1 - rate))
