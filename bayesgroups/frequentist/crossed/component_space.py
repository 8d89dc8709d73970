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
    def without_shared(self) -> Self:
        """The components but the first, the level that all groups share."""

    @abstractmethod
    def solve(self, u: FloatArray, variances: FloatArray) -> S:
        """Matrices at variances for precisions ``u`` (group,), 0 where there are no data."""

    @abstractmethod
    def weigh(self, solved: S, x: FloatArray) -> FloatArray:
        """W x, (..., group)."""

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
        return centre + self.covary(variances, self.weigh(self.solve(u, variances), z - centre))

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
        row, weighted = self.weigh(solved, np.ones(len(u))), self.weigh(solved, z)
        total = row.sum()
        pz = weighted - row * (row @ z / total)
        value = solved.log_determinant + np.log(total) + z @ pz
        return float(value), self.traces(solved) - self.between(row, row) / total - self.between(pz, pz)

    def log_likelihood(self, z: FloatArray, u: FloatArray, variances: FloatArray) -> FloatArray:
        """Log restricted likelihood (...,)."""
        return self._levelled(self.solve(u, variances), z)[0]

    def posterior(self, z: FloatArray, u: FloatArray, variances: FloatArray) -> tuple[FloatArray, Posterior]:
        """Log restricted likelihood (...,) and the posterior (..., group), the overall mean integrated out."""
        solved = self.solve(u, variances)
        likelihood, row, weighted = self._levelled(solved, z)
        total = row.sum(axis=-1)[..., None]
        level = (row @ z)[..., None] / total
        mean = level + self.covary(variances, weighted - row * level)
        left = 1 - self.covary(variances, row)
        return likelihood, Posterior(mean, self.conditional_variance(solved, u) + left**2 / total)

    def _levelled(self, solved: S, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log restricted likelihood, W 1 and W z."""
        row, weighted = self.weigh(solved, np.ones(len(z))), self.weigh(solved, z)
        total = row.sum(axis=-1)
        distance = weighted @ z - (row @ z) ** 2 / total
        return np.asarray(-(solved.log_determinant + np.log(total) + distance) / 2), row, weighted

    def law(self, z: FloatArray, u: FloatArray, variances: FloatArray) -> tuple[FloatArray, Callable[[], Posterior]]:
        """Log restricted likelihood (point,) and the call for the posterior, which here costs nothing more."""
        likelihood, each = zip(*(self.posterior(z, u, point) for point in variances), strict=True)
        mixed = Posterior(*(np.array([getattr(law, name) for law in each]) for name in ("estimate", "variance")))
        return np.array(likelihood), lambda: mixed
