"""Covariance of crossed effects in a form of its own, without matrices of all groups: what fits ask of any such form.

With K the covariance between groups and W = (K + diag(1/u))^-1, as in `bayesgroups.frequentist.crossed.precision`, a form answers
with products W x and K x and with sums over W; the risk, the likelihood and the posterior are the same expressions of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed.precision import noise


@dataclass(frozen=True)
class Posterior:
    """Normal law of every group: ``estimate`` and ``variance``, arrays (..., group)."""

    estimate: FloatArray
    variance: FloatArray


@dataclass(frozen=True)
class _Levelled:
    """Log restricted likelihood, W 1 and its sum, the generalised least-squares level, and W (z - level)."""

    log_likelihood: FloatArray
    row: FloatArray
    precision: FloatArray
    level: FloatArray
    pulled: FloatArray


class Solved(Protocol):
    """Matrices at some variances, with log det(I + K diag(u))."""

    @property
    def log_determinant(self) -> FloatArray:
        """Array (...)."""
        ...  # pragma: no cover


class ComponentSpace[S: Solved](ABC):
    """Components C_S of a covariance K = sum_S var_S C_S, the identity last.

    Variances are arrays (..., component) and what belongs to groups (..., group), where a form takes several points at once.
    """

    @abstractmethod
    def __len__(self) -> int:
        """Number of components."""

    @abstractmethod
    def matrices(self) -> FloatArray:
        """Matrices C_S, array (component, group, group)."""

    @abstractmethod
    def without_shared(self) -> Self:
        """The components but the first, the level that all groups share."""

    @abstractmethod
    def solve(self, u: FloatArray, variances: FloatArray) -> S:
        """Matrices at variances for precisions ``u`` (group,), 0 where there are no data."""

    @abstractmethod
    def weigh(self, solved: S, x: FloatArray) -> FloatArray:
        """W x, (..., group)."""

    def row_sums(self, solved: S, groups: int) -> FloatArray:
        """W 1, (..., group)."""
        return self.weigh(solved, np.ones(groups))

    def mean_precision(self, solved: S, row: FloatArray) -> FloatArray:
        """Precision 1' W 1 of the generalised least-squares mean, (...), from ``row`` W 1."""
        precision: FloatArray = row.sum(axis=-1)
        return precision

    @abstractmethod
    def covary(self, variances: FloatArray, x: FloatArray) -> FloatArray:
        """K x, (..., group)."""

    @abstractmethod
    def between(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Products p' C_S q for every component, (component,)."""

    @abstractmethod
    def traces(self, solved: S) -> FloatArray:
        """Traces tr(C_S W), (component,)."""

    @abstractmethod
    def noisy_traces(self, solved: S, v: FloatArray) -> tuple[float, FloatArray]:
        """Trace tr(W V) for V = diag(``v``), and tr(C_S W V W), (component,)."""

    @abstractmethod
    def conditional_variance(self, solved: S, u: FloatArray) -> FloatArray:
        """Diagonal of K - K W K, (..., group)."""

    @abstractmethod
    def information(self, u: FloatArray, variances: FloatArray) -> FloatArray:
        """Expected information on the variances, as in `marginal_likelihood.information`."""

    @abstractmethod
    def typical_noise(self, u: FloatArray) -> FloatArray:
        """Sampling variance of a typical cell of every component, as in `mixture.typical_noise`."""

    def posterior_mean(self, z: FloatArray, u: FloatArray, variances: FloatArray, *, centre: float) -> FloatArray:
        """Estimates (group,), as in `sure.posterior_mean`."""
        return self._drawn_from(z, u, variances, self.weigh(self.solve(u, variances), z - centre), centre)

    def risk(self, z: FloatArray, u: FloatArray, variances: FloatArray, *, centre: float) -> tuple[float, FloatArray]:
        """SURE and its gradient, as in `sure.risk`."""
        solved, v = self.solve(u, variances), noise(u)
        q = self.weigh(solved, z - centre)
        back = self.weigh(solved, v * q)
        diagonal, traces = self.noisy_traces(solved, v)
        value = len(u) + (v * q) @ q - 2 * (diagonal + np.count_nonzero(u == 0))
        return float(value), 2 * (traces - self.between(back, q))

    def deviance(self, z: FloatArray, u: FloatArray, variances: FloatArray) -> tuple[float, FloatArray]:
        """-2 log restricted likelihood and its gradient, as in `marginal_likelihood.deviance`."""
        solved = self.solve(u, variances)
        levelled = self._levelled(solved, z)
        row, pz = levelled.row, levelled.pulled
        gradient = self.traces(solved) - self.between(row, row) / levelled.precision - self.between(pz, pz)
        return -2 * float(levelled.log_likelihood), gradient

    def posterior(self, z: FloatArray, u: FloatArray, variances: FloatArray) -> tuple[FloatArray, Posterior]:
        """Log restricted likelihood (...,) and the posterior (..., group), the overall mean integrated out."""
        solved = self.solve(u, variances)
        levelled = self._levelled(solved, z)
        mean = self._drawn_from(z, u, variances, levelled.pulled, levelled.level[..., None])
        left = 1 - self._drawn_from(np.ones(len(z)), u, variances, levelled.row, 0.0)
        spread = self.conditional_variance(solved, u) + left**2 / levelled.precision[..., None]
        return levelled.log_likelihood, Posterior(mean, spread)

    def _drawn_from(
        self, z: FloatArray, u: FloatArray, variances: FloatArray, pulled: FloatArray, centre: FloatArray | float
    ) -> FloatArray:
        """Posterior means centre + K W (z - centre) from W (z - centre), which are z - v W (z - centre) where there are data."""
        mean: FloatArray = z - noise(u) * pulled
        if (u == 0).any():
            mean[..., u == 0] = (centre + self.covary(variances, pulled))[..., u == 0]
        return mean

    def _levelled(self, solved: S, z: FloatArray) -> _Levelled:
        """The overall mean by generalised least squares, and what it leaves."""
        row = self.row_sums(solved, len(z))
        precision = self.mean_precision(solved, row)
        level = row @ z / precision
        left = z - level[..., None]
        pulled = self.weigh(solved, left)
        deviance = solved.log_determinant + np.log(precision) + (left * pulled).sum(axis=-1)
        return _Levelled(-deviance / 2, row, precision, level, pulled)

    def law(self, z: FloatArray, u: FloatArray, variances: FloatArray) -> tuple[FloatArray, Callable[[], Posterior]]:
        """Log restricted likelihood (point,) and the call for the posterior, which here costs nothing more."""
        likelihood, each = zip(*(self.posterior(z, u, point) for point in variances), strict=True)
        mixed = Posterior(*(np.array([getattr(law, name) for law in each]) for name in ("estimate", "variance")))
        return np.array(likelihood), lambda: mixed
