"""Effects of components that follow an order of levels, beside what is exchangeable of them, see ``ordered_levels``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from .shared.ordered_levels import OrderedBlocks

Tensor = Any
"""A PyTensor expression; PyMC carries no types."""


class OrderedEffects(NamedTuple):
    """Standard deviations of what is exchangeable (row, component), and sums of what follows an order (row, subgroup)."""

    exchangeable: Tensor
    following: Tensor


def ordered_effects(along: OrderedBlocks, spread: Tensor, number: int, share: str, rows: str) -> OrderedEffects:
    """Parts of the components of the model in context, which gets the shares and the effects ``z_ordered``.

    Parameters
    ----------
    along : OrderedBlocks
        Ordered parts; not empty.
    spread : Tensor
        Shape (row, component): standard deviations of the components.
    number : int
        Number of components.
    share : str
        Name of the shares, uniform from 0 to 1.
    rows : str
        Dim of the predictors: metrics or factors.

    Returns
    -------
    OrderedEffects

    Examples
    --------
    >>> from bayesgroups.models.shared.ordered_levels import OrderedBlock
    >>> along = OrderedBlocks(("age",), (OrderedBlock(0, 0, np.eye(3)[:, :2]),))
    >>> with pm.Model(coords={"metric": ["fnr"]}) as model:
    ...     parts = ordered_effects(along, np.ones((1, 2)), 2, "ordered_share", "metric")
    >>> [variable.name for variable in model.free_RVs], parts.following.eval().shape
    (['ordered_share', 'z_ordered'], (1, 3))
    """
    model: Any = pm.modelcontext(None)
    model.add_coord("ordered", list(along.shares))
    shares = pm.Uniform(share, 0, 1, dims=(rows, "ordered"))
    root = np.concatenate([block.root for block in along.blocks], axis=1)
    block = np.repeat(np.arange(len(along.blocks)), [each.root.shape[1] for each in along.blocks])
    model.add_coord("ordered_effect", np.arange(len(block)))
    z = pm.Normal("z_ordered", dims=(rows, "ordered_effect"))
    of_block = [spread[:, each.component] * pm.math.sqrt(shares[:, each.share]) for each in along.blocks]
    following = (z * pm.math.stack(of_block, axis=1)[:, block]) @ root.T
    left = {each.component: pm.math.sqrt(1 - shares[:, each.share]) for each in along.blocks}
    columns = [spread[:, k] * left[k] if k in left else spread[:, k] for k in range(number)]
    return OrderedEffects(pm.math.stack(columns, axis=1), following)
