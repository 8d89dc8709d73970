"""Statements of the data on predictors beside residual effects, which depend on the variance of these where counts are one-sided.

Counts of nothing or of everything say on which side of something a predictor lies, and no more: the larger the variance l of
residual effects, the farther out it is. Where nearly all subgroups have such counts, as of single rows, the data say next to
nothing of l, and its density has a long tail, to which most predictors go along. There

    w(l) = w / u,     y(l) = y + rho (sqrt(u) - 1),     u = 1 + l b

are precision and observation: w and y where l is small, and where it is large those that leave a half-normal law, of mean
sqrt(2 l / pi) and variance (1 - 2 / pi) l. For transport, of no consequence for the density; with w and y alone chains do not come
to the tail, and may not tell that they don't.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.transport import Data, Pulled, Transported, by_log_precision

MEAN, VARIANCE = np.sqrt(2 / np.pi), 1 - 2 / np.pi
"""Those of a half-normal law, in units of the normal one."""


class OwnData(NamedTuple):
    """Precisions w and observations y of predictors (subgroup,), with ``bend`` b and ``reach`` rho where they depend on l."""

    precision: FloatArray
    observation: FloatArray
    bend: FloatArray | None = None
    reach: FloatArray | None = None

    @classmethod
    def beyond(cls, data: Data, small: Data, side: FloatArray) -> OwnData:
        """Those of ``data``, and where counts are one-sided those that are ``small`` where l is small.

        ``side`` (subgroup,) is 1 of counts of everything, -1 of those of nothing, and 0 of all others.
        """
        two_sided = side == 0
        bend = np.where(two_sided, 0.0, small.precision * VARIANCE / (1 - VARIANCE))
        reach = side * MEAN / (1 - VARIANCE) / np.sqrt(np.where(two_sided, 1.0, bend))
        precision = np.where(two_sided, data.precision, small.precision)
        return cls(precision, np.where(two_sided, data.observation, small.observation), bend, reach)

    def at(self, variance: FloatArray) -> Data:
        """Precisions and observations at variances l (draw, 1) or (draw, subgroup), or (subgroup,) where they do not depend on it.

        >>> single = Data(np.array([0.25]), np.array([2.0]))
        >>> precision, observation = OwnData.beyond(single, single, np.ones(1)).at(np.array([[1e10]]))
        >>> kept = 1 / (1 + 1e10 * precision)
        >>> (kept * precision * observation * 1e5).round(3).tolist(), kept.round(3).tolist()
        ([[0.798]], [[0.363]])
        """
        if self.bend is None or self.reach is None:
            return Data(self.precision, self.observation)
        grown = 1 + variance * self.bend
        return Data(self.precision / grown, self.observation + self.reach * (np.sqrt(grown) - 1))

    def by_variance(
        self, made: Transported, by_values: FloatArray, pull: Pulled, by_observation: FloatArray
    ) -> FloatArray:
        """Derivatives by l, (draw, subgroup), from those with w and y as they are."""
        if self.bend is None or self.reach is None:
            return pull.variance
        grown = 1 + made.variance * self.bend
        by_grown = 0.5 * by_observation * self.reach * np.sqrt(grown) - by_log_precision(made, by_values)
        return np.asarray(pull.variance + by_grown * (self.bend / grown))
