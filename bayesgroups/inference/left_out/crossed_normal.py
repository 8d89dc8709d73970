"""Normal vectors with a covariance of crossed effects: the distribution of every entry given the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.models.shared.ordered_levels import OrderedBlocks
from bayesgroups.models.shared.subsets import Subsets

BLOCK = 2_000_000
"""Numbers of W held at once."""
GOLDEN = (5**0.5 - 1) / 2
NEGLIGIBLE = 1e-9
"""Share of the largest eigenvalue that is rounding."""


def design(
    components: Subsets, x: FloatArray, sds: FloatArray, wide: float, coefficient: float, along: OrderedBlocks,
    along_sds: FloatArray,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Columns (subgroup, effect) of all that subgroups share, and standard deviations (draw, effect) of their effects.

    The centre, the coefficients of ``x``, the cells of every component but the last, whose ``sds`` are (draw, component), and what
    follows an order, ``along_sds`` (draw, ordered block).
    """
    sizes = components.sizes[:-1]
    indicators = [cell[:, None] == np.arange(size) for cell, size in zip(components.cells, sizes, strict=False)]
    roots = [block.root for block in along.blocks]
    z = np.concatenate([np.ones((len(x), 1)), x, *indicators, *roots], axis=1).astype(np.float64)
    constant = np.tile([wide] + [coefficient] * x.shape[1], (len(sds), 1))
    following_order = np.repeat(along_sds, [root.shape[1] for root in roots], axis=1)
    return z, np.concatenate([constant, np.repeat(sds, sizes, axis=1), following_order], axis=1)


def conditional(y: FloatArray, noise: FloatArray, z: FloatArray, widths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance (draw, cell) of every entry of ``y`` given the others.

    ``y`` is Normal(0, Z diag(widths^2) Z' + diag(noise)).

    >>> mean, variance = conditional(np.array([[1.0, 3.0]]), np.ones((1, 2)), np.ones((2, 1)), np.array([[1.0]]))
    >>> mean.round(6).tolist(), variance.round(6).tolist()  # covariance 1, variances 2
    ([[1.5, 0.5]], [[1.5, 1.5]])
    """
    directions = common_directions(z, widths) if more_effects(z) and (noise == noise[:, :1]).all() else None
    if directions is not None:
        vectors, eigenvalues = directions
        inverse = 1 / (eigenvalues + noise[:, :1])
        spread = 1 / (inverse @ (vectors**2).T)
        return y - ((y @ vectors * inverse) @ vectors.T) * spread, spread
    mean, variance = np.empty(y.shape), np.empty(y.shape)
    rows = max(BLOCK // max(z.size, 1), 1)
    for start in range(0, len(y), rows):
        part = slice(start, start + rows)
        precision = Precision(noise[part], z * widths[part, None])
        variance[part] = 1 / precision.diagonal()
        mean[part] = y[part] - precision.times(y[part]) * variance[part]
    return mean, variance


def common_directions(z: FloatArray, widths: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Eigenvectors (cell, direction) of Z diag(widths^2) Z' at every draw, and its eigenvalues (draw, direction).

    None where the covariances of effects of one standard deviation do not commute. Those of crossed attributes do where every
    combination of levels is a cell.

    >>> rows = np.repeat(np.eye(2), 2, axis=0)
    >>> vectors, eigenvalues = common_directions(np.hstack([rows, np.eye(4)]), np.array([[1.0, 1, 2, 2, 2, 2]]))
    >>> eigenvalues.round(6).tolist()
    [[4.0, 4.0, 6.0, 6.0]]
    """
    alike, group = np.unique(widths, axis=1, return_inverse=True)
    number = alike.shape[1]
    # In a sum with unlike weights eigenvalues differ wherever they do in a part: its eigenvectors are those of all parts.
    different = 1 + np.arange(1, number + 1) * GOLDEN % 1
    vectors = np.linalg.eigh((z * different[group]) @ z.T)[1]
    of_groups = np.empty((number, len(z)))
    for each in range(number):
        turned = vectors.T @ z[:, group == each]
        product = turned @ turned.T
        of_groups[each] = np.diagonal(product)
        product[np.diag_indices_from(product)] = 0.0
        if np.abs(product).max() > NEGLIGIBLE * of_groups[each].max():
            return None
    return vectors, alike**2 @ of_groups


@dataclass(frozen=True, eq=False)
class Precision:
    """Inverses of W W' + D, from effects ``w`` (draw, cell, effect) and the diagonal ``noise`` (draw, cell) of D.

    They are made in the space of the effects, or of the cells, whichever is smaller: where subgroups cross several attributes there
    are more effects than cells.
    """

    noise: FloatArray
    w: FloatArray

    @cached_property
    def whole(self) -> FloatArray | None:
        """The inverses (draw, cell, cell), or nothing where there are fewer effects than cells."""
        return np.linalg.inv(covariance(self.noise, self.w)) if more_effects(self.w) else None

    @cached_property
    def parts(self) -> tuple[FloatArray, FloatArray]:
        """B = D^-1 W, and B (W' B + I)^-1: the inverse is D^-1 less the product of the second with the first."""
        weighted = self.w / self.noise[:, :, None]
        inner = np.swapaxes(self.w, 1, 2) @ weighted + np.eye(self.w.shape[2])
        return weighted, weighted @ np.linalg.inv(inner)

    def diagonal(self) -> FloatArray:
        """Diagonals (draw, cell)."""
        if self.whole is not None:
            return np.diagonal(self.whole, axis1=1, axis2=2)
        weighted, projected = self.parts
        return np.asarray(1 / self.noise - (projected * weighted).sum(axis=2))

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        """Entries (draw, pair) of different cells."""
        if self.whole is not None:
            return np.asarray(self.whole[:, first, second])
        weighted, projected = self.parts
        return np.asarray(-(projected[:, first] * weighted[:, second]).sum(axis=2))

    def times(self, y: FloatArray) -> FloatArray:
        """Products (draw, cell) with ``y``."""
        if self.whole is not None:
            return np.asarray((self.whole @ y[:, :, None])[:, :, 0])
        score = y / self.noise
        return np.asarray(score - (self.parts[1] @ (np.swapaxes(self.w, 1, 2) @ score[:, :, None]))[:, :, 0])


def more_effects(w: FloatArray) -> bool:
    """True if columns (..., cell, effect) are of more effects than cells."""
    return bool(w.shape[-1] > w.shape[-2])


def covariance(noise: FloatArray, w: FloatArray) -> FloatArray:
    """W W' + D, (draw, cell, cell)."""
    whole = w @ np.swapaxes(w, 1, 2)
    place = np.arange(w.shape[1])
    whole[:, place, place] += noise
    return np.asarray(whole)
