"""Raking (iterative proportional fitting): sizes of cells that agree with margins and keep the odds ratios of a seed.

Deming, Stephan (1940), doi:10.1214/aoms/1177731829; Bishop, Fienberg, Holland (1975), Discrete Multivariate Analysis,
section 3.5, for zeros: a zero of the seed stays zero, so that margins may be out of reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, IndexArray
from bayesgroups.errors import InputError

SWEEPS = 1000
"""Most sweeps over all margins."""
TOLERANCE = 1e-10
"""Largest distance of a margin from its target, as a share of the total, at which raking has converged."""
AGREEMENT = 1e-6
"""Largest relative difference of the totals of two margins."""


@dataclass(frozen=True, eq=False)
class Margin:
    """Known sizes of some sets of cells: ``level`` (cell,) is the set of each cell, ``sizes`` and ``labels`` those of the sets."""

    name: str
    level: IndexArray
    sizes: FloatArray
    labels: tuple[str, ...]

    @property
    def indicators(self) -> FloatArray:
        """1 where a cell is in a set, (cell, set)."""
        return np.eye(len(self.sizes))[self.level]

    def add_up(self, sizes: FloatArray) -> FloatArray:
        """Sizes of the sets (..., set) from those of the cells (..., cell)."""
        return np.asarray(sizes @ self.indicators)


@dataclass(frozen=True, eq=False)
class Raked:
    """Sizes of cells (..., cell) and the largest distance (...) of a margin from its target, as a share of the total."""

    sizes: FloatArray
    miss: FloatArray

    @property
    def converged(self) -> BoolArray:
        """True where every margin is met."""
        return np.asarray(self.miss <= TOLERANCE)


def rake(seed: FloatArray, margins: Sequence[Margin], sweeps: int = SWEEPS) -> Raked:
    """Sizes of cells from a seed (..., cell) and margins with one total, after as many sweeps as it takes, or all.

    >>> rows = Margin("row", np.array([0, 0, 1, 1]), np.array([60.0, 40.0]), ("1", "2"))
    >>> columns = Margin("column", np.array([0, 1, 0, 1]), np.array([70.0, 30.0]), ("1", "2"))
    >>> rake(np.array([40.0, 10, 20, 30]), [rows, columns]).sizes.round(6).tolist()
    [50.813227, 9.186773, 19.186773, 20.813227]
    """
    sizes, total = np.array(seed, dtype=np.float64), float(margins[0].sizes.sum())
    indicators = [margin.indicators for margin in margins]
    for _ in range(sweeps):
        for margin, inside in zip(margins, indicators, strict=True):
            current = sizes @ inside
            factor = np.where(current > 0, margin.sizes / np.where(current > 0, current, 1.0), 0.0)
            sizes = sizes * factor[..., margin.level]
        miss = _miss(sizes, margins, total)
        if (miss <= TOLERANCE).all():
            break
    return Raked(sizes, _miss(sizes, margins, total))


def _miss(sizes: FloatArray, margins: Sequence[Margin], total: float) -> FloatArray:
    each = [np.abs(margin.add_up(sizes) - margin.sizes).max(axis=-1) for margin in margins]
    return np.asarray(np.max(each, axis=0) / total)


def check_margins(seed: FloatArray, margins: Sequence[Margin], cells: Sequence[str]) -> None:
    """Refusal of margins with different totals, and of a level with people and no cell that may hold them."""
    totals = [float(margin.sizes.sum()) for margin in margins]
    for margin, total in zip(margins[1:], totals[1:], strict=True):
        if abs(total - totals[0]) > AGREEMENT * totals[0]:
            shares = " (counts and shares cannot be mixed)" if min(total, totals[0]) < 1.5 else ""
            raise InputError(
                f"population: margin {margins[0].name!r} adds up to {totals[0]:g} and margin {margin.name!r} to {total:g}; "
                f"margins must have one total{shares}"
            )
    for margin in margins:
        empty = (margin.sizes > 0) & ~(margin.add_up((seed > 0).astype(np.float64)) > 0)
        if empty.any():
            position = int(np.argmax(empty))
            raise InputError(
                f"population: margin {margin.name!r} has {margin.sizes[position]:g} in {margin.labels[position]!r}, where no cell "
                f"has rows ({_shown([cells[int(i)] for i in np.flatnonzero(margin.level == position)])}); raking cannot invent "
                "them: give the joint table, or smoothing="
            )


def converged_sizes(seed: FloatArray, margins: Sequence[Margin], cells: Sequence[str]) -> FloatArray:
    """Raked sizes (cell,), or an InputError that names the worst margin and the empty cells in it."""
    check_margins(seed, margins, cells)
    raked = rake(seed, margins)
    if not bool(raked.converged):
        distances = [np.abs(margin.add_up(raked.sizes) - margin.sizes) for margin in margins]
        worst = int(np.argmax([distance.max() for distance in distances]))
        position = int(np.argmax(distances[worst]))
        margin = margins[worst]
        empty = [cells[int(i)] for i in np.flatnonzero((margin.level == position) & ~(seed > 0))]
        without = f"; cells without rows there: {_shown(empty)}" if empty else ""
        raise InputError(
            f"population: raking has not converged after {SWEEPS} sweeps: {margin.name!r} level {margin.labels[position]!r} is off "
            f"by {distances[worst][position]:.4g} of {margin.sizes[position]:g}{without}. The margins cannot be met with these "
            "cells: give the joint table, smoothing=, or margins that agree with the empty cells"
        )
    return raked.sizes


def _shown(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - 5} more" if len(labels) > 5 else ""
    return ", ".join(map(repr, labels[:5])) + more
