"""Components of a covariance in the form that takes the least work: matrices of groups, effects, or blocks of levels."""

from __future__ import annotations

from typing import Any

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


def components_of(family: Family, *, joint: bool) -> Components:
    """Components of a family, by effects or in blocks where that is quicker; tasks fitted ``joint`` need matrices."""
    groups = family.cells.shape[1]
    if joint or groups < MIN_GROUPS:
        return family.agreement()
    layout = layout_of(family)
    effects = int((family.cells[:-1].max(axis=1) + 1).sum())
    least = min(groups**3, effects**3, layout.work if layout else groups**3)
    if effects**3 == least:
        return EffectSpace.of(family)
    return LevelBlocks.of(family, layout) if layout and layout.work == least else family.agreement()
