"""Turns of coordinates whose law depends on variances that are learned, for tables of many subgroups.

Where the data say much of some subgroups and little of others, they say something of several coordinates at once: the more so, the
more variance they leave of what subgroups share, and the less single subgroups vary beside it. With a stretch that is right on
average the length of coordinates tells of these variances, and both move slowly. Along an eigenvector v of the precision at average
variances, whose squares are in shares m of kinds of coordinates, the precision is about

    sum_k m_k r_k  +  q (1 + l0 h) / (1 + l h)  sum_k m_k D_k / D0_k,      D = L r,   r = 1 / (1 + L w / (1 + l b))

for variances L of the kinds and l of residual effects, l0 and D0 those on average; q is what the data add along v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.inference.collapsed.crossed.turns import STRETCHED, Pull, Turned, Variances, stretched

STRETCHED_IF_VARIED, VARIED = (0.7, 1.4), 0.05
"""Precisions between which a direction is left as it is however they vary, and small standard deviations of their logarithms."""
MIN_LEFT = 0.3
"""Smallest share of a precision that no residual effect makes up for, for the slope of it."""
NOTHING = 1e-30
"""Smallest variance that is left on average, a number in single precision too."""


class Told(NamedTuple):
    """Statements of the data on every kind of coordinates, (kind,): w, b, and the variance D0 that they leave of it on average."""

    precision: FloatArray
    bend: FloatArray
    left: FloatArray

    @classmethod
    def on_average(cls, member: FloatArray, precision: FloatArray, bend: FloatArray, variances: Variances) -> Told:
        """Means over the coordinates of a kind and over draws; ``member`` (kind, coordinate) is 1 where one is of a kind."""
        number = member.sum(axis=1)
        of_kind, weaker = member @ precision / number, member @ bend / number
        left = variances.of_kind / (1 + variances.of_kind * of_kind / (1 + variances.residual * weaker))
        return cls(of_kind, weaker, np.maximum(np.sqrt(left).mean(axis=0) ** 2, NOTHING))


@dataclass(frozen=True)
class LearnedTurn:
    """The map x = z + V (s - 1) V' z with stretches s that depend on variances.

    ``vectors`` V are (coordinate, direction), ``share`` m is (kind, direction), and ``added`` q (1 + l0 h) and ``bend`` h are
    (direction,).
    """

    vectors: FloatArray
    share: FloatArray
    added: FloatArray
    bend: FloatArray
    told: Told

    def at(self, z: FloatArray, variances: Variances) -> Turned:
        """See `bayesgroups.inference.collapsed.crossed.turns.Turn`."""
        law = self._law(variances)
        stretch = 1 / np.sqrt(law.precision)
        along = z @ self.vectors
        moved = (along * (stretch - 1)) @ self.vectors.T
        moved += z

        def pull(by_x: FloatArray) -> Pull:
            by_along = by_x @ self.vectors
            by_z = (by_along * (stretch - 1)) @ self.vectors.T
            by_z += by_x
            by_along *= along
            by_along *= stretch
            by_along += 1
            by_along /= law.precision
            by_along *= -0.5
            return Pull(by_z, self._pulled(law, variances, by_along))

        return Turned(moved, lambda: np.asarray(np.log(stretch).sum(axis=1)), pull)

    def back(self, x: FloatArray, variances: Variances) -> FloatArray:
        """The z of points (draw, coordinate)."""
        return stretched(x, self.vectors, np.sqrt(self._law(variances).precision))

    def along(self, some: BoolArray) -> LearnedTurn:
        """The same along some of the vectors alone."""
        vectors = np.ascontiguousarray(self.vectors[:, some])
        return LearnedTurn(vectors, self.share[:, some], self.added[some], self.bend[some], self.told)

    def varied(self, variances: Variances) -> FloatArray:
        """Standard deviations of logarithms of precisions along the vectors, (direction,)."""
        return np.asarray(np.log(self._law(variances).precision).std(axis=0))

    def _law(self, variances: Variances) -> _Law:
        of_kind, residual = variances
        weaker = 1 + residual * self.told.bend
        kept = 1 / (1 + of_kind * (self.told.precision / weaker))
        ratio = of_kind * kept / self.told.left
        added = self.added / (1 + residual * self.bend)
        total = ratio @ self.share
        return _Law(weaker, kept, added, total, kept @ self.share + added * total)

    def _pulled(self, law: _Law, variances: Variances, by_precision: FloatArray) -> Variances:
        """Derivatives by variances, from those by the precisions along the vectors, which are not kept."""
        of_kind, residual = variances
        told, steeper = self.told, law.precision_of_kind(self.told)
        by_kept = by_precision @ self.share.T
        by_precision *= law.added
        by_left = (by_precision @ self.share.T) / told.left
        by_precision *= law.total
        by_precision *= self.bend / (1 + residual * self.bend)
        square = law.kept * law.kept
        by_variance = square * (by_left - by_kept * steeper)
        by_steeper = -square * of_kind * (by_kept + by_left * of_kind)
        by_residual = -(by_steeper * steeper * (told.bend / law.weaker)).sum(axis=1, keepdims=True)
        by_residual -= by_precision.sum(axis=1, keepdims=True)
        return Variances(by_variance, by_residual)


def learned_turn(
    precision: FloatArray, basis: FloatArray, shared: FloatArray, member: FloatArray, told: Told, variances: Variances
) -> LearnedTurn:
    """Turn for a precision matrix at average variances, given variances of many draws.

    ``basis`` (subgroup, coordinate) has what coordinates are of the predictors of subgroups, of which the data have the precisions
    ``shared`` (subgroup,); ``member`` (kind, coordinate) is 1 where a coordinate is of a kind.
    """
    values, vectors = np.linalg.eigh(precision)
    square, residual = (basis @ vectors) ** 2, float(variances.residual.mean())
    added = shared @ square
    bend = bend_of(shared**2 @ square / np.maximum(added, NOTHING), residual)
    every = LearnedTurn(vectors, member @ vectors**2, added * (1 + residual * bend), bend, told)
    far, near = ((values < low) | (values > high) for low, high in (STRETCHED, STRETCHED_IF_VARIED))
    return every.along(far | (near & (every.varied(variances) > VARIED)))


def bend_of(steep: FloatArray, middle: float) -> FloatArray:
    """The b with which w / (1 + l b) falls by ``steep`` times itself at l = ``middle``.

    >>> bend_of(np.array([0.5]), 1.0).tolist()
    [1.0]
    """
    return np.asarray(steep / np.maximum(1 - middle * steep, MIN_LEFT))


class _Law(NamedTuple):
    """Precisions along the vectors, (draw, direction), and their parts."""

    weaker: FloatArray
    """1 + l b, (draw, kind)."""
    kept: FloatArray
    """r, (draw, kind)."""
    added: FloatArray
    """q (1 + l0 h) / (1 + l h), (draw, direction)."""
    total: FloatArray
    """What multiplies it, (draw, direction)."""
    precision: FloatArray

    def precision_of_kind(self, told: Told) -> FloatArray:
        """Precisions w / (1 + l b), (draw, kind)."""
        return np.asarray(told.precision / self.weaker)
