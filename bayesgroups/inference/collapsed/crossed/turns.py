"""Turns of coordinates that make a normal law of known precision a standard one, or nearly.

The symmetric root of the covariance differs from 1 along few directions only, where coordinates were scaled well: those alone are
stretched.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bayesgroups.data.arrays import FloatArray

STRETCHED = (0.5, 2.0)
"""Precisions between which a direction is left as it is: steps would be little longer, and products with its vector take time."""


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

    def of(self, z: FloatArray) -> FloatArray:
        """The x of points (draw, coordinate), and of gradients by x those by z."""
        if self.whole is not None:
            return np.asarray(z @ self.whole)
        if not len(self.stretch):
            return z
        return np.asarray(z + ((z @ self.vectors) * (self.stretch - 1)) @ self.vectors.T)

    def back(self, x: FloatArray) -> FloatArray:
        """The z of points (draw, coordinate).

        >>> half = turn(np.array([[4.0, 0.0], [0.0, 1.0]]))
        >>> half.of(np.ones((1, 2))).tolist(), half.back(half.of(np.ones((1, 2)))).tolist()
        ([[0.5, 1.0]], [[1.0, 1.0]])
        """
        return Turn(self.vectors, 1 / self.stretch).of(x)


def turn(precision: FloatArray) -> Turn:
    """Turn for a precision matrix whose eigenvalues are about 1, but for some."""
    values, vectors = np.linalg.eigh(precision)
    some = (values < STRETCHED[0]) | (values > STRETCHED[1])
    return Turn(np.ascontiguousarray(vectors[:, some]), values[some] ** -0.5)
