"""Family of covariances of crossed effects: agreement of subgroups on each subset of attributes.

    mu ~ Normal(centre, sum_S var_S C_S),   C_S[g, h] = 1 where g and h agree on every attribute of S

The empty subset is the level that all subgroups share, all attributes together are the subgroup itself.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.errors import InputError

SHARED, IDENTITY = "shared", "identity"
JOINT = ":"
"""Names of the first and the last component, and what joins attributes in the names between."""


@dataclass(frozen=True)
class Family:
    """Components of the covariance between subgroups.

    ``names`` are ``shared``, then subsets such as ``race`` and ``race:age``, then ``identity``; ``cells`` (component,
    group) is the cell of every group in every component, and groups in one cell agree.
    """

    names: tuple[str, ...]
    cells: IntArray

    def agreement(self) -> FloatArray:
        """Matrices C_S, array (component, group, group), 1 where two groups agree."""
        agreement: FloatArray = (self.cells[:, :, None] == self.cells[:, None, :]).astype(np.float64)
        return agreement

    def without(self, name: str) -> Family:
        """The family less one component."""
        keep = [position for position, other in enumerate(self.names) if other != name]
        return Family(tuple(self.names[position] for position in keep), self.cells[keep])


def family(levels: ArrayLike, attributes: Sequence[str], order: int | None = None) -> Family:
    """Components of the attributes of some groups, from codes of their levels (group, attribute).

    At most ``order`` attributes are crossed, beside all of them together; 0 leaves ``shared`` and ``identity``, and by
    default every subset is a component. A subset that divides the groups as a smaller one does (an attribute with one
    level, say) is no component, nor is one that separates all groups, except ``identity``. InputError if the order is
    negative, or the codes do not have one column per attribute. Khodak, Mackey, Chouldechova, Dudik (2024), section 3,
    arXiv:2411.09730.

    >>> components = family([[0, 0], [0, 1], [1, 0], [1, 1]], ["race", "sex"])
    >>> components.names, components.cells.tolist()
    (('shared', 'race', 'sex', 'identity'), [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]])
    """
    codes = np.asarray(levels, dtype=np.int64)
    if codes.ndim != 2 or codes.shape[1] != len(attributes):
        raise InputError(f"levels have shape {codes.shape}; expected one column for each of {list(attributes)}")
    if order is not None and order < 0:
        raise InputError(f"order={order!r} must be 0 or more: the most attributes that are crossed")
    number = len(codes)
    names: list[str] = []
    cells: list[IntArray] = []
    highest = len(attributes) - 1 if order is None else min(order, len(attributes) - 1)
    for size in range(highest + 1):
        for chosen in itertools.combinations(range(len(attributes)), size):
            cell = _cells(codes[:, list(chosen)])
            separates = int(cell.max(initial=0)) + 1 == number
            if not separates and not any(np.array_equal(cell, other) for other in cells):
                names.append(JOINT.join(attributes[position] for position in chosen) or SHARED)
                cells.append(cell)
    return Family((*names, IDENTITY), np.stack([*cells, np.arange(number, dtype=np.int64)]))


def family_of(tally: xr.Dataset, order: int | None = None) -> Family:
    """Components of the attributes of a tally, read from ``attrs["by"]`` and its coordinates; see `family`.

    InputError if the order is negative, or the tally names no attributes.
    """
    columns = json.loads(tally.attrs.get("by", "[]"))
    by: list[str] = columns["by"] if isinstance(columns, dict) else columns
    if not by:
        raise InputError(
            "crossed_effects needs the attributes of the subgroups, and the tally names none in attrs['by']"
        )
    codes = np.stack([np.unique(tally[name].values, return_inverse=True)[1] for name in by], axis=-1)
    return family(codes, by, order)


def _cells(codes: IntArray) -> IntArray:
    """Cells of rows with equal codes, numbered in the order of their first row."""
    if codes.shape[1] == 0:
        return np.zeros(len(codes), dtype=np.int64)
    _, first, cell = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    renumbered: IntArray = rank[cell.ravel()]
    return renumbered
