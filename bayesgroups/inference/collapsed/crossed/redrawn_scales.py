"""Standard deviations drawn given the predictors of all subgroups, with what subgroups share integrated out.

Where a whole level has no failures among many rows, its subgroups are alike or each is far out on its own: two accounts of the same
predictors, and few trajectories lead from one to the other. Few also enter the long tails of standard deviations of components of
few levels. Given the predictors, all directions of the spectrum are independent and normal, so that every learned value is drawn
from its whole conditional law, and then what is shared (Gibbs sampling with a part integrated out; van Dyk and Park 2008,
doi:10.1198/016214508000000409). Combinations of levels that are no subgroups have residual effects of their prior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.inference import lattices
from bayesgroups.inference.collapsed.crossed.learned_coordinates import Piece
from bayesgroups.inference.collapsed.crossed.spectral_design import MIN_VARIANCE, Design, Kernel
from bayesgroups.inference.collapsed.crossed.spectral_target import Target, Values, split
from bayesgroups.inference.collapsed.crossed.transport import returned
from bayesgroups.models.shared.spectrum import Spectrum

POINTS, SPACING = 24, (0.1, 2.0)
"""Points of a lattice of a coordinate, and the range of their distance, which is drawn anew every time."""


def redrawn(target: Target, points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Points (draw, coordinate) with the same predictors, and learned values and effects drawn given these.

    They are those given where the target has no spectrum, residual effects of different variances or none, a second part that
    follows the effects of blocks, or two parts of few subgroups.
    """
    design, parts = target.design, range(target.design.parts)
    values = target.values(points)
    alone = [design.own_variance(values.scaled.values, part) for part in parts]
    if not design.level or any(each.shape[1] > 1 or each.min() <= MIN_VARIANCE for each in alone):
        return points
    if any(map(design.handed_on, design.blocks)) or (design.parts > 1 and not design.large):
        return points
    first, *remaining = split(points, target.sizes)
    size = len(points), design.spectrum.combinations
    basis, rows = replace(design.spectrum, rows=np.arange(design.spectrum.combinations)), design.spectrum.rows
    given = [_predicted(values, part, basis, rows, np.sqrt(alone[part]) * rng.standard_normal(size)) for part in parts]
    first = _learned(target, first, given, [effect.values for effect in values.effects], rng)

    learned = target.learned.at(first).values
    law = _law(design, learned, [design.variance(learned, part) for part in parts])
    shared = law.drawn([each.total for each in given], rng)
    of_shared, of_own = [], []
    for part in parts:
        change = basis.values(shared[part] - values.along[part])[:, rows]
        residual = given[part].residual - change
        without = values.eta[:, part] - given[part].residual + change
        data, directions = target.residuals[part], target.directions[part]
        told, seen = data.at(law.alone[part])
        of_own.append(returned(law.alone[part], told, seen - without, residual))
        inherited = law.slope * shared[0] if part else np.zeros(1)
        observation, rest = directions.observation - inherited, shared[part] - inherited
        pieces = [returned(law.variance[part], directions.beside(law.alone[part]), observation, rest)]
        turned = values.turned[part].values if values.turned else remaining[part]
        pieces += _blocks(target, part, split(turned, target.pieces(part))[1:], values, learned)
        moved = np.concatenate(pieces, axis=1)
        of_shared.append(target.turns[part].back(moved, target.variances(learned, part)) if target.turns else moved)
    return np.concatenate([first, *of_shared, *of_own], axis=1)


class _Predicted(NamedTuple):
    """Predictors of a part along the directions, (draw, direction), and residual effects, (draw, subgroup).

    ``left`` (draw,) are sums of squares beyond the directions.
    """

    total: FloatArray
    residual: FloatArray
    left: FloatArray


@dataclass(frozen=True)
class _Law:
    """Variances of what is shared of every part, the second around ``slope`` times the first, and of residual effects, ``alone``.

    They are those along columns, (draw, column), of which the first is the constant.
    """

    variance: list[FloatArray]
    slope: FloatArray
    alone: list[FloatArray]

    def of_points(self, shape: tuple[int, ...]) -> _Law:
        """The same with dims (draw, point, column)."""

        def laid_out(each: FloatArray) -> FloatArray:
            return each.reshape(*shape, -1) if len(each) > 1 else each[None]

        return _Law(list(map(laid_out, self.variance)), laid_out(self.slope), list(map(laid_out, self.alone)))

    def log_density(self, number: FloatArray, products: list[FloatArray]) -> FloatArray:
        """Log density (draw, ...) of predictors along so many directions for every column.

        ``products`` (draw, column) are sums over these of squares of the first part and, of two parts, products of both and squares
        of the second.
        """
        total = self.variance[0] + self.alone[0]
        told = number * np.log(total) + products[0] / total
        if len(self.variance) > 1:
            steep = self.slope * self.variance[0] / total
            left = self.slope * steep * self.alone[0] + self.variance[1] + self.alone[1]
            told += number * np.log(left) + (products[2] + steep * (steep * products[0] - 2 * products[1])) / left
        return np.asarray(-0.5 * told.sum(axis=-1))

    def drawn(self, totals: list[FloatArray], rng: np.random.Generator) -> list[FloatArray]:
        """Draws of what is shared, (draw, direction) of every part, given the predictors along the directions."""
        share = self.variance[0] / (self.variance[0] + self.alone[0])
        mean, variance = share * totals[0], share * self.alone[0]
        if len(totals) == 1:
            return [mean + np.sqrt(variance) * rng.standard_normal(mean.shape)]
        beyond = self.variance[1] + self.alone[1]
        left = variance / (self.slope**2 * variance + beyond)
        mean = mean + left * self.slope * (totals[1] - self.slope * mean)
        first = mean + np.sqrt(left * beyond) * rng.standard_normal(mean.shape)
        share, inherited = self.variance[1] / beyond, self.slope * first
        noise = np.sqrt(share * self.alone[1]) * rng.standard_normal(mean.shape)
        return [first, inherited + share * (totals[1] - inherited) + noise]


def _law(design: Design, learned: FloatArray, variance: list[FloatArray]) -> _Law:
    """Law of what is shared, from variances along columns without overall levels, which are added to the first."""
    constant = variance[0][:, :1].copy()
    variance[0][:, :1] += design.level
    slope = np.zeros((1, 1))
    if design.parts > 1:
        slope, added = design.following(learned, constant, variance[0].shape[1])
        variance[1][:, :1] += design.level + added
    return _Law(variance, slope, [design.own_variance(learned, part) for part in range(design.parts)])


def _predicted(values: Values, part: int, basis: Spectrum, rows: IndexArray, residual: FloatArray) -> _Predicted:
    """Predictors of a part; ``residual`` (draw, combination) are residual effects of combinations that are no subgroups."""
    residual[:, rows] = values.residuals[part].values
    along = basis.along(residual)
    left = ((residual - basis.values(along)) ** 2).sum(axis=1)
    return _Predicted(values.along[part] + along, residual[:, rows], left)


def _blocks(target: Target, part: int, xi: list[FloatArray], values: Values, learned: FloatArray) -> list[FloatArray]:
    """The xi of the blocks of a part, whose effects stay: at other standard deviations they are others."""
    design, moved = target.design, []
    inside = [number for number, block in enumerate(design.blocks) if block.part == part]
    for number, before in zip(inside, xi, strict=True):
        block, data, effects = design.blocks[number], target.blocks[number], values.effects[number].values
        stays = not isinstance(block.loading, Kernel)
        moved.append(before if stays else returned(design.block_variance(learned, block), *data, effects))
    return moved


def _learned(
    target: Target, points: FloatArray, given: list[_Predicted], effects: list[FloatArray], rng: np.random.Generator
) -> FloatArray:
    """Coordinates (draw, coordinate) of learned values, whose numbers are drawn one after another.

    ``effects`` are those of blocks.
    """
    learned, design, member = target.learned, target.design, target.design.spectrum.member[1:]
    number = np.concatenate([[1.0], member.sum(axis=0)])  # of the constant, and of all else of one kind
    totals, parts = [each.total for each in given], range(design.parts)
    pairs = [(first, second) for first in parts for second in parts[first:]]
    of_pairs = [totals[first] * totals[second] for first, second in pairs]
    products = [np.concatenate([each[:, :1], each[:, 1:] @ member], axis=1)[:, None] for each in of_pairs]
    spare = design.spectrum.combinations - design.spectrum.directions
    numbers, values = learned.numbers(points), np.repeat(learned.at(points).values, POINTS, axis=0)
    blocks = [pair for pair in zip(design.blocks, effects, strict=True) if isinstance(pair[0].loading, Kernel)]
    for piece, kinds in zip(learned.pieces, target.kinds_of_pieces, strict=True):
        drawn = numbers[:, piece.numbers]
        columns = np.concatenate([[0], 1 + kinds])
        some = [each[..., columns] for each in products]

        def log_density(
            at: FloatArray,
            column: int,
            piece: Piece = piece,
            kinds: IndexArray = kinds,
            some: list[FloatArray] = some,
            count: FloatArray = number[columns],
        ) -> FloatArray:
            candidates = np.repeat(numbers[:, piece.numbers], POINTS, axis=0)
            candidates[:, column] = at.ravel()
            scaled = piece.learned.at(candidates)
            values[:, piece.values] = scaled.values
            of_kind = [design.kind_variance(values, part, kinds) for part in parts]
            constant = np.flatnonzero(kinds == design.spectrum.kind[0])
            law = _law(design, values, [np.concatenate([each[:, constant], each], axis=1) for each in of_kind])
            told = scaled.log_density().reshape(at.shape) + law.of_points(at.shape).log_density(count, some)
            for alone, each in zip(law.alone, given, strict=True):
                of_own = alone.reshape(-1, at.shape[1] if len(alone) > 1 else 1)
                told -= 0.5 * (spare * np.log(of_own) + each.left[:, None] / of_own)
            for block, effect in blocks:
                variance = design.block_variance(values, block)[:, 0].reshape(at.shape)
                told -= 0.5 * (effect.shape[1] * np.log(variance) + (effect**2).sum(axis=1)[:, None] / variance)
            return np.asarray(told)

        for column in range(drawn.shape[1]):
            spacing = np.exp(rng.uniform(*np.log(SPACING)))
            density = partial(log_density, column=column)
            drawn[:, column] = lattices.moved(drawn[:, column], density, POINTS, spacing, rng)
        values[:, piece.values] = np.repeat(piece.learned.at(drawn).values, POINTS, axis=0)
    return learned.points(numbers)
