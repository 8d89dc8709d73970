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
from bayesgroups.frequentist.crossed.precision import against, combine, noise, weigh
from bayesgroups.frequentist.crossed.search import minimise


@dataclass(frozen=True)
class SureFit:
    """A fit of one task.

    Attributes
    ----------
    variances : array (component,)
        Squares of the units of z.
    estimate : array (group,)
        Groups without data have the prediction from the others.
    risk : float
        SURE at its minimum.
    """

    variances: FloatArray
    estimate: FloatArray
    risk: float


def fit(z: FloatArray, u: FloatArray, agreement: FloatArray, *, centre: float = 0.0) -> SureFit:
    """Tune the variances of the components and shrink.

    Parameters
    ----------
    z : array (group,)
        Estimates; any finite number where there are no data.
    u : array (group,)
        Precisions 1/v; 0 where there are no data.
    agreement : array (component, group, group)
        Matrices C_S of a `Family`; the first starts as the level that all share, the last as the identity.
    centre : float
        What the prior expects of every group: a perfect model.

    Returns
    -------
    SureFit

    Notes
    -----
    Not convex; see `starts` for where the search begins.

    References
    ----------
    Khodak, Mackey, Chouldechova, Dudik (2024), section 3, arXiv:2411.09730.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.crossed.families import family
    >>> levels = family([[0, 0], [0, 1], [1, 0], [1, 1]], ["race", "sex"]).agreement()
    >>> found = fit(np.array([0.3, 0.25, 0.2, 0.6]), np.array([40.0, 20, 10, 5]) / 0.2, levels)
    >>> found.estimate.round(6).tolist(), round(found.risk, 6), (found.variances / 0.2).round(5).tolist()
    ([0.284242, 0.284242, 0.284242, 0.284242], 0.952342, [0.41689, 0.0, 0.0, 0.0])
    """
    begin = starts(z - centre, u, len(agreement))
    variances, value = minimise(lambda x: risk(z, u, agreement, x, centre=centre), begin, begin[2])
    return SureFit(variances, posterior_mean(z, u, combine(variances, agreement), centre=centre), value)


def risk(
    z: FloatArray, u: FloatArray, agreement: FloatArray, variances: FloatArray, *, centre: float = 0.0
) -> tuple[float, FloatArray]:
    """SURE and its gradient by the variances.

    Parameters
    ----------
    z, u, agreement, centre
        As in `fit`.
    variances : array (component,)
        Not negative.

    Returns
    -------
    value : float
        In units of sampling variances: 0 is perfect, the number of groups with data is no shrinkage. A group without
        data adds -1, a constant.
    gradient : array (component,)

    Examples
    --------
    >>> import numpy as np
    >>> value, slope = risk(np.array([0.3, 0.1]), np.array([10.0, 5.0]), np.eye(2)[None], np.array([0.1]))
    >>> round(value, 6), slope.round(6).tolist()
    (-0.086111, [7.046296])
    """
    w = weigh(u, combine(variances, agreement))
    v = noise(u)
    q = w @ (z - centre)
    spread = (w * v) @ w
    back = w @ (v * q)
    empty = np.count_nonzero(u == 0)
    value = len(u) + (v * q) @ q - 2 * (v @ np.diagonal(w) + empty)
    return float(value), 2 * against(spread - np.outer(back, q), agreement)


def posterior_mean(z: FloatArray, u: FloatArray, covariance: FloatArray, *, centre: float = 0.0) -> FloatArray:
    """Estimate of every group at a given covariance between groups.

    Parameters
    ----------
    z, u, centre
        As in `fit`.
    covariance : array (group, group)

    Returns
    -------
    array (group,)

    Examples
    --------
    >>> import numpy as np
    >>> posterior_mean(np.array([0.3, 0.1, 0.0]), np.array([10.0, 10.0, 0.0]), 1e9 * np.ones((3, 3))).round(6).tolist()
    [0.2, 0.2, 0.2]
    """
    mean: FloatArray = centre + covariance @ (weigh(u, covariance) @ (z - centre))
    return mean


def starts(residual: FloatArray, u: FloatArray, components: int) -> FloatArray:
    """Variances from which a search begins, array (start, component).

    All of the spread in the identity; all in the shared level; the shared level beside a spread that the
    other components have in equal parts, once as large as the groups differ and once a hundredth of that.

    Parameters
    ----------
    residual : array (group,)
        Estimates less the centre.
    u : array (group,)
        Their precisions.
    components : int
        The first is the shared level, the last the identity.

    Examples
    --------
    >>> import numpy as np
    >>> starts(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 2).round(3).tolist()
    [[0.0, 5.0], [4.0, 0.0], [4.0, 1.0], [4.0, 0.01]]
    """
    share = u / u.sum()
    level = float(share @ residual)
    spread = float(share @ (residual - level) ** 2)
    smallest = 1e-6 / float(u.max())
    total, between, square = max(spread + level**2, smallest), max(spread, smallest), max(level**2, smallest)
    start_points = np.zeros((4, components))
    start_points[0, -1] = total
    start_points[1, 0] = square
    start_points[2], start_points[3] = between / max(components - 1, 1), between / max(components - 1, 1) / 100
    if components > 1:
        start_points[2:, 0] = square
    return start_points
