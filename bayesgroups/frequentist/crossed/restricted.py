"""Restricted likelihood of the variances of components, and the posterior of the groups, at many points at once.

    [ I + R K R    R X ]   [ G^-1      0 ]   [ G^-1      0 ]'
    [ X' R         c I ] = [ (G R X)'  . ] x [ (G R X)'  . ] ,      X = [1 z],   R = diag(root of u)

The Cholesky factor of a matrix that is bordered by the columns 1 and z has their whitened values in its last rows, so that no
triangular system is left to solve; c is without effect. The weights of `precision.weigh` are W = R G' G R, and only sums of
them are formed: a group with data and errors of its own has the posterior variance v - v W v, any other K - K W K.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed.component_space import Posterior
from bayesgroups.frequentist.crossed.precision import invert_lower, noise

CHUNK, MIN_POINTS = 250_000, 8
"""Numbers that the matrices of a chunk of points may hold, and points of a chunk of large ones, read once for all."""
CORNER = 1e200
"""The number c: any that leaves the matrix positive definite."""


@dataclass(frozen=True)
class Restricted:
    """Estimates ``z`` and precisions ``u`` (group,), 0 where there are no data, and the components of their covariance.

    ``agreement`` (component, group, group) has the matrices C_S of a `Family` without the shared level; ``between``
    (group, group) are covariances of errors, with 0 on the diagonal. The overall mean has a flat prior.

    >>> model = Restricted(np.array([1.0, 3.0, 0.0]), np.array([1.0, 1.0, 0.0]), np.eye(3)[None])
    >>> model.log_likelihood(np.array([[1.0], [3.0]])).round(4).tolist()
    [-1.1931, -1.2897]
    >>> answer = model.posterior(np.array([[1.0]]))
    >>> answer.estimate.round(4).tolist(), answer.variance.round(4).tolist()
    ([[1.5, 2.5, 2.0]], [[0.75, 0.75, 2.0]])
    """

    z: FloatArray
    u: FloatArray
    agreement: FloatArray
    between: FloatArray | float = 0.0

    @cached_property
    def _parts(self) -> FloatArray:
        """Bordered matrices of the components at a variance of 1, then of what does not depend on variances, each in one row."""
        groups, root = len(self.u), np.sqrt(self.u)
        scale = np.outer(root, root)
        parts = np.zeros((len(self.agreement) + 1, groups + 2, groups + 2))
        np.multiply(self.agreement, scale, out=parts[:-1, :groups, :groups])
        parts[-1, :groups, :groups] = np.eye(groups) + scale * self.between
        parts[-1, groups:, :groups] = root, root * self.z
        parts[-1, [groups, groups + 1], [groups, groups + 1]] = CORNER
        return parts.reshape(len(parts), -1)

    def _factors(self, variances: FloatArray) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Chunks of points: their variances, the factors of I + R K R, and the whitened columns 1 and z, (point, 2, group)."""
        groups = len(self.u)
        for some in np.array_split(variances, -(-len(variances) // max(MIN_POINTS, CHUNK // groups**2))):
            bordered = np.column_stack([some, np.ones(len(some))]) @ self._parts
            factor = np.linalg.cholesky(bordered.reshape(-1, groups + 2, groups + 2))
            yield some, factor[:, :groups, :groups], factor[:, groups:, :groups]

    def log_likelihood(self, variances: FloatArray) -> FloatArray:
        """Log restricted likelihood (point,) at variances (point, component), up to a constant: minus half the `deviance`."""
        values = []
        for _, factor, columns in self._factors(variances):
            (total, product), (_, square) = np.moveaxis(columns @ np.swapaxes(columns, -1, -2), 0, -1)
            log_determinant = 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
            values.append(-(log_determinant + np.log(total) + square - product**2 / total) / 2)
        return np.concatenate(values)

    def posterior(self, variances: FloatArray) -> Posterior:
        """Posterior (point, group) at variances (point, component), of which the overall mean is uncertain as well."""
        parts = [
            self._conditional(some, invert_lower(factor), columns) for some, factor, columns in self._factors(variances)
        ]
        return Posterior(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _conditional(
        self, variances: FloatArray, inverse: FloatArray, columns: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Means and variances (point, group) from inverses G and the whitened columns 1 and z."""
        root, v = np.sqrt(self.u), noise(self.u)
        (total, product) = (columns[:, :1] * columns).sum(axis=-1).T
        level = (product / total)[:, None]
        row, weighted = np.moveaxis(root * (columns @ inverse), 1, 0)  # W 1 and W z
        pulled = weighted - level * row
        mean, left = self.z - v * pulled, v * row  # z - v W (z - level), and 1 - K W 1
        within = v * (1 - np.einsum("...ij,...ij->...j", inverse, inverse))
        other = np.flatnonzero((self.u == 0) | np.any(np.broadcast_to(self.between, (len(v), len(v))), axis=0))
        if len(other):
            reach = np.tensordot(variances, self.agreement[:, other], 1)
            moved, reached = np.moveaxis(reach @ np.stack([pulled, row], axis=-1), -1, 0)
            half = inverse @ np.swapaxes(reach * root, -1, -2)
            mean[:, other], left[:, other] = level + moved, 1 - reached
            within[:, other] = reach[:, range(len(other)), other] - np.einsum("...ij,...ij->...j", half, half)
        return mean, np.maximum(within, 0.0) + left**2 / total[:, None]
