"""Coordinates of crossed effects fitted to points that chains have come to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.learned_turns import Told, bend_of, learned_turn
from bayesgroups.inference.collapsed.crossed.own_data import OwnData
from bayesgroups.inference.collapsed.crossed.spectral_target import (
    Shared,
    Target,
    Values,
    floored,
    shared_precision,
)
from bayesgroups.inference.collapsed.crossed.transport import Data, Transported, returned
from bayesgroups.inference.collapsed.crossed.turns import Turning, turn

DIFFERENCE = 1e-5
MAX_TURNED = 2000
"""Coordinates of a part up to which they are turned."""


def fitted(target: Target, points: FloatArray, *, turned: bool = True) -> tuple[Target, FloatArray]:
    """Target whose coordinates are fitted to points, and the same points in these.

    What was observed is where the data would have values, by one step of Newton's method. Xi that are ``turned`` are about
    independent also where the weights of subgroups differ much. To one point learned values are not fitted.
    """
    design, values = target.design, target.values(points)
    push, parts = target.push(values), range(target.design.parts)
    weight = floored(target.likelihood.precision(values.eta).mean(axis=0))
    shared = [shared_precision(weight[part], values.residuals[part].variance) for part in parts]
    precision = [floored(design.spectrum.squared(each)) for each in shared]
    if design.parts > 1:  # what the second says of the first
        precision[0] += (values.slope**2 / (values.made[1].variance + 1 / precision[1])).mean(axis=0)
    strength = [floored(shared[block.part] @ block.root**2) for block in design.blocks]
    directions = [
        Shared(*_data(each, along, by))
        for each, along, by in zip(precision, values.along, push.directions, strict=True)
    ]
    if design.residual_kernel is not None:
        directions[0] = _bent(target, directions[0], weight[0], values.residuals[0].variance)
    residuals = [
        _own(target, part, values, _data(weight[part], values.eta[:, part], push.predictors[part])) for part in parts
    ]
    blocks = list(map(_data, strength, [made.values for made in values.effects], push.effects))
    of_parts = [
        [
            _xi(
                values.made[part],
                directions[part].beside(values.residuals[part].variance),
                directions[part],
                values.along[part],
            )
        ]
        for part in parts
    ]
    for block, made, data in zip(design.blocks, values.effects, blocks, strict=True):
        of_parts[block.part].append(_xi(made, data.precision, data, made.values))
    pieces = [np.concatenate(each, axis=1) for each in of_parts]
    learned, first = target.learned, points[:, : target.learned.dimension]
    turns: tuple[Turning, ...] = ()
    if len(points) > 1:
        learned, first = learned.fitted(first)
    if turned and max(each.shape[1] for each in pieces) <= MAX_TURNED:
        turns = tuple(
            _turn(target, part, directions[part], precision[part], strength, shared[part], values) for part in parts
        )
        at = [target.variances(values.scaled.values, part) for part in parts]
        pieces = [turn.back(xi, each) for turn, xi, each in zip(turns, pieces, at, strict=True)]
    told = [each.at(made.variance) for each, made in zip(residuals, values.residuals, strict=True)]
    of_own = [_xi(values.residuals[part], told[part].precision, told[part], values.eta[:, part]) for part in parts]
    moved = Target(design, target.likelihood, tuple(directions), tuple(residuals), tuple(blocks), learned, turns)
    points = np.concatenate([first, *pieces, *of_own], axis=1)
    return _narrowed(moved, points) if len(points) > 1 else (moved, points)


def _narrowed(target: Target, points: FloatArray) -> tuple[Target, FloatArray]:
    """Target whose learned coordinates are in units of what they have of the density given all others, and the points in these."""
    learned = target.learned.dimension
    slope = target.slope(points)[:, :learned]
    curvature = np.empty((len(points), learned, learned))
    for column in range(learned):
        step = np.zeros(points.shape[1])
        step[column] = DIFFERENCE
        curvature[:, column] = (slope - target.slope(points + step)[:, :learned]) / DIFFERENCE
    narrow, first = target.learned.narrowed(curvature, points[:, :learned])
    return replace(target, learned=narrow), np.concatenate([first, points[:, learned:]], axis=1)


def _data(precision: FloatArray, total: FloatArray, push: FloatArray) -> Data:
    """Precision and observation of values, from these and derivatives by them, (draw, value)."""
    return Data(precision, (total + push / precision).mean(axis=0))


def _own(target: Target, part: int, values: Values, data: Data) -> OwnData:
    """The same beside residual effects, which depends on their variance where it is learned and counts are one-sided."""
    side = target.likelihood.sides(part)
    if side is None or target.design.residual_kernel is None:
        return OwnData(*data)
    shared = values.eta.copy()
    shared[:, part] -= values.residuals[part].values
    weight = floored(target.likelihood.precision(shared)[:, part].mean(axis=0))
    small = _data(weight, shared[:, part], target.likelihood.slope(shared)[:, part])
    return OwnData.beyond(data, small, side)


def _bent(target: Target, shared: Shared, weight: FloatArray, residuals: FloatArray) -> Shared:
    """The same with precisions that have the slope by the variance of residual effects that they have at its mean."""
    middle = residuals.mean()
    steep = target.design.spectrum.squared((weight / (1 + middle * weight)) ** 2) / shared.precision
    bend = bend_of(steep, middle)
    return Shared(shared.precision * (1 + middle * bend), shared.observation, bend)


def _xi(made: Transported, precision: FloatArray, data: Data | Shared, total: FloatArray) -> FloatArray:
    """The xi of values that are a part of totals."""
    rest = total - made.values
    return returned(made.variance, precision, data.observation - rest, made.values)


def _turn(
    target: Target,
    part: int,
    directions: Shared,
    precision: FloatArray,
    strength: list[FloatArray],
    shared: FloatArray,
    values: Values,
) -> Turning:
    """Turn of the xi of a part by their covariance at average variances, given what the data say of what subgroups share.

    In tables of many subgroups whose residual effects have a variance that is learned it is that at the variances of a draw.
    """
    from scipy.linalg import block_diag

    design = target.design
    inside = [number for number, block in enumerate(design.blocks) if block.part == part]
    made = [(values.made[part], precision), *((values.effects[each], strength[each]) for each in inside)]
    spread = [np.sqrt((each.variance / (1 + each.variance * strength_of)).mean(axis=0)) for each, strength_of in made]
    basis = design.spectrum.values(np.eye(design.spectrum.directions)).T
    basis = np.concatenate([basis, *(design.blocks[each].root for each in inside)], axis=1) * np.concatenate(spread)
    given = (basis.T * shared) @ basis
    given[np.diag_indices_from(given)] = 1.0
    if not design.large or design.residual_kernel is None:
        return turn(given)
    member = np.asarray(block_diag(design.spectrum.member, *(np.ones((strength[each].size, 1)) for each in inside))).T
    bend = np.zeros(len(precision)) if directions.bend is None else directions.bend
    precisions = np.concatenate([directions.precision, *(strength[each] for each in inside)])
    bent = np.concatenate([bend, *(0 * strength[each] for each in inside)])
    variances = target.variances(values.scaled.values, part)
    told = Told.on_average(member, precisions, bent, variances)
    return learned_turn(given, basis, shared, member, told, variances)
