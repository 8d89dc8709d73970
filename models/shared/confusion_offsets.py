"""Offsets of the confusion model from the scores of a subgroup. No PyMC here.

The score is recalibrated by the linear discriminant of the two classes over all rows,

    slope = (mean score of the positives - mean score of the negatives) / variance of the score within a class,

which is the slope of Platt's logistic recalibration where scores are normal within classes. Mean scores of the subgroups within
a decision are shrunk by crossed effects with known standard deviations, 0.15 of the score's within the decision each, and
centred; slope times these enter the logit of a positive outcome given the decision, with a coefficient that is 1 where the
recalibrated score means the same in every subgroup.

References
----------
Platt (1999), "Probabilistic outputs for support vector machines". Efron (1975), doi:10.1080/01621459.1975.10480319 (the
discriminant as logistic regression).
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .subsets import Subsets

FloatArray = NDArray[np.float64]

EFFECT_SHARE = 0.15
"""Standard deviation of every component of a mean score, as a share of that of a row's score."""

SLOPE_SCALE = 1.1
"""Prior standard deviation of the coefficient, around 0: the mean square of Normal(1, 0.5), and no promise of the sign."""


def offsets(tally: xr.Dataset, components: Subsets) -> dict[str, FloatArray]:
    """Offsets of the outcomes given a decision, (subgroup,) each, by factor.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with confusion cells of two classes and a score.
    components : Subsets
        Components of its attributes.

    Returns
    -------
    dict of arrays
        For ``ppv`` and ``for``; without a factor whose scores do not vary, and without any where the tally has no score or
        more than two classes.

    Examples
    --------
    >>> cells = ("subgroup", "outcome", "decision")
    >>> score = np.array([[[2.0, 1.0], [1.0, 5.0]], [[3.0, 1.0], [1.0, 7.0]]])
    >>> tally = xr.Dataset(
    ...     {"cell_count": (cells, [[[9.0, 2.0], [4.0, 7.0]]] * 2), "cell_score": (cells, score),
    ...      "cell_score_squares": (cells, score**2 / 2)}, coords={"outcome": ["0", "1"], "decision": ["0", "1"]})
    >>> both = Subsets(("sex",), np.array([[0, 1]]), (2,), (1,))
    >>> {name: x.round(3).tolist() for name, x in offsets(tally, both).items()}
    {'ppv': [-0.008, 0.008], 'for': [-0.004, 0.004]}
    """
    if "cell_score" not in tally or tally.sizes["outcome"] != 2:
        return {}
    cells = ("subgroup", "outcome", "decision")
    count, total, squares = (
        np.asarray(tally[name].transpose(*cells).values, dtype=np.float64)
        for name in ("cell_count", "cell_score", "cell_score_squares")
    )
    rows, sums = count.sum(axis=(0, 2)), total.sum(axis=(0, 2))
    if (rows == 0).any():
        return {}
    mean = sums / rows
    within = (squares.sum() - (rows * mean**2).sum()) / rows.sum()
    if not within > 0:
        return {}
    slope = (mean[1] - mean[0]) / within
    found = {}
    for decision, name in ((1, "ppv"), (0, "for")):
        n, s = count[:, :, decision].sum(axis=1), total[:, :, decision].sum(axis=1)
        if n.sum() == 0:
            continue
        centre = s.sum() / n.sum()
        variance = squares[:, :, decision].sum() / n.sum() - centre**2
        if variance > 1e-12 * max(centre**2, 1.0):
            found[name] = slope * _shrunk(n, s - n * centre, float(variance), components)
    return found


def _shrunk(count: FloatArray, away: FloatArray, variance: float, components: Subsets) -> FloatArray:
    """Deviations of the mean scores from that of all, given sums ``away`` of the rows' deviations, (subgroup,)."""
    agree = (components.cells[:, :, None] == components.cells[:, None, :]).sum(axis=0)
    covariance = EFFECT_SHARE**2 * variance * agree
    # Weights, not inverse errors: a subgroup without rows has weight 0.
    inner = np.eye(len(count)) + (count / variance)[:, None] * covariance
    found: FloatArray = covariance @ np.linalg.solve(inner, away / variance)
    return found
