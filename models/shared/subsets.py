"""Components of a crossed-effects model: agreement of subgroups on each subset of attributes.

Every subset of the attributes (race; age; race and age; ...) cuts the subgroups into cells that agree on it. A component is
one such cut; a model gives every cell of it an effect. The set of all attributes is the last component: its cells are the
subgroups themselves. A subset that cuts nothing (an attribute with one level) or cuts like a smaller one is left out, so that
such an attribute changes nothing. No PyMC here.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

JOINT = ":"
"""Joins the attributes in the name of a component."""


@dataclass(frozen=True)
class Subsets:
    """Components of a crossed model.

    ``names`` (D,) such as ``"race"`` and ``"race:age"``; ``cells`` (D, G) is the cell of each subgroup in each component;
    ``sizes`` (D,) the number of cells; ``attributes`` (D,) how many attributes a component crosses.
    """

    names: tuple[str, ...]
    cells: IntArray
    sizes: tuple[int, ...]
    attributes: tuple[int, ...]


def subsets(tally: xr.Dataset, order: int | None = None) -> Subsets:
    """Components of the attributes of a tally.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are the attributes named in ``attrs["by"]``.
    order : int, optional
        Cross at most so many attributes, beside all of them together, which is always the last component; by default
        every subset is a component.

    Returns
    -------
    Subsets

    Raises
    ------
    ValueError
        If ``order`` is negative or the tally names no attributes.

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     coords={"subgroup": ["a | f", "a | m", "b | f", "b | m"], "race": ("subgroup", ["a", "a", "b", "b"]),
    ...             "sex": ("subgroup", ["f", "m", "f", "m"])}, attrs={"by": '{"by": ["race", "sex"]}'})
    >>> subsets(tally).names, subsets(tally, order=0).names
    (('race', 'sex', 'race:sex'), ('race:sex',))
    >>> subsets(tally).cells.tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]]
    """
    by = json.loads(tally.attrs.get("by", "{}")).get("by")
    if not by:
        raise ValueError("the tally names no attributes (attrs['by']), so nothing can be crossed")
    if order is not None and order < 0:
        raise ValueError(f"order must be 0 or more; got {order}")
    levels = [np.unique(tally[name].values, return_inverse=True)[1].astype(np.int64) for name in by]
    number = tally.sizes["subgroup"]
    names: list[str] = []
    cells: list[IntArray] = []
    attributes: list[int] = []
    highest = min(len(by) - 1, len(by) if order is None else order)
    for size in range(1, highest + 1):
        for chosen in itertools.combinations(range(len(by)), size):
            cell = _partition([levels[position] for position in chosen])
            many = int(cell.max()) + 1
            if 1 < many < number and not any(np.array_equal(cell, other) for other in cells):
                names.append(JOINT.join(by[position] for position in chosen))
                cells.append(cell)
                attributes.append(size)
    return Subsets(
        (*names, JOINT.join(by)),
        np.stack([*cells, np.arange(number, dtype=np.int64)]),
        (*(int(cell.max()) + 1 for cell in cells), number),
        (*attributes, len(by)),
    )


def _partition(levels: list[IntArray]) -> IntArray:
    """Cells of subgroups with the same levels, numbered in the order of their first subgroup."""
    _, first, cell = np.unique(np.stack(levels, axis=1), axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    found: IntArray = rank[cell.ravel()]
    return found
