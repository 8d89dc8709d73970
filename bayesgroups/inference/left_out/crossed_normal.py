"""Normal vectors with a covariance of crossed effects: the distribution of every entry given the others."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.models.shared.ordered_levels import OrderedBlocks
from bayesgroups.models.shared.subsets import Subsets

BLOCK = 2_000_000
"""Numbers of W held at once."""


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
    mean, variance = np.empty(y.shape), np.empty(y.shape)
    rows = max(BLOCK // max(z.size, 1), 1)
    for start in range(0, len(y), rows):
        part = slice(start, start + rows)
        weighted, projected, score = solved(y[part], noise[part], z * widths[part, None])
        diagonal = 1 / noise[part] - (projected * weighted).sum(axis=2)
        mean[part], variance[part] = y[part] - score / diagonal, 1 / diagonal
    return mean, variance


def solved(y: FloatArray, noise: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Parts of the inverse of W W' + D, which is D^-1 less the product of the first part with the second, and it times ``y``.

    ``w`` (draw, cell, effect); the parts are B = D^-1 W, and B (W' B + I)^-1.
    """
    weighted = w / noise[:, :, None]
    projected = weighted @ np.linalg.inv(np.swapaxes(w, 1, 2) @ weighted + np.eye(w.shape[2]))
    score = y / noise
    return weighted, projected, score - (projected @ (np.swapaxes(w, 1, 2) @ score[:, :, None]))[:, :, 0]
