"""Intervals for tau^2 from Q(t), which is a chi-square on K - 1 degrees of freedom at t = tau^2 (see `heterogeneity`).

The first is exact where the y are normal with known variances, whatever these are.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.questions.disparities.heterogeneity import solve_q


def two_sided(y: FloatArray, v: FloatArray, level: float) -> Interval:
    """Q-profile interval: all t with Q(t) between two quantiles of the chi-square.

    Parameters
    ----------
    y, v : arrays (..., subgroup)
        Two subgroups or more, v > 0.
    level : float

    Returns
    -------
    Interval
        Arrays (...). [0, 0] where Q(0) is below both quantiles and no t agrees with it: estimates that are closer to each
        other than sampling allows.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    References
    ----------
    Viechtbauer (2007), doi:10.1002/sim.2514; Hartung, Knapp (2005), doi:10.1002/sim.2267.

    Examples
    --------
    >>> import numpy as np
    >>> found = two_sided(np.array([0.0, 1.0, 2.0]), np.full(3, 0.1), 0.95)
    >>> round(float(found.lower), 6), round(float(found.upper), 6)  # 2 / quantile - 0.1
    (0.171085, 39.39789)
    """
    freedom, error = y.shape[-1] - 1, tail(level)
    far, near = (float(chdtri(freedom, share)) for share in (error / 2, 1 - error / 2))
    lower = solve_q(y, v, lambda t: np.full(t.shape, far))
    upper = solve_q(y, v, lambda t: np.full(t.shape, near))
    return Interval(lower, upper)


def upper_limit(y: FloatArray, v: FloatArray, level: float) -> FloatArray:
    """The same with the whole error above: tau^2 is below it with the probability ``level``, (...).

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> y, v = np.array([0.0, 1.0, 2.0]), np.full(3, 0.1)
    >>> bool(np.isclose(upper_limit(y, v, 0.975), two_sided(y, v, 0.95).upper))
    True
    """
    near = float(chdtri(y.shape[-1] - 1, 1 - tail(level)))
    return solve_q(y, v, lambda t: np.full(t.shape, near))


def of_sidik_jonkman(estimate: FloatArray, subgroups: int, level: float) -> Interval:
    """The interval that Sidik and Jonkman take from their estimate, as if it were a scaled chi-square.

    Parameters
    ----------
    estimate : array (...)
        From `bayesgroups.questions.disparities.heterogeneity.sidik_jonkman`.
    subgroups : int
        Their number K.
    level : float

    Returns
    -------
    Interval
        (K - 1) estimate / quantile; it never holds 0 unless the estimate is 0.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    References
    ----------
    Sidik, Jonkman (2005), doi:10.1111/j.1467-9876.2005.00489.x.

    Examples
    --------
    >>> import numpy as np
    >>> found = of_sidik_jonkman(np.array(0.456318), 9, 0.95)
    >>> round(float(found.lower), 5), round(float(found.upper), 5)
    (0.20819, 1.67477)
    """
    freedom, error = subgroups - 1, tail(level)
    far, near = (float(chdtri(freedom, share)) for share in (error / 2, 1 - error / 2))
    return Interval(freedom * estimate / far, freedom * estimate / near)
