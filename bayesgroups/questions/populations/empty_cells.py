"""Cells of a population in which nobody was evaluated: bounds without an assumption, or one of two assumptions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray
from bayesgroups.frequentist.intervals.interval import normal_quantile, tail

BISECTIONS = 100


def imbens_manski(width: FloatArray, std_error: FloatArray, level: float) -> FloatArray:
    """Half-width, in standard errors, of the interval for a value that is known up to bounds ``width`` apart.

    c solves Phi(c + width / se) - Phi(-c) = level: the two-sided normal quantile at width 0, the one-sided one where the bounds
    are far apart, for the value cannot be near both. Imbens, Manski (2004), doi:10.1111/j.1468-0262.2004.00555.x.

    >>> imbens_manski(np.array([0.0, 1.0]), np.array([0.02, 0.02]), 0.95).round(6).tolist()
    [1.959964, 1.644854]
    """
    from scipy.special import ndtr

    width, std_error = np.broadcast_arrays(np.asarray(width, dtype=np.float64), np.asarray(std_error, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(std_error > 0, width / np.where(std_error > 0, std_error, 1.0), np.inf)
    low, high = np.zeros(width.shape), np.full(width.shape, normal_quantile(level) + 1e-9)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        short = ndtr(middle + apart) - ndtr(-middle) < 1 - tail(level)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray((low + high) / 2)


@dataclass(frozen=True, eq=False)
class Donor:
    """Margin whose mean a cell without rows takes: its ``name``, and the shares (cell,) of its rows; NaN where no cell has rows."""

    name: str
    shares: FloatArray


def donor_of(cell: int, count: FloatArray, columns: Mapping[str, TextArray]) -> Donor:
    """Finest margin that contains a cell and has rows; of equally fine ones the one with most rows.

    ``count`` (cell,) are rows, ``columns`` the levels of each attribute, (cell,).

    >>> sex, age = np.array(["f", "f", "m", "m"]), np.array(["old", "young", "old", "young"])
    >>> donor_of(0, np.array([0.0, 10, 30, 10]), {"sex": sex, "age": age}).name
    'age=old'
    """
    for size in range(len(columns) - 1, -1, -1):
        margins = []
        for names in itertools.combinations(columns, size):
            inside: BoolArray = np.ones(len(count), dtype=np.bool_)
            for name in names:
                inside = inside & (columns[name] == columns[name][cell])
            margins.append((names, np.where(inside, count, 0.0)))
        names, rows = max(margins, key=lambda margin: float(margin[1].sum()))
        if rows.sum() > 0:
            levels = ", ".join(f"{name}={columns[name][cell]}" for name in names)
            return Donor(levels or "everyone", np.asarray(rows / rows.sum()))
    return Donor("nobody", np.full(len(count), np.nan))


def collapsed_weights(weights: FloatArray, count: FloatArray, columns: Mapping[str, TextArray]) -> FloatArray:
    """Weights (..., cell) in which a cell without rows is shared out over the margin of `donor_of`.

    Within it weights go by rows, so that the cell takes the margin's mean.

    >>> sex, age = np.array(["f", "f", "m", "m"]), np.array(["old", "young", "old", "young"])
    >>> collapsed_weights(np.full(4, 0.25), np.array([0.0, 10, 30, 10]), {"sex": sex, "age": age}).tolist()
    [0.0, 0.25, 0.5, 0.25]
    """
    shared = np.where(count > 0, weights, 0.0)
    for cell in np.flatnonzero(~(count > 0)):
        shared = shared + weights[..., [cell]] * donor_of(int(cell), count, columns).shares
    return np.asarray(shared)


def donor_names(weights: FloatArray, count: FloatArray, columns: Mapping[str, TextArray]) -> list[str]:
    """Names of the margins that stand for the cells without rows that have a weight (cell,), each once.

    >>> sex, age = np.array(["f", "f", "m", "m"]), np.array(["old", "young", "old", "young"])
    >>> donor_names(np.full(4, 0.25), np.array([0.0, 10, 30, 0]), {"sex": sex, "age": age})
    ['age=old', 'sex=m']
    """
    empty = np.flatnonzero(~(count > 0) & (weights > 0))
    return list(dict.fromkeys(donor_of(int(cell), count, columns).name for cell in empty))
