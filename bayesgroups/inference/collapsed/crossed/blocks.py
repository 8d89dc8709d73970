"""Blocks of normal effects: every crossed predictor, or a pair of which one follows the other, as sums of known matrices.

    eta_pg = sum over blocks b of loading_pb (root_b z_b)_g + residual effect of subgroup g,   z_b ~ Normal(0, I)

A root has a row for every subgroup: a 0/1 matrix of cells, the covariates, a column of ones. The parts p are the predictors,
one or two. What is learned are the loadings and the standard deviations of the residual effects, both functions of standard
normal numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.following_space import FollowingPredictor, FollowingPrior
from bayesgroups.inference.collapsed.crossed.predictor import Predictor, indicator
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlocks

Scales = Callable[[FloatArray], FloatArray]
"""From standard normal numbers (draw, parameter) to loadings (draw, part, block) or standard deviations (draw, part)."""

DIFFERENCE = 1e-4
"""Step of the derivatives of loadings."""


@dataclass(frozen=True)
class Blocks:
    """Roots (subgroup, column) of all blocks, and their loadings.

    ``loadings`` takes standard normal numbers (draw, ``dimension``) to (draw, part, block), ``residual_sd`` to (draw, part);
    ``hyperparameters`` to the standard deviations that a report shows, (draw, column), ``shares`` to those of the components
    that follow an order, (draw, share). The first blocks are the overall level of every part, and the covariates where there are
    any; ``overall_scale`` and ``coefficient_scale`` are their known loadings.
    """

    roots: tuple[FloatArray, ...]
    loadings: Scales
    residual_sd: Scales
    hyperparameters: Scales
    shares: Scales
    dimension: int
    parts: int
    coefficients: int
    overall_scale: float
    coefficient_scale: float
    columns: tuple[slice, ...] = field(init=False)
    """Where the effects of every block are among all."""

    def __post_init__(self) -> None:
        ends = np.cumsum([0, *(root.shape[1] for root in self.roots)])
        object.__setattr__(self, "columns", tuple(slice(int(a), int(b)) for a, b in pairwise(ends)))

    @property
    def overall(self) -> slice:
        """Where the overall levels are among the effects."""
        return slice(0, self.parts)

    @property
    def covariates(self) -> slice:
        """Where the coefficients are."""
        return slice(self.parts, self.parts + self.coefficients)

    @property
    def fixed(self) -> slice:
        """Where both are."""
        return slice(0, self.parts + self.coefficients)

    @property
    def subgroups(self) -> int:
        """Number of rows of a root."""
        return len(self.roots[0])

    @property
    def effects(self) -> int:
        """Number of effects of all blocks."""
        return int(self.columns[-1].stop)

    def jacobian(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives of loadings (part, block, parameter) and of residual standard deviations (part, parameter) at one point."""
        step = DIFFERENCE * np.eye(self.dimension)
        loadings, residual = (
            np.moveaxis(scales(u + step) - scales(u - step), 0, -1) / (2 * DIFFERENCE)
            for scales in (self.loadings, self.residual_sd)
        )
        return loadings, residual

    def sums(self, effects: FloatArray, loadings: FloatArray) -> FloatArray:
        """Predictors without residual effects, (draw, part, subgroup), from effects (draw, effect)."""
        total = np.zeros((len(effects), self.parts, self.subgroups))
        for block, (root, columns) in enumerate(zip(self.roots, self.columns, strict=True)):
            total += loadings[:, :, block, None] * (effects[:, columns] @ root.T)[:, None]
        return total

    def transposed(self, weight: FloatArray, loadings: FloatArray) -> FloatArray:
        """The transpose of `sums`: from weights (draw, part, subgroup) to (draw, effect)."""
        effects = np.empty((len(weight), self.effects))
        for block, (root, columns) in enumerate(zip(self.roots, self.columns, strict=True)):
            effects[:, columns] = (loadings[:, :, block, None] * weight).sum(axis=1) @ root
        return effects


def crossed(predictor: Predictor, prior: Prior, ordered: OrderedBlocks = NOTHING) -> Blocks:
    """Blocks of one predictor: the overall level, the covariates if any, every component but that of single subgroups.

    Ordered parts are blocks of their own, also of the component of single subgroups; their shares are learned as well.
    """
    fixed = [predictor.overall_scale]
    roots = [np.ones((predictor.cells.shape[1], 1))]
    if predictor.covariates.shape[1]:
        fixed.append(predictor.coefficient_scale)
        roots.append(predictor.covariates)
    roots += [indicator(cells) for cells in predictor.cells[:-1]]
    roots += [block.root for block in ordered.blocks]
    learned = slice(prior.dimension)

    def scales(u: FloatArray) -> tuple[FloatArray, FloatArray]:
        return split_scales(prior.scales(u[:, learned]), shares_of(u[:, prior.dimension :]), ordered)

    def loadings(u: FloatArray) -> FloatArray:
        exchangeable, following_order = scales(u)
        return np.column_stack([np.tile(fixed, (len(u), 1)), exchangeable[:, :-1], following_order])[:, None]

    return Blocks(
        tuple(roots),
        loadings,
        lambda u: scales(u)[0][:, -1:],
        lambda u: prior.scales(u[:, learned]),
        lambda u: shares_of(u[:, prior.dimension :]),
        prior.dimension + len(ordered.shares),
        1,
        predictor.covariates.shape[1],
        predictor.overall_scale,
        predictor.coefficient_scale,
    )


def following(predictor: FollowingPredictor, prior: FollowingPrior, ordered: OrderedBlocks = NOTHING) -> Blocks:
    """Blocks of two predictors: what the first one has but its level enters the second times the learned coefficient.

    Each predictor has shares of its own that follow an order; those of the first come first.
    """
    level = np.ones((predictor.cells.shape[1], 1))
    components = [*map(indicator, predictor.cells), *(block.root for block in ordered.blocks)]
    with_covariates = predictor.covariates.shape[1] > 0
    roots = [level, level, *([predictor.covariates] if with_covariates else []), *components, *components]
    fixed, learned, shares = 2 + with_covariates, slice(prior.dimension), len(ordered.shares)

    def loadings(u: FloatArray) -> FloatArray:
        learned_sds, number = len(predictor.cells), len(components)
        first, other, follow, _ = np.split(
            prior.scales(u[:, learned]), [learned_sds, 2 * learned_sds, 2 * learned_sds + 1], axis=1
        )
        share = np.split(shares_of(u[:, prior.dimension :]), [shares], axis=1)
        leading, second = (
            np.concatenate(split_scales(sds, of_part, ordered), axis=1)
            for sds, of_part in zip((first, other), share, strict=True)
        )
        each = np.zeros((len(u), 2, len(roots)))
        each[:, 0, 0] = each[:, 1, 1] = predictor.overall_scale
        if with_covariates:
            each[:, 1, 2] = predictor.coefficient_scale
        each[:, 0, fixed : fixed + number] = leading
        each[:, 1, fixed : fixed + number] = follow * leading
        each[:, 1, fixed + number :] = second
        return each

    return Blocks(
        tuple(roots),
        loadings,
        lambda u: np.zeros((len(u), 2)),
        lambda u: prior.scales(u[:, learned]),
        lambda u: shares_of(u[:, prior.dimension :]),
        prior.dimension + 2 * shares,
        2,
        predictor.covariates.shape[1],
        predictor.overall_scale,
        predictor.coefficient_scale,
    )


def split_scales(tau: FloatArray, share: FloatArray, ordered: OrderedBlocks) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of what is exchangeable (draw, component) and of what follows an order (draw, ordered block).

    >>> from bayesgroups.models.shared.ordered_levels import OrderedBlock
    >>> ordered = OrderedBlocks(("age",), (OrderedBlock(1, 0, np.eye(2)),))
    >>> [part.round(6).tolist() for part in split_scales(np.array([[1.0, 2.0]]), np.array([[0.75]]), ordered)]
    [[[1.0, 1.0]], [[1.732051]]]
    """
    exchangeable, following_order = tau.copy(), np.empty((len(tau), len(ordered.blocks)))
    for position, block in enumerate(ordered.blocks):
        following_order[:, position] = tau[:, block.component] * np.sqrt(share[:, block.share])
        exchangeable[:, block.component] = tau[:, block.component] * np.sqrt(1 - share[:, block.share])
    return exchangeable, following_order


def shares_of(u: FloatArray) -> FloatArray:
    """Uniform shares from standard normal numbers."""
    from scipy.special import ndtr

    return np.asarray(ndtr(u), dtype=np.float64)


def blocks_of(
    predictor: Predictor | FollowingPredictor, prior: Prior | FollowingPrior, ordered: OrderedBlocks = NOTHING
) -> Blocks:
    """Blocks of one predictor or of two, which may have ordered attributes."""
    if isinstance(predictor, FollowingPredictor):
        assert isinstance(prior, FollowingPrior)
        return following(predictor, prior, ordered)
    assert isinstance(prior, Prior)
    return crossed(predictor, prior, ordered)
