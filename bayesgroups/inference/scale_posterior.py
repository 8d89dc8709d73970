"""A normal linear model whose coefficients have scales of their own, with the coefficients integrated out.

    z_a ~ Normal(intercept + x_a . beta, v_a),   intercept ~ Normal(0, 1),   beta_j ~ Normal(0, s_j)

Everything is in units of the metric's scale. With e = beta / s the score of log s_j is E[e_j^2 | z] - 1, and nothing
cancels in it. A column that is not zero in one subgroup only, such as the indicator of a subgroup, adds to the variance
of that subgroup; so the matrix that is factored has a row for each of the other columns alone, however many subgroups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Design:
    """Data and columns, taken apart.

    ``z`` and ``v`` (observed subgroup,) with the ``rows`` they come from; ``shared`` (observed subgroup, 1 + column)
    holds the intercept and the columns at ``shared_at`` of the features; ``residual`` (column,) holds the one entry of
    each of the columns at ``own_at``, and ``own_row`` the observed subgroup it belongs to. Columns of zeros in every
    observed subgroup are in neither.
    """

    x: FloatArray
    z: FloatArray
    v: FloatArray
    shared: FloatArray
    shared_at: IntArray
    residual: FloatArray
    own_at: IntArray
    own_row: IntArray


@dataclass(frozen=True)
class _Solved:
    """The posterior of e, intercept and shared columns alone, given scales; the first dim of every array is the chain.

    ``mean`` of e and a ``root`` of its covariance; ``residual`` of the data, whitened, and a root of the matrix that
    takes data to fitted values; ``variance`` of the data, columns of their own included; ``log_determinant`` of the
    precision of e.
    """

    mean: FloatArray
    root: FloatArray
    residual: FloatArray
    hat_root: FloatArray
    variance: FloatArray
    log_determinant: FloatArray


def design(x: FloatArray, z: FloatArray, v: FloatArray) -> Design:
    """Data and columns, taken apart, from features without the intercept.

    Estimates and their positive sampling variances are in units of the metric's scale and its square; NaN where there is
    none.

    >>> parts = design(np.array([[1.0, 1, 0], [1, 0, 0], [0, 0, 1]]), np.array([0.1, 0.2, np.nan]), np.full(3, 0.1))
    >>> parts.shared.tolist(), parts.shared_at.tolist(), parts.own_at.tolist(), parts.own_row.tolist()
    ([[1.0, 1.0], [1.0, 1.0]], [0], [1], [0])
    """
    observed = np.isfinite(z) & np.isfinite(v)
    seen = x[observed]
    entries = (seen != 0).sum(axis=0)
    shared_at, own_at = np.flatnonzero(entries > 1), np.flatnonzero(entries == 1)
    own_row = np.nonzero(seen[:, own_at].T)[1]
    shared = np.column_stack([np.ones(len(seen)), seen[:, shared_at]])
    return Design(x, z[observed], v[observed], shared, shared_at, seen[own_row, own_at], own_at, own_row)


def log_likelihood(data: Design, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log density (chain,) of the data given the scales (chain, column), and its gradient with respect to their logarithms.

    Without the constant -log(2 pi) n / 2. Bhattacharya, Chakraborty, Mallick (2016), doi:10.1093/biomet/asw042, for the
    use of the smaller dimension.

    >>> data = design(np.eye(2), np.array([1.0, -1.0]), np.array([0.5, 0.5]))
    >>> value, gradient = log_likelihood(data, np.array([[1.0, 1.0]]))  # covariance [[2.5, 1], [1, 2.5]]
    >>> value.round(6).tolist(), gradient.round(6).tolist()
    ([-1.495781], [[-0.031746, -0.031746]])
    """
    solved = _solve(data, scales)
    square = (solved.residual**2).sum(axis=1) + (solved.mean**2).sum(axis=1)
    value = -0.5 * (np.log(solved.variance).sum(axis=1) + solved.log_determinant + square)
    gradient = np.zeros_like(scales)
    second_moment = solved.mean**2 + (solved.root**2).sum(axis=2)
    gradient[:, data.shared_at] = second_moment[:, 1:] - 1
    score = (solved.residual**2 - (1 - (solved.hat_root**2).sum(axis=2))) / solved.variance
    gradient[:, data.own_at] = score[:, data.own_row] * (data.residual * scales[:, data.own_at]) ** 2
    return value, gradient


def draw_coefficients(data: Design, scales: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """One draw of intercept (chain,) and coefficients (chain, column) given scales and data, per chain."""
    solved = _solve(data, scales)
    standard = solved.mean + (solved.root @ rng.standard_normal((*solved.mean.shape, 1)))[..., 0]
    beta = scales * rng.standard_normal(scales.shape)  # columns without data keep their prior
    beta[:, data.shared_at] = scales[:, data.shared_at] * standard[:, 1:]
    chains = np.arange(len(scales))[:, None]
    simulated = np.sqrt(data.v) * rng.standard_normal((len(scales), len(data.v)))
    np.add.at(simulated, (chains, data.own_row), data.residual * beta[:, data.own_at])
    fitted = standard[:, :1] + beta[:, data.shared_at] @ data.shared[:, 1:].T
    missing = (data.z - fitted - simulated) / solved.variance
    beta[:, data.own_at] += scales[:, data.own_at] ** 2 * data.residual * missing[:, data.own_row]
    return standard[:, 0], beta


def _solve(data: Design, scales: FloatArray) -> _Solved:
    """Least squares of the whitened data, with a row of the unit matrix for each prior, by orthogonal rotations.

    With [W; I] = Q R the lower part of Q is the inverse of R; no product W'W is formed, which would lose half of the
    digits where columns are redundant and variances tiny.
    """
    chains, rows = len(scales), len(data.v)
    variance = np.repeat(data.v[None], chains, axis=0)
    if len(data.own_at):
        np.add.at(variance, (np.arange(chains)[:, None], data.own_row), (data.residual * scales[:, data.own_at]) ** 2)
    deviation = np.sqrt(variance)
    size = data.shared.shape[1]
    stacked = np.empty((chains, rows + size, size))
    np.divide(data.shared, deviation[:, :, None], out=stacked[:, :rows])
    stacked[:, :rows, 1:] *= scales[:, None, data.shared_at]
    stacked[:, rows:] = np.eye(size)
    rotation, triangle = np.linalg.qr(stacked)
    hat_root, root = rotation[:, :rows], rotation[:, rows:]
    whitened = data.z / deviation
    along = hat_root.swapaxes(1, 2) @ whitened[..., None]
    log_determinant = 2 * np.log(np.abs(triangle.reshape(chains, -1)[:, :: size + 1])).sum(axis=1)
    residual = whitened - (hat_root @ along)[..., 0]
    return _Solved((root @ along)[..., 0], root, residual, hat_root, variance, log_determinant)
