"""Components of many groups by their effects: no matrix has a row for every group.

    K = Z D Z' + k I,   W = (K + diag(1/u))^-1 = B - B Z E Z' B,   B = diag(u / (1 + k u)),   E = (D^-1 + Z' B Z)^-1

where Z (group, effect) is 1 where a group lies in a cell of a component other than the identity, D has the variance of the
component of every effect and k that of the identity (Woodbury). All that fits ask of W are sums over groups and matrices
(effect, effect), so that 20,000 groups of four attributes need matrices of some fifty effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.frequentist.crossed.component_space import ComponentSpace
from bayesgroups.frequentist.crossed.families import Family


@dataclass(frozen=True)
class EffectMatrices:
    """Matrices at some variances: ``b`` (group,), ``gram`` Z' B Z and ``e`` E (effect, effect), and log det(I + K diag(u))."""

    identity: float
    b: FloatArray
    gram: FloatArray
    e: FloatArray
    log_determinant: FloatArray


@dataclass(frozen=True)
class EffectSpace(ComponentSpace[EffectMatrices]):
    """Components of a family without their matrices; ``effects`` (component, group) numbers the effects of all but the identity.

    >>> from bayesgroups.frequentist.crossed.families import family
    >>> components = family([[0, 0], [0, 1], [1, 0], [1, 1]], ["race", "sex"])
    >>> space = EffectSpace.of(components)
    >>> len(space), space.effects.tolist()
    (4, [[0, 0, 0, 0], [1, 1, 2, 2], [3, 4, 3, 4]])
    >>> dense = np.tensordot([1.0, 0.5, 0.2, 0.1], components.agreement(), 1)
    >>> w = np.linalg.inv(dense + np.diag([1.0, 0.5, 2.0, 1.0]))
    >>> solved = space.solve(np.array([1.0, 2.0, 0.5, 1.0]), np.array([1.0, 0.5, 0.2, 0.1]))
    >>> np.allclose(space.weigh(solved, np.arange(4.0)), w @ np.arange(4.0))
    True
    """

    effects: IntArray

    @classmethod
    def of(cls, family: Family) -> EffectSpace:
        """Effects of a family, whose last component is the identity."""
        cells = family.cells[:-1]
        first = np.concatenate([[0], np.cumsum(cells.max(axis=1) + 1)[:-1]]).astype(np.int64)
        return cls(cells + first[:, None])

    def __len__(self) -> int:
        return len(self.effects) + 1

    def matrices(self) -> FloatArray:
        """Matrices C_S, array (component, group, group)."""
        same = (self.effects[:, :, None] == self.effects[:, None, :]).astype(np.float64)
        return np.concatenate([same, np.eye(self.effects.shape[1])[None]])

    def without_shared(self) -> EffectSpace:
        """The components but the first, the level that all groups share."""
        return EffectSpace(self.effects[1:] - int(self.effects[0].max()) - 1)

    @cached_property
    def number(self) -> int:
        """Number of effects."""
        return int(self.effects.max(initial=-1)) + 1

    @cached_property
    def component(self) -> IntArray:
        """Component (effect,) of every effect."""
        component = np.empty(self.number, dtype=np.int64)
        component[self.effects] = np.arange(len(self.effects))[:, None]
        return component

    @cached_property
    def pairs(self) -> IntArray:
        """Pairs of effects (component, component, group) that meet in a group, as places in a matrix (effect, effect)."""
        pairs: IntArray = self.effects[:, None] * self.number + self.effects[None]
        return pairs

    def cross(self, weights: FloatArray) -> FloatArray:
        """Z' diag(weights) Z, (effect, effect)."""
        wide = np.broadcast_to(weights, self.pairs.shape).ravel()
        return np.bincount(self.pairs.ravel(), wide, self.number**2).reshape(self.number, self.number)

    def sums(self, x: FloatArray) -> FloatArray:
        """Z' x, the sums (effect,) of a vector of groups."""
        return np.bincount(self.effects.ravel(), np.broadcast_to(x, self.effects.shape).ravel(), self.number)

    def spread(self, x: FloatArray) -> FloatArray:
        """Z x, the sums (group,) of a vector of effects."""
        values: FloatArray = x[self.effects].sum(axis=0)
        return values

    def by_component(self, x: FloatArray) -> FloatArray:
        """Sums over the effects of a component, (component,) without the identity."""
        return np.bincount(self.component, x, len(self.effects))

    def solve(self, u: FloatArray, variances: FloatArray) -> EffectMatrices:
        """Matrices at variances (component,) for precisions ``u`` (group,), 0 where there are no data."""
        identity = float(variances[-1])
        b = u / (1 + identity * u)
        gram = self.cross(b)
        root = np.sqrt(variances[:-1])[self.component]
        factor = np.linalg.cholesky(np.eye(self.number) + root[:, None] * gram * root)
        half = np.linalg.solve(factor, np.diag(root))
        log_determinant = np.log1p(identity * u).sum() + 2 * np.log(np.diagonal(factor)).sum()
        return EffectMatrices(identity, b, gram, half.T @ half, log_determinant)

    def weigh(self, solved: EffectMatrices, x: FloatArray) -> FloatArray:
        """W x, (group,)."""
        weighted = solved.b * x
        return weighted - solved.b * self.spread(solved.e @ self.sums(weighted))

    def covary(self, variances: FloatArray, x: FloatArray) -> FloatArray:
        """K x, (group,)."""
        spread: FloatArray = variances[-1] * x + self.spread(variances[:-1][self.component] * self.sums(x))
        return spread

    def between(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Products p' C_S q for every component, (component,)."""
        products: FloatArray = np.append(self.by_component(self.sums(p) * self.sums(q)), p @ q)
        return products

    def conditional_variance(self, solved: EffectMatrices, u: FloatArray) -> FloatArray:
        """Diagonal of K - K W K, (group,)."""
        left = 1 / (1 + solved.identity * u)
        effects: FloatArray = solved.e.ravel()[self.pairs].sum(axis=(0, 1))
        return solved.identity * left + left**2 * effects

    def traces(self, solved: EffectMatrices) -> FloatArray:
        """Traces tr(C_S W), (component,)."""
        gram, e = solved.gram, solved.e
        by_effect = np.diagonal(gram) - np.einsum("ij,ij->j", gram, e @ gram)
        return np.append(self.by_component(by_effect), solved.b.sum() - np.vdot(e, self.cross(solved.b**2)))

    def noisy_traces(self, solved: EffectMatrices, v: FloatArray) -> tuple[float, FloatArray]:
        """Trace tr(W V), and tr(C_S W V W), (component,)."""
        b, e = solved.b, solved.e
        noisy = self.cross(v * b**2)
        left = np.eye(self.number) - e @ solved.gram
        spread = self.by_component(np.einsum("ij,ij->j", left, noisy @ left))
        residual = v @ b**2 - 2 * np.vdot(e, self.cross(v * b**3)) + np.vdot(e @ noisy, self.cross(b**2) @ e)
        return float(v @ b - np.vdot(e, noisy)), np.append(spread, residual)

    def information(self, u: FloatArray, variances: FloatArray) -> FloatArray:
        """Expected information on the variances, as in `marginal_likelihood.information`."""
        solved = self.solve(u, variances)
        b, gram, e = solved.b, solved.gram, solved.e
        row = self.weigh(solved, np.ones(len(u)))
        total = row.sum()
        squares, left = self.cross(b**2), np.eye(self.number) - e @ gram
        traces = np.empty((len(self), len(self)))
        within = (gram @ left) ** 2
        member = np.eye(len(self.effects))[self.component]
        traces[:-1, :-1] = member.T @ within @ member
        traces[-1, :-1] = traces[:-1, -1] = self.by_component(np.einsum("ij,ij->j", left, squares @ left))
        inner = e @ squares
        traces[-1, -1] = (b**2).sum() - 2 * np.vdot(e, self.cross(b**3)) + np.vdot(inner, inner.T)
        reach = [self.spread(np.where(self.component == place, self.sums(row), 0.0)) for place in range(len(self) - 1)]
        reach.append(row)
        pulls = np.array([[self.weigh(solved, first) @ second for second in reach] for first in reach])
        along = np.array([row @ each for each in reach])
        matrix: FloatArray = (traces - 2 * pulls / total + np.outer(along, along) / total**2) / 2
        return matrix

    def typical_noise(self, u: FloatArray) -> FloatArray:
        """Sampling variance of a typical cell of every component, as in `mixture.typical_noise`."""
        totals, cells = self.sums(u), np.append(self.component, np.full(len(u), len(self.effects)))
        precisions = np.append(totals, u)
        some = precisions > 0
        logs = np.bincount(cells[some], np.log(precisions[some]), len(self))
        typical: FloatArray = np.exp(-logs / np.bincount(cells[some], minlength=len(self)))
        return typical
