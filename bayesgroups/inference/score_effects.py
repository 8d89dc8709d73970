"""Mean scores of subgroups and outcomes given their variances: a normal hierarchy, integrated out exactly.

    ybar[y, g] ~ Normal(m[y, g], 1 / r[y, g])
    m[y, g] = x[y, g] . theta + b[g] + h[y] e[g],      h = (-1/2, 1/2)
    theta_j ~ Normal(0, scale of its component),       b[g], e[g] ~ Normal(0, scales of the last two components)

``b`` and ``e`` are integrated out subgroup by subgroup, ``theta`` by one Cholesky factor of its size. Columns are few functions
of the subgroup, each common to both outcomes or differing between them, so that sums over subgroups are needed of their
products only (`Basis`). Gradients with respect to the logarithms of the scales come from Fisher's identity: the expected score
of the complete data. Everything is done for all chains at once, along the first axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs
from scipy.sparse import csr_array

from bayesgroups.data.arrays import FloatArray, IntArray

(_inverse,) = get_lapack_funcs(("trtri",), dtype=np.float64)
CONTRAST = np.array([-0.5, 0.5])
"""How the difference between outcomes enters the mean of each."""


@dataclass(frozen=True)
class Basis:
    """Columns of a design by functions of the subgroup: what is common to outcomes, and what differs between them.

    ``function`` (subgroup, function); ``turn`` (2 function, column) are the coefficients of functions that are common, then
    of those that differ, in every column; ``products`` (pair, subgroup) are those of every two of them that are not 0
    everywhere, each pair once, and ``pair`` (function, function) says which, one beyond the last where there is none.
    """

    function: FloatArray
    turn: FloatArray
    products: Any
    pair: IntArray

    @cached_property
    def _by_subgroup(self) -> Any:
        return csr_array(self.products.T)

    def gram(self, weights: FloatArray) -> FloatArray:
        """Sums over subgroups of products of functions (weight, chain, function, function), weighted (weight, chain, subgroup)."""
        flat = np.ascontiguousarray(weights.reshape(-1, weights.shape[-1]).T)
        sums = np.zeros((self.products.shape[0] + 1, flat.shape[1]))
        sums[:-1] = self.products @ flat
        return np.ascontiguousarray(sums[self.pair].transpose(2, 0, 1)).reshape(*weights.shape[:2], *self.pair.shape)

    def turned(self, forms: FloatArray) -> FloatArray:
        """Quadratic forms (chain, column, column) of the coefficients, from those of the functions.

        ``forms`` (3, chain, function, function): of common ones, of common with differing ones, and of differing ones.
        """
        _, chains, size, _ = forms.shape
        both = np.empty((chains, 2 * size, 2 * size))
        both[:, :size, :size], both[:, size:, size:] = forms[0], forms[2]
        both[:, :size, size:] = both[:, size:, :size] = forms[1]
        return np.asarray(self.turn.T @ both @ self.turn)

    def spread(self, covariance: FloatArray) -> FloatArray:
        """Variances and covariance (3, chain, subgroup) of the common and the differing linear part.

        ``covariance`` (chain, 2 function, 2 function) is that of the coefficients; first of the common part, then of both, last of
        the differing one.
        """
        size = self.function.shape[1]
        first, second = np.nonzero(np.triu(self.pair < self.products.shape[0]))
        blocks = covariance[:, :size, :size], covariance[:, :size, size:], covariance[:, size:, size:]
        every = np.stack([block[:, first, second] + block[:, second, first] for block in blocks])
        every[..., first == second] *= 0.5
        by_pair = np.ascontiguousarray(every.reshape(-1, len(first)).T)
        return np.ascontiguousarray((self._by_subgroup @ by_pair).T).reshape(3, len(covariance), -1)


@dataclass(frozen=True)
class Design:
    """Columns of the linear part, ``x`` (subgroup, outcome, column).

    ``owner`` (column,) is the component whose scale a column has, -1 for a scale of ``fixed`` (column,); two more than
    ``components`` belong to the effects of the subgroups.
    """

    x: FloatArray
    owner: NDArray[np.int64]
    fixed: FloatArray
    components: int

    @cached_property
    def member(self) -> FloatArray:
        """Columns of each component, as a 0/1 matrix (column, component)."""
        return np.asarray(self.owner[:, None] == np.arange(self.components), dtype=np.float64)

    @cached_property
    def basis(self) -> Basis:
        """The columns by functions of the subgroup; those that are multiples of each other are one.

        >>> x = np.ones((3, 2, 1)) * np.array([0.0, 1.0, 1.0])[:, None, None]
        >>> both = np.concatenate([x, x * CONTRAST[:, None]], axis=2)
        >>> basis = Design(both, np.array([-1, -1]), np.ones(2), 0).basis
        >>> basis.function.T.tolist(), basis.turn.tolist()
        ([[0.0, 1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
        """
        subgroups, outcomes, columns = self.x.shape
        every = self.x.transpose(1, 2, 0).reshape(-1, subgroups)
        largest = np.abs(every).argmax(axis=1)
        size = every[np.arange(len(every)), largest]
        some = size != 0
        function, which = np.unique(every[some] / size[some, None], axis=0, return_inverse=True)
        by_outcome = np.zeros((len(function), outcomes * columns))
        by_outcome[which.ravel(), np.flatnonzero(some)] = size[some]
        low, high = by_outcome.reshape(-1, outcomes, columns).swapaxes(0, 1)
        first, second = np.triu_indices(len(function))
        together = np.array(
            [(function[i] * function[j] != 0).any() for i, j in zip(first, second, strict=True)], dtype=bool
        )
        first, second = first[together], second[together]
        pair = np.full((len(function), len(function)), len(first))
        pair[first, second] = pair[second, first] = np.arange(len(first))
        products = csr_array(function[first] * function[second])
        return Basis(function.T, np.concatenate([(low + high) / 2, high - low]), products, pair)


@dataclass(frozen=True)
class Aside:
    """Normal log likelihood of the coefficients from data other than the means of cells.

    ``precision`` (chain, column, column), and precision times mean, ``pull`` (chain, column).
    """

    precision: FloatArray
    pull: FloatArray


@dataclass(frozen=True)
class Cells:
    """Means (chain or 1, subgroup, outcome), anything finite where there is none, and precisions, 0 there (chain, ..).

    All but these two are parts of what does not depend on scales: ``total`` and ``product`` of the precisions of both outcomes,
    half their difference ``cross``, and the log likelihood (chain,) of the observed means if all were 0, ``worth``.
    """

    mean: FloatArray
    precision: FloatArray
    total: FloatArray
    product: FloatArray
    cross: FloatArray
    worth: FloatArray

    @classmethod
    def of(cls, mean: FloatArray, precision: FloatArray) -> Cells:
        """From means and precisions."""
        low, high = (np.ascontiguousarray(precision[..., outcome]) for outcome in range(2))
        log_precision = np.log(np.where(precision > 0, precision, 1.0)).sum(axis=(1, 2))
        worth = 0.5 * (log_precision - (precision * mean**2).sum(axis=(1, 2)))
        return cls(mean, precision, low + high, low * high, 0.5 * (high - low), worth)

    def moments(self, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Precision times means (chain, subgroup), summed over outcomes, and half their difference."""
        low, high = self.precision[..., 0] * mean[..., 0], self.precision[..., 1] * mean[..., 1]
        return low + high, 0.5 * (high - low)


@dataclass(frozen=True)
class _Effects:
    """Effects of subgroups given their variances: what cells say of them, and of the linear part without them.

    With S the variances of both effects (chain, 1) and L the precisions that cells have for them, ``weight`` (3, chain, subgroup)
    has the entries 11, 12 and 22 of (S + 1/L)^-1, and ``determinant`` (chain, subgroup) is that of I + S L. No sum cancels
    but the difference of two precisions.
    """

    cells: Cells
    common: FloatArray
    differing: FloatArray
    weight: FloatArray
    determinant: FloatArray

    @classmethod
    def of(cls, sigma: FloatArray, cells: Cells) -> _Effects:
        """From standard deviations (chain, 2)."""
        common, differing = sigma[:, :1] ** 2, sigma[:, 1:] ** 2
        weight = np.empty((3, *cells.total.shape))
        weight[0], weight[1], weight[2] = cells.total, cells.cross, 0.25 * cells.total + common * cells.product
        determinant = 1 + common * cells.total + differing * weight[2]
        weight[0] += differing * cells.product
        weight /= determinant
        return cls(cells, common, differing, weight, determinant)

    def pulls(self, mean: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pulls of means (chain, subgroup, outcome) on both effects: (S + 1/L)^-1 times the effects that fit them.

        Third how much of the squares of means effects explain (chain,).
        """
        first, second = self.cells.moments(mean)
        quarter, cross = 0.25 * self.differing, self.cells.cross
        on_common = (1 + quarter * self.cells.total) * first
        on_common -= self.differing * (cross * second)
        on_common /= self.determinant
        on_differing = (1 + self.common * self.cells.total) * second
        on_differing -= self.common * (cross * first)
        on_differing /= self.determinant
        explained = self.common[:, 0] * np.vecdot(first, on_common) + self.differing[:, 0] * np.vecdot(
            second, on_differing
        )
        return on_common, on_differing, explained


@dataclass(frozen=True)
class Solved:
    """The law of the effects given scales, and the marginal likelihood of the scales.

    ``value`` (chain,) is the log likelihood; ``inner`` (chain, column, column) and ``along`` (chain, column) are precision of the
    coefficients, and precision times mean, that data have for them; `law` of these is the law of the coefficients.
    """

    design: Design
    value: FloatArray
    effects: _Effects
    pulls: tuple[FloatArray, FloatArray]
    inner: FloatArray
    along: FloatArray
    law: Law

    @cached_property
    def gradient(self) -> FloatArray:
        """Derivatives (chain, component) of the log likelihood with respect to log scales."""
        basis, scale, law, effects = self.design.basis, self.law.scale, self.law, self.effects
        w11, w12, w22 = effects.weight
        excess = law.centre**2 + np.diagonal(law.covariance, axis1=1, axis2=2) - 1.0
        theta = (scale * law.centre) @ basis.turn.T
        functions = basis.function.shape[1]
        fitted, contrast = theta[:, :functions] @ basis.function.T, theta[:, functions:] @ basis.function.T
        covariance = basis.turn @ (scale[:, :, None] * law.covariance * scale[:, None, :]) @ basis.turn.T
        of_common, across_both, of_differing = basis.spread(covariance)
        gradients = [excess @ self.design.member]
        for variance, pull, along, across, near, far in (
            (effects.common, self.pulls[0] - w11 * fitted - w12 * contrast, w11, w12, of_common, of_differing),
            (effects.differing, self.pulls[1] - w12 * fitted - w22 * contrast, w22, w12, of_differing, of_common),
        ):
            # w' C w of both parts, with w the row of weights of this effect.
            squares = pull**2 + along * (along * near + 2 * across * across_both - 1.0) + across**2 * far
            gradients.append(variance * squares.sum(axis=1)[:, None])
        return np.concatenate(gradients, axis=1)


@dataclass(frozen=True)
class Law:
    """Normal law of coefficients in units of their ``scale`` (chain, column), given data and scales.

    ``centre`` (chain, column), and the inverse of the Cholesky ``factor`` of its precision (chain, column, column).
    """

    scale: FloatArray
    centre: FloatArray
    factor: FloatArray
    value: FloatArray

    @classmethod
    def of(cls, design: Design, log_scale: FloatArray, inner: FloatArray, along: FloatArray) -> Law:
        """From the scales, and what data say: see `Solved`."""
        sigma, size = np.exp(log_scale), len(design.owner)
        scale = np.where(design.owner >= 0, sigma[:, np.maximum(design.owner, 0)], design.fixed)
        precise = scale[:, :, None] * inner * scale[:, None, :]
        precise[:, np.arange(size), np.arange(size)] += 1.0
        factor = np.linalg.cholesky(precise)
        # Transposed, since LAPACK counts columns first: no matrix is copied into another order.
        inverse = np.stack([_inverse(part.T, lower=0)[0].T for part in factor])
        half = (inverse @ (scale * along)[..., None])[..., 0]
        value = 0.5 * (half**2).sum(axis=1) - np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        return cls(scale, (half[:, None] @ inverse)[:, 0], inverse, value)

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariances (chain, column, column)."""
        return np.asarray(np.swapaxes(self.factor, 1, 2) @ self.factor)

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """A draw of the coefficients (chain, column)."""
        noise = rng.standard_normal((*self.centre.shape, 1))
        return np.asarray(self.scale * (self.centre + (np.swapaxes(self.factor, 1, 2) @ noise)[..., 0]))


def solve(design: Design, log_scale: FloatArray, cells: Cells, aside: Aside | None = None) -> Solved:
    """Posterior with the effects integrated out.

    Scales (chain, component) are those of the components of columns, of common and of differing effects of subgroups; ``aside``
    is what rows within cells say of the coefficients.
    """
    basis = design.basis
    effects = _Effects.of(np.exp(log_scale[:, -2:]), cells)
    on_common, on_differing, explained = effects.pulls(cells.mean)
    inner = basis.turned(basis.gram(effects.weight))
    along = np.concatenate([on_common @ basis.function, on_differing @ basis.function], axis=1) @ basis.turn
    if aside is not None:
        inner, along = inner + aside.precision, along + aside.pull
    law = Law.of(design, log_scale, inner, along)
    value = cells.worth + 0.5 * (explained - np.log(effects.determinant).sum(axis=1)) + law.value
    return Solved(design, value, effects, (on_common, on_differing), inner, along, law)


def draw(
    design: Design, solved: Solved, log_scale: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws of the means m (chain, subgroup, outcome) and the coefficients theta (chain, column) given the scales; see `solve`."""
    cells, theta = solved.effects.cells, solved.law.draw(rng)
    chains, size = theta.shape
    linear = (design.x.reshape(-1, size) @ theta[..., None]).reshape(chains, *design.x.shape[:2])
    sigma = np.exp(log_scale[:, -2:])
    # Matheron's rule: a draw from the prior, corrected by what the data say of it.
    residual = sigma[:, None, :] * rng.standard_normal((chains, design.x.shape[0], 2))
    basis = np.stack([np.ones(2), CONTRAST], axis=1)  # (outcome, effect)
    some = cells.precision > 0
    error = np.where(some, rng.standard_normal(some.shape) / np.sqrt(np.where(some, cells.precision, 1.0)), 0.0)
    gap = cells.mean - linear - residual @ basis.T - error
    effects = residual + sigma[:, None, :] ** 2 * np.stack(solved.effects.pulls(gap)[:2], axis=-1)
    return linear + effects @ basis.T, theta
