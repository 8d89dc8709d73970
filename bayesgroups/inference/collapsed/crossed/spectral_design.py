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

SMALLEST_VARIANCE = 1e-200
"""Of a direction, where every component is nothing."""


class Kernel(NamedTuple):
    """All or a part of a component: the position of its standard deviation, and that of the share of its order, if it has one.

    ``follows`` is True for the part that follows the order, whose variance is the share of that of the component, and False for the
    rest.
    """

    component: int
    share: int | None = None
    follows: bool = False


class Block(NamedTuple):
    """Effects of their own: ``root`` (subgroup, effect), and a number they are multiplied by or the kernel that says it.

    The second part follows the effects of the first but for its level.
    """

    part: int
    root: FloatArray
    loading: float | Kernel


@dataclass(frozen=True)
class Design:
    """One predictor, or two of which the second follows the first.

    ``kernels`` are those of the spectrum, alike for both parts; ``known`` (part, direction) are known variances, ``level`` is that
    of an overall level along the first direction, 0 where levels are blocks. Learned values are standard deviations of the
    components of each part, the coefficient by which the second follows, and shares of each part.
    """

    coordinates: Joined
    spectrum: Spectrum
    kernels: tuple[Kernel, ...]
    known: FloatArray
    level: float
    blocks: tuple[Block, ...]
    components: int
    shares: int

    @property
    def parts(self) -> int:
        """Number of predictors."""
        return len(self.known)

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
        spread, own = self._kernels(learned, part)
        each = ((spread**2 * own) @ self.spectrum.power.T)[:, self.spectrum.kind]
        each += self.known[part]
        return np.maximum(each, SMALLEST_VARIANCE, out=each)

    def variance_slope(self, learned: FloatArray, part: int, by_variance: FloatArray) -> FloatArray:
        """Derivatives by the learned values, from those by `variance`."""
        slope = np.zeros_like(learned)
        spread, own = self._kernels(learned, part)
        by_kernel = (by_variance @ self.spectrum.member) @ self.spectrum.power
        by_spread, by_own = 2 * spread * own * by_kernel, spread**2 * by_kernel
        for column, kernel in enumerate(self.kernels):
            position, share = self._positions(part, kernel)
            slope[:, position] += by_spread[:, column]
            if share is not None:
                slope[:, share] += by_own[:, column] * (1 if kernel.follows else -1)
        return slope

    def with_level(self, variance: FloatArray) -> FloatArray:
        """Variances of the first part with its overall level."""
        total = variance.copy()
        total[:, 0] += self.level
        return total

    def following(self, learned: FloatArray, variances: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Slope of the second part on the first along the directions, and the variance that is its own, with its level."""
        follow = learned[:, self.coefficient]
        slope = np.repeat(follow[:, None], self.spectrum.directions, axis=1)
        own = variances[1].copy()
        if self.level:
            first = variances[0][:, 0]
            slope[:, 0] = follow * first / (self.level + first)
            own[:, 0] += self.level + follow**2 * self.level * first / (self.level + first)
        return slope, own

    def following_slope(
        self, learned: FloatArray, variances: list[FloatArray], by_slope: FloatArray, by_variance: FloatArray
    ) -> FloatArray:
        """Derivatives by the learned values from those by `following`, but for the second part's own variance."""
        follow, slope = learned[:, self.coefficient], np.zeros_like(learned)
        slope[:, self.coefficient] = by_slope.sum(axis=1)
        if self.level:
            first = variances[0][:, 0]
            total = self.level + first
            slope[:, self.coefficient] += by_slope[:, 0] * (first / total - 1)
            slope[:, self.coefficient] += by_variance[:, 0] * 2 * follow * self.level * first / total
            by_first = np.zeros_like(by_slope)
            by_first[:, 0] = by_slope[:, 0] * follow * self.level / total**2
            by_first[:, 0] += by_variance[:, 0] * (follow * self.level / total) ** 2
            slope += self.variance_slope(learned, 0, by_first)
        return slope

    def reach(self, learned: FloatArray, block: Block) -> FloatArray:
        """Numbers that a block is multiplied by in every part, (draw, part)."""
        reach = np.zeros((len(learned), self.parts))
        reach[:, block.part] = self._loading(learned, block)
        if self._handed_on(block):
            reach[:, 1] = learned[:, self.coefficient] * reach[:, 0]
        return reach

    def reach_slope(self, learned: FloatArray, block: Block, by_reach: FloatArray) -> FloatArray:
        """Derivatives by the learned values, from those by `reach`."""
        slope = np.zeros_like(learned)
        by_loading = by_reach[:, block.part].copy()
        if self._handed_on(block):
            slope[:, self.coefficient] = by_reach[:, 1] * self._loading(learned, block)
            by_loading += by_reach[:, 1] * learned[:, self.coefficient]
        if isinstance(block.loading, Kernel):
            spread, share = self._positions(block.part, block.loading)
            root, by_share = self._root_of_share(learned, block.loading, share)
            slope[:, spread] += by_loading * root
            if share is not None:
                slope[:, share] += by_loading * learned[:, spread] * by_share
        return slope

    def turned(self, effects: FloatArray, block: Block, sign: FloatArray) -> FloatArray:
        """Effects of a block where learned values have other signs (draw, column) than before: their products stay."""
        if not isinstance(block.loading, Kernel):
            return effects
        return effects * sign[:, self._positions(block.part, block.loading)[0], None]

    def _handed_on(self, block: Block) -> bool:
        return self.parts > 1 and block.part == 0 and isinstance(block.loading, Kernel)

    def _loading(self, learned: FloatArray, block: Block) -> FloatArray:
        if not isinstance(block.loading, Kernel):
            return np.full(len(learned), block.loading)
        spread, share = self._positions(block.part, block.loading)
        return learned[:, spread] * self._root_of_share(learned, block.loading, share)[0]

    @staticmethod
    def _root_of_share(learned: FloatArray, kernel: Kernel, share: int | None) -> tuple[FloatArray, FloatArray]:
        """Root of the part of a variance that a kernel has, and its derivative by the share."""
        if share is None:
            return np.ones(len(learned)), np.zeros(len(learned))
        part = learned[:, share] if kernel.follows else 1 - learned[:, share]
        root = np.sqrt(np.maximum(part, SMALLEST_VARIANCE))
        return root, (0.5 if kernel.follows else -0.5) / root

    def _positions(self, part: int, kernel: Kernel) -> tuple[int, int | None]:
        share = None if kernel.share is None else self.shares_of(part).start + kernel.share
        return self.spreads(part).start + kernel.component, share

    def _kernels(self, learned: FloatArray, part: int) -> tuple[FloatArray, FloatArray]:
        """Standard deviations of the components of all kernels, and the parts of their variances that these have."""
        own = np.ones((len(learned), len(self.kernels)))
        for column, kernel in enumerate(self.kernels):
            share = self._positions(part, kernel)[1]
            if share is not None:
                own[:, column] = learned[:, share] if kernel.follows else 1 - learned[:, share]
        return learned[:, [self._positions(part, kernel)[0] for kernel in self.kernels]], own


def design_of(
    predictor: Predictor | FollowingPredictor,
    prior: Prior | FollowingPrior,
    known: FloatArray,
    ordered: OrderedBlocks = NOTHING,
) -> Design:
    """Design of one predictor or two, with known variances of residual effects (row,), of the rows of both in turn."""
    parts, cells = 2 if isinstance(predictor, FollowingPredictor) else 1, predictor.cells
    components, subgroups = cells.shape
    known = known.reshape(parts, subgroups)
    with_share = {block.component: block.share for block in ordered.blocks}
    rest = [Kernel(component, with_share.get(component)) for component in range(components)]
    following = [(Kernel(block.component, block.share, follows=True), block.root) for block in ordered.blocks]
    alike = bool((np.ptp(known, axis=1) == 0).all())
    factored = spectrum(cells, [root for _, root in following]) if components and alike else None
    if factored is not None:
        basis, diagonal = factored
        known = np.repeat(known[:, :1], basis.directions, axis=1)
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
        known,
        predictor.overall_scale**2 * basis.directions if factored is not None else 0.0,
        tuple(blocks),
        components,
        len(ordered.shares),
    )
