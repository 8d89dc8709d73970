"""Values of everybody in a population of known size, some of whom were evaluated: the frequentist side.

The Bayesian one draws the others, see `bayesgroups.models.shared.finite_population`.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.populations.cells import Cells


def remaining(count: FloatArray, size: FloatArray) -> FloatArray:
    """Factor 1 - n / N of a variance; 0 where nobody is in the cell."""
    return np.where(size > 0, 1 - count / np.where(size > 0, size, 1.0), 0.0)


def effective_rows(count: FloatArray, size: FloatArray) -> FloatArray:
    """Rows that Wilson limits are taken with, n (N - 1) / (N - n); infinite where all were evaluated.

    >>> effective_rows(np.array([10.0, 40.0]), np.array([40.0, 40.0])).tolist()
    [13.0, inf]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = count * (size - 1) / (size - count)
    return np.where(size <= count, np.inf, rows)


def check_exact(cells: Cells) -> None:
    """Refusal of exact limits of a metric whose rows are no counts of a rate."""
    if cells.kind != "rate" or cells.weighted or cells.clustered:
        what = "has weighted or clustered rows" if cells.kind == "rate" else f"is of kind {cells.kind!r}"
        raise InputError(
            f"interval='exact': metric {cells.metric!r} {what}; exact limits are of rates of single rows, use 'wilson'"
        )


def check_survey(cells: Cells) -> None:
    """Refusal of the factor of simple random samples where rows have weights or come in clusters."""
    if cells.weighted or cells.clustered:
        raise InputError(
            f"variance='survey': metric {cells.metric!r} has weighted or clustered rows, and the factor is that of a simple random "
            "sample; leave variance out"
        )


def check_finite(cells: Cells, size: FloatArray, whole: bool, split: BoolArray) -> None:
    """Refusal of a finite population without sizes in people, smaller than its sample, or of rows that are no people."""
    if not whole:
        raise InputError(
            "finite=True needs the numbers of people in the population, whole numbers; got shares or fractions. Give counts, "
            "or leave finite out for the superpopulation"
        )
    if cells.kind not in ("rate", "mean"):
        raise InputError(f"finite=True: metric {cells.metric!r} is of kind {cells.kind!r}; expected a rate or a mean")
    if cells.weighted or cells.clustered:
        raise InputError(
            f"finite=True: metric {cells.metric!r} has weighted or clustered rows, whose numbers are no people; leave finite out"
        )
    if split.any():
        raise InputError(
            f"finite=True: the population splits subgroup {str(cells.labels[int(np.argmax(split))])!r} by columns that the "
            "evaluation has not, so nobody knows how many of each part were evaluated; leave these columns out"
        )
    small = size < cells.count
    if small.any():
        i = int(np.argmax(small))
        raise InputError(
            f"finite=True: subgroup {str(cells.labels[i])!r} has {size[i]:g} people in the population and {cells.count[i]:g} were "
            "evaluated; give the sizes of a population that holds the evaluated people"
        )
