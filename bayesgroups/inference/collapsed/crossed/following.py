"""Two crossed effects at once, where the second follows the first.

    eta_1g = overall_1 + shared_1g + own_1g,                                  shared_1g = sum over k of tau_1k effect_1k[cell_k(g)]
    eta_2g = overall_2 + follow shared_1g + x_g . beta + shared_2g + own_2g,  shared_2g = sum over k of tau_2k effect_2k[cell_k(g)]

The variances of the residual effects ``own`` of single subgroups are known.
"""

from __future__ import annotations

from dataclasses import dataclass

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
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
    """Priors of both predictors' standard deviations, all learned, and a normal coefficient by which one follows the other."""

    first: Prior
    second: Prior
    follow_mean: float
    follow_sd: float


Predictors = Predictor | FollowingPredictor
"""Design of one linear predictor, or of two."""
Priors = Prior | FollowingPrior
"""What is known beforehand of the standard deviations of one, or of two."""
