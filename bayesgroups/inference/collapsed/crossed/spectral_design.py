"""Crossed predictors along the directions of a spectrum, with blocks of effects beside them and residual effects of subgroups.

Directions are those of `bayesgroups.models.shared.spectrum`, in which every variance of what subgroups share is
linear in those of the components. What is diagonal in no such basis has effects of its own, in blocks: covariates, ordered
attributes with levels that stand alone, and components that are no products of factors. Residual effects stay with their subgroups.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.inference.collapsed.crossed.following import FollowingPredictor, Predictors, Priors
from bayesgroups.inference.collapsed.crossed.predictor import indicator
from bayesgroups.inference.collapsed.crossed.scale_coordinates import Joined, coordinates_of
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlocks
from bayesgroups.models.shared.spectrum import Spectrum, spectrum, unfactored

MIN_VARIANCE = 1e-200
"""Smallest variance along a direction, where every component is nothing."""

SMALL_TABLE = 200
"""Subgroups up to which chains mix without help. In tables of more, turns depend on what is learned, and learned values are drawn
given the predictors too, which would take smaller ones up to a third of their time."""


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

    ``kernels`` are those of the spectrum, alike for both parts; ``residual_kernel`` is that of the residual effects, if their
    standard deviation is learned, and ``residual`` (part, subgroup) are the known parts of their variances; ``level`` is the
    variance of an overall level along the first direction, 0 where levels are blocks. Learned values are standard deviations of
    the components of each part, the coefficient by which the second follows, and shares of each part.
    """

    coordinates: Joined
    spectrum: Spectrum
    kernels: tuple[Kernel, ...]
    residual_kernel: Kernel | None
    residual: FloatArray
    level: float
    blocks: tuple[Block, ...]
    components: int
    shares: int

    @property
    def large(self) -> bool:
        """True of many subgroups."""
        return bool(self.residual.shape[1] > SMALL_TABLE)

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
        of_kind = self.kind_variance(learned, part)
        return np.take(of_kind, self.spectrum.kind, axis=1)  # draw by draw in memory, as indices would not have it

    def kind_variance(self, learned: FloatArray, part: int, kinds: IndexArray | None = None) -> FloatArray:
        """The same along directions of every kind, or some ``kinds``, (draw, kind)."""
        power = self.spectrum.power if kinds is None else self.spectrum.power[kinds]
        of_kind = self._kernels(learned, part, self.kernels) @ power.T
        return np.maximum(of_kind, MIN_VARIANCE, out=of_kind)

    def kinds_of(self, values: slice) -> IndexArray:
        """Kinds of directions on whose laws, with residual effects, some learned values have an influence.

        That of the constant is always among them.
        """
        parts = range(self.parts)

        def among(place: int) -> bool:
            return bool(values.start <= place < values.stop)

        def made_of(kernel: Kernel) -> bool:
            places = [self.spreads(part).start + kernel.component for part in parts]
            if kernel.share is not None:
                places += [self.shares_of(part).start + kernel.share for part in parts]
            return any(map(among, places))

        coefficient = self.parts > 1 and among(self.coefficient)
        if coefficient or (self.residual_kernel is not None and made_of(self.residual_kernel)):
            return np.arange(len(self.spectrum.power))
        some = self.spectrum.power[:, list(map(made_of, self.kernels))].any(axis=1)
        some[self.spectrum.kind[0]] = True
        return np.flatnonzero(some)

    def pull_variance(self, slope: FloatArray, learned: FloatArray, part: int, by_variance: FloatArray) -> None:
        """Derivatives by the learned values, from those by `variance`, added to ``slope``."""
        self.pull_kind_variance(slope, learned, part, by_variance @ self.spectrum.member)

    def pull_kind_variance(self, slope: FloatArray, learned: FloatArray, part: int, by_variance: FloatArray) -> None:
        """The same from those by `kind_variance`."""
        self._pull_kernels(slope, learned, part, self.kernels, by_variance @ self.spectrum.power)

    def own_variance(self, learned: FloatArray, part: int) -> FloatArray:
        """Variances of residual effects, (draw, subgroup): one row where known, one column where all are alike."""
        least = self.residual[part : part + 1, : 1 if self._alike[part] else None]
        if self.residual_kernel is None:
            return np.maximum(least, MIN_VARIANCE)
        return np.maximum(self._kernels(learned, part, (self.residual_kernel,)) + least, MIN_VARIANCE)

    def pull_own_variance(self, slope: FloatArray, learned: FloatArray, part: int, by_variance: FloatArray) -> None:
        """Derivatives by the learned values, from the sum of those by `own_variance`, (draw, 1), added to ``slope``."""
        if self.residual_kernel is not None:
            self._pull_kernels(slope, learned, part, (self.residual_kernel,), by_variance)

    def following(self, learned: FloatArray, constant: FloatArray, columns: int) -> tuple[FloatArray, FloatArray]:
        """Slope of the second part on the first along directions, and what that adds to its variance along the first direction.

        The slope has so many ``columns``, of which the first is that of the first direction; ``constant`` (draw, 1) is the variance
        of the first part along it, without its level. The second follows the components of the first and not its level, which
        matters along the first direction alone.
        """
        follow, total = learned[:, self.coefficient, None], constant + self.level
        slope = np.repeat(follow, columns, axis=1)
        slope[:, :1] *= constant / total
        return slope, follow**2 * constant * self.level / total

    def following_slope(
        self, learned: FloatArray, constant: FloatArray, by_slope: FloatArray, by_added: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Derivatives by the coefficient (draw,) and by ``constant``, from those by slopes and by the variance that is added."""
        follow, total = learned[:, self.coefficient, None], constant + self.level
        ratio = self.level / total
        by_constant = by_slope[:, :1] * follow * ratio / total + by_added * (follow * ratio) ** 2
        less = ratio * (by_slope[:, :1] - 2 * by_added * follow * constant)
        return by_slope.sum(axis=1) - less.sum(axis=1), by_constant

    def block_variance(self, learned: FloatArray, block: Block) -> FloatArray:
        """Variances of the effects of a block, (draw, effect)."""
        if not isinstance(block.loading, Kernel):
            each = np.full(len(learned), block.loading**2, learned.dtype)
        else:
            each = np.maximum(self._kernels(learned, block.part, (block.loading,))[:, 0], MIN_VARIANCE)
        return np.repeat(each[:, None], block.root.shape[1], axis=1)

    def pull_block_variance(
        self, slope: FloatArray, learned: FloatArray, block: Block, by_variance: FloatArray
    ) -> None:
        """Derivatives by the learned values, from those by `block_variance`, added to ``slope``."""
        if isinstance(block.loading, Kernel):
            by_kernel = by_variance.sum(axis=1, keepdims=True)
            self._pull_kernels(slope, learned, block.part, (block.loading,), by_kernel)

    def handed_on(self, block: Block) -> bool:
        """True if the second part follows the effects of a block."""
        return self.parts > 1 and block.part == 0 and isinstance(block.loading, Kernel)

    @cached_property
    def _alike(self) -> list[bool]:
        """Of every part, True if the known variances of its residual effects are all alike."""
        return [bool((least == least[0]).all()) for least in self.residual]

    def _columns(self, part: int, kernels: tuple[Kernel, ...]) -> slice | list[int]:
        """Where the standard deviations of kernels are among the learned values: a slice, which is fast, where they are in turn."""
        columns = [part * self.components + kernel.component for kernel in kernels]
        if len(columns) == 1:
            return slice(columns[0], columns[0] + 1)
        in_turn = all(after == before + 1 for before, after in itertools.pairwise(columns))
        return slice(columns[0], columns[-1] + 1) if columns and in_turn else columns

    def _kernels(self, learned: FloatArray, part: int, kernels: tuple[Kernel, ...]) -> FloatArray:
        """Variances of kernels, (draw, kernel)."""
        variance = learned[:, self._columns(part, kernels)] ** 2
        for column, kernel in enumerate(kernels if self.shares else ()):
            if kernel.share is not None:
                share = learned[:, self.shares_of(part).start + kernel.share]
                variance[:, column] *= share if kernel.follows else 1 - share
        return variance

    def _pull_kernels(
        self, slope: FloatArray, learned: FloatArray, part: int, kernels: tuple[Kernel, ...], by_kernel: FloatArray
    ) -> None:
        """Derivatives by the learned values, from those by the variances of kernels, (draw, kernel), added to ``slope``."""
        if not self.shares:  # every component is one kernel
            columns = self._columns(part, kernels)
            slope[:, columns] += 2 * learned[:, columns] * by_kernel
            return
        start, shares = part * self.components, self.shares_of(part).start
        for kernel, by_variance in zip(kernels, by_kernel.T, strict=True):
            spread = learned[:, start + kernel.component]
            by_spread = 2 * spread * by_variance
            if kernel.share is not None:
                share = learned[:, shares + kernel.share]
                by_spread *= share if kernel.follows else 1 - share
                slope[:, shares + kernel.share] += spread**2 * by_variance * (1 if kernel.follows else -1)
            slope[:, start + kernel.component] += by_spread


def design_of(
    predictor: Predictors,
    prior: Priors,
    residual: FloatArray,
    ordered: OrderedBlocks = NOTHING,
) -> Design:
    """Design of one predictor or two, with known variances of residual effects (row,), of the rows of both in turn."""
    parts, cells = 2 if isinstance(predictor, FollowingPredictor) else 1, predictor.cells
    components, subgroups = cells.shape
    with_share = {block.component: block.share for block in ordered.blocks}
    rest = [Kernel(component, with_share.get(component)) for component in range(components)]
    last = rest[-1] if parts == 1 else None  # the last component of one predictor are the subgroups themselves
    following = [(Kernel(block.component, block.share, follows=True), block.root) for block in ordered.blocks]
    factored = spectrum(cells, [root for _, root in following]) if components else None
    if factored is not None:
        whole, diagonal = factored
        inside = [kernel for (kernel, _), each in zip(following, diagonal, strict=True) if each]
        left = [pair for pair, each in zip(following, diagonal, strict=True) if not each]
        every = [*rest, *inside]
        kernels, blocks = [kernel for kernel in every if kernel != last], []
        basis = whole.of([position for position, kernel in enumerate(every) if kernel != last])
    else:
        kernels, basis = [], unfactored(subgroups)
        left = [(kernel, indicator(cells[kernel.component])) for kernel in rest if kernel != last]
        left += following
        blocks = [Block(part, np.ones((subgroups, 1)), predictor.overall_scale) for part in range(parts)]
    if predictor.covariates.shape[1]:
        blocks.append(Block(parts - 1, predictor.covariates, predictor.coefficient_scale))
    blocks += [Block(part, root, kernel) for part in range(parts) for kernel, root in left]
    return Design(
        coordinates_of(prior, len(ordered.shares)),
        basis,
        tuple(kernels),
        last,
        residual.reshape(parts, subgroups),
        predictor.overall_scale**2 * basis.combinations if factored is not None else 0.0,
        tuple(blocks),
        components,
        len(ordered.shares),
    )
