"""Distributions of scores in subgroups, shrunk towards a shared one: smooth differences first, then any other.

A subgroup differs from the shared distribution by location, spread and skewness (`bayesgroups.questions.curves.tilts`), and from
what these say by whatever its rows say. For the latter, scores in bins are a sequence of splits: into a lower and an upper half,
each half into halves, down to single bins. The share of a subgroup that goes up at a node is a binomial rate, shrunk towards
the expected one with concentrations by depth (`bayesgroups.questions.curves.hierarchy`). A subgroup with many rows keeps its own
distribution, one with few has the shared one, tilted as far as its rows say, and one without rows is any subgroup.

References
----------
Christensen, Ma (2020), hierarchical Polya trees, doi:10.1111/rssb.12346; Lavine (1992), doi:10.1214/aos/1176348767.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.questions.curves import hierarchy, tilts
from bayesgroups.questions.curves.hierarchy import Shared
from bayesgroups.questions.curves.tilts import Tilts

DEEPEST = 8
"""Nodes at this depth and below share one concentration."""
COARSE = 4
"""So do nodes above this depth: the first splits are fitted by the smooth differences, and have little left to learn from."""
MIN_SHARE = 1e-100
"""Floor of the share of a bin: the ratio of two empty ones is then that of the rest of the model, not 0 / 0."""


@dataclass(frozen=True, eq=False)
class Level:
    """Nodes of one depth: bins from ``start`` up to ``middle`` go down, from there up to ``end`` go up; all (node,)."""

    start: IndexArray
    middle: IndexArray
    end: IndexArray


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree over bins and what subgroups share: at each depth, as one distribution (draw, bin), and how they differ smoothly."""

    levels: tuple[Level, ...]
    shared: tuple[Shared, ...]
    everyone: FloatArray
    tilts: Tilts | None


def split(weights: FloatArray) -> tuple[Level, ...]:
    """Bins split into halves of nearly equal weight until each stands alone: every bin boundary is the ``middle`` of one node.

    ``weights`` (bin,) are the counts of all subgroups together; a row spread over the bins is added.
    """
    bins = len(weights)
    reached = np.concatenate([[0.0], np.cumsum(weights + 1 / bins)])
    depths: list[list[tuple[int, int, int]]] = []
    nodes = [(0, bins)] if bins > 1 else []
    depth = 0
    while nodes:
        if depth < DEEPEST:
            depths.append([])
        children = []
        for start, end in nodes:
            half = (reached[start] + reached[end]) / 2
            middle = start + 1 + int(np.argmin(np.abs(reached[start + 1 : end] - half)))
            depths[-1].append((start, middle, end))
            children += [(low, high) for low, high in ((start, middle), (middle, end)) if high - low > 1]
        nodes, depth = children, depth + 1
    return tuple(Level(*np.array(level, dtype=np.intp).T) for level in depths)


def fit(counts: FloatArray, rng: np.random.Generator, draws: int) -> Tree:
    """Draws of what subgroups share at every depth, from rows (subgroup, bin)."""
    levels, smooth = split(counts.sum(axis=0)), tilts.fit(counts, rng, draws)
    expected = None if smooth is None else tilts.tilted(tilts.centre(counts), smooth.basis, smooth.best)
    shared: list[Shared] = []
    for first, last in ((0, COARSE), *((depth, depth + 1) for depth in range(COARSE, len(levels)))):
        some = levels[first:last]
        if not some:
            continue
        splits = np.concatenate(_splits(counts, some))
        shares = None if expected is None else np.concatenate(_shares(expected, some))
        common = hierarchy.shared(splits, rng, draws, expected=shares)
        ends = np.cumsum([len(level.start) for level in some])
        shared += [Shared(common.kappa, base) for base in np.split(common.base, ends[:-1], axis=1)]
    bases = [base.base for base in shared]
    return Tree(levels, tuple(shared), _put_together(levels, bases, counts.shape[1]), smooth)


def members(tree: Tree, counts: FloatArray, subgroup: int, rng: np.random.Generator) -> FloatArray:
    """Draws (draw, bin) of the distribution of one subgroup, summing to 1.

    ``counts`` (subgroup, bin) are the rows of the fit. A subgroup without rows has draws from the population of subgroups.
    """
    bases = [base.base for base in tree.shared]
    if tree.tilts is not None:
        theta = tilts.members(tree.tilts, tree.everyone, counts[subgroup], subgroup, rng)
        tilted = tilts.tilted(tree.everyone, tree.tilts.basis, theta)
        bases = [share.swapaxes(0, 1) for share in _shares(tilted, tree.levels)]
    shares = [
        hierarchy.members(Shared(common.kappa, base), seen[:, 0], rng)
        for seen, common, base in zip(_splits(counts[[subgroup]], tree.levels), tree.shared, bases, strict=True)
    ]
    return _put_together(tree.levels, shares, counts.shape[1])


def _put_together(levels: Sequence[Level], shares: Sequence[FloatArray], bins: int) -> FloatArray:
    """Distributions over bins, (draw, bin), from shares (draw, node, 2) at every depth; never 0."""
    density = np.ones((len(shares[0]) if shares else 1, bins))
    for level, share in zip(levels, shares, strict=True):
        for node in range(len(level.start)):
            density[:, level.start[node] : level.middle[node]] *= share[:, node, :1]
            density[:, level.middle[node] : level.end[node]] *= share[:, node, 1:]
    return np.maximum(density, MIN_SHARE)


def _shares(distribution: FloatArray, levels: Sequence[Level]) -> list[FloatArray]:
    """Shares of what goes down and up at every node of each depth, (node, ..., 2) from (..., bin)."""
    parts = [part + hierarchy.TINY for part in _splits(distribution, levels)]
    return [part / part.sum(axis=-1, keepdims=True) for part in parts]


def _splits(counts: FloatArray, levels: Sequence[Level]) -> list[FloatArray]:
    """Counts that go down and up at every node of each depth, (node, subgroup, 2) from (subgroup, bin)."""
    reached = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)], axis=1).T
    return [
        np.stack(
            [
                np.maximum(reached[level.middle] - reached[level.start], 0.0),
                np.maximum(reached[level.end] - reached[level.middle], 0.0),
            ],
            axis=-1,
        )
        for level in levels
    ]
