"""Coordinates of what is learned, in which it is nearly standard normal: fitted to points, of no consequence for its law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.inference.collapsed.crossed.positive_numbers import HALF_NORMAL, Positive, numbers, positive
from bayesgroups.inference.collapsed.crossed.scale_coordinates import Joined, Scaled

SHRINKAGE = 0.2
"""By which correlations of what is learned are made smaller, that are known from as many points as there are chains."""
MIN_VARIANCE = 1e-8
CURVE = 2.0
"""Curve of a coordinate whose mean value is 1: at it the value and its square count alike."""
WIDTH = 1.7
"""Unit of coordinates, in standard deviations given all others."""
MAX_NARROW = 3.0
"""By how much coordinates are narrower given all others, at most."""


class Piece(NamedTuple):
    """Some of the numbers, which make some of the values on their own: ``learned``, of which they are the points."""

    learned: Learned
    numbers: slice
    values: slice


@dataclass(frozen=True)
class Learned:
    """Numbers on the whole line around ``origin`` in units of ``root``, and positive functions of them in units of ``unit``.

    What is positive is a value and ``curve`` / 2 times its square. Data that say little of a component say it of its variance, so
    that given all others its standard deviation has a density that is the narrower the larger it is; the sum has one that is about
    alike.
    """

    coordinates: Joined
    unit: FloatArray
    curve: FloatArray
    origin: FloatArray
    root: FloatArray

    @classmethod
    def plain(cls, coordinates: Joined) -> Learned:
        """Those that are fitted to nothing yet."""
        number = coordinates.dimension
        return cls(coordinates, np.ones(number), np.zeros(number), np.ones(number), np.eye(number))

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.origin)

    def at(self, points: FloatArray) -> Scaled:
        """See `bayesgroups.inference.collapsed.crossed.scale_coordinates.Coordinates`."""
        along = self.numbers(points)
        grown = positive(along)
        value, steep = self._values(grown)
        scaled = self.coordinates.at(self._if_positive(value, along))

        def pull(slope: FloatArray) -> FloatArray:
            by_number = self.unit * grown.slope
            stretch = self._if_positive(by_number / steep, 1.0)
            bend = self._if_positive(grown.bend - self.curve * by_number / steep**2, 0.0)
            return np.asarray((stretch * scaled.pull(slope) + bend) @ self.root)

        def log_density() -> FloatArray:
            log_slope = self._if_positive(grown.log_slope - np.log(steep), 0.0)
            return np.asarray(scaled.log_density() + log_slope.sum(axis=1))

        return Scaled(scaled.values, log_density, pull)

    def numbers(self, points: FloatArray) -> FloatArray:
        """Numbers on the whole line (draw, coordinate) that points are."""
        return np.asarray(self.origin + points @ self.root.T)

    def points(self, numbers: FloatArray) -> FloatArray:
        """Points that numbers (draw, coordinate) are."""
        return np.linalg.solve(self.root, (numbers - self.origin).T).T

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Numbers that are independent of each other beforehand."""
        pieces, number, value = [], 0, 0
        for coordinates in self.coordinates.pieces:
            size = coordinates.dimension
            numbers, width = slice(number, number + size), coordinates.at(np.zeros((1, size))).values.shape[1]
            unit, curve = self.unit[numbers], self.curve[numbers]
            learned = Learned(Joined((coordinates,)), unit, curve, np.zeros(size), np.eye(size))
            pieces.append(Piece(learned, numbers, slice(value, value + width)))
            number, value = numbers.stop, value + width
        return tuple(pieces)

    def fitted(self, points: FloatArray) -> tuple[Learned, FloatArray]:
        """Coordinates fitted to two points or more, and the same points in these."""
        along = self.numbers(points)
        value, _ = self._values(positive(along))
        curve = CURVE / np.sqrt(value.mean(axis=0) ** 2 + MIN_VARIANCE)
        total = value + 0.5 * curve * value**2
        unit = self._if_positive(HALF_NORMAL * np.sqrt(total.var(axis=0) + MIN_VARIANCE), 1.0)
        along = self._if_positive(numbers(total / unit), along)
        origin, root = along.mean(axis=0), _root(np.cov(along.T).reshape(2 * along.shape[1:]))
        learned = Learned(self.coordinates, unit, curve, origin, root)
        return learned, learned.points(along)

    def narrowed(self, curvature: FloatArray, points: FloatArray) -> tuple[Learned, FloatArray]:
        """Coordinates in units of `WIDTH` standard deviations given all others, and the same points in these.

        ``curvature`` (draw, coordinate, coordinate) are minus second derivatives of its logarithm, of which the root mean square
        counts: where the density is narrowest steps go astray first. Coordinates are neither made wider, nor narrower than by
        `MAX_NARROW`, for a trajectory has to pass their whole range.
        """
        even = (curvature + curvature.transpose(0, 2, 1)) / 2
        square, vectors = np.linalg.eigh((even @ even).mean(axis=0))
        narrow = np.clip(np.maximum(square, 0.0) ** 0.25 / WIDTH, 1.0, MAX_NARROW)
        root = self.root @ (vectors / narrow) @ vectors.T
        return replace(self, root=root), points @ (vectors * narrow) @ vectors.T

    @cached_property
    def _positive(self) -> BoolArray | None:
        """Where coordinates are positive numbers, or nothing if all are."""
        where = np.array(self.coordinates.positive, dtype=np.bool_)
        return None if where.all() else where

    def _if_positive(self, values: FloatArray, otherwise: FloatArray | float) -> FloatArray:
        """Values of coordinates that are positive numbers, others of the rest."""
        return values if self._positive is None else np.where(self._positive, values, otherwise)

    def _values(self, made: Positive) -> tuple[FloatArray, FloatArray]:
        """Values, and how fast what is positive grows with them."""
        total = self.unit * made.value
        steep = np.sqrt(1 + 2 * self.curve * total)
        return 2 * total / (1 + steep), steep


def _root(covariance: FloatArray) -> FloatArray:
    """Lower Cholesky factor of a covariance of few points, its correlations a little smaller."""
    spread = np.diag(np.diagonal(covariance))
    return np.linalg.cholesky((1 - SHRINKAGE) * covariance + SHRINKAGE * spread + MIN_VARIANCE * np.eye(len(spread)))
