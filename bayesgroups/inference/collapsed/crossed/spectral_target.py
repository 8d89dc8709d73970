"""Log density of crossed effects given their data, with its gradient, in coordinates in which it is nearly a normal one.

Coordinates are those of what is learned; for every part the xi of its values along the directions and of the effects of its blocks,
see `bayesgroups.inference.collapsed.crossed.transport`, turned; then those of the residual effects of subgroups. Along a direction
the prior of two parts is

    c_1 ~ Normal(0, L_1),    c_2 = slope c_1 + x_2,    x_2 ~ Normal(0, L_2)

The overall levels are added to the first direction, the constant. The second part follows the components of the first, and neither
its level nor its residual effects, so that slope and L_2 are what they are given all that c_1 is the sum of. Residual effects are
made last, around what the data of a subgroup say of its predictor less all that it shares: what is shared then has only what the
data say of it when residual effects are integrated out, which differs much less between subgroups than rows do.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Likelihood
from bayesgroups.inference.collapsed.crossed.learned_coordinates import Learned
from bayesgroups.inference.collapsed.crossed.own_data import OwnData
from bayesgroups.inference.collapsed.crossed.scale_coordinates import Scaled
from bayesgroups.inference.collapsed.crossed.spectral_design import Design
from bayesgroups.inference.collapsed.crossed.transport import (
    Data,
    Transported,
    by_log_precision,
    passed_on,
    pulled,
    transported,
)
from bayesgroups.inference.collapsed.crossed.turns import Turned, Turning, Variances

MIN_PRECISION = 1e-8
"""Smallest precision of the data of a direction, where no subgroup has rows, as a share of the largest if that is below 1."""


class Shared(NamedTuple):
    """The same of values along the directions, where residual effects of variance l make up for a part of it.

    The precision is ``precision`` / (1 + l ``bend``), without ``bend`` where l is known.
    """

    precision: FloatArray
    observation: FloatArray
    bend: FloatArray | None = None

    def beside(self, residuals: FloatArray) -> FloatArray:
        """Precisions (draw, direction), or (direction,) for all draws, at variances of residual effects (draw, subgroup)."""
        if self.bend is None:
            return self.precision
        return np.asarray(self.precision / (1 + averaged(residuals) * self.bend))


class Values(NamedTuple):
    """All that points are coordinates of."""

    scaled: Scaled
    """Learned values."""
    constant: FloatArray
    """Variance of the first part along the first direction, without its level, (draw, 1)."""
    made: list[Transported]
    """Of every part, what is its own along the directions, (draw, direction)."""
    slope: FloatArray
    """Of the second part on the first along the directions, (draw, direction), or nothing."""
    along: list[FloatArray]
    """Of every part, all that it has along the directions."""
    effects: list[Transported]
    """Of every block."""
    sums: list[FloatArray]
    """What these add to the predictors, (draw, subgroup)."""
    residuals: list[Transported]
    """Residual effects of every part."""
    eta: FloatArray
    """Predictors (draw, part, subgroup)."""
    turned: list[Turned]
    """The xi of every part, where there are turns."""


class Push(NamedTuple):
    """Derivatives of the log likelihood by values along the directions, by predictors, and by effects of blocks."""

    directions: list[FloatArray]
    predictors: list[FloatArray]
    effects: list[FloatArray]


@dataclass(frozen=True)
class Target:
    """Log density of points (draw, coordinate).

    ``directions``, ``residuals`` and ``blocks`` are what the data say of the values along the directions and of the predictors
    of every part, and of the effects of every block; ``learned`` are coordinates of what is learned; ``turns`` make the xi of
    every part of coordinates, or there are none. None of them changes the density of the values.
    """

    design: Design
    likelihood: Likelihood
    directions: tuple[Shared, ...]
    residuals: tuple[OwnData, ...]
    blocks: tuple[Data, ...]
    learned: Learned
    turns: tuple[Turning, ...] = ()

    @classmethod
    def around(cls, design: Design, likelihood: Likelihood, eta: FloatArray) -> Target:
        """Target whose transport takes the data for what they say at predictors (part, subgroup)."""
        weight = floored(likelihood.precision(eta[None])[0])
        learned = Learned.plain(design.coordinates)
        values = learned.at(np.zeros((1, learned.dimension))).values
        shared = [shared_precision(each, design.own_variance(values, part)) for part, each in enumerate(weight)]
        precision = [floored(design.spectrum.squared(each)) for each in shared]
        pulls = [design.spectrum.along((each * at)[None])[0] for each, at in zip(shared, eta, strict=True)]
        blocks = [floored(shared[block.part] @ block.root**2) for block in design.blocks]
        return cls(
            design,
            likelihood,
            tuple(Shared(each, pull / each) for each, pull in zip(precision, pulls, strict=True)),
            tuple(OwnData(*each) for each in zip(weight, eta, strict=True)),
            tuple(Data(each, np.zeros(len(each))) for each in blocks),
            learned,
        )

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return sum(self.sizes)

    def __call__(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log densities (draw,) and gradients (draw, coordinate)."""
        values = self.values(points)
        log_density, by_eta = self.likelihood.at(values.eta)
        log_density += values.scaled.log_density()
        for made in (*values.made, *values.effects, *values.residuals):
            log_density += made.log_density
        for turned in values.turned:
            log_density += turned.log_density()
        return log_density, self._gradient(values, self._own_slope(values, by_eta))

    def slope(self, points: FloatArray) -> FloatArray:
        """Gradients (draw, coordinate) alone."""
        values = self.values(points)
        return self._gradient(values, self._own_slope(values, self.likelihood.slope(values.eta)))

    def push(self, values: Values) -> Push:
        """Derivatives of the log likelihood."""
        by_eta = self.likelihood.slope(values.eta)
        by_shared = self._own_slope(values, by_eta).shared
        by_effects, _ = self._block_slope(values, by_shared)
        by_directions, _ = self._direction_slope(values, by_shared)
        return Push(by_directions, [by_eta[:, part] for part in range(self.design.parts)], by_effects)

    def values(self, points: FloatArray) -> Values:
        """All that points (draw, coordinate) are coordinates of."""
        design = self.design
        first, *remaining = split(points, self.sizes)
        shared, of_own = remaining[: design.parts], remaining[design.parts :]
        scaled = self.learned.at(first)
        scaled = scaled._replace(values=scaled.values.astype(points.dtype, copy=False))
        learned = scaled.values
        turned = [turn.at(shared[part], self.variances(learned, part)) for part, turn in enumerate(self.turns)]
        if turned:
            shared = [each.values for each in turned]
        pieces = [iter(split(each, self.pieces(part))) for part, each in enumerate(shared)]
        variance = design.variance(learned, 0)
        constant = variance[:, :1].copy()
        variance[:, :1] += design.level
        of_own_variance = [design.own_variance(learned, part) for part in range(design.parts)]
        precision = self.directions[0].beside(of_own_variance[0])
        made = [transported(variance, precision, self.directions[0].observation, next(pieces[0]))]
        along, slope = [made[0].values], np.empty((len(points), 0))
        if design.parts > 1:
            slope, added = design.following(learned, constant, design.spectrum.directions)
            inherited, variance = slope * along[0], design.variance(learned, 1)
            variance[:, :1] += design.level + added
            precision, observation, _ = self.directions[1]
            made.append(transported(variance, precision, observation - inherited, next(pieces[1])))
            along.append(inherited + made[1].values)
        eta = np.empty((len(points), *design.residual.shape), points.dtype)
        for part, each in enumerate(along):
            eta[:, part] = design.spectrum.values(each)
        effects, sums = [], []
        for block, data in zip(design.blocks, self.blocks, strict=True):
            effects.append(transported(design.block_variance(learned, block), *data, next(pieces[block.part])))
            sums.append(effects[-1].values @ block.root.T)
            eta[:, block.part] += sums[-1]
            if design.handed_on(block):
                eta[:, 1] += learned[:, design.coefficient, None] * sums[-1]
        residuals = []
        for part, (own_data, xi) in enumerate(zip(self.residuals, of_own, strict=True)):
            precision, observation = own_data.at(of_own_variance[part])
            residuals.append(transported(of_own_variance[part], precision, observation - eta[:, part], xi))
            eta[:, part] += residuals[part].values
        return Values(scaled, constant, made, slope, along, effects, sums, residuals, eta, turned)

    def pieces(self, part: int) -> list[int]:
        """Coordinates of the directions of a part and of its blocks."""
        design = self.design
        blocks = [block.root.shape[1] for block in design.blocks if block.part == part]
        return [design.spectrum.directions, *blocks]

    def variances(self, learned: FloatArray, part: int) -> Variances:
        """Variances of kinds of coordinates of a part, those of directions and then its blocks, and of its residual effects."""
        design = self.design
        of_kind = [design.kind_variance(learned, part)]
        of_kind += [design.block_variance(learned, block)[:, :1] for block in design.blocks if block.part == part]
        return Variances(np.concatenate(of_kind, axis=1), averaged(design.own_variance(learned, part)))

    def _gradient(self, values: Values, of_own: _OwnSlope) -> FloatArray:
        """Derivatives by coordinates."""
        design, learned = self.design, values.scaled.values
        by_effects, by_learned = self._block_slope(values, of_own.shared)
        by_directions, passed = self._direction_slope(values, of_own.shared)
        by_shared, by_variances = [], []
        for part, (made, by_values) in enumerate(zip(values.made, by_directions, strict=True)):
            pull = pulled(made, by_values)
            by_shared.append([pull.xi])
            by_variances.append(pull.variance)
            by_own = of_own.variance[part].sum(axis=1, keepdims=True)
            data = self.directions[part]
            if data.bend is not None:
                share = made.precision * (data.bend / data.precision)
                share *= by_log_precision(made, by_values)
                by_own -= share.sum(axis=1, keepdims=True)
            design.pull_own_variance(by_learned, learned, part, by_own)
        if design.parts > 1:
            by_slope, by_added = values.along[0] * passed, by_variances[1][:, :1]
            by_follow, by_constant = design.following_slope(learned, values.constant, by_slope, by_added)
            by_learned[:, design.coefficient] += by_follow
            by_variances[0][:, :1] += by_constant
        for part, by_variance in enumerate(by_variances):
            design.pull_variance(by_learned, learned, part, by_variance)
        for block, effect, by_effect in zip(design.blocks, values.effects, by_effects, strict=True):
            pull = pulled(effect, by_effect)
            by_shared[block.part].append(pull.xi)
            design.pull_block_variance(by_learned, learned, block, pull.variance)
        pieces = [each[0] if len(each) == 1 else np.concatenate(each, axis=1) for each in by_shared]
        for part, turned in enumerate(values.turned):
            pieces[part], by_variances_of = turned.pull(pieces[part])
            if by_variances_of is not None:
                self._pull_variances(by_learned, learned, part, by_variances_of)
        return np.concatenate([values.scaled.pull(by_learned), *pieces, *of_own.xi], axis=1)

    def _pull_variances(self, slope: FloatArray, learned: FloatArray, part: int, by: Variances) -> None:
        """Derivatives by learned values, from those by `variances`, added to ``slope``."""
        design, kinds = self.design, len(self.design.spectrum.power)
        design.pull_kind_variance(slope, learned, part, by.of_kind[:, :kinds])
        for column, block in enumerate((each for each in design.blocks if each.part == part), start=kinds):
            design.pull_block_variance(slope, learned, block, by.of_kind[:, column : column + 1])
        design.pull_own_variance(slope, learned, part, by.residual)

    def _own_slope(self, values: Values, by_eta: FloatArray) -> _OwnSlope:
        """Derivatives by xi and variances of residual effects, and by what is shared, for which they make up in part."""
        of_own = _OwnSlope([], [], [])
        for part, (data, residuals) in enumerate(zip(self.residuals, values.residuals, strict=True)):
            pull = pulled(residuals, by_eta[:, part])
            by_observation = pull.observation(residuals)
            of_own.xi.append(pull.xi)
            of_own.shared.append(by_eta[:, part] - by_observation)
            of_own.variance.append(data.by_variance(residuals, by_eta[:, part], pull, by_observation))
        return of_own

    def _block_slope(self, values: Values, by_shared: list[FloatArray]) -> tuple[list[FloatArray], FloatArray]:
        """Derivatives by the effects of blocks, and those by learned values through the second part, which follows them."""
        design, by_effects = self.design, []
        learned = values.scaled.values
        by_learned = np.zeros_like(learned)
        for block, total in zip(design.blocks, values.sums, strict=True):
            by_sum = by_shared[block.part]
            if design.handed_on(block):
                by_sum = by_sum + learned[:, design.coefficient, None] * by_shared[1]
                by_learned[:, design.coefficient] += (by_shared[1] * total).sum(axis=1)
            by_effects.append(by_sum @ block.root)
        return by_effects, by_learned

    def _direction_slope(self, values: Values, by_shared: list[FloatArray]) -> tuple[list[FloatArray], FloatArray]:
        """Derivatives by values along the directions, and by what the second part inherits of the first, or nothing."""
        pull = [self.design.spectrum.along(each) for each in by_shared]
        if self.design.parts == 1:
            return pull, values.slope
        passed = passed_on(values.made[1], pull[1])
        return [pull[0] + values.slope * passed, pull[1]], passed

    @cached_property
    def kinds_of_pieces(self) -> tuple[IndexArray, ...]:
        """Kinds of directions on whose variances each piece of what is learned has an influence."""
        return tuple(self.design.kinds_of(piece.values) for piece in self.learned.pieces)

    @cached_property
    def sizes(self) -> list[int]:
        """Coordinates of what is learned, of all that the subgroups of every part share, of their residual effects."""
        parts, subgroups = self.design.residual.shape
        return [self.learned.dimension, *(sum(self.pieces(part)) for part in range(parts)), *[subgroups] * parts]


class _OwnSlope(NamedTuple):
    """Derivatives by xi of residual effects, by what is shared, and by variances, of every part."""

    xi: list[FloatArray]
    shared: list[FloatArray]
    variance: list[FloatArray]


def shared_precision(weight: FloatArray, residuals: FloatArray) -> FloatArray:
    """Precisions (subgroup,) of what is shared, from those of predictors and variances of residual effects (draw, subgroup)."""
    return np.asarray((weight / (1 + residuals * weight)).mean(axis=0))


def averaged(values: FloatArray) -> FloatArray:
    """Means (draw, 1) over columns (draw, column), of which there may be one that stands for all."""
    return values if values.shape[1] == 1 else values.mean(axis=1, keepdims=True)


def floored(precision: FloatArray) -> FloatArray:
    """Precisions with a little added, so that none is nothing, in whatever unit they are.

    >>> floored(np.array([0.0, 50.0])).tolist(), floored(np.array([0.0, 2e-12])).tolist()
    ([1e-08, 50.00000001], [2e-20, 2.00000002e-12])
    """
    largest = float(precision.max(initial=0.0))
    return np.asarray(precision + MIN_PRECISION * (min(largest, 1.0) or 1.0))


def split(values: FloatArray, sizes: list[int]) -> list[FloatArray]:
    """Columns in pieces of these sizes.

    >>> [each.tolist() for each in split(np.array([[1.0, 2, 3]]), [1, 2])]
    [[[1.0]], [[2.0, 3.0]]]
    """
    ends = itertools.accumulate(sizes, initial=0)
    return [values[:, start:end] for start, end in itertools.pairwise(ends)]
