"""Rates that bounds from disagreement are held to, from labels that critics had in mind."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies.disagreement_notions import Notion
from bayesgroups.tallies.disagreement_rates import Bounds

INDEFINITE: tuple[Notion, ...] = ("equal_opportunity", "predictive_equality", "overall_misclassification")
SLACK = 1e-9
"""Rounding that is no violation."""


def rates_in_mind(table: FloatArray, notion: Notion) -> FloatArray:
    """The rates of a notion from counts of the label that the system gave and the label that the critic had in mind.

    Parameters
    ----------
    table : array (..., subgroup, label given, label in mind)
        Counts.
    notion : str
        One of `INDEFINITE`.

    Returns
    -------
    array (..., label, subgroup)
        NaN where nobody had the label in mind, or, for predictive equality, another one.

    Examples
    --------
    >>> rates_in_mind(np.array([[[3.0, 1.0], [1.0, 5.0]]]), "equal_opportunity").round(3).tolist()
    [[0.75], [0.833]]
    """
    given = np.moveaxis(np.diagonal(table, axis1=-2, axis2=-1), -1, -2)
    in_mind, both = (np.moveaxis(table.sum(axis=axis), -1, -2) for axis in (-2, -1))
    hits, size = given, in_mind
    if notion == "predictive_equality":
        hits, size = both - given, in_mind.sum(axis=-2, keepdims=True) - in_mind
    elif notion == "overall_misclassification":
        hits = in_mind - given
    return np.where(size > 0, hits / np.maximum(size, 1.0), np.nan)


def outside(values: FloatArray, ends: Bounds) -> float:
    """Share of values outside their bounds; NaN takes no part."""
    some = np.isfinite(values)
    return float(np.mean(((values < ends.lower - SLACK) | (values > ends.upper + SLACK))[some]))
