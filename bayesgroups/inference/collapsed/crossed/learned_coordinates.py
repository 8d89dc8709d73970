"""Coordinates of what is learned, in which it is nearly standard normal: fitted to points, of no consequence for its law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.positive_numbers import HALF_NORMAL, numbers, positive
from bayesgroups.inference.collapsed.crossed.scale_coordinates import Joined, Scaled

SHRINKAGE = 0.2
"""By which correlations of what is learned are made smaller, that are known from as many points as there are chains."""
MIN_VARIANCE = 1e-8
MAX_NARROW = 3.0
"""By how much coordinates are narrower given all others, at most."""


@dataclass(frozen=True)
class Learned:
    """Numbers on the whole line around ``origin`` in units of ``root``, and positive functions of them in units of ``unit``."""

    coordinates: Joined
    unit: FloatArray
    origin: FloatArray
    root: FloatArray

    @classmethod
    def plain(cls, coordinates: Joined) -> Learned:
        """Those that are fitted to nothing yet."""
        number = coordinates.dimension
        return cls(coordinates, np.ones(number), np.ones(number), np.eye(number))

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.origin)

    def at(self, points: FloatArray) -> Scaled:
        """See `bayesgroups.inference.collapsed.crossed.scale_coordinates.Coordinates`."""
        along, here = self._numbers(points), self.coordinates.positive
        grown = positive(along)
        scaled = self.coordinates.at(np.where(here, self.unit * grown.value, along))
        stretch = np.where(here, self.unit * grown.slope, 1.0)

        def pull(slope: FloatArray) -> FloatArray:
            return np.asarray((stretch * scaled.pull(slope) + np.where(here, grown.bend, 0.0)) @ self.root)

        def log_density() -> FloatArray:
            return np.asarray(scaled.log_density() + np.where(here, grown.log_slope, 0.0).sum(axis=1))

        return Scaled(scaled.values, log_density, pull)

    def fitted(self, points: FloatArray) -> tuple[Learned, FloatArray]:
        """Coordinates fitted to two points or more, and the same points in these."""
        along, here = self._numbers(points), self.coordinates.positive
        value = self.unit * positive(along).value
        unit = np.where(here, HALF_NORMAL * np.sqrt(value.var(axis=0) + MIN_VARIANCE), 1.0)
        along = np.where(here, numbers(value / unit), along)
        origin, root = along.mean(axis=0), _root(np.cov(along.T).reshape(2 * along.shape[1:]))
        return Learned(self.coordinates, unit, origin, root), np.linalg.solve(root, (along - origin).T).T

    def narrowed(self, curvature: FloatArray, points: FloatArray) -> tuple[Learned, FloatArray]:
        """Coordinates in units of the density given all others, and the same points in these.

        ``curvature`` (draw, coordinate, coordinate) are minus second derivatives of its logarithm, of which the root mean square
        counts: where the density is narrowest steps go astray first. Coordinates are neither made wider, nor narrower than by
        `MAX_NARROW`, for a trajectory has to pass their whole range.
        """
        even = (curvature + curvature.transpose(0, 2, 1)) / 2
        square, vectors = np.linalg.eigh((even @ even).mean(axis=0))
        narrow = np.clip(np.maximum(square, 0.0) ** 0.25, 1.0, MAX_NARROW)
        root = self.root @ (vectors / narrow) @ vectors.T
        return Learned(self.coordinates, self.unit, self.origin, root), points @ (vectors * narrow) @ vectors.T

    def _numbers(self, points: FloatArray) -> FloatArray:
        return self.origin + points @ self.root.T


def _root(covariance: FloatArray) -> FloatArray:
    """Lower Cholesky factor of a covariance of few points, its correlations a little smaller."""
    spread = np.diag(np.diagonal(covariance))
    return np.linalg.cholesky((1 - SHRINKAGE) * covariance + SHRINKAGE * spread + MIN_VARIANCE * np.eye(len(spread)))
