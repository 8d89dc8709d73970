"""Limits of metrics whose rows all have a decision and of which some have an outcome, post-stratified by decision.

Each function is about one metric with weights ``numerator``, ``denominator`` (outcome, decision), and reads effective rows by
decision (subgroup, decision) and labelled ones (subgroup, outcome, decision).
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile
from bayesgroups.frequentist.intervals.proportions import wilson, wilson_limits
from bayesgroups.frequentist.intervals.weighted_rates import mover_sum
from bayesgroups.tallies.post_stratified import PostStratified, needs_labels, post_stratified, smoothed


def is_mean(numerator: FloatArray, denominator: FloatArray) -> bool:
    """True if a metric is a mean over all rows that takes two values at most after every decision.

    >>> prevalence, recall = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 0.0], [0.0, 1.0]])
    >>> is_mean(prevalence, np.ones((2, 2))), is_mean(recall, prevalence)
    (True, False)
    """
    return bool((denominator == 1).all()) and all(len(np.unique(column)) <= 2 for column in numerator.T)


def mover(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, level: float, *, unlabelled: bool = False
) -> Interval:
    """Square-and-add of Wilson limits of the shares of decisions and of the outcomes given each, for a mean over all rows.

    A decision that has rows and no label leaves the limits undefined, or, with ``unlabelled``, takes part with limits 0 and 1. With
    more than two decisions their own part is that of the delta method. Zou, Donner (2008), doi:10.1002/sim.3095.

    >>> rows, cells = np.array([[221.0, 429.0]]), np.array([[[54.0, 32.0], [27.0, 231.0]]])
    >>> limits = mover(rows, cells, np.array([[0.0, 0.0], [1.0, 1.0]]), 0.95)
    >>> limits.lower.round(8).tolist(), limits.upper.round(8).tolist()
    ([0.64510102], [0.74027059])
    """
    number, labels = decisions.sum(axis=1), cells.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = decisions / number[:, None]
    least, span = numerator.min(axis=0), np.ptp(numerator, axis=0)
    successes = (cells * (numerator == numerator.max(axis=0))).sum(axis=1)
    limits = wilson(successes, labels, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = successes / labels
    if unlabelled:
        missing = (labels == 0) & (number > 0)[:, None]
        rate, limits = (
            np.where(missing, 0.5, rate),
            Interval(np.where(missing, 0.0, limits.lower), np.where(missing, 1.0, limits.upper)),
        )
    rate, lower, upper = (
        np.where(span > 0, least + span * values, least) for values in (rate, limits.lower, limits.upper)
    )
    down, up = mover_sum(rate, lower, upper, share)
    used = np.where(share > 0, rate, 0.0)
    total = (share * used).sum(axis=1)
    z = normal_quantile(level)
    if share.shape[1] == 2:
        gap = np.where((share > 0).all(axis=1), used[:, 1] - used[:, 0], 0.0)
        ends = wilson_limits(share[:, 1], number, z)
        below, above = share[:, 1] - ends.lower, ends.upper - share[:, 1]
        below, above = np.where(gap > 0, below, above) * gap, np.where(gap > 0, above, below) * gap
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            below = above = z * np.sqrt((share * (used - total[:, None]) ** 2).sum(axis=1) / number)
    return Interval(total - np.hypot(total - down, below), total + np.hypot(up - total, above))


def logit_delta(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray, level: float
) -> Interval:
    """Normal limits of the logit of a ratio in [0, 1], with one row more after every decision where it has no spread.

    Begg, Greenes (1983), doi:10.2307/2530820, for sensitivity and specificity.

    >>> rows, cells = np.array([[221.0, 429.0]]), np.array([[[54.0, 32.0], [27.0, 231.0]]])
    >>> hit, positive = np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> limits = logit_delta(rows, cells, hit, positive, 0.95)
    >>> limits.lower.round(8).tolist(), limits.upper.round(8).tolist()
    ([0.78264652], [0.87902019])
    """
    value = spread_out(decisions, cells, numerator, denominator)
    defined = np.isfinite(post_stratified(decisions, cells, numerator, denominator).estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.log(value.estimate) - np.log1p(-value.estimate)
        half = normal_quantile(level) * np.sqrt(value.variance) / (value.estimate * (1 - value.estimate))
    lower, upper = (1 / (1 + np.exp(-end)) for end in (centre - half, centre + half))
    return Interval(np.where(defined, lower, np.nan), np.where(defined, upper, np.nan))


def spread_out(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray
) -> PostStratified:
    """Estimate and variance with one row more after every decision where labelled rows of one agree, and as they are elsewhere."""
    used = needs_labels(numerator, denominator)
    flat = ((cells.max(axis=1) == cells.sum(axis=1)) & (decisions > 0) & used).any(axis=1)
    plain = post_stratified(decisions, cells, numerator, denominator)
    more = post_stratified(decisions, smoothed(cells), numerator, denominator)
    return PostStratified(np.where(flat, more.estimate, plain.estimate), np.where(flat, more.variance, plain.variance))


def delta(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray, level: float
) -> Interval:
    """Normal limits around the estimate; the standard error is that with one row more where labelled rows have no spread."""
    value = post_stratified(decisions, cells, numerator, denominator)
    variance = spread_out(decisions, cells, numerator, denominator).variance
    return around(value.estimate, normal_quantile(level) * np.sqrt(variance))
