"""Scales of coefficients that several subgroups share, one after another, with all coefficients integrated out.

    z_a ~ Normal(intercept + x_a . beta, noise_a),   intercept ~ Normal(0, 1),   beta_j ~ Normal(0, s_j)

Of one scale given the others the likelihood is that of a single coefficient, with information and score that follow from the
posterior covariance of all coefficients; a change of the scale changes the covariance by a matrix of rank 1. So a scale costs
the square of the number of columns, and the number of subgroups enters once, in the Gram matrix.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray

MAX_PRECISION_RATIO = 1e9
"""Largest ratio of what data and prior say of a column at which products of columns keep enough digits."""


class SharedEffects:
    """Posterior of intercept and coefficients given their scales, for all chains at once.

    ``covariance`` (chain, column, column) and ``mean`` (chain, column), the intercept first, given prior variances ``prior``
    (chain, column); ``gram`` (chain, column, column) is what the data say.
    """

    def __init__(self, columns: FloatArray, z: FloatArray, noise: FloatArray, prior: FloatArray) -> None:
        """Columns (subgroup, column), the intercept first, data (subgroup,), and noise variances (chain, subgroup)."""
        self.columns, self.z, self.noise, self.prior = columns, z, noise, prior
        weighted = columns / noise[..., None]
        self.gram = np.swapaxes(weighted, 1, 2) @ columns
        self._pull = (z @ weighted)[..., None]
        self._chain = np.arange(len(noise))
        self.settle()

    def settle(self) -> None:
        """Covariance and mean anew from the Gram matrix, without the rounding errors of single changes."""
        scale = np.sqrt(self.prior)
        if (self.prior * np.diagonal(self.gram, axis1=1, axis2=2)).max() > MAX_PRECISION_RATIO:
            root, along = self._rotated(scale)
        else:
            size = scale.shape[1]
            precise = scale[:, :, None] * self.gram * scale[:, None, :]
            precise[:, np.arange(size), np.arange(size)] += 1.0
            root = np.swapaxes(np.linalg.inv(np.linalg.cholesky(precise)), 1, 2)
            along = np.swapaxes(root, 1, 2) @ (scale[..., None] * self._pull)
        self._root = scale[..., None] * root
        self.covariance = self._root @ np.swapaxes(self._root, 1, 2)
        self.mean = (self._root @ along)[..., 0]

    def _rotated(self, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A root of the covariance of standardised coefficients, and its transpose times their pull, by orthogonal rotations.

        With [W; I] = Q R the lower part of Q is the inverse of R; no product W'W is formed, which would lose half of the
        digits where columns are redundant and noise is tiny.
        """
        chains, size = scale.shape
        rows = len(self.z)
        deviation = np.sqrt(self.noise)
        stacked = np.empty((chains, rows + size, size))
        stacked[:, :rows] = self.columns / deviation[..., None] * scale[:, None, :]
        stacked[:, rows:] = np.eye(size)
        rotation, _ = np.linalg.qr(stacked)
        return rotation[:, rows:], np.swapaxes(rotation[:, :rows], 1, 2) @ (self.z / deviation)[..., None]

    def alone(self, column: IntArray) -> tuple[FloatArray, FloatArray]:
        """Information and score (chain,) about one coefficient of every chain, all others integrated out.

        The log likelihood of its variance d is (score^2 d / (1 + information d) - log(1 + information d)) / 2. The
        information is a difference, of precisions or of what the column says with and without the others; the difference of
        smaller numbers is taken.
        """
        chain = self._chain
        posterior, row = self.covariance[chain, column, column], self.covariance[chain, column]
        alone, gram = self.gram[chain, column, column], self.gram[chain, column]
        gram[chain, column] = 0.0
        explained = (gram * (self.covariance @ gram[..., None])[..., 0]).sum(axis=1)
        left = alone - explained + (row * gram).sum(axis=1) ** 2 / posterior
        precision = 1 / self.prior[chain, column]
        information = np.where(precision < alone, 1 / posterior - precision, left)
        return np.maximum(information, 0.0), self.mean[chain, column] / posterior

    def change(self, column: IntArray, information: FloatArray, variance: FloatArray) -> None:
        """Give one coefficient of every chain another prior variance; its information is that of `alone`."""
        chain = self._chain
        row = self.covariance[chain, column]
        posterior = row[chain, column]
        ratio = 1 / (information + 1 / variance) / posterior
        change = row * ((1 - ratio) / posterior)[:, None]
        self.mean = self.mean - change * self.mean[chain, column][:, None]
        self.covariance -= change[:, :, None] * row[:, None, :]
        row *= ratio[:, None]  # as a difference it would lose its digits where the variance falls by many orders
        self.covariance[chain, column] = row
        self.covariance[chain, :, column] = row
        self.prior[chain, column] = variance

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Intercept and coefficients (chain, column), where no scale has changed since they were settled."""
        return np.asarray(self.mean + (self._root @ rng.standard_normal((*self.mean.shape, 1)))[..., 0])


def log_likelihood(information: FloatArray, score: FloatArray, variance: FloatArray) -> FloatArray:
    """Log likelihood of the variance of a coefficient, up to a constant."""
    gain = 1 + information * variance
    return np.asarray(0.5 * (score**2 * variance / gain - np.log(gain)))
