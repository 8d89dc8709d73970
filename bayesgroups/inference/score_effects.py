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
from scipy.sparse import csr_array

from bayesgroups.data.arrays import FloatArray

CONTRAST = np.array([-0.5, 0.5])
"""How the difference between outcomes enters the mean of each."""


@dataclass(frozen=True)
class Basis:
    """Columns of a design by functions of the subgroup: what is common to outcomes, and what differs between them.

    ``function`` (subgroup, function); ``turn`` (2 function, column) are the coefficients of functions that are common, then
    of those that differ, in every column; ``products`` (function squared, subgroup) are those of every two of them, mostly 0.
    """

    function: FloatArray
    turn: FloatArray
    products: Any

    def gram(self, weights: FloatArray) -> FloatArray:
        """Sums over subgroups of products of functions (chain, weight, function, function), weighted (chain, weight, subgroup)."""
        size = self.function.shape[1]
        sums = self.products @ weights.reshape(-1, weights.shape[-1]).T
        return np.asarray(sums.T.reshape(*weights.shape[:2], size, size))

    def turned(self, forms: FloatArray) -> FloatArray:
        """Quadratic forms (chain, column, column) of the coefficients, from those of the functions.

        ``forms`` (3, chain, function, function): of common ones, of common with differing ones, and of differing ones.
        """
        _, chains, size, _ = forms.shape
        both = np.empty((chains, 2 * size, 2 * size))
        both[:, :size, :size], both[:, size:, size:] = forms[0], forms[2]
        both[:, :size, size:] = both[:, size:, :size] = forms[1]
        return np.asarray(self.turn.T @ both @ self.turn)

    def against(self, forms: FloatArray, covariance: FloatArray) -> FloatArray:
        """Traces (chain,) of the forms, as in `turned`, times covariances (chain, 2 function, 2 function)."""
        size = self.function.shape[1]
        common, cross, differing = covariance[:, :size, :size], covariance[:, :size, size:], covariance[:, size:, size:]
        return np.asarray((forms[0] * common + 2 * forms[1] * cross + forms[2] * differing).sum(axis=(1, 2)))


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
        products = (function[:, None] * function[None]).reshape(-1, subgroups)
        return Basis(function.T, np.concatenate([(low + high) / 2, high - low]), csr_array(products))


@dataclass(frozen=True)
class Solved:
    """The law of the effects given scales, and the marginal likelihood of the scales.

    ``value`` (chain,) and ``gradient`` (chain, component) of the log likelihood with respect to log scales; the rest serves
    `draw`.
    """

    value: FloatArray
    gradient: FloatArray
    effects: _Effects
    scale: FloatArray
    centre: FloatArray
    factor: FloatArray


@dataclass(frozen=True)
class Aside:
    """Normal log likelihood of the coefficients from data other than the means of cells.

    ``precision`` (chain, column, column), and precision times mean, ``pull`` (chain, column).
    """

    precision: FloatArray
    pull: FloatArray


@dataclass(frozen=True)
class _Effects:
    """Effects of subgroups given their variances: what cells say of them, and of the linear part without them.

    With S the variances of both effects (chain, 1) and L the precisions that cells have for them, ``weight`` (chain, 3, subgroup)
    has the entries 11, 12 and 22 of (S + 1/L)^-1, and ``determinant`` (chain, subgroup) is that of I + S L. No sum cancels
    but the difference of two precisions.
    """

    common: FloatArray
    differing: FloatArray
    low: FloatArray
    high: FloatArray
    weight: FloatArray
    determinant: FloatArray

    @classmethod
    def of(cls, sigma: FloatArray, precision: FloatArray) -> _Effects:
        """From standard deviations (chain, 2) and precisions (chain, subgroup, outcome), 0 for empty cells."""
        common, differing = sigma[:, :1] ** 2, sigma[:, 1:] ** 2
        low, high = precision[..., 0], precision[..., 1]
        total, product = low + high, low * high
        determinant = 1 + common * total + differing * (0.25 * total + common * product)
        weight = np.stack([total + differing * product, 0.5 * (high - low), 0.25 * total + common * product], axis=1)
        return cls(common, differing, low, high, weight / determinant[:, None], determinant)

    def pulls(self, mean: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pulls of means (chain, subgroup, outcome) on both effects: (S + 1/L)^-1 times the effects that fit them.

        Third what they cost, the sum of squared standardised residuals (chain,).
        """
        low, high = self.low * mean[..., 0], self.high * mean[..., 1]
        first, second = low + high, 0.5 * (high - low)
        cross, total = 0.5 * (self.high - self.low), self.low + self.high
        on_common = ((1 + 0.25 * self.differing * total) * first - self.differing * cross * second) / self.determinant
        on_differing = ((1 + self.common * total) * second - self.common * cross * first) / self.determinant
        explained = self.common * first * on_common + self.differing * second * on_differing
        cost = low * mean[..., 0] + high * mean[..., 1] - explained
        return on_common, on_differing, cost.sum(axis=1)


def solve(
    design: Design, log_scale: FloatArray, mean: FloatArray, precision: FloatArray, aside: Aside | None = None
) -> Solved:
    """Posterior with the effects integrated out.

    Scales (chain, component) are those of the components of columns, of common and of differing effects of subgroups.
    Means (chain or 1, subgroup, outcome) are anything finite, and their precisions 0, where there is none; ``aside`` is
    what rows within cells say of the coefficients.
    """
    basis, sigma = design.basis, np.exp(log_scale)
    effects = _Effects.of(sigma[:, -2:], precision)
    on_common, on_differing, cost = effects.pulls(mean)
    w11, w12, w22 = effects.weight.swapaxes(0, 1)
    squares = np.stack([w11 * w11, w11 * w12, w12 * w12, w12 * w22, w22 * w22], axis=1)
    sums = basis.gram(np.concatenate([effects.weight, squares], axis=1)).swapaxes(0, 1)
    scale = np.where(design.owner >= 0, sigma[:, np.maximum(design.owner, 0)], design.fixed)
    inner = basis.turned(sums[:3])
    along = np.concatenate([on_common @ basis.function, on_differing @ basis.function], axis=1) @ basis.turn
    if aside is not None:
        inner, along = inner + aside.precision, along + aside.pull
    size = len(design.owner)
    precise = scale[:, :, None] * inner * scale[:, None, :]
    precise[:, np.arange(size), np.arange(size)] += 1.0
    right = scale * along
    factor = np.linalg.cholesky(precise)
    inverse = np.linalg.inv(factor)
    covariance = np.swapaxes(inverse, 1, 2) @ inverse
    centre = (covariance @ right[..., None])[..., 0]
    log_precision = np.log(np.where(precision > 0, precision, 1.0)).sum(axis=(1, 2))
    log_det = log_precision - np.log(effects.determinant).sum(axis=1)
    value = 0.5 * (log_det - cost + (right * centre).sum(axis=1))
    value = value - np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    excess = centre**2 + np.diagonal(covariance, axis1=1, axis2=2) - 1.0
    theta = (scale * centre) @ basis.turn.T
    functions = basis.function.shape[1]
    fitted, contrast = theta[:, :functions] @ basis.function.T, theta[:, functions:] @ basis.function.T
    covariance = basis.turn @ (scale[:, :, None] * covariance * scale[:, None, :]) @ basis.turn.T
    left = on_common - w11 * fitted - w12 * contrast, on_differing - w12 * fitted - w22 * contrast
    gradients = [excess @ design.member]
    for variance, pull, lost, forms in (
        (effects.common, left[0], w11, sums[3:6]),
        (effects.differing, left[1], w22, sums[5:8]),
    ):
        alone = (pull**2 - lost).sum(axis=1)
        gradients.append(variance * (alone + basis.against(forms, covariance))[:, None])
    return Solved(value, np.concatenate(gradients, axis=1), effects, scale, centre, inverse)


def draw(
    design: Design, solved: Solved, log_scale: FloatArray, mean: FloatArray, precision: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Draws of the means m (chain, subgroup, outcome) and the coefficients theta (chain, column) given the scales; see `solve`."""
    chains, size = solved.centre.shape
    noise = rng.standard_normal((chains, size, 1))
    theta = solved.scale * (solved.centre + (np.swapaxes(solved.factor, 1, 2) @ noise)[..., 0])
    linear = (design.x.reshape(-1, size) @ theta[..., None]).reshape(chains, *design.x.shape[:2])
    sigma = np.exp(log_scale[:, -2:])
    # Matheron's rule: a draw from the prior, corrected by what the data say of it.
    residual = sigma[:, None, :] * rng.standard_normal((chains, design.x.shape[0], 2))
    basis = np.stack([np.ones(2), CONTRAST], axis=1)  # (outcome, effect)
    some = precision > 0
    error = np.where(some, rng.standard_normal(precision.shape) / np.sqrt(np.where(some, precision, 1.0)), 0.0)
    gap = mean - linear - residual @ basis.T - error
    effects = residual + sigma[:, None, :] ** 2 * np.stack(solved.effects.pulls(gap)[:2], axis=-1)
    return linear + effects @ basis.T, theta
