"""SureMap for one task: crossed effects whose variances minimise an unbiased estimate of the risk.

    z ~ Normal(mu, diag(v)),   mu ~ Normal(centre, sum_S var_S C_S)

With A = (I + K diag(1/v))^-1 and r = A (z - centre), the estimate is z - r, the posterior mean, and

    SURE = groups + sum r^2 / v - 2 tr(A),   E SURE = E sum (estimate - mu)^2 / v

whatever mu is, so that large groups weigh most in the tuning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed.component_space import ComponentSpace
from bayesgroups.frequentist.crossed.components import Components
from bayesgroups.frequentist.crossed.precision import against, combine, noise, weigh
from bayesgroups.frequentist.crossed.search import minimise


@dataclass(frozen=True)
class SureFit:
    """Fit of one task: variances (component,), estimates (group,) and SURE at its minimum.

    Groups without data have the prediction from the others.
    """

    variances: FloatArray
    estimate: FloatArray
    risk: float


def fit(
    z: FloatArray, u: FloatArray, agreement: Components, *, centre: float = 0.0, between: FloatArray | float = 0.0
) -> SureFit:
    """Variances of the components that minimise SURE, and the estimates they shrink to.

    ``z`` (group,) is any finite number where there are no data, the precisions ``u`` = 1/v are 0 there; ``agreement`` has
    the matrices C_S of a `Family`, or its `ComponentSpace`, the first the level that all share, the last the identity;
    ``centre`` is a perfect model; ``between`` (group, group) are covariances of errors, with 0 on the diagonal. The risk
    is not convex; see `starts`. Khodak, Mackey, Chouldechova, Dudik (2024), section 3, arXiv:2411.09730.
    """
    begin = starts(z - centre, u, len(agreement))
    variances, value = minimise(lambda x: risk(z, u, agreement, x, centre=centre, between=between), begin, begin[1])
    if isinstance(agreement, ComponentSpace):
        estimate = agreement.posterior_mean(z, u, variances, centre=centre)
    else:
        estimate = posterior_mean(z, u, combine(variances, agreement), centre=centre, between=between)
    return SureFit(variances, estimate, value)


def risk(
    z: FloatArray,
    u: FloatArray,
    agreement: Components,
    variances: FloatArray,
    *,
    centre: float = 0.0,
    between: FloatArray | float = 0.0,
) -> tuple[float, FloatArray]:
    """SURE and its gradient by the variances; arguments as in `fit`.

    In units of sampling variances: 0 is perfect, the number of groups with data is no shrinkage. A group without data
    adds -1, a constant.

    >>> value, slope = risk(np.array([0.3, 0.1]), np.array([10.0, 5.0]), np.eye(2)[None], np.array([0.1]))
    >>> round(value, 6), slope.round(6).tolist()
    (-0.086111, [7.046296])
    """
    if isinstance(agreement, ComponentSpace):
        return agreement.risk(z, u, variances, centre=centre)
    from scipy.linalg import get_blas_funcs

    w = weigh(u, combine(variances, agreement) + between)
    v = noise(u)
    if not isinstance(between, float):
        return _correlated_risk(z - centre, u, agreement, w, np.diag(v) + between)
    q = w @ (z - centre)
    back = w @ (v * q)
    (syrk,) = get_blas_funcs(("syrk",), dtype=np.float64)
    half = syrk(1.0, (w * np.sqrt(v)).T, trans=1).T  # the lower triangle of W V W, over zeros
    np.fill_diagonal(half, np.diagonal(half) / 2)
    empty = np.count_nonzero(u == 0)
    value = len(u) + (v * q) @ q - 2 * (v @ np.diagonal(w) + empty)
    return float(value), 2 * against(2 * half - np.outer(back, q), agreement)


def _correlated_risk(
    residual: FloatArray, u: FloatArray, agreement: FloatArray, w: FloatArray, errors: FloatArray
) -> tuple[float, FloatArray]:
    """Risk of correlated errors, in units of their variances, and its gradient.

    With A = V W the shrinkage is A r and the risk sum (A r)^2 / v + groups - 2 sum (A V)_gg / v, whose expectation is that of
    the squared errors over their variances; V itself is never inverted.
    """
    pull = w @ residual
    shrunk = errors @ pull
    scaled = u * shrunk
    squared = errors @ w @ errors
    value = len(u) + float(shrunk @ scaled) - 2 * float(u @ np.diagonal(squared)) - 2 * np.count_nonzero(u == 0)
    across = w @ (errors * u) @ errors @ w
    slope = 2 * across - 2 * np.outer(w @ (errors @ scaled), pull)
    return value, against(slope, agreement)


def posterior_mean(
    z: FloatArray, u: FloatArray, covariance: FloatArray, *, centre: float = 0.0, between: FloatArray | float = 0.0
) -> FloatArray:
    """Estimates (group,) at a given covariance between groups; the rest is as in `fit`."""
    mean: FloatArray = centre + covariance @ (weigh(u, covariance + between) @ (z - centre))
    return mean


def starts(residual: FloatArray, u: FloatArray, components: int) -> FloatArray:
    """Variances from which a search begins, array (start, component).

    All of the spread in the shared level; the shared level beside a spread that the other components have in equal parts, once
    as large as the groups differ and once a hundredth of that. Residuals (group,) are estimates less the centre.

    >>> starts(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 2).round(3).tolist()
    [[4.0, 0.0], [4.0, 1.0], [4.0, 0.01]]
    """
    share = u / u.sum()
    level = float(share @ residual)
    spread = float(share @ (residual - level) ** 2)
    smallest = 1e-6 / float(u.max())
    between, square = max(spread, smallest), max(level**2, smallest)
    start_points = np.zeros((3, components))
    start_points[0, 0] = square
    start_points[1], start_points[2] = between / max(components - 1, 1), between / max(components - 1, 1) / 100
    if components > 1:
        start_points[1:, 0] = square
    return start_points
