"""Statements of the data on predictors beside residual effects, which change with the variance of these where counts are one-sided.

Counts of nothing or of everything say on which side of something a predictor lies, and no more: the larger the variance l of residual
effects, the farther out it is, in units of their standard deviation. Where all subgroups but a few have such counts, as of single
rows, the data say next to nothing of large l, and its density has a long tail, of which many predictors are a part. There

    w(l) = w / u,     y(l) = y + rho (sqrt(u) - 1),     u = 1 + l w / c

are precision and observation: those of small residual effects where l is small, and where it is large those of a half-normal law,
whose variance and mean are 1 - 2 / pi and sqrt(2 / pi) in units of l and of its root. For transport, of no consequence for the density.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.transport import Pulled, Transported, by_log_precision

LEFT = 1 - 2 / np.pi
"""Variance of a half-normal law, in units of that of the normal law."""
FARTHEST = LEFT / (1 - LEFT)
"""1 / c."""
OUT = np.sqrt(2 / np.pi) / (1 - LEFT)
"""Observation of which such a law has the mean, in units of the standard deviation."""


class OwnData(NamedTuple):
    """Precisions w and observations y of predictors (subgroup,), with ``bend`` w / c and ``reach`` rho where they change with l."""

    precision: FloatArray
    observation: FloatArray
    bend: FloatArray | None = None
    reach: FloatArray | None = None

    @classmethod
    def one_sided(cls, data: OwnData, small: OwnData, side: FloatArray) -> OwnData:
        """``small`` of counts that are one-sided, at variances that are small: ``side`` is -1 or 1 of these, and 0 of all others."""
        bend = np.where(side == 0, 0.0, small.precision * FARTHEST)
        reach = np.divide(OUT * side, np.sqrt(bend), out=np.zeros_like(bend), where=bend > 0)
        chosen = [np.where(side == 0, *pair) for pair in zip(data[:2], small[:2], strict=True)]
        return cls(*chosen, bend, reach)

    def at(self, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Precisions and observations at variances (draw, 1) of residual effects."""
        if self.bend is None or self.reach is None:
            return self.precision, self.observation
        grown = 1 + variance * self.bend
        return self.precision / grown, self.observation + self.reach * (np.sqrt(grown) - 1)

    def by_variance(self, made: Transported, by_values: FloatArray, by_observation: FloatArray) -> FloatArray | float:
        """What derivatives by the variance (draw, subgroup) have beside those of `pulled`."""
        if self.bend is None or self.reach is None:
            return 0.0
        grown = 1 + made.variance * self.bend
        by = by_observation * self.reach * np.sqrt(grown) / 2
        by -= by_log_precision(made, by_values)
        return by * (self.bend / grown)
