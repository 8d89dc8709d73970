"""Targets: sets of a population's pieces for which an answer is asked, everybody first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray
from bayesgroups.questions.populations.sizes import Sizes

EVERYBODY = "all"
"""Label of the target that is the whole population."""
ALL = "(all)"
"""Level of an attribute that a target does not look at, as in `bayesgroups.margins`."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Labels (target,), the level of every attribute of ``by`` (target,), and ``members`` (target, piece)."""

    labels: tuple[str, ...]
    columns: Mapping[str, TextArray]
    members: BoolArray

    def weights(self, sizes: Sizes, cells: int) -> FloatArray:
        """Weights (target, cell) that add up to 1, NaN for a target of nobody."""
        return np.stack([sizes.shares(inside, cells) for inside in self.members])


def targets_of(by: Sequence[str], columns: Mapping[str, TextArray], sizes: Sizes) -> Targets:
    """Everybody, and every level of each name of ``by``: an attribute (levels (cell,) in ``columns``) or a region.

    Levels of attributes keep the order of the tally.
    """
    names = list(dict.fromkeys(by))
    labels, members = [EVERYBODY], [np.ones(len(sizes.cell), dtype=np.bool_)]
    levels: list[tuple[str, str]] = [("", "")]
    for name in names:
        along = columns[name][sizes.cell] if name in columns else sizes.regions[name]
        order = dict.fromkeys(columns.get(name, along).tolist())
        for level in order:
            labels.append(f"{name}={level}")
            members.append(along == level)
            levels.append((name, level))
    told = {
        name: np.array([level if of == name else ALL for of, level in levels], dtype=str)
        for name in names or ["target"]
    }
    return Targets(tuple(labels), told, np.stack(members))
