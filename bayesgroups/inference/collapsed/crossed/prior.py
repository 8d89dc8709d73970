"""Priors of the components' standard deviations, as functions of standard normal numbers.

==============  ============================================================================================
``half_normal``  every component on its own, tau_k ~ HalfNormal(scale_k)
``half_t``       every component on its own, tau_k ~ half-t with 3 degrees of freedom and that scale
``r2d2``         one total, sqrt(sum tau_k^2) ~ half-t with 3 degrees of freedom and scale sqrt(sum scale_k^2), shared out
                 among the components by a uniform Dirichlet split
``known``        tau_k is scale_k; one standard normal number is drawn that says nothing
==============  ============================================================================================

References
----------
Gelman (2006), doi:10.1214/06-BA117A. Zhang, Naughton, Bondell and Reich (2022), doi:10.1080/01621459.2020.1825449 (R2D2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray

Family = Literal["half_normal", "half_t", "r2d2", "known"]

DEGREES = 3.0
MAX_NORMAL_NUMBER = 37.0
"""Beyond this the tail of a normal distribution has no probability in double precision: 1e100 scales of a half-t."""
RESOLVED = {"half_normal": 37.0, "half_t": 6.0, "r2d2": 6.0, "known": 0.0}
"""Standard normal number up to which standard deviations are told apart where sums over subgroups are interpolated."""


@dataclass(frozen=True)
class Prior:
    """Joint prior of standard deviations; ``scale`` (component,) is in units of the linear predictor.

    With ``residual_sd`` the last one is known to be that, and the family is that of the others.
    """

    family: Family
    scale: tuple[float, ...]
    residual_sd: float | None = None

    @property
    def dimension(self) -> int:
        """Number of standard normal numbers that a point takes."""
        return 1 if self.family == "known" else len(self.scale) - (self.residual_sd is not None)

    def scales(self, u: FloatArray) -> FloatArray:
        """Standard deviations (draw, component) from standard normal numbers (draw, dimension)."""
        learned = self._learned(u)
        return learned if self.residual_sd is None else np.column_stack([learned, np.full(len(u), self.residual_sd)])

    def jacobian(self, u: FloatArray) -> FloatArray:
        """Derivatives of the standard deviations at one point, (component, dimension), by differences."""
        step = 1e-4 * np.eye(self.dimension)
        return np.asarray((self.scales(u + step) - self.scales(u - step)).T / 2e-4, dtype=np.float64)

    def _learned(self, u: FloatArray) -> FloatArray:
        from scipy.special import betaincinv, log_ndtr, ndtr, ndtri_exp, stdtrit

        if self.family == "known":
            return np.tile(np.array(self.scale, dtype=np.float64), (len(u), 1))
        scale = np.array(self.scale[: self.dimension])
        if self.family == "half_normal":
            return np.asarray(-scale * ndtri_exp(log_ndtr(-u) - math.log(2)))
        u = np.clip(u, -MAX_NORMAL_NUMBER, MAX_NORMAL_NUMBER)
        if self.family == "half_t":
            return np.asarray(-scale * stdtrit(DEGREES, 0.5 * ndtr(-u)))
        total = -math.sqrt((scale**2).sum()) * stdtrit(DEGREES, 0.5 * ndtr(-u[:, :1]))
        behind = np.arange(self.dimension - 1, 0, -1)
        stick = betaincinv(1.0, behind, ndtr(u[:, 1:]))
        left = np.cumprod(np.column_stack([np.ones(len(u)), 1 - stick]), axis=1)
        share = left * np.column_stack([stick, np.ones(len(u))])
        return np.asarray(total * np.sqrt(share))

    @property
    def largest(self) -> float:
        """A standard deviation that no component exceeds but with a prior probability of 1e-9."""
        return float(self.scales(np.full((1, self.dimension), RESOLVED[self.family])).max())
