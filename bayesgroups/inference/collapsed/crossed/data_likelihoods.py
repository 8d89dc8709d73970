"""Likelihoods of counts and of estimates, as functions of the predictors of all subgroups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayesgroups.data.arrays import FloatArray


class Likelihood(Protocol):
    """Likelihood of the data of all parts."""

    def at(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log likelihoods (draw,) at predictors (draw, part, subgroup), up to a constant, and derivatives by them."""
        ...

    def precision(self, eta: FloatArray) -> FloatArray:
        """Second derivatives by single predictors without their sign, (draw, part, subgroup)."""
        ...


@dataclass(frozen=True)
class Counts:
    """``k`` successes of ``n`` trials, (part, subgroup), of which the predictor is the logit."""

    k: FloatArray
    n: FloatArray

    def at(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Likelihood`."""
        tail = np.exp(-np.abs(eta))
        both = self.k * eta - self.n * (np.maximum(eta, 0.0) + np.log1p(tail))
        rate = np.where(eta > 0, 1.0, tail) / (1 + tail)
        return both.sum(axis=(1, 2)), self.k - self.n * rate

    def precision(self, eta: FloatArray) -> FloatArray:
        """See `Likelihood`."""
        tail = np.exp(-np.abs(eta))
        return np.asarray(self.n * (tail / (1 + tail) ** 2))


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
        pull = gap @ self.inverse if self.inverse.ndim == 2 else gap * self.inverse
        return -0.5 * (gap * pull).sum(axis=(1, 2)), pull

    def precision(self, eta: FloatArray) -> FloatArray:
        """See `Likelihood`."""
        diagonal = np.diagonal(self.inverse) if self.inverse.ndim == 2 else self.inverse
        return np.broadcast_to(diagonal, eta.shape)
