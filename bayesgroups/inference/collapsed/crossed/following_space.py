"""Two crossed effects at once, where the second follows the first, integrated out in the space of the observations.

    eta_1g = overall_1 + sum over k of tau_1k effect_1k[cell_k(g)]                                    (rows 0 to G - 1)
    eta_2g = overall_2 + follow (eta_1g - overall_1) + x_g . beta + sum over k of tau_2k effect_2k[cell_k(g)]   (the rest)

The residual effect of a single subgroup is noise of known variance, which comes with that of the observations. Draws are made by
Matheron's rule, as in `bayesgroups.inference.collapsed.crossed.subgroup_space`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed.crossed import observed
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, indicator, inverted
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import patterns


@dataclass(frozen=True)
class FollowingPredictor:
    """Design of two linear predictors over the same subgroups.

    ``cells`` (component, subgroup) are those of the components that are learned; ``covariates`` (subgroup, column) those
    of the second predictor; scales are prior standard deviations of each ``overall`` (around 0) and of ``beta``.
    """

    cells: IntArray
    covariates: FloatArray
    overall_scale: float
    coefficient_scale: float


@dataclass(frozen=True)
class FollowingPrior:
    """Priors of both predictors' standard deviations, all learned, and a normal coefficient by which one follows the other.

    Draws are (draw, column): standard deviations of the first predictor, of the second, that coefficient, and 0 for a learned
    residual effect.
    """

    first: Prior
    second: Prior
    follow_mean: float
    follow_sd: float
    residual_sd: float = 0.0

    @property
    def dimension(self) -> int:
        """Number of standard normal numbers that a point takes."""
        return self.first.dimension + self.second.dimension + 1

    @property
    def largest(self) -> float:
        """A standard deviation that no component exceeds but with a probability of one in a billion."""
        return max(self.first.largest, self.second.largest)

    def scales(self, u: FloatArray) -> FloatArray:
        """Standard deviations and the coefficient from standard normal numbers (draw, dimension)."""
        leading, other = np.split(u[:, :-1], [self.first.dimension], axis=1)
        follow = self.follow_mean + self.follow_sd * u[:, -1]
        return np.column_stack([self.first.scales(leading), self.second.scales(other), follow, np.zeros(len(u))])

    def jacobian(self, u: FloatArray) -> FloatArray:
        """Derivatives of the columns at one point, (column, dimension), by differences."""
        step = 1e-4 * np.eye(self.dimension)
        return np.asarray((self.scales(u + step) - self.scales(u - step)).T / 2e-4, dtype=np.float64)


@dataclass(frozen=True)
class FollowingSpace:
    """See `bayesgroups.inference.collapsed.crossed.predictor.Space`; ``y`` and ``v`` have both predictors' rows in turn."""

    predictor: FollowingPredictor
    y: FloatArray
    v: FloatArray
    seen: NDArray[np.bool_] = field(init=False)
    agreement: FloatArray = field(init=False)
    """1 where the component agrees, (component, pattern)."""
    entry: IntArray = field(init=False)
    """Which number of a row of `_numbers` the covariance of two rows is, (row, row)."""
    fixed: FloatArray = field(init=False)
    """Covariance that no draw changes, (row, row)."""

    def __post_init__(self) -> None:
        subgroups = self.predictor.cells.shape[1]
        pattern, agreement = patterns(self.predictor.cells, np.ones(subgroups, dtype=np.bool_))
        number = agreement.shape[1]
        entry = np.block([[pattern, number + pattern], [number + pattern, 2 * number + pattern]])
        x = np.concatenate([np.zeros_like(self.predictor.covariates), self.predictor.covariates])
        same = np.kron(np.eye(2), np.ones((subgroups, subgroups)))
        fixed = self.predictor.overall_scale**2 * same + self.predictor.coefficient_scale**2 * (x @ x.T)
        object.__setattr__(self, "seen", np.isfinite(self.v))
        object.__setattr__(self, "agreement", agreement)
        object.__setattr__(self, "entry", entry)
        object.__setattr__(self, "fixed", fixed)

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log density of the data."""
        return observed.log_marginal(tau, self._covariance, self.y[self.seen], self.v[self.seen])

    def slope(self, tau: FloatArray) -> FloatArray:
        """Derivatives of the log density of the data by the columns of ``tau``, at one of them, (column,)."""
        inverse = inverted(self._covariance(tau[None])[0])
        weight = inverse @ self.y[self.seen]
        pull = np.outer(weight, weight) - inverse
        entry = self.entry[np.ix_(self.seen, self.seen)]
        summed = np.bincount(entry.ravel(), pull.ravel(), 3 * self.agreement.shape[1]).reshape(3, -1)
        within, between, second = summed @ self.agreement.T
        leading, other, follow = self._parts(tau[None])
        first, trailing, b = leading[0], other[0], float(follow[0, 0])
        by_link = 0.5 * (first**2 @ between) + b * (first**2 @ second)
        return np.concatenate([first * (within + b * between + b**2 * second), trailing * second, [by_link, 0.0]])

    def draw(self, tau: FloatArray, rng: np.random.Generator) -> Drawn:
        """Draw both predictors given the data, (draw, row); ``overall`` is (draw, predictor)."""
        predictor, seen, total = self.predictor, self.seen, len(tau)
        subgroups = predictor.cells.shape[1]
        leading, other, follow = self._parts(tau)
        overall = predictor.overall_scale * rng.standard_normal((total, 2))
        beta = predictor.coefficient_scale * rng.standard_normal((total, predictor.covariates.shape[1]))
        first, second = np.zeros((total, subgroups)), np.zeros((total, subgroups))
        for k, cells in enumerate(predictor.cells):
            size = int(cells.max()) + 1
            first += leading[:, k, None] * rng.standard_normal((total, size))[:, cells]
            second += other[:, k, None] * rng.standard_normal((total, size))[:, cells]
        shared = _laid_out(overall, first, follow, second + beta @ predictor.covariates.T)
        noise = np.sqrt(self.v[seen]) * rng.standard_normal((total, int(seen.sum())))
        weight = np.zeros_like(shared)
        weight[:, seen] = observed.solved(tau, self._covariance, self.y[seen] - shared[:, seen] - noise)
        below, above = weight[:, :subgroups], weight[:, subgroups:]
        overall += predictor.overall_scale**2 * np.stack([below.sum(axis=1), above.sum(axis=1)], axis=1)
        beta += predictor.coefficient_scale**2 * (above @ predictor.covariates)
        for k, cells in enumerate(predictor.cells):
            member = indicator(cells)
            first += (leading[:, k, None] ** 2 * ((below + follow * above) @ member))[:, cells]
            second += (other[:, k, None] ** 2 * (above @ member))[:, cells]
        return Drawn(_laid_out(overall, first, follow, second + beta @ predictor.covariates.T), np.copy, overall, beta)

    def moments(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of eta in every row."""
        full = self._numbers(tau[None])[0][self.entry] + self.fixed
        weight = np.linalg.solve(self._covariance(tau[None])[0], full[self.seen]).T
        return weight @ self.y[self.seen], np.diag(full) - (weight * full[:, self.seen]).sum(axis=1)

    def _parts(self, tau: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Standard deviations of both, (draw, component), and the coefficient, (draw, 1)."""
        number = len(self.predictor.cells)
        return tau[:, :number], tau[:, number : 2 * number], tau[:, 2 * number, None]

    def _numbers(self, tau: FloatArray) -> FloatArray:
        """Covariances within the first, between the two and within the second, by pattern, (draw, 3 patterns)."""
        leading, other, follow = self._parts(tau)
        within = leading**2 @ self.agreement
        return np.concatenate([within, follow * within, follow**2 * within + other**2 @ self.agreement], axis=1)

    def _covariance(self, tau: FloatArray) -> FloatArray:
        """Covariances of the observations, (draw, observed, observed)."""
        pick = np.ix_(self.seen, self.seen)
        matrices = self._numbers(tau).take(self.entry[pick], axis=1)
        matrices += self.fixed[pick]
        diagonal = np.arange(matrices.shape[1])
        matrices[:, diagonal, diagonal] += self.v[self.seen]
        covariance: FloatArray = matrices
        return covariance


def _laid_out(overall: FloatArray, first: FloatArray, follow: FloatArray, second: FloatArray) -> FloatArray:
    return np.concatenate([overall[:, :1] + first, overall[:, 1:] + follow * first + second], axis=1)
