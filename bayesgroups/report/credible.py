"""Credible intervals of draws: equal-tailed, or one-sided where no row, or every row, is a success.

Every interval holds exactly the mass that it names. The equal-tailed interval cuts (1 - c) / 2 off either end. Where no row
of a rate is a success the posterior may pile up at the end of the range, and an interval that cuts that end off leaves out
the values that the data support best. The one-sided interval from the end to the quantile c holds the same mass; it is
taken where it is the shorter of the two and holds the estimate, at its level and at all higher ones, so that limits are nested,
and mirrored where every row is a success. Where neighbours say that the rate is far from the end the equal-tailed one is shorter
and stays.

References
----------
Brown, Cai and DasGupta (2001), doi:10.1214/ss/1009213286, section 4.1.1, on intervals at the ends of the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray

EQUAL_TAILED, ONE_SIDED = "equal_tailed", "one_sided"


class CredibleLimits(NamedTuple):
    """Limits ``lower``, ``upper`` and whether they are ``one_sided``, each (quantity, level), and ``median`` (quantity,)."""

    lower: FloatArray
    upper: FloatArray
    one_sided: BoolArray
    median: FloatArray


def credible_limits(
    draws: FloatArray,
    estimate: FloatArray,
    levels: Sequence[float],
    *,
    no_success: BoolArray,
    all_success: BoolArray,
    ends: tuple[FloatArray, FloatArray],
) -> CredibleLimits:
    """Credible intervals of several quantities, from draws (draw, quantity).

    A one-sided interval is taken only if it holds the ``estimate``. ``no_success`` and ``all_success`` mark rates whose
    rows hold no success, or nothing else, and are False for everything that is no rate or has no rows. ``ends`` are those
    of the range of each quantity. Draws beyond them, which a normal likelihood can make, leave the equal-tailed interval
    in place.

    >>> draws, yes, no = np.random.default_rng(1).beta(0.5, 10.5, (4000, 1)), np.array([True]), np.array([False])
    >>> ends = np.zeros(1), np.ones(1)
    >>> limits = credible_limits(draws, draws.mean(axis=0), (0.5, 0.95), no_success=yes, all_success=no, ends=ends)
    >>> limits.lower.round(3).tolist(), limits.one_sided.tolist()
    ([[0.005, 0.0]], [[False, True]])
    """
    levels = tuple(levels)
    # Rounded, so that the limits of levels that share a quantile are equal: 0.05 is (1 - 0.9) / 2 and 1 - 0.95.
    tails = np.round([(1 - level) / 2 for level in levels] + [(1 + level) / 2 for level in levels] + [0.5], 12)
    ordered = np.sort(np.ascontiguousarray(draws.T), axis=1)  # nine quantiles of sorted rows cost less than of any rows
    quantiles = np.quantile(ordered, tails, axis=1).T
    lower, upper = quantiles[:, : len(levels)], quantiles[:, len(levels) : -1]
    one_sided = np.zeros(lower.shape, dtype=np.bool_)
    for saturated, from_below in ((no_success, True), (all_success, False)):
        columns = np.flatnonzero(saturated)
        if not len(columns):
            continue
        part = draws[:, columns]
        bound = np.quantile(part, levels if from_below else np.round(1 - np.array(levels), 12), axis=0).T
        end = ends[0 if from_below else 1][columns]
        width = np.abs(bound - end[:, None])
        within = (part >= end).all(axis=0) if from_below else (part <= end).all(axis=0)
        value = estimate[columns, None]
        holds = value <= bound if from_below else value >= bound
        shorter = (width < upper[columns] - lower[columns]) & holds & within[:, None]
        # Where a posterior has mass at both ends a wider level may go back to equal tails; limits of levels stay nested.
        order = np.argsort(levels)[::-1]
        taken = np.empty_like(shorter)
        taken[:, order] = np.logical_and.accumulate(shorter[:, order], axis=1)
        near, far = (lower, upper) if from_below else (upper, lower)
        near[columns] = np.where(taken, end[:, None], near[columns])
        far[columns] = np.where(taken, bound, far[columns])
        one_sided[columns] = taken
    return CredibleLimits(lower, upper, one_sided, quantiles[:, -1])
