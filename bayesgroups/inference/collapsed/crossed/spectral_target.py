"""Log density of crossed effects given their data, with its gradient, in coordinates in which it is nearly a normal one.

Coordinates are those of what is learned, turned and scaled; for every part the xi of its values along the directions, see
`bayesgroups.inference.collapsed.crossed.transport`; and the effects of blocks. Along a direction the prior of two parts is

    c_1 ~ Normal(0, L_1),    c_2 = slope c_1 + x_2,    x_2 ~ Normal(0, L_2)

The overall levels are added to the first direction, the constant. The second part follows the components of the first, and neither
its level nor its residual effects, so that slope and L_2 are what they are given all that c_1 is the sum of.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Likelihood
from bayesgroups.inference.collapsed.crossed.spectral_design import Design
from bayesgroups.inference.collapsed.crossed.transport import Transported, pulled, returned, transported

MIN_PRECISION = 1e-8
"""Smallest precision of the data of a direction, where no subgroup has rows."""
SHRINKAGE = 0.2
"""By which correlations of what is learned are made smaller, that are known from as many points as there are chains."""


class Point(NamedTuple):
    """All that is known at points: learned values (draw, column), values along directions, predictors, densities and slopes."""

    learned: FloatArray
    variances: list[FloatArray]
    """Of every part along its directions, (draw, direction), without the overall levels."""
    made: list[Transported]
    slope: FloatArray
    """Of the second part along directions, (draw, direction), or nothing."""
    along: list[FloatArray]
    effects: list[Transported]
    """Of every block."""
    eta: FloatArray
    """Predictors (draw, part, subgroup)."""
    log_density: FloatArray
    gradient: FloatArray


@dataclass(frozen=True)
class Target:
    """Log density of points (draw, coordinate).

    ``precision`` and ``observation`` (part, direction) are those of the transport; coordinates of what is learned are around
    ``origin`` in units of ``root``. None of them changes the density of the values.
    """

    design: Design
    likelihood: Likelihood
    precision: FloatArray
    observation: FloatArray
    origin: FloatArray
    root: FloatArray
    data_of_blocks: tuple[tuple[FloatArray, FloatArray], ...]
    """Precisions and observations of the effects of blocks, for their transport."""
    turns: tuple[FloatArray, ...] = ()
    """Of every part, the root by which its xi are made of coordinates, (direction, direction); none where they are coordinates."""

    @classmethod
    def around(cls, design: Design, likelihood: Likelihood, eta: FloatArray) -> Target:
        """Target whose transport takes the data for what they say at predictors (part, subgroup)."""
        weight = likelihood.precision(eta[None])[0]
        precision = np.stack([design.spectrum.squared(each) for each in weight]) + MIN_PRECISION
        observation = design.spectrum.along(weight * eta) / precision
        learned = design.coordinates.dimension
        blocks = tuple((weight[block.part] @ block.root**2, np.zeros(block.root.shape[1])) for block in design.blocks)
        return cls(design, likelihood, precision, observation, np.ones(learned), np.eye(learned), blocks)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return sum(self._sizes())

    def __call__(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log densities (draw,) and gradients (draw, coordinate)."""
        point = self.at(points)
        return point.log_density, point.gradient

    def slope(self, points: FloatArray) -> FloatArray:
        """Gradients (draw, coordinate) alone."""
        return self.at(points, dense=False).gradient

    def at(self, points: FloatArray, *, dense: bool = True) -> Point:
        """Everything at points (draw, coordinate); without densities, NaN, unless ``dense``."""
        design = self.design
        ends = np.cumsum([0, *self._sizes()])
        first, *remaining = (points[:, start:end] for start, end in itertools.pairwise(ends))
        xi = remaining[: design.parts]
        if self.turns:
            xi = [each @ turn.T for each, turn in zip(xi, self.turns, strict=True)]
        scaled = design.coordinates.at(self.origin + first @ self.root.T)
        learned = scaled.values
        variances = [design.variance(learned, part) for part in range(design.parts)]
        made = [transported(design.with_level(variances[0]), self.precision[0], self.observation[0], xi[0])]
        along, slope = [made[0].values], np.empty((len(points), 0))
        if design.parts > 1:
            slope, variance = design.following(learned, variances)
            inherited = slope * along[0]
            made.append(transported(variance, self.precision[1], self.observation[1] - inherited, xi[1]))
            along.append(inherited + made[1].values)
        predictors = [design.spectrum.values(each)[:, None] for each in along]
        eta = predictors[0] if design.parts == 1 else np.concatenate(predictors, axis=1)
        effects = [
            transported(design.block_variance(learned, block), *data, each)
            for block, data, each in zip(design.blocks, self.data_of_blocks, remaining[design.parts :], strict=True)
        ]
        sums = [effect.values @ block.root.T for block, effect in zip(design.blocks, effects, strict=True)]
        for block, total in zip(design.blocks, sums, strict=True):
            eta[:, block.part] += total
            if design.handed_on(block):
                eta[:, 1] += learned[:, design.coefficient, None] * total
        if dense:
            log_density, by_eta = self.likelihood.at(eta)
            log_density += scaled.log_density + sum(each.log_density for each in (*made, *effects))
        else:
            log_density, by_eta = np.full(len(points), np.nan), self.likelihood.slope(eta)
        by_learned, by_effects = np.zeros_like(learned), []
        for block, effect, total in zip(design.blocks, effects, sums, strict=True):
            by_sum = by_eta[:, block.part]
            if design.handed_on(block):
                by_sum = by_sum + learned[:, design.coefficient, None] * by_eta[:, 1]
                by_learned[:, design.coefficient] += (by_eta[:, 1] * total).sum(axis=1)
            by_effect = pulled(effect, by_sum @ block.root)
            by_effects.append(by_effect.xi)
            by_learned += design.block_slope(learned, block, by_effect.variance)
        pull = [design.spectrum.along(by_eta[:, part]) for part in range(design.parts)]
        by_xi, by_variance = [], []
        if design.parts > 1:
            second = pulled(made[1], pull[1])
            by_observation = second.observation(made[1])
            passed = pull[1] - by_observation
            by_learned += design.following_slope(learned, variances, along[0] * passed, second.variance)
            by_variance.append(second.variance)
            by_xi.append(second.xi)
            pull[0] = pull[0] + slope * pull[1]
            leading = pulled(made[0], pull[0] - slope * by_observation)
        else:
            leading = pulled(made[0], pull[0])
        by_xi.insert(0, leading.xi)
        by_variance.insert(0, leading.variance)
        if self.turns:
            by_xi = [each @ turn for each, turn in zip(by_xi, self.turns, strict=True)]
        for part, each in enumerate(by_variance):
            by_learned += design.variance_slope(learned, part, each)
        gradient = np.concatenate([scaled.pull(by_learned) @ self.root, *by_xi, *by_effects], axis=1)
        return Point(learned, variances, made, slope, along, effects, eta, log_density, gradient)

    def refitted(self, points: FloatArray, *, turned: bool) -> tuple[Target, FloatArray]:
        """Target whose coordinates are fitted to points, and the same points in these.

        What was observed is such that xi are 0 on average. Signs of standard deviations, which say nothing, are made alike. The
        coordinates of xi that are ``turned`` are about independent also where the weights of subgroups differ much.
        """
        design, point = self.design, self.at(points)
        weight = self.likelihood.precision(point.eta).mean(axis=0)
        precision = np.stack([design.spectrum.squared(each) for each in weight]) + MIN_PRECISION
        inherited = [np.zeros_like(point.along[0])]
        if design.parts > 1:  # what the second says of the first
            precision[0] += (point.slope**2 / (point.made[1].variance + 1 / precision[1])).mean(axis=0)
            inherited.append(point.slope * point.along[0])
        observation, xi = np.empty_like(precision), []
        for part, (made, other) in enumerate(zip(point.made, inherited, strict=True)):
            gain = made.variance * precision[part] / (1 + made.variance * precision[part])
            observation[part] = (made.values + gain * other).mean(axis=0) / gain.mean(axis=0)
            xi.append(returned(made.variance, precision[part], observation[part] - other, made.values))
        learned = self.origin + points[:, : design.coordinates.dimension] @ self.root.T
        learned = np.where(design.coordinates.signed, np.abs(learned), learned)
        blocks, effects = [], []
        for block, made in zip(design.blocks, point.effects, strict=True):
            strength = weight[block.part] @ block.root**2 + MIN_PRECISION
            gain = made.variance * strength / (1 + made.variance * strength)
            about = made.values.mean(axis=0) / gain.mean(axis=0)
            blocks.append((strength, about))
            effects.append(returned(made.variance, strength, about, made.values))
        origin, root = self.origin, self.root
        if len(learned) > 1:
            origin, root = learned.mean(axis=0), _root(np.cov(learned.T).reshape(2 * learned.shape[1:]))
        turns = tuple(map(self._turn, precision, weight, point.made)) if turned and len(points) > 1 else ()
        xi = [np.linalg.solve(turn, each.T).T for turn, each in zip(turns, xi, strict=True)] if turns else xi
        target = replace(
            self,
            precision=precision,
            observation=observation,
            origin=origin,
            root=root,
            data_of_blocks=tuple(blocks),
            turns=turns,
        )
        first = np.linalg.solve(root, (learned - origin).T).T
        return target, np.concatenate([first, *xi, *effects], axis=1)

    def _turn(self, precision: FloatArray, weight: FloatArray, made: Transported) -> FloatArray:
        """Root of the covariance of the xi of a part, at average variances, given weights (subgroup,) of the likelihood."""
        spread = np.sqrt((made.variance / (1 + made.variance * precision)).mean(axis=0))
        basis = self.design.spectrum.values(np.eye(len(spread))).T
        given = (basis.T * weight) @ basis
        given[np.diag_indices_from(given)] += spread**-2 - np.diagonal(given)
        factor = np.linalg.cholesky(spread[:, None] * given * spread)
        return np.asarray(np.linalg.inv(factor).T)

    def _sizes(self) -> list[int]:
        """Coordinates of what is learned, of every part, of every block."""
        blocks = [block.root.shape[1] for block in self.design.blocks]
        return [self.design.coordinates.dimension, *[self.design.spectrum.directions] * self.design.parts, *blocks]


def _root(covariance: FloatArray) -> FloatArray:
    """Lower Cholesky factor of a covariance of few points, its correlations a little smaller."""
    spread = np.diag(np.diagonal(covariance))
    return np.linalg.cholesky((1 - SHRINKAGE) * covariance + SHRINKAGE * spread + MIN_PRECISION * np.eye(len(spread)))
