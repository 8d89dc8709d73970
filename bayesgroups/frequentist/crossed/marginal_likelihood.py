"""Crossed effects by empirical Bayes: variances that make the estimates most likely.

    z ~ Normal(mu, diag(v)),   mu ~ Normal(overall, K),   K = sum_S var_S C_S

The overall mean is integrated out with a flat prior (restricted likelihood), so the family has no shared level.

At the variances of the fit the normal posterior of mu is too narrow: they are often estimated as 0, and then whole components
are taken to be known. `mixture` counts their uncertainty.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed.component_space import ComponentSpace
from bayesgroups.frequentist.crossed.components import Components
from bayesgroups.frequentist.crossed.precision import against, combine, weigh, weights_and_log_determinant
from bayesgroups.frequentist.crossed.search import minimise
from bayesgroups.frequentist.crossed.sure import starts


def fit(z: FloatArray, u: FloatArray, agreement: Components, between: FloatArray | float = 0.0) -> FloatArray:
    """Variances (component,) of the largest restricted likelihood. Patterson, Thompson (1971), doi:10.1093/biomet/58.3.545.

    ``z`` and ``u`` (group,) are estimates and precisions 1/v, 0 where there are no data; at least two groups have data.
    ``agreement`` (component, group, group) has the matrices C_S of a `Family`, or its `ComponentSpace`,
    without the shared level; ``between`` (group, group) are covariances of errors, with 0 on the diagonal.

    >>> fit(np.array([1.0, 3.0, 5.0]), np.ones(3), np.eye(3)[None]).round(4).tolist()
    [3.0]
    """
    parts = starts(z, u, len(agreement) + 1)[1:, 1:]
    return minimise(lambda x: deviance(z, u, agreement, x, between), parts, parts[0])[0]


def deviance(
    z: FloatArray, u: FloatArray, agreement: Components, variances: FloatArray, between: FloatArray | float = 0.0
) -> tuple[float, FloatArray]:
    """-2 log restricted likelihood, up to a constant, and its gradient by the variances; arrays as in `fit`.

    The value is log det(I + K diag(u)) + log total + z' P z, with P and total of `project`; the gradient tr(P C) - (P z)'
    C (P z).

    >>> value, slope = deviance(np.array([1.0, 3.0, 5.0]), np.ones(3), np.eye(3)[None], np.array([3.0]))
    >>> round(value, 4), slope.round(4).tolist()
    (5.8712, [0.0])
    """
    if isinstance(agreement, ComponentSpace):
        return agreement.deviance(z, u, variances)
    weights, log_determinant = weights_and_log_determinant(u, combine(variances, agreement) + between)
    projection, _, total = project(weights)
    pz = projection @ z
    value = log_determinant + np.log(total) + z @ pz
    return float(value), against(projection - np.outer(pz, pz), agreement)


def project(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Projection that takes the overall mean out of weights W (..., group, group) of `precision.weigh`.

    Returned are P = W - W 1 1' W / total, the weights (..., group) of the estimates in the generalised least-squares
    mean, which sum to 1, and ``total`` (...), the precision of that mean.

    >>> projection, mean, total = project(np.diag([1.0, 3.0]))
    >>> projection.tolist(), mean.tolist(), float(total)
    ([[0.75, -0.75], [-0.75, 0.75]], [0.25, 0.75], 4.0)
    """
    row = weights.sum(axis=-1)
    total = row.sum(axis=-1)
    mean = row / total[..., None]
    return weights - row[..., :, None] * mean[..., None, :], mean, total


def information(
    u: FloatArray, agreement: Components, variances: FloatArray, between: FloatArray | float = 0.0
) -> FloatArray:
    """Expected information on the variances, tr(P C_j P C_k) / 2, (component, component); arrays as in `fit`.

    >>> information(np.ones(3), np.eye(3)[None], np.array([3.0])).round(6).tolist()
    [[0.0625]]
    """
    if isinstance(agreement, ComponentSpace):
        return agreement.information(u, variances)
    projection, _, _ = project(weigh(u, combine(variances, agreement) + between))
    pc = projection @ agreement
    number = len(agreement)
    matrix: FloatArray = pc.reshape(number, -1) @ np.swapaxes(pc, -1, -2).reshape(number, -1).T / 2
    return matrix
