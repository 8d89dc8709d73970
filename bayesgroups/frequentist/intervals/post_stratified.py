"""Limits of metrics whose rows all have a decision and of which some have an outcome, post-stratified by decision.

Each function is about one metric with weights ``numerator``, ``denominator`` (outcome, decision), and reads effective rows by
decision (subgroup, decision) and labelled ones (subgroup, outcome, decision).
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile
from bayesgroups.frequentist.intervals.proportions import wilson, wilson_limits
from bayesgroups.frequentist.intervals.rate_ratios import mover_ratio
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


def decided_share(numerator: FloatArray, denominator: FloatArray) -> tuple[int, int] | None:
    """Outcome and decision of a metric that is the share of one of two decisions among an outcome, as ``tpr``; else ``None``.

    >>> decided_share(np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 1.0]]))
    (1, 1)
    """
    rows = (denominator == 1).all(axis=1)
    if numerator.shape[1] != 2 or rows.sum() != 1 or denominator.sum() != 2 or numerator.sum() != 1:
        return None
    outcome, decision = (int(place) for place in np.unravel_index(np.argmax(numerator), numerator.shape))
    return (outcome, decision) if rows[outcome] and numerator[outcome, decision] == 1 else None


def ratio_limits(decisions: FloatArray, cells: FloatArray, at: tuple[int, int], level: float) -> Interval:
    """Limits of a `decided_share` from those of the ratio of both rates of the outcome (MOVER-R) and of the odds of the decisions.

    They do not collapse where labelled rows agree. On the log scale both parts are added in squares, around the ratio with half a
    row more of either outcome; of a ratio that may be 0 or infinite that side is open.

    >>> rows, cells = np.array([[221.0, 429.0]]), np.array([[[54.0, 32.0], [0.0, 231.0]]])
    >>> limits = ratio_limits(rows, cells, (1, 1), 0.95)
    >>> limits.lower.round(3).tolist(), limits.upper.round(3).tolist()
    ([0.962], [1.0])
    """
    outcome, decision = at
    labels, successes = cells.sum(axis=1), cells[:, outcome]
    other, z = 1 - decision, normal_quantile(level)
    each = [wilson(successes[:, arm], labels[:, arm], level) for arm in (other, decision)]
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = successes / labels
        ratio = mover_ratio(rates[:, other], each[0], rates[:, decision], each[1])
        more = (successes + 0.5) / (labels + 1)
        anchor = np.log(np.clip(more[:, other] / more[:, decision], ratio.lower, ratio.upper))
        odds = np.log(decisions[:, other]) - np.log(decisions[:, decision])
        error = z * np.sqrt(1 / decisions[:, other] + 1 / decisions[:, decision])
        down, up = np.log(ratio.lower), np.log(ratio.upper)
        down = np.where(np.isfinite(down), anchor - np.hypot(anchor - down, error), down)
        up = np.where(np.isfinite(up), anchor + np.hypot(up - anchor, error), up)
        return Interval(1 / (1 + np.exp(odds + up)), 1 / (1 + np.exp(odds + down)))


def logit_delta(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray, level: float
) -> Interval:
    """Normal limits of the logit of a ratio in [0, 1].

    Where labelled rows of a decision agree, `ratio_limits` take their place, or there is one row more after every decision.

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
    limits = Interval(*(1 / (1 + np.exp(-end)) for end in (centre - half, centre + half)))
    at = decided_share(numerator, denominator)
    if at is not None:
        some = flat(decisions, cells, numerator, denominator) & (decisions > 0).all(axis=1)
        limits = ratio_limits(decisions, cells, at, level).where(some, limits)
    return Interval(np.where(defined, limits.lower, np.nan), np.where(defined, limits.upper, np.nan))


def spread_out(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray
) -> PostStratified:
    """Estimate and variance with one row more after every decision where labelled rows of one agree, and as they are elsewhere."""
    agree = flat(decisions, cells, numerator, denominator)
    plain = post_stratified(decisions, cells, numerator, denominator)
    more = post_stratified(decisions, smoothed(cells), numerator, denominator)
    return PostStratified(
        np.where(agree, more.estimate, plain.estimate), np.where(agree, more.variance, plain.variance)
    )


def flat(decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray) -> BoolArray:
    """True of subgroups (subgroup,) where the labelled rows of a decision that a metric reads agree."""
    used = needs_labels(numerator, denominator)
    return np.asarray(((cells.max(axis=1) == cells.sum(axis=1)) & (decisions > 0) & used).any(axis=1))


def delta(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray, level: float
) -> Interval:
    """Normal limits around the estimate; the standard error is that with one row more where labelled rows have no spread."""
    value = post_stratified(decisions, cells, numerator, denominator)
    variance = spread_out(decisions, cells, numerator, denominator).variance
    return around(value.estimate, normal_quantile(level) * np.sqrt(variance))
