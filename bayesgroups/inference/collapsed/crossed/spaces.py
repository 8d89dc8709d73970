"""Space in which the effects of a table are integrated out, and the marginal likelihood there as a function of the prior."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance
from bayesgroups.inference.collapsed.crossed.effect_space import EffectSpace
from bayesgroups.inference.collapsed.crossed.predictor import Predictor, Space
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace

MIN_SUBGROUPS_FOR_EFFECTS, MAX_EFFECTS = 200, 60
"""Subgroups from which, and effects up to which, weights in the space of the effects are faster than chains."""


def few_effects(predictor: Predictor, seen: int) -> bool:
    """True of many subgroups that share few effects."""
    if seen <= MIN_SUBGROUPS_FOR_EFFECTS:
        return False
    return predictor.effects - int(predictor.sizes.max(initial=0)) <= MAX_EFFECTS


def space(predictor: Predictor, y: FloatArray, v: FloatArray, prior: Prior) -> Space:
    """The space of the effects where subgroups are many and effects few; that of the subgroups loses fewer digits."""
    if few_effects(predictor, int(np.isfinite(v).sum())):
        return EffectSpace(predictor, y, v, prior.largest, prior.residual_sd)
    return SubgroupSpace(predictor, y, v)


def correlated(predictor: Predictor, y: FloatArray, v: FloatArray, covariance: FloatArray) -> SubgroupSpace:
    """Space of the subgroups with errors that are correlated."""
    seen = np.isfinite(v)
    between = covariance[np.ix_(seen, seen)]
    return SubgroupSpace(predictor, y, v, between - np.diag(np.diagonal(between)))


def likelihood(here: Space, prior: Prior) -> importance.LogLikelihood:
    """Log marginal likelihood by what the prior makes standard deviations of."""
    return lambda u: here.log_marginal(prior.scales(u))


def slope(here: Space, prior: Prior) -> importance.Slope | None:
    """Its derivatives; none in the space of the effects, where differences are as fast."""
    if not isinstance(here, SubgroupSpace):
        return None
    return lambda u: here.slope(prior.scales(u[None])[0]) @ prior.jacobian(u)


def at_bound(here: Space, tau: FloatArray) -> float:
    """Share of the draws whose last standard deviation is more than half of the largest one that is told apart."""
    if not isinstance(here, EffectSpace) or here.residual_sd is not None:
        return 0.0
    return float((tau[:, -1] > here.largest / 2).mean())
