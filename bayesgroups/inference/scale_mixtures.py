"""Priors of coefficients as mixtures of normal distributions, with a common scale tau and a local one for each coefficient.

    beta_j ~ Normal(0, s_j),   1 / s_j^2 = 1 / (tau local_j)^2 + 1 / slab^2

    horseshoe   local_j ~ half-t(local_df),          tau ~ half-Cauchy(tau_scale)
    laplace     local_j^2 ~ exponential with mean 2, tau ~ half-normal(tau_scale), no slab: beta_j ~ Laplace(0, tau)

Everything is in units of the metric's scale. A free scale is tau local_j, before the slab; its logarithm is what is sampled.
Where it can be integrated out, the trapezoid rule in that logarithm does it: all that is integrated is analytic in a strip
about the axis, so that the error falls as exp(-2 pi (pi / 4) / step), to 1e-6.

References
----------
Piironen and Vehtari (2017), doi:10.1214/17-EJS1337SI. Trefethen and Weideman (2014), "The exponentially convergent
trapezoidal rule", doi:10.1137/130932132.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray

Prior = Literal["horseshoe", "laplace"]

STEP = {"horseshoe": 0.35, "laplace": 0.2}
"""Step of the logarithm of a free scale; it is smaller where the density of local scales has a sharp edge."""
BEYOND = 40
"""Nodes on either side whose weights are added to the last one that is kept."""
FIRST_NODE, LAST_NODE = 0.01, 30.0
"""The first node in standard errors, and the last one in slabs: beyond them a scale makes no difference."""
LARGEST_TAU, LARGEST_LOCAL = 8.0, 9.5
"""Without a slab, what tau in its scales and a local scale do not exceed: each has a probability below 1e-14."""


@dataclass(frozen=True)
class CoefficientPrior:
    """Prior of the coefficients, in units of the metric's scale; the module states it.

    ``tau_scale`` is the scale of the global scale; the standard deviation ``slab`` and the degrees of freedom
    ``local_df`` of the local scales are those of the horseshoe.
    """

    tau_scale: float
    kind: Prior = "horseshoe"
    slab: float = 1.0
    local_df: float = 3.0

    @property
    def step(self) -> float:
        """Step of the quadrature over the logarithm of a free scale."""
        return STEP[self.kind]

    def log_tau(self, log_tau: FloatArray) -> FloatArray:
        """Log density of log tau, up to a constant."""
        ratio = log_tau - np.log(self.tau_scale)
        if self.kind == "laplace":
            return np.asarray(ratio - 0.5 * np.exp(2 * ratio))
        return np.asarray(ratio - np.logaddexp(0.0, 2 * ratio))

    def log_local(self, log_local: FloatArray) -> FloatArray:
        """Log density of the logarithm of a local scale, up to a constant."""
        if self.kind == "laplace":
            return np.asarray(2 * log_local - 0.5 * np.exp(2 * log_local))
        spread = np.logaddexp(0.0, 2 * log_local - np.log(self.local_df))
        return np.asarray(log_local - 0.5 * (self.local_df + 1) * spread)

    def draw_local(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Local scales drawn from their prior."""
        if self.kind == "laplace":
            return np.sqrt(rng.exponential(2.0, shape))
        return np.abs(rng.standard_t(self.local_df, shape))

    def variance(self, log_free: FloatArray) -> FloatArray:
        """Variances s^2 of coefficients, from logarithms of free scales.

        >>> CoefficientPrior(1.0, slab=2.0).variance(np.array([0.0, 20.0])).round(3).tolist()
        [0.8, 4.0]
        """
        if self.kind == "laplace":
            return np.asarray(np.exp(2 * log_free))
        return np.asarray(1 / (np.exp(-2 * log_free) + self.slab**-2))


@dataclass(frozen=True)
class Nodes:
    """Nodes of the quadrature over a free scale: logarithms ``log_free`` (node,), in equal steps."""

    prior: CoefficientPrior
    log_free: FloatArray

    def weights(self, log_tau: FloatArray) -> FloatArray:
        """Weights (..., node) that add up to 1, given logarithms of tau (...).

        >>> prior = CoefficientPrior(1.0, "laplace")
        >>> nodes = nodes_for(prior, 0.1)
        >>> round(float(nodes.weights(np.zeros(1))[0] @ prior.variance(nodes.log_free)), 5)  # mean of the squared scale
        2.0
        """
        outside = self.prior.step * np.arange(1, BEYOND + 1)
        every = np.concatenate([self.log_free[0] - outside[::-1], self.log_free, self.log_free[-1] + outside])
        weight = np.exp(self.prior.log_local(every - log_tau[..., None]))
        kept = weight[..., BEYOND:-BEYOND]
        kept[..., 0] += weight[..., :BEYOND].sum(axis=-1)
        kept[..., -1] += weight[..., -BEYOND:].sum(axis=-1)
        return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def nodes_for(prior: CoefficientPrior, error: float) -> Nodes:
    """Nodes for coefficients that are known with this standard error, or with a larger one."""
    last = LAST_NODE * prior.slab
    if prior.kind == "laplace":
        last = LARGEST_TAU * LARGEST_LOCAL * prior.tau_scale
    low, high = np.log(FIRST_NODE * error), np.log(last)
    return Nodes(prior, low + prior.step * np.arange(max(int(np.ceil((high - low) / prior.step)), 1) + 1))
