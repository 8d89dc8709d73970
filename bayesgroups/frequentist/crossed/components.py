"""Components of a covariance in the form that takes the least work: matrices of groups, effects, or blocks of levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed.component_space import ComponentSpace
from bayesgroups.frequentist.crossed.effect_space import EffectSpace
from bayesgroups.frequentist.crossed.families import Family
from bayesgroups.frequentist.crossed.level_blocks import LevelBlocks
from bayesgroups.frequentist.crossed.level_layout import layout_of

MIN_GROUPS = 120
"""Groups below which matrices of all of them are quicker than any other form."""

Components = FloatArray | ComponentSpace[Any]
"""Components of a covariance: matrices C_S (component, group, group), or a form without them."""


def components_of(family: Family, *, joint: bool, kernels: Sequence[FloatArray] = ()) -> Components:
    """Components of a family, by effects or in blocks where that is quicker; tasks fitted ``joint`` need matrices.

    Before the identity come ``kernels``, each given by its root (group, effect).
    """
    groups = family.cells.shape[1]
    if not joint and groups >= MIN_GROUPS:
        layout = layout_of(family, kernels)
        effects = int((family.cells[:-1].max(axis=1) + 1).sum())
        by_effects, in_blocks = np.inf if kernels else effects**3, layout.work if layout else np.inf
        if by_effects <= min(in_blocks, groups**3):
            return EffectSpace.of(family)
        if layout and in_blocks < groups**3:
            return LevelBlocks.of(family, layout, kernels)
    *matrices, identity = family.agreement()
    return np.stack([*matrices, *(root @ root.T for root in kernels), identity])
