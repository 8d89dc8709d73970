"""Components whose cells lie in an order: beside the agreement of two groups, a covariance that falls with their distance."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.frequentist.crossed.components import Components, components_of
from bayesgroups.frequentist.crossed.families import Family
from bayesgroups.models.shared.ordered_levels import Ordered, ordered_blocks
from bayesgroups.models.shared.subsets import subsets


def with_orders(
    family: Family, tally: xr.Dataset, ordered: Ordered, cyclic: Sequence[str], *, order: int | None, joint: bool
) -> tuple[tuple[str, ...], Components]:
    """Names and components of a family, with one more for every component that crosses an ordered attribute.

    These come before the identity, and are named ``age (ordered)``. InputError if an order cannot be meant, see
    `bayesgroups.models.shared.ordered_levels.ordered_blocks`.
    """
    if not ordered:
        return family.names, components_of(family, joint=joint)
    parts = subsets(tally, order)
    try:
        along = ordered_blocks(tally, parts, ordered, cyclic)
    except ValueError as problem:
        raise InputError(f"crossed_effects: {problem}") from None
    names = [f"{parts.names[block.component]} (ordered)" for block in along.blocks]
    kernels = [block.root for block in along.blocks]
    return (*family.names[:-1], *names, family.names[-1]), components_of(family, joint=joint, kernels=kernels)
