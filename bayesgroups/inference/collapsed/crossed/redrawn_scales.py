"""Standard deviations drawn given the predictors of all subgroups, with what subgroups share integrated out.

Where a whole level has no failures among many rows, its subgroups are alike or each is far out on its own: two accounts of the same
predictors, and few trajectories lead from one to the other. Given the predictors, all directions of the spectrum are independent
and normal, so that every learned value is drawn from its whole conditional law, and then what is shared (Gibbs sampling with a
part integrated out; van Dyk and Park 2008, doi:10.1198/016214508000000409). Combinations of levels that are no subgroups have
residual effects of their prior.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.inference import lattices
from bayesgroups.inference.collapsed.crossed.learned_coordinates import Piece
from bayesgroups.inference.collapsed.crossed.spectral_design import MIN_VARIANCE, Kernel
from bayesgroups.inference.collapsed.crossed.spectral_target import Target, split
from bayesgroups.inference.collapsed.crossed.transport import returned

POINTS, SPACING = 24, (0.1, 2.0)
"""Points of a lattice of a coordinate, and the range of their distance, which is drawn anew every time."""


def redrawn(target: Target, points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Points (draw, coordinate) with the same predictors, and learned values and effects drawn given these.

    They are those given where the target has two parts, no spectrum, or residual effects of different variances or none.
    """
    design = target.design
    values = target.values(points)
    alone = design.own_variance(values.scaled.values, 0)
    if design.parts > 1 or not design.level or alone.shape[1] > 1 or alone.min() <= MIN_VARIANCE:
        return points
    first, of_shared, _ = split(points, target.sizes)
    basis, rows = replace(design.spectrum, rows=np.arange(design.spectrum.combinations)), design.spectrum.rows
    residual = np.sqrt(alone) * rng.standard_normal((len(points), basis.combinations))
    residual[:, rows] = values.residuals[0].values
    along = basis.along(residual)
    total, left = values.along[0] + along, ((residual - basis.values(along)) ** 2).sum(axis=1)
    effects = [effect.values for effect in values.effects]
    first = _learned(target, first, total, left, effects, rng)

    learned = target.learned.at(first).values
    variance, alone = design.variance(learned, 0), design.own_variance(learned, 0)
    variance[:, :1] += design.level
    share = variance / (variance + alone)
    shared = share * total + np.sqrt(share * alone) * rng.standard_normal(total.shape)
    change = basis.values(shared - values.along[0])[:, rows]
    residual, without = residual[:, rows] - change, values.eta[:, 0] - residual[:, rows] + change

    _, *blocks = split(values.turned[0].values if values.turned else of_shared, target.pieces(0))
    for number, block in enumerate(design.blocks):
        if isinstance(block.loading, Kernel):  # effects stay, at another standard deviation
            blocks[number] = returned(design.block_variance(learned, block), *target.blocks[number], effects[number])
    data, directions = target.residuals[0], target.directions[0]
    xi = returned(variance, directions.beside(alone), directions.observation, shared)
    pieces = np.concatenate([xi, *blocks], axis=1)
    if target.turns:
        pieces = target.turns[0].back(pieces, target.variances(learned, 0))
    return np.concatenate(
        [first, pieces, returned(alone, data.precision, data.observation - without, residual)], axis=1
    )


def _learned(
    target: Target,
    points: FloatArray,
    total: FloatArray,
    left: FloatArray,
    effects: list[FloatArray],
    rng: np.random.Generator,
) -> FloatArray:
    """Coordinates (draw, coordinate) of learned values, whose numbers are drawn one after another.

    ``total`` (draw, direction) are predictors along the directions, ``left`` (draw,) is the sum of squares beyond these, and
    ``effects`` are those of blocks.
    """
    learned, design, basis = target.learned, target.design, target.design.spectrum
    number = basis.member[1:].sum(axis=0)
    squares = (total[:, 1:] ** 2 @ basis.member[1:])[:, None]  # of directions of one kind, the constant apart
    level, left, spare = total[:, None, :1] ** 2, left[:, None, None], basis.combinations - basis.directions
    numbers, values = learned.numbers(points), np.repeat(learned.at(points).values, POINTS, axis=0)
    blocks = [pair for pair in zip(design.blocks, effects, strict=True) if isinstance(pair[0].loading, Kernel)]
    for piece, kinds in zip(learned.pieces, target.kinds_of_pieces, strict=True):
        drawn = numbers[:, piece.numbers]

        def log_density(at: FloatArray, column: int, piece: Piece = piece, kinds: IndexArray = kinds) -> FloatArray:
            candidates = np.repeat(numbers[:, piece.numbers], POINTS, axis=0)
            candidates[:, column] = at.ravel()
            scaled = piece.learned.at(candidates)
            values[:, piece.values] = scaled.values
            alone = design.own_variance(values, 0).reshape(*at.shape, 1)
            of_kind = design.kind_variance(values, 0, kinds).reshape(*at.shape, -1) + alone
            told = (number[kinds] * np.log(of_kind) + squares[..., kinds] / of_kind).sum(axis=-1, keepdims=True)
            constant = of_kind[..., kinds == basis.kind[0]] + design.level
            told += np.log(constant) + level / constant + spare * np.log(alone) + left / alone
            for block, effect in blocks:
                variance = design.block_variance(values, block)[:, 0].reshape(*at.shape, 1)
                told += effect.shape[1] * np.log(variance) + (effect**2).sum(axis=1)[:, None, None] / variance
            return np.asarray(scaled.log_density().reshape(at.shape) - 0.5 * told[..., 0])

        for column in range(drawn.shape[1]):
            spacing = np.exp(rng.uniform(*np.log(SPACING)))
            density = partial(log_density, column=column)
            drawn[:, column] = lattices.moved(drawn[:, column], density, POINTS, spacing, rng)
        values[:, piece.values] = np.repeat(piece.learned.at(drawn).values, POINTS, axis=0)
    return learned.points(numbers)
