"""Mean scores of subgroups and outcomes given their variances: a normal hierarchy, integrated out exactly.

    ybar[y, g] ~ Normal(m[y, g], 1 / r[y, g])
    m[y, g] = x[y, g] . theta + b[g] + h[y] e[g],      h = (-1/2, 1/2)
    theta_j ~ Normal(0, scale of its component),       b[g], e[g] ~ Normal(0, scales of the last two components)

``b`` and ``e`` are integrated out subgroup by subgroup (2 x 2 matrices), ``theta`` by one Cholesky factor of its size; so
the cost is linear in subgroups. Gradients with respect to the logarithms of the scales come from Fisher's identity: the
expected score of the complete data. Everything is done for all chains at once, along the first axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray

CONTRAST = np.array([-0.5, 0.5])
"""How the difference between outcomes enters the mean of each."""


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

    @property
    def member(self) -> FloatArray:
        """Columns of each component, as a 0/1 matrix (column, component)."""
        return np.asarray(self.owner[:, None] == np.arange(self.components), dtype=np.float64)


@dataclass(frozen=True)
class Solved:
    """The law of the effects given scales, and the marginal likelihood of the scales.

    ``value`` (chain,) and ``gradient`` (chain, component) of the log likelihood with respect to log scales; the rest serves
    `draw`.
    """

    value: FloatArray
    gradient: FloatArray
    weight: FloatArray
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


def solve(
    design: Design, log_scale: FloatArray, mean: FloatArray, precision: FloatArray, aside: Aside | None = None
) -> Solved:
    """Posterior with the effects integrated out.

    Scales (chain, component) are those of the components of columns, of common and of differing effects of subgroups.
    Means (chain or 1, subgroup, outcome) are anything finite, and their precisions 0, where there is none; ``aside`` is
    what rows within cells say of the coefficients.
    """
    sigma = np.exp(log_scale)
    common, differing = sigma[:, -2] ** 2, sigma[:, -1] ** 2
    weight, log_det = _subgroup_weights(common, differing, precision)
    scale = np.where(design.owner >= 0, sigma[:, np.maximum(design.owner, 0)], design.fixed)
    size = len(design.owner)
    low, high = design.x[:, 0], design.x[:, 1]
    w00, w01, w11 = weight[..., 0, 0], weight[..., 0, 1], weight[..., 1, 1]
    # W x, row by row: many matrix products of 2 x 2 would cost more than these sums.
    on_low = w00[..., None] * low + w01[..., None] * high
    on_high = w01[..., None] * low + w11[..., None] * high
    seen = np.stack([w00 * mean[..., 0] + w01 * mean[..., 1], w01 * mean[..., 0] + w11 * mean[..., 1]], axis=-1)
    inner = np.swapaxes(on_low, 1, 2) @ low + np.swapaxes(on_high, 1, 2) @ high
    along = seen[..., 0] @ low + seen[..., 1] @ high
    if aside is not None:
        inner, along = inner + aside.precision, along + aside.pull
    precise = scale[:, :, None] * inner * scale[:, None, :]
    precise[:, np.arange(size), np.arange(size)] += 1.0
    right = scale * along
    factor = np.linalg.cholesky(precise)
    inverse = np.linalg.inv(factor)
    covariance = np.swapaxes(inverse, 1, 2) @ inverse
    centre = (covariance @ right[..., None])[..., 0]
    value = 0.5 * (log_det - (mean * seen).sum(axis=(1, 2)) + (right * centre).sum(axis=1))
    value = value - np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    excess = centre**2 + np.diagonal(covariance, axis1=1, axis2=2) - 1.0
    theta = (scale * centre)[..., None]
    left = seen - np.stack([(on_low @ theta)[..., 0], (on_high @ theta)[..., 0]], axis=-1)
    effects = []
    covariance = scale[:, :, None] * covariance * scale[:, None, :]
    for (first, second), variance in (((1.0, 1.0), common), (CONTRAST, differing)):
        pull = first * left[..., 0] + second * left[..., 1]
        lost = first**2 * w00 + 2 * first * second * w01 + second**2 * w11
        reach = first * on_low + second * on_high
        unsure = (covariance * (np.swapaxes(reach, 1, 2) @ reach)).sum(axis=(1, 2))
        effects.append(variance * ((pull**2 - lost).sum(axis=1) + unsure))
    gradient = np.column_stack([excess @ design.member, *effects])
    return Solved(value, gradient, weight, scale, centre, inverse)


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
    pull = np.einsum("...ij,...j->...i", solved.weight, gap) @ basis
    effects = residual + sigma[:, None, :] ** 2 * pull
    return linear + effects @ basis.T, theta


def _subgroup_weights(
    common: FloatArray, differing: FloatArray, precision: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Inverse covariances (chain, subgroup, 2, 2) of the means about the linear part, 0 for empty cells; log determinants."""
    prior = np.empty((len(common), 1, 2, 2))
    prior[..., 0, 0] = prior[..., 1, 1] = (common + differing / 4)[:, None]
    prior[..., 0, 1] = prior[..., 1, 0] = (common - differing / 4)[:, None]
    root = np.sqrt(precision)
    a = 1 + root[..., 0] ** 2 * prior[..., 0, 0]
    d = 1 + root[..., 1] ** 2 * prior[..., 1, 1]
    b = root[..., 0] * root[..., 1] * prior[..., 0, 1]
    determinant = a * d - b**2
    weight = np.empty((*precision.shape, 2))
    weight[..., 0, 0] = precision[..., 0] * d / determinant
    weight[..., 1, 1] = precision[..., 1] * a / determinant
    weight[..., 0, 1] = weight[..., 1, 0] = -root[..., 0] * root[..., 1] * b / determinant
    log_precision = np.log(np.where(precision > 0, precision, 1.0)).sum(axis=(1, 2))
    return weight, log_precision - np.log(determinant).sum(axis=1)
