"""Slopes of the score on covariates of the rows: what rows within subgroups and outcomes say of them.

    score[i] ~ Normal(m[g, y] + (c[i] - cbar[g, y]) . slope[y], sd[g, y]),      slope[y] = shared + h[y] difference

Given variances this is a normal likelihood of the slopes, which needs of each cell the sums of products only. Means of cells
say more of the slopes: there covariates are columns like others (`bayesgroups.inference.score_effects`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.score_effects import CONTRAST, Aside


@dataclass(frozen=True)
class Slopes:
    """Covariates of rows within cells; their slopes are the last columns of the design, shared ones first, then differences.

    ``product`` (subgroup, outcome, covariate, covariate) are sums of products of deviations from the means of the cell,
    ``cross`` (subgroup, outcome, covariate) those with the score.
    """

    product: FloatArray
    cross: FloatArray

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """Contributions of a cell of variance 1 to precision (cell, 2 covariate, 2 covariate) and pull (cell, 2 covariate)."""
        turn = np.stack([np.ones(2), CONTRAST], axis=1)  # (outcome, shared or difference)
        size = self.cross.shape[-1]
        precision = np.einsum("ya,gyij,yb->gyaibj", turn, self.product, turn)
        pull = np.einsum("ya,gyi->gyai", turn, self.cross)
        return precision.reshape(-1, 2 * size, 2 * size), pull.reshape(-1, 2 * size)

    def aside(self, variance: FloatArray, columns: int) -> Aside:
        """Normal log likelihood of the coefficients given variances (chain, subgroup, outcome)."""
        own_precision, pulled = self._sums
        size, weight = own_precision.shape[-1], 1 / variance.reshape(len(variance), -1)
        precision, pull = np.zeros((len(variance), columns, columns)), np.zeros((len(variance), columns))
        precision[:, -size:, -size:] = (weight @ own_precision.reshape(len(own_precision), -1)).reshape(-1, size, size)
        pull[:, -size:] = weight @ pulled
        return Aside(precision, pull)

    def of(self, theta: FloatArray) -> FloatArray:
        """Slopes by outcome (..., outcome, covariate), from coefficients (..., column)."""
        size = self.cross.shape[-1]
        shared, difference = theta[..., -2 * size : -size], theta[..., -size:]
        return np.asarray(shared[..., None, :] + CONTRAST[:, None] * difference[..., None, :], dtype=np.float64)

    def explained(self, theta: FloatArray) -> FloatArray:
        """Part of the scatter of scores that the regression explains, (chain, subgroup, outcome)."""
        scatter = np.empty((len(theta), *self.cross.shape[:2]))
        for outcome in range(2):
            slope, product = self.of(theta)[:, outcome], self.product[:, outcome]
            pairs = (slope[:, :, None] * slope[:, None, :]).reshape(len(slope), -1)
            scatter[..., outcome] = 2 * slope @ self.cross[:, outcome].T - pairs @ product.reshape(len(product), -1).T
        return scatter
