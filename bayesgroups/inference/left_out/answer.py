"""Densities of the data of subgroups that are left out, in the form in which every estimator class answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray

Method = Literal["exact", "integrated", "psis"]
"""``exact``: in closed form; ``integrated``: importance weights, the residual effect integrated out; ``psis``: at plain draws."""
SUCCESSES, ESTIMATES = "successes among counts", "estimates with known sampling variances"
"""Data that a density is of. Densities of different data are not compared."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Log densities of the data of every subgroup; NaN where a subgroup has none.

    ``log_density`` (draw, metric, subgroup) is at every draw, and the inverse of the density is its importance weight.
    ``moved`` has weights of their own, as logarithms, and densities at draws that were moved, both (draw, metric, subgroup).
    Where the answer is exact there are ``elpd`` and ``lpd`` (metric, subgroup) in its place, without the subgroup and
    with it. ``observed`` names the data. With ``together`` the data are those of all metrics at once, and the metrics have
    one entry. ``reason`` says why there is nothing, empty where there is something.
    """

    method: Method
    observed: str
    log_density: FloatArray | None = None
    moved: tuple[FloatArray, FloatArray] | None = None
    elpd: FloatArray | None = None
    lpd: FloatArray | None = None
    together: bool = False
    reason: str = ""


def without_answer(reason: str) -> LeftOut:
    """No densities, and the reason."""
    return LeftOut("psis", "", reason=reason)


def spread_out(values: FloatArray, subgroup: Sequence[int] | IntArray, shape: tuple[int, int]) -> FloatArray:
    """Values (..., cell) at the flat positions ``subgroup`` of a table (metric, subgroup); NaN elsewhere.

    >>> spread_out(np.array([1.0, 2.0]), [2, 0], (1, 3)).tolist()
    [[2.0, nan, 1.0]]
    """
    table = np.full((*values.shape[:-1], shape[0] * shape[1]), np.nan)
    table[..., subgroup] = values
    return table.reshape(*values.shape[:-1], *shape)
