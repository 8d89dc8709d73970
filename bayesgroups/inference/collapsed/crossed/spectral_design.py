"""Crossed predictors along the directions of a spectrum: variances of directions, and blocks of effects beside them.

Directions are those of `bayesgroups.inference.collapsed.crossed.spectrum`, in which every variance is linear in those of the
components. What is diagonal in no such basis has effects of its own, in blocks: covariates, ordered attributes with levels that
stand alone, and components that are no products of factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.following_space import FollowingPredictor, FollowingPrior
from bayesgroups.inference.collapsed.crossed.predictor import Predictor, indicator
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.scale_coordinates import Joined, coordinates_of
from bayesgroups.inference.collapsed.crossed.spectrum import Spectrum, spectrum, unfactored
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlocks

MIN_VARIANCE = 1e-200
"""Smallest variance along a direction, where every component is nothing."""


class Kernel(NamedTuple):
    """All or a part of a component: the position of its standard deviation, and that of the share of its order, if it has one.

    ``follows`` is True for the part that follows the order, whose variance is the share of that of the component, and False for the
    rest.
    """

    component: int
    share: int | None = None
    follows: bool = False


class Block(NamedTuple):
    """Effects of their own: ``root`` (subgroup, effect), and their standard deviation or the kernel that says it.

    The second part follows the effects of the first but for its level.
    """

    part: int
    root: FloatArray
    loading: float | Kernel


@dataclass(frozen=True)
class Design:
    """One predictor, or two of which the second follows the first.

    ``kernels`` are those of the spectrum, alike for both parts; ``residual`` (part, direction) are known variances of residual
    effects, ``level`` is that of an overall level along the first direction, 0 where levels are blocks. Learned values are
    standard deviations of the components of each part, the coefficient by which the second follows, and shares of each part.
    """

    coordinates: Joined
    spectrum: Spectrum
    kernels: tuple[Kernel, ...]
    residual: FloatArray
    level: float
    blocks: tuple[Block, ...]
    components: int
    shares: int

    @property
    def parts(self) -> int:
        """Number of predictors."""
        return len(self.residual)

    def spreads(self, part: int) -> slice:
        """Where the standard deviations of a part are among the learned values."""
        return slice(part * self.components, (part + 1) * self.components)

    @property
    def coefficient(self) -> int:
        """Where the coefficient is by which the second part follows."""
        return self.parts * self.components

    def shares_of(self, part: int) -> slice:
        """Where the shares of a part are."""
        start = self.coefficient + self.parts - 1 + part * self.shares
        return slice(start, start + self.shares)

    def variance(self, learned: FloatArray, part: int) -> FloatArray:
        """Variances along the directions, (draw, direction), without the overall level."""
        spread, portion = self._kernels(learned, part, self.kernels)
        each = np.take((spread**2 * portion) @ self.spectrum.power.T, self.spectrum.kind, axis=1)
        each += self.residual[part]
        return np.maximum(each, MIN_VARIANCE, out=each)

    def variance_slope(self, learned: FloatArray, part: int, by_variance: FloatArray) -> FloatArray:
        """Derivatives by the learned values, from those by `variance`."""
        by_kernel = (by_variance @ self.spectrum.member) @ self.spectrum.power
        return self._kernels_slope(learned, part, self.kernels, by_kernel)

    def with_level(self, variance: FloatArray) -> FloatArray:
        """Variances of a part with its overall level."""
        total = variance.copy()
        total[:, 0] += self.level
        return total

    def following(self, learned: FloatArray, variances: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Slope of the second part on the first along the directions, and the variance that is its own, with its level.

        The second follows the components of the first, and neither its level nor its residual effects of known variances.
        """
        follow = learned[:, self.coefficient, None]
        followed, rest, total = self._followed(variances)
        return follow * followed / total, self.with_level(variances[1]) + follow**2 * followed * rest / total

    def following_slope(
        self, learned: FloatArray, variances: list[FloatArray], by_slope: FloatArray, by_variance: FloatArray
    ) -> FloatArray:
        """Derivatives by the learned values from those by `following`, but for the second part's own variance."""
        follow = learned[:, self.coefficient, None]
        followed, rest, total = self._followed(variances)
        by_first = by_slope * follow * rest / total**2 + by_variance * (follow * rest / total) ** 2
        slope = self.variance_slope(learned, 0, by_first)
        by_follow = by_slope * followed / total + by_variance * 2 * follow * followed * rest / total
        slope[:, self.coefficient] += by_follow.sum(axis=1)
        return slope

    def _followed(self, variances: list[FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Variances of the first part along the directions that the second follows, those that it does not, and their sum."""
        followed = np.maximum(variances[0] - self.residual[0], 0.0)
        rest = self.with_level(self.residual[:1])
        return followed, rest, np.maximum(followed + rest, MIN_VARIANCE)

    def block_variance(self, learned: FloatArray, block: Block) -> FloatArray:
        """Variances of the effects of a block, (draw, effect)."""
        if not isinstance(block.loading, Kernel):
            each = np.full(len(learned), block.loading**2)
        else:
            spread, portion = self._kernels(learned, block.part, (block.loading,))
            each = np.maximum((spread**2 * portion)[:, 0], MIN_VARIANCE)
        return np.repeat(each[:, None], block.root.shape[1], axis=1)

    def block_slope(self, learned: FloatArray, block: Block, by_variance: FloatArray) -> FloatArray:
        """Derivatives by the learned values, from those by `block_variance`."""
        if not isinstance(block.loading, Kernel):
            return np.zeros_like(learned)
        return self._kernels_slope(learned, block.part, (block.loading,), by_variance.sum(axis=1, keepdims=True))

    def handed_on(self, block: Block) -> bool:
        """True if the second part follows the effects of a block."""
        return self.parts > 1 and block.part == 0 and isinstance(block.loading, Kernel)

    def _kernels(self, learned: FloatArray, part: int, kernels: tuple[Kernel, ...]) -> tuple[FloatArray, FloatArray]:
        """Standard deviations of the components of kernels, and the parts of their variances that these have."""
        start, shares = part * self.components, self.shares_of(part).start
        portion = np.ones((len(learned), len(kernels)))
        for column, kernel in enumerate(kernels if self.shares else ()):
            if kernel.share is not None:
                share = learned[:, shares + kernel.share]
                portion[:, column] = share if kernel.follows else 1 - share
        return learned[:, [start + kernel.component for kernel in kernels]], portion

    def _kernels_slope(
        self, learned: FloatArray, part: int, kernels: tuple[Kernel, ...], by_kernel: FloatArray
    ) -> FloatArray:
        """Derivatives by the learned values, from those by the variances of kernels, (draw, kernel)."""
        slope = np.zeros_like(learned)
        spread, portion = self._kernels(learned, part, kernels)
        start, shares = part * self.components, self.shares_of(part).start
        by_spread = 2 * spread * portion * by_kernel
        if not self.shares:  # every component is one kernel
            slope[:, [start + kernel.component for kernel in kernels]] = by_spread
            return slope
        by_own = spread**2 * by_kernel
        for column, kernel in enumerate(kernels):
            slope[:, start + kernel.component] += by_spread[:, column]
            if kernel.share is not None:
                slope[:, shares + kernel.share] += by_own[:, column] * (1 if kernel.follows else -1)
        return slope


def design_of(
    predictor: Predictor | FollowingPredictor,
    prior: Prior | FollowingPrior,
    residual: FloatArray,
    ordered: OrderedBlocks = NOTHING,
) -> Design:
    """Design of one predictor or two, with known variances of residual effects (row,), of the rows of both in turn."""
    parts, cells = 2 if isinstance(predictor, FollowingPredictor) else 1, predictor.cells
    components, subgroups = cells.shape
    residual = residual.reshape(parts, subgroups)
    with_share = {block.component: block.share for block in ordered.blocks}
    rest = [Kernel(component, with_share.get(component)) for component in range(components)]
    following = [(Kernel(block.component, block.share, follows=True), block.root) for block in ordered.blocks]
    alike = bool((np.ptp(residual, axis=1) == 0).all())
    factored = spectrum(cells, [root for _, root in following]) if components and alike else None
    if factored is not None:
        basis, diagonal = factored
        residual = np.repeat(residual[:, :1], basis.directions, axis=1)
        inside = [kernel for (kernel, _), each in zip(following, diagonal, strict=True) if each]
        left = [pair for pair, each in zip(following, diagonal, strict=True) if not each]
        kernels, blocks = [*rest, *inside], []
    else:
        kernels = rest[-1:] if parts == 1 else []  # the last of one predictor are the subgroups themselves
        basis = unfactored(subgroups, len(kernels))
        left = [(kernel, indicator(cells[kernel.component])) for kernel in rest if kernel not in kernels]
        left += following
        blocks = [Block(part, np.ones((subgroups, 1)), predictor.overall_scale) for part in range(parts)]
    if predictor.covariates.shape[1]:
        blocks.append(Block(parts - 1, predictor.covariates, predictor.coefficient_scale))
    blocks += [Block(part, root, kernel) for part in range(parts) for kernel, root in left]
    return Design(
        coordinates_of(prior, len(ordered.shares)),
        basis,
        tuple(kernels),
        residual,
        predictor.overall_scale**2 * basis.directions if factored is not None else 0.0,
        tuple(blocks),
        components,
        len(ordered.shares),
    )
