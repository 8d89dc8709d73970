"""Draws of single factors of confusion cells, and of the shares of decisions from those about decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed import engine
from bayesgroups.inference.collapsed.crossed.draws import CrossedDraws
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.logit_normal import expit
from bayesgroups.models.shared.confusion_tree import Tree, factor_scales, own_spreads, shares, tree
from bayesgroups.models.shared.judged_rate import SLOPE_SD
from bayesgroups.models.shared.ordered_levels import Ordered, ordered_blocks
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.report.posterior import generator

OwnEffects = Literal["floored", "fixed", "learned"]


def decision_shares(confusion_tree: Tree, drawn: dict[int, CrossedDraws]) -> FloatArray:
    """Shares (draw, subgroup, decision) of the decisions, from draws of the factors that are about them."""
    even = np.full(next(iter(drawn.values())).eta.shape, 0.5)
    p = np.stack([expit(drawn[i].eta) if decides else even for i, decides in enumerate(confusion_tree.decides)])
    return np.asarray(shares(p, confusion_tree.paths).sum(axis=-2))


def decided(
    tally: xr.Dataset, *, order: int | None, tau_scale: float | None, own_effects: OwnEffects | None, ordered: Ordered,
    cyclic: Sequence[str],
) -> FloatArray:  # fmt: skip
    """The same of a tally whose outcomes depend on the judged rate, for a model drawn elsewhere; always the same draws."""
    confusion_tree, components = tree(tally), subsets(tally, order)
    several = len(components.names) > 1
    along = ordered_blocks(tally, components, ordered, cyclic)
    along = along.without(len(components.names) - 1) if several and own_effects == "fixed" else along
    scales, residual_scales = (
        scale_of(confusion_tree, tau_scale, judged=True) for scale_of in (factor_scales, own_spreads)
    )
    drawn: dict[int, CrossedDraws] = {}
    for i in np.flatnonzero(confusion_tree.decides).tolist():
        residual = np.full(
            tally.sizes["subgroup"], residual_scales[i] ** 2 * (several and own_effects in (None, "floored"))
        )
        spread = Prior(
            "half_normal",
            (float(scales[i]),) * len(components.names),
            float(residual_scales[i]) if several and own_effects == "fixed" else None,
        )
        predictor = Predictor(components.cells, np.empty((len(residual), 0)), LOGIT_OVERALL_SCALE, SLOPE_SD)
        rng = generator(0, confusion_tree.names[i], "confusion")
        k, n = confusion_tree.successes[i], confusion_tree.count[i]
        drawn[i] = engine.binomial(predictor, k, n, spread, rng, draws=4000, known=residual, ordered=along)
    return decision_shares(confusion_tree, drawn)
