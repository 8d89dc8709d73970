"""Attributes whose levels have an order: effects of neighbouring levels are alike. No PyMC here.

A share w of the variance of every component that crosses an ordered attribute follows its order, and w is learned:

    effect_k = tau_k ( sqrt(1 - w) z[cell_k(g)]  +  sqrt(w) (A_k z')[g] ),     z, z' ~ Normal(0, 1)

A_k is the Kronecker product over the attributes of the component of ``walk_root`` for ordered ones and the identity for others. The
walk is the square of a random walk of first order, smoother than it: bands of age or income are mostly a trend. It is scaled to a
geometric mean variance of 1 (Sorbye and Rue 2014, doi:10.1016/j.spasta.2013.06.004), so that tau keeps its meaning and its
prior, and sums to zero, for the constant is what the other attributes of the component explain.
"""

from __future__ import annotations

import difflib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .subsets import JOINT, Subsets

FloatArray = NDArray[np.float64]
Ordered = Mapping[str, Sequence[str] | None]
"""Attributes with their levels in order; that of the tally where it is ``None``, see ``order_of``."""

MISSING_LEVEL = "(missing)"
"""Level of rows that lack the attribute, which has no place in an order."""
MIN_LEVELS = 3
"""Levels from which an attribute is ordered: two are a pair, whichever way round."""


class OrderedBlock(NamedTuple):
    """Part of a component that follows an order: ``root`` (subgroup, effect), and the positions of component and share."""

    component: int
    share: int
    root: FloatArray


class OrderedBlocks(NamedTuple):
    """All of them, and the names of the shares: ``age``, or ``age:income`` for components that cross both."""

    shares: tuple[str, ...]
    blocks: tuple[OrderedBlock, ...]

    def without(self, component: int) -> OrderedBlocks:
        """All but those of one component, and the shares that are left."""
        kept = [block for block in self.blocks if block.component != component]
        used = sorted({block.share for block in kept})
        names = tuple(self.shares[share] for share in used)
        return OrderedBlocks(names, tuple(block._replace(share=used.index(block.share)) for block in kept))


NOTHING = OrderedBlocks((), ())


def walk_root(levels: int, *, cyclic: bool = False) -> FloatArray:
    """Root R of the kernel of a squared random walk over so many levels, shape (level, levels - 1): the covariance is R R'.

    ``cyclic`` has the last level beside the first.

    >>> root = walk_root(5)
    >>> kernel = root @ root.T
    >>> round(float(np.exp(np.log(np.diag(kernel)).mean())), 9), bool(abs(root.sum(axis=0)).max() < 1e-9)
    (1.0, True)
    >>> bool(kernel[0, 1] > kernel[0, 2] > kernel[0, 4])
    True
    """
    step = np.eye(levels, k=1) + np.eye(levels, k=-1)
    if cyclic:
        step[0, -1] = step[-1, 0] = 1.0
    roots, vectors = np.linalg.eigh(np.diag(step.sum(axis=1)) - step)
    root = vectors[:, 1:] / roots[1:]
    scale = np.exp(np.log((root**2).sum(axis=1)).mean())
    scaled: FloatArray = root / np.sqrt(scale)
    return scaled


def ordered_blocks(
    tally: xr.Dataset, components: Subsets, ordered: Ordered, cyclic: Sequence[str] = ()
) -> OrderedBlocks:
    """Ordered parts of the components of a tally.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are the attributes named in ``attrs["by"]``.
    components : Subsets
        Its components.
    ordered : Mapping of str to sequence of str or None
        Levels in order, by attribute; None takes them in the order of the tally, without ``(missing)``. Levels that
        are not named stand alone, levels that the tally lacks are between others as they are named.
    cyclic : sequence of str
        Which of them have the last level beside the first.

    Returns
    -------
    OrderedBlocks
        Attributes with fewer than three ordered levels have no part.

    Raises
    ------
    ValueError
        If an attribute is none of the tally, a level is named twice or looks misspelt, fewer than two levels are in the tally, or a
        cyclic attribute is not ordered.

    Examples
    --------
    >>> tally = xr.Dataset(coords={"subgroup": list("pqr"), "age": ("subgroup", ["young", "middle", "old"])},
    ...                    attrs={"by": '{"by": ["age"]}'})
    >>> from bayesgroups.models.shared.subsets import subsets
    >>> parts = ordered_blocks(tally, subsets(tally), {"age": ["young", "middle", "old"]})
    >>> parts.shares, parts.blocks[0].root.shape
    (('age',), (3, 2))
    """
    if not ordered and not cyclic:
        return NOTHING
    by = json.loads(tally.attrs["by"])["by"]
    for name in cyclic:
        if name not in ordered:
            raise ValueError(f"cyclic names {name!r}, which is not among the ordered attributes {list(ordered)}")
    roots: dict[str, FloatArray] = {}
    for name, order in ordered.items():
        _check_attribute(name, by)
        levels = [str(level) for level in tally[name].values]
        named = order_of(tally, name) if order is None else [str(level) for level in order]
        _check(name, named, levels)
        if len(named) >= MIN_LEVELS:
            roots[name] = _level_root(levels, named, cyclic=name in cyclic)
    chosen = {JOINT.join(part): part for size in range(1, len(by) + 1) for part in itertools.combinations(by, size)}
    shares: list[str] = []
    blocks: list[OrderedBlock] = []
    for position, component in enumerate(components.names):
        following = [name for name in chosen[component] if name in roots]
        if not following:
            continue
        share = JOINT.join(following)
        if share not in shares:
            shares.append(share)
        root = np.ones((tally.sizes["subgroup"], 1))
        for name in chosen[component]:
            along = roots.get(name)
            if along is None:
                levels = tally[name].values
                along = (levels[:, None] == np.unique(levels)).astype(np.float64)
            root = (root[:, :, None] * along[:, None, :]).reshape(len(root), -1)
        blocks.append(OrderedBlock(position, shares.index(share), root[:, np.abs(root).sum(axis=0) > 0]))
    return OrderedBlocks(tuple(shares), tuple(blocks))


def split_scales(tau: FloatArray, share: FloatArray, ordered: OrderedBlocks) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of what is exchangeable (draw, component) and of what follows an order (draw, ordered block).

    >>> ordered = OrderedBlocks(("age",), (OrderedBlock(1, 0, np.eye(2)),))
    >>> [part.round(6).tolist() for part in split_scales(np.array([[1.0, 2.0]]), np.array([[0.75]]), ordered)]
    [[[1.0, 1.0]], [[1.732051]]]
    """
    exchangeable, following_order = tau.copy(), np.empty((len(tau), len(ordered.blocks)))
    for position, block in enumerate(ordered.blocks):
        following_order[:, position] = tau[:, block.component] * np.sqrt(share[:, block.share])
        exchangeable[:, block.component] = tau[:, block.component] * np.sqrt(1 - share[:, block.share])
    return exchangeable, following_order


def order_of(tally: xr.Dataset, name: str) -> list[str]:
    """Levels of an attribute in the order that the tally carries: the one in ``attrs["by"]``, or in which they stand.

    ValueError if the tally has no such attribute.

    >>> by = '{"by": ["age"], "orders": {"age": ["young", "old"]}}'
    >>> order_of(xr.Dataset(coords={"age": ("subgroup", ["old", "young"])}, attrs={"by": by}), "age")
    ['young', 'old']
    """
    columns = json.loads(tally.attrs["by"])
    _check_attribute(name, columns["by"])
    carried = columns.get("orders", {}).get(name)
    levels = carried or list(dict.fromkeys(str(level) for level in tally[name].values))
    return [level for level in levels if level != MISSING_LEVEL]


def _level_root(levels: Sequence[str], named: Sequence[str], *, cyclic: bool) -> FloatArray:
    """Root (subgroup, effect) of one attribute: the walk of the levels that are named, and one effect for every other."""
    alone = [level for level in dict.fromkeys(levels) if level not in named]
    walk = walk_root(len(named), cyclic=cyclic)
    every = np.zeros((len(named) + len(alone), walk.shape[1] + len(alone)))
    every[: len(named), : walk.shape[1]] = walk
    every[len(named) :, walk.shape[1] :] = np.eye(len(alone))
    rows = {level: row for row, level in enumerate([*named, *alone])}
    placed: FloatArray = every[[rows[level] for level in levels]]
    return placed


def _check_attribute(name: str, by: Sequence[str]) -> None:
    if name not in by:
        raise ValueError(f"ordered names {name!r}, but the attributes of the tally are {by}")


def _check(name: str, named: Sequence[str], levels: Sequence[str]) -> None:
    """Refuse an order that cannot be meant."""
    present = list(dict.fromkeys(levels))
    twice = [level for level in dict.fromkeys(named) if named.count(level) > 1]
    if twice:
        raise ValueError(f"ordered[{name!r}] names {twice[0]!r} twice")
    for level in named:
        near = difflib.get_close_matches(level, [other for other in present if other not in named], n=1, cutoff=0.8)
        if level not in present and near:
            raise ValueError(f"ordered[{name!r}] names {level!r}, which the tally lacks; did you mean {near[0]!r}?")
    if len(set(named) & set(present)) < 2:
        raise ValueError(
            f"ordered[{name!r}] must name two levels of the tally or more; its levels are {present}, and named are {list(named)}"
        )
