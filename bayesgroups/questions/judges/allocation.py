"""Whole numbers in proportion to claims, between bounds."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.datasets.draws import largest_remainder

SHARES = 2**40
"""Whole parts that claims are counted in, so that remainders are compared without rounding."""


def allocate(claims: FloatArray, number: int, least: FloatArray, most: FloatArray) -> IntArray:
    """Whole numbers that sum to ``number``, in proportion to ``claims`` and between ``least`` and ``most``.

    >>> allocate(np.array([0.5, 0.3, 0.2]), 10, np.array([0.0, 0.0, 4.0]), np.array([20.0, 20.0, 20.0])).tolist()
    [4, 2, 4]
    """
    flat, low, high = claims.ravel(), least.ravel(), most.ravel()
    settled = np.where(high <= low, low, np.nan)
    while np.isnan(settled).any():
        free = np.isnan(settled)
        left = number - np.nansum(settled)
        weights = np.where(flat[free] > 0, flat[free], 0.0)
        weights = weights if weights.sum() > 0 else np.ones(free.sum())
        share = left * weights / weights.sum()
        under, over = share < low[free], share > high[free]
        if not (under.any() or over.any()):
            break
        short, excess = (low[free] - share)[under].sum(), (share - high[free])[over].sum()
        first = under if short >= excess else over  # the larger of both violations decides, as in water-filling
        settled[np.flatnonzero(free)[first]] = np.where(under, low[free], high[free])[first]
    labels = np.where(np.isnan(settled), 0.0, settled)
    free = np.isnan(settled)
    if free.any():
        weights = np.where(flat[free] > 0, flat[free], 0.0)
        weights = weights if weights.sum() > 0 else np.ones(int(free.sum()))
        whole = np.round(weights / weights.sum() * SHARES).astype(np.int64)
        labels[free] = largest_remainder(whole, int(number - labels.sum()))
    return np.asarray(labels.reshape(claims.shape), dtype=np.int64)
