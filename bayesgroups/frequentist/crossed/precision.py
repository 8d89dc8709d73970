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


def weigh(u: FloatArray, covariance: FloatArray) -> FloatArray:
    """Inverse of K + diag(1/u) where u (..., group) is positive, 0 elsewhere: symmetric, (..., group, group).

    >>> weigh(np.array([1.0, 0.5, 0.0]), np.ones((3, 3))).round(6).tolist()
    [[0.6, -0.2, 0.0], [-0.2, 0.4, 0.0], [0.0, 0.0, 0.0]]
    """
    return weights_and_log_determinant(u, covariance)[0]


def weights_and_log_determinant(u: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights of `weigh`, and log det(I + K diag(u)), array (...)."""
    root = np.sqrt(u)
    scale = root[..., :, None] * root[..., None, :]
    inverse, log_determinant = inverse_and_log_determinant(np.eye(u.shape[-1]) + scale * covariance)
    return scale * inverse, log_determinant


def inverse_and_log_determinant(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Inverses of positive definite matrices (..., group, group) from their Cholesky factors, symmetric, and log determinants.

    >>> inverse, log_determinant = inverse_and_log_determinant(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> inverse.round(4).tolist(), log_determinant.round(4).tolist()
    ([[0.6667, -0.3333], [-0.3333, 0.6667]], 1.0986)
    """
    from scipy.linalg import get_lapack_funcs

    potrf, potri = get_lapack_funcs(("potrf", "potri"), dtype=np.float64)
    groups = matrices.shape[-1]
    inverse = matrices.reshape(-1, groups, groups).copy()
    # Transposed, since LAPACK counts columns first: each is factored and inverted where it is.
    each = [part.T for part in inverse]
    failed = [potrf(part, lower=1, clean=1, overwrite_a=1)[1] for part in each]
    place = np.arange(groups)
    diagonal = inverse[:, place, place]
    for part in each:
        potri(part, lower=1, overwrite_c=1)
    halves = np.swapaxes(inverse, -1, -2).copy()
    halves[:, place, place] = 0.0
    inverse += halves
    for i in np.flatnonzero(failed):  # errors that correlations tie together, to rounding
        matrix = matrices.reshape(inverse.shape)[i]
        upper = np.triu(np.linalg.inv(matrix))
        inverse[i] = upper + np.triu(upper, 1).T
        diagonal[i] = np.exp(np.linalg.slogdet(matrix)[1] / 2 / groups)
    return inverse.reshape(matrices.shape), 2 * np.log(diagonal.reshape(matrices.shape[:-1])).sum(axis=-1)


def invert_lower(factor: FloatArray) -> FloatArray:
    """Inverses of lower triangular matrices (..., group, group), at a fraction of the cost of any.

    >>> invert_lower(np.array([[[2.0, 0.0], [1.0, 4.0]]])).tolist()
    [[[0.5, 0.0], [-0.125, 0.25]]]
    """
    from scipy.linalg import get_lapack_funcs

    (trtri,) = get_lapack_funcs(("trtri",), dtype=np.float64)
    each = [trtri(matrix.T)[0].T for matrix in factor.reshape(-1, *factor.shape[-2:])]
    return np.reshape(each, factor.shape)


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
