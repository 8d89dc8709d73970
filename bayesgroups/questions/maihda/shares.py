"""Split of a predictor of strata into what main effects add up to and what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray


@dataclass(frozen=True)
class Projection:
    """Weighted least squares of a predictor (..., stratum) on main effects; variances (...,) add up to the total.

    ``additive`` and ``interaction`` are weighted variances over strata of ``fit`` and of what it leaves, ``residual``.
    """

    fit: FloatArray
    residual: FloatArray
    additive: FloatArray
    interaction: FloatArray

    @property
    def interaction_share(self) -> FloatArray:
        """Share of the interaction in the total; NaN where all strata are the same."""
        total = self.additive + self.interaction
        return np.asarray(self.interaction / np.where(total > 0, total, np.nan), dtype=np.float64)


def project(eta: FloatArray, columns: FloatArray, weight: FloatArray) -> Projection:
    """Projection on columns (stratum, column), an intercept among them, with weights (stratum,) that need not sum to 1.

    Gelman, Hill (2007), section 22.

    >>> eta = np.array([0.0, 0.4, 1.0, 2.0])
    >>> columns = np.array([[1.0, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    >>> split = project(eta, columns, np.ones(4))
    >>> split.additive.round(4).item(), split.interaction.round(4).item(), split.interaction_share.round(6).item()
    (0.545, 0.0225, 0.039648)
    """
    share = weight / weight.sum()
    fit = eta @ projector(columns, weight).T
    residual = eta - fit
    mean = (eta @ share)[..., None]
    additive, interaction = (fit - mean) ** 2 @ share, residual**2 @ share
    return Projection(fit, residual, np.asarray(additive), np.asarray(interaction))


def projector(columns: FloatArray, weight: FloatArray) -> FloatArray:
    """The matrix (stratum, stratum) of a projection on columns (stratum, column): what it gives of each stratum's predictor.

    >>> projector(np.ones((2, 1)), np.array([1.0, 3.0])).round(2).tolist()
    [[0.25, 0.75], [0.25, 0.75]]
    """
    root = np.sqrt(weight / weight.sum())[:, None]
    return np.asarray(columns @ np.linalg.pinv(root * columns) * root.T, dtype=np.float64)
