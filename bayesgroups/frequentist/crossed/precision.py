"""Precision matrix of the data of a group when groups borrow from each other, on which every fit here rests.

With K the covariance between groups and v the sampling variances, W = (K + diag(v))^-1 over the groups that have data and
0 elsewhere. From it follow, without another inverse and with u = 1/v (0 where there are no data),

    posterior mean     centre + K W (z - centre)
    shrinkage          A = (I + K diag(u))^-1 = I - K W,    diag(u) A = W
    posterior variance K - K W K
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray

ROWS_AT_ONCE = 16
"""Rows of a triangular matrix up to which it is inverted at once."""


def weigh(u: FloatArray, covariance: FloatArray) -> FloatArray:
    """Inverse of K + diag(1/u) where u (..., group) is positive, 0 elsewhere: symmetric, (..., group, group).

    >>> weigh(np.array([1.0, 0.5, 0.0]), np.ones((3, 3))).round(6).tolist()
    [[0.6, -0.2, 0.0], [-0.2, 0.4, 0.0], [0.0, 0.0, 0.0]]
    """
    root = np.sqrt(u)
    scale = root[..., :, None] * root[..., None, :]
    inverse = scale * np.linalg.inv(np.eye(u.shape[-1]) + scale * covariance)
    precision: FloatArray = (inverse + np.swapaxes(inverse, -1, -2)) / 2
    return precision


def invert_lower(factor: FloatArray) -> FloatArray:
    """Inverses of lower triangular matrices (..., group, group), at a fraction of the cost of any.

    >>> invert_lower(np.array([[2.0, 0.0], [1.0, 4.0]])).tolist()
    [[0.5, 0.0], [-0.125, 0.25]]
    """
    inverse = np.zeros_like(factor)
    _invert_lower(factor, inverse)
    return inverse


def _invert_lower(factor: FloatArray, inverse: FloatArray) -> None:
    """Inverses of lower triangular matrices, by halves, into an array of zeros."""
    size = factor.shape[-1]
    if size <= ROWS_AT_ONCE:
        inverse[...] = np.linalg.inv(factor)
        return
    half = size // 2
    _invert_lower(factor[..., :half, :half], inverse[..., :half, :half])
    _invert_lower(factor[..., half:, half:], inverse[..., half:, half:])
    corner = factor[..., half:, :half] @ inverse[..., :half, :half]
    inverse[..., half:, :half] = -inverse[..., half:, half:] @ corner


def noise(u: FloatArray) -> FloatArray:
    """Sampling variances 1/u, 0 for groups without data, whose weights are 0."""
    used = u > 0
    return np.where(used, 1 / np.where(used, u, 1.0), 0.0)


def combine(variances: FloatArray, agreement: FloatArray) -> FloatArray:
    """Covariance sum_S var_S C_S, array (group, group)."""
    number, groups, _ = agreement.shape
    covariance: FloatArray = (variances @ agreement.reshape(number, -1)).reshape(groups, groups)
    return covariance


def against(matrix: FloatArray, agreement: FloatArray) -> FloatArray:
    """Traces tr(C_S M) for every component, array (component,).

    >>> against(np.array([[1.0, 2.0], [3.0, 4.0]]), np.stack([np.ones((2, 2)), np.eye(2)])).tolist()
    [10.0, 5.0]
    """
    products: FloatArray = agreement.reshape(len(agreement), -1) @ matrix.ravel()
    return products
