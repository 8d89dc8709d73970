"""Likelihoods of counts and of estimates, as functions of the predictors of all subgroups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayesgroups.data.arrays import FloatArray

MAX_LOGIT = 700.0
"""Logit beyond which its exponential is too large for a number."""
MAX_TWO_SIDED = 0.05
"""Share of subgroups with successes and failures up to which residual effects may be as large as can be."""


class Likelihood(Protocol):
    """Likelihood of the data of all parts."""

    def at(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log likelihoods (draw,) at predictors (draw, part, subgroup), up to a constant, and derivatives by them."""
        ...

    def slope(self, eta: FloatArray) -> FloatArray:
        """The derivatives alone."""
        ...

    def precision(self, eta: FloatArray) -> FloatArray:
        """Second derivatives by single predictors without their sign, (draw, part, subgroup)."""
        ...

    def sides(self, part: int) -> FloatArray | None:
        """Of every subgroup -1 or 1 if the likelihood rises forever on that side, else 0; None unless it does of nearly all."""
        ...


@dataclass(frozen=True)
class Counts:
    """``k`` successes of ``n`` trials, (part, subgroup), of which the predictor is the logit."""

    k: FloatArray
    n: FloatArray

    def at(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Likelihood`."""
        loss = np.abs(eta)
        np.negative(loss, out=loss)
        np.exp(loss, out=loss)
        np.log1p(loss, out=loss)
        loss += np.maximum(eta, 0.0)
        loss *= self.n
        return (self.k * eta - loss).sum(axis=(1, 2)), self.slope(eta)

    def slope(self, eta: FloatArray) -> FloatArray:
        """See `Likelihood`."""
        odds = np.negative(eta)
        np.minimum(odds, MAX_LOGIT, out=odds)
        np.exp(odds, out=odds)
        odds += 1
        rate = np.divide(self.n, odds, out=odds)
        return np.subtract(self.k, rate, out=rate)

    def precision(self, eta: FloatArray) -> FloatArray:
        """See `Likelihood`."""
        tail = np.exp(-np.abs(eta))
        return np.asarray(self.n * (tail / (1 + tail) ** 2))

    def sides(self, part: int) -> FloatArray | None:
        """See `Likelihood`."""
        k, n = self.k[part], self.n[part]
        side = np.where(n > 0, (k >= n) * 1.0 - (k <= 0), 0.0)
        seen = (n > 0).sum()
        return side if seen - np.count_nonzero(side) <= MAX_TWO_SIDED * seen else None


@dataclass(frozen=True)
class Estimates:
    """Normal estimates ``y`` (subgroup,) of one part, with the inverse of their covariance or, (subgroup,), its diagonal.

    Subgroups without an estimate have zeros there.
    """

    y: FloatArray
    inverse: FloatArray

    def at(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Likelihood`."""
        gap = self.y - eta
        pull = self.slope(eta)
        return -0.5 * (gap * pull).sum(axis=(1, 2)), pull

    def slope(self, eta: FloatArray) -> FloatArray:
        """See `Likelihood`."""
        gap = self.y - eta
        return gap @ self.inverse if self.inverse.ndim == 2 else gap * self.inverse

    def precision(self, eta: FloatArray) -> FloatArray:
        """See `Likelihood`."""
        diagonal = np.diagonal(self.inverse) if self.inverse.ndim == 2 else self.inverse
        return np.broadcast_to(diagonal, eta.shape)

    def sides(self, part: int) -> FloatArray | None:
        """See `Likelihood`."""
        return None
