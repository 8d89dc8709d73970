"""Turns of coordinates that make a normal law of known precision a standard one, or nearly.

The symmetric root of the covariance differs from 1 along few directions only, where coordinates were scaled well: those alone are
stretched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from bayesgroups.data.arrays import FloatArray

STRETCHED = (0.5, 2.0)
"""Precisions between which a direction is left as it is: steps would be little longer, and products with its vector take time."""


class Variances(NamedTuple):
    """Learned variances, or derivatives by them: of kinds of coordinates, (draw, kind), and of residual effects, (draw, 1)."""

    of_kind: FloatArray
    residual: FloatArray


class Pull(NamedTuple):
    """Derivatives by z, (draw, coordinate), and by variances, or nothing where the map does not depend on these."""

    z: FloatArray
    variances: Variances | None = None


class Turned(NamedTuple):
    """Points x (draw, coordinate), the log of the stretch of the map (draw,) where it is asked for, and ``pull`` of gradients by x.

    Derivatives of that logarithm are a part of those by variances.
    """

    values: FloatArray
    log_density: Callable[[], FloatArray | float]
    pull: Callable[[FloatArray], Pull]


class Turning(Protocol):
    """Map of coordinates z to coordinates x."""

    def at(self, z: FloatArray, variances: Variances) -> Turned:
        """The x of points (draw, coordinate)."""
        ...

    def back(self, x: FloatArray, variances: Variances) -> FloatArray:
        """The z of points (draw, coordinate)."""
        ...


@dataclass(frozen=True)
class Turn:
    """The map x = z + V (s - 1) V' z, which is its own transpose; ``vectors`` V are (coordinate, direction), ``stretch`` is s."""

    vectors: FloatArray
    stretch: FloatArray
    whole: FloatArray | None = field(init=False)
    """The map as a matrix, where one product with it is faster than two with its vectors."""

    def __post_init__(self) -> None:
        size, some = self.vectors.shape
        left = (self.vectors * (self.stretch - 1)) @ self.vectors.T + np.eye(size) if 2 * some > size else None
        object.__setattr__(self, "whole", left)

    def at(self, z: FloatArray, variances: Variances) -> Turned:
        """The x of points, whatever the variances; its stretch is a constant, and is left out."""
        return Turned(self._of(z), lambda: 0.0, lambda by_x: Pull(self._of(by_x)))

    def back(self, x: FloatArray, variances: Variances) -> FloatArray:
        """The z of points (draw, coordinate).

        >>> half, none = turn(np.array([[4.0, 0.0], [0.0, 1.0]])), Variances(np.empty((1, 0)), np.empty((1, 1)))
        >>> half.at(np.ones((1, 2)), none).values.tolist(), half.back(np.array([[0.5, 1.0]]), none).tolist()
        ([[0.5, 1.0]], [[1.0, 1.0]])
        """
        return Turn(self.vectors, 1 / self.stretch)._of(x)

    def _of(self, z: FloatArray) -> FloatArray:
        if self.whole is not None:
            return np.asarray(z @ self.whole)
        return stretched(z, self.vectors, self.stretch) if len(self.stretch) else z


def stretched(z: FloatArray, vectors: FloatArray, stretch: FloatArray) -> FloatArray:
    """The x of points (draw, coordinate), stretched along vectors; ``stretch`` is (direction,) or differs between draws."""
    return np.asarray(z + ((z @ vectors) * (stretch - 1)) @ vectors.T)


def turn(precision: FloatArray) -> Turn:
    """Turn for a precision matrix whose eigenvalues are about 1, but for some."""
    values, vectors = np.linalg.eigh(precision)
    some = (values < STRETCHED[0]) | (values > STRETCHED[1])
    return Turn(np.ascontiguousarray(vectors[:, some]), values[some] ** -0.5)
