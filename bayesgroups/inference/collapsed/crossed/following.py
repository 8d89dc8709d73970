"""Two crossed predictors of which the second follows the first, and their priors.

    eta_1g = overall_1 + sum over k of tau_1k effect_1k[cell_k(g)]                                    (rows 0 to G - 1)
    eta_2g = overall_2 + follow (eta_1g - overall_1) + x_g . beta + sum over k of tau_2k effect_2k[cell_k(g)]   (the rest)

Each has residual effects of single subgroups besides, whose variances are known.
"""

from __future__ import annotations

from dataclasses import dataclass

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed.crossed.prior import Prior


@dataclass(frozen=True)
class FollowingPredictor:
    """Design of two linear predictors over the same subgroups.

    ``cells`` (component, subgroup) are those of the components that are learned; ``covariates`` (subgroup, column) those
    of the second predictor; scales are prior standard deviations of each ``overall`` (around 0) and of ``beta``.
    """

    cells: IntArray
    covariates: FloatArray
    overall_scale: float
    coefficient_scale: float


@dataclass(frozen=True)
class FollowingPrior:
    """Priors of both predictors' standard deviations, all learned, and a normal coefficient by which one follows the other.

    Draws are (draw, column): standard deviations of the first predictor, of the second, that coefficient, and 0 for a learned
    residual effect.
    """

    first: Prior
    second: Prior
    follow_mean: float
    follow_sd: float
