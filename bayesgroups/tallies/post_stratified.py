"""Metrics of outcome and decision where decisions are known of all rows and outcomes of some: post-stratified by decision.

With shares s_d of the decisions among all rows and shares q_(y|d) of the outcomes among labelled rows of decision d, the cells are
s_d q_(y|d), and a metric is sum(N s q) / sum(D s q). With h = (N - metric D) / sum(D s q) its delta-method variance is

    sum over d of s_d^2 Var(h | d) / m_d  +  sum over d of s_d E(h | d)^2 / n

over m_d labelled rows and n rows in all; with every row labelled that is the variance of the plug-in.

References
----------
Begg, Greenes (1983), doi:10.2307/2530820.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class PostStratified:
    """Estimate and delta-method variance of one metric, (subgroup,); NaN where a decision that it needs has no labelled row."""

    estimate: FloatArray
    variance: FloatArray


def needs_labels(numerator: FloatArray, denominator: FloatArray) -> BoolArray:
    """Decisions (decision,) after which the weights (outcome, decision) of a metric depend on the outcome.

    >>> needs_labels(np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])).tolist()  # ppv
    [False, True]
    """
    return np.asarray((np.ptp(numerator, axis=0) > 0) | (np.ptp(denominator, axis=0) > 0))


def weighs(numerator: FloatArray, denominator: FloatArray) -> BoolArray:
    """Decisions (decision,) whose rows count in a metric at all."""
    return np.asarray((numerator != 0).any(axis=0) | (denominator != 0).any(axis=0))


def smoothed(cells: FloatArray) -> FloatArray:
    """Cells (..., outcome, decision) with one row more after every decision, shared out evenly among the outcomes."""
    return np.asarray(cells + 1 / cells.shape[-2])


def post_stratified(
    decisions: FloatArray, cells: FloatArray, numerator: FloatArray, denominator: FloatArray
) -> PostStratified:
    """One metric from all rows by decision (subgroup, decision) and labelled rows (subgroup, outcome, decision).

    >>> one = np.ones((2, 2))
    >>> positive = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> rate = post_stratified(np.array([[221.0, 429.0]]), np.array([[[54.0, 32.0], [27.0, 231.0]]]), positive, one)
    >>> rate.estimate.round(8).tolist(), np.sqrt(rate.variance).round(8).tolist()
    ([0.69302915], [0.02442725])
    """
    number = decisions.sum(axis=1)
    labels = cells.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = decisions / number[:, None]
        given = cells / labels[:, None, :]
    # Where weights do not depend on the outcome, or no row has that decision, its outcomes change nothing.
    idle = ~needs_labels(numerator, denominator) | (decisions <= 0)
    given = np.where(idle[:, None, :], 1 / cells.shape[1], given)
    cell = share[:, None, :] * given
    with np.errstate(divide="ignore", invalid="ignore"):
        below = (cell * denominator).sum(axis=(1, 2))
        estimate = np.where(below > 0, (cell * numerator).sum(axis=(1, 2)) / below, np.nan)
        influence = (numerator - estimate[:, None, None] * denominator) / below[:, None, None]
        mean = (given * influence).sum(axis=1)
        within = np.maximum((given * influence**2).sum(axis=1) - mean**2, 0.0)
        parts = np.where(idle, 0.0, share**2 * within / np.where(labels > 0, labels, np.nan))
        variance = parts.sum(axis=1) + (share * mean**2).sum(axis=1) / number
    return PostStratified(estimate, np.where(np.isfinite(estimate), variance, np.nan))
