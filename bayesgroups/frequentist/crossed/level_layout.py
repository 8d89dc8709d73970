"""Layout of groups by the levels of one of their attributes, and by the cells of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, IntArray
from bayesgroups.frequentist.crossed.families import Family

SHARED_PRODUCTS = 5
"""Products of matrices (cell, cell) that are formed beside those of every level."""


@dataclass(frozen=True)
class Layout:
    """Places of groups: ``level`` and ``cell`` (group,), no two in one place.

    ``crosses`` (component,) and ``kernels_cross`` (kernel,) are True where groups of different levels share nothing; any other
    component is the same at every level.
    """

    level: IntArray
    cell: IntArray
    crosses: BoolArray
    kernels_cross: BoolArray

    @cached_property
    def levels(self) -> int:
        """Number of levels."""
        return int(self.level.max()) + 1

    @cached_property
    def cells(self) -> int:
        """Number of cells of the other attributes."""
        return int(self.cell.max()) + 1

    @property
    def work(self) -> int:
        """Products of numbers that a likelihood takes, beside (number of groups)^3 / 3 of one factor."""
        return (self.levels + SHARED_PRODUCTS) * self.cells**3


def layout_of(family: Family, kernels: Sequence[FloatArray] = ()) -> Layout | None:
    """Layout that takes the least work, of a family and of ``kernels`` besides, each by its root (group, effect).

    None where no component has levels that groups can be laid out by.

    >>> from bayesgroups.frequentist.crossed.families import family
    >>> layout = layout_of(family([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], ["race", "sex"]))
    >>> layout.level.tolist(), layout.cell.tolist(), layout.crosses.tolist()
    ([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [False, True, False, True])
    """
    layouts = [_by(level, family.cells, kernels) for level in family.cells[1:-1]]
    return min((each for each in layouts if each is not None), key=lambda each: each.work, default=None)


def _by(level: IntArray, components: IntArray, kernels: Sequence[FloatArray]) -> Layout | None:
    """Layout by the cells of one component."""
    crosses = np.array([_divides(level, cells) for cells in components])
    kernels_cross = np.array([_separates(level, root) for root in kernels], dtype=bool)
    _, cell = np.unique(components[~crosses], axis=1, return_inverse=True)
    layout = Layout(level, cell.ravel().astype(np.int64), crosses, kernels_cross)
    alike = all(_repeats(layout.cell, root) for root, apart in zip(kernels, kernels_cross, strict=True) if not apart)
    places = np.unique(level * layout.cells + layout.cell)
    return layout if alike and len(places) == len(level) else None


def _divides(level: IntArray, cells: IntArray) -> bool:
    """True where all groups of a cell are at one level."""
    first = np.zeros(int(cells.max()) + 1, dtype=np.int64)
    first[cells] = level
    return bool((first[cells] == level).all())


def _separates(level: IntArray, root: FloatArray) -> bool:
    """True where every effect belongs to groups of one level."""
    belongs = (level == np.arange(level.max() + 1)[:, None]).astype(np.float64) @ (root != 0) > 0
    return bool((belongs.sum(axis=0) < 2).all())


def _repeats(cell: IntArray, root: FloatArray) -> bool:
    """True where groups of one cell have the same effects."""
    first = np.zeros((int(cell.max()) + 1, root.shape[1]))
    first[cell] = root
    return bool((first[cell] == root).all())
