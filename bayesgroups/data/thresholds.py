"""The score threshold that selects a given share of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayesgroups.errors import InputError


@dataclass(frozen=True)
class SelectionThreshold:
    """A threshold and the share of rows it selects (ties can select more than asked)."""

    threshold: float
    attained: float


def selection_threshold(scores: ArrayLike, rate: float) -> SelectionThreshold:
    """The threshold r for which ``score >= r`` selects a share ``rate``, in (0, 1], of rows with finite scores (row,).

    It is the m-th largest score with m = round(rate x rows), at least 1.

    >>> selection_threshold([0.11, 0.52, 0.37, 0.92, 0.48, 0.66, 0.05, 0.71, 0.29, 0.33], 0.2)
    SelectionThreshold(threshold=0.71, attained=0.2)
    """
    values = np.asarray(scores, dtype=np.float64).ravel()
    if len(values) == 0:
        raise InputError("no scores to set a threshold on")
    if not np.isfinite(values).all():
        raise InputError("scores must be finite to set a threshold on them")
    if not 0 < rate <= 1:
        raise InputError(f"selection_rate= must lie in (0, 1]; got {rate}")
    selected = max(round(rate * len(values)), 1)
    threshold = float(np.partition(values, len(values) - selected)[len(values) - selected])
    return SelectionThreshold(threshold, float((values >= threshold).mean()))
