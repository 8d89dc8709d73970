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
    """Q-profile interval (...): all t with Q(t) between two quantiles of the chi-square; v > 0, two subgroups or more.

    [0, 0] where Q(0) is below both quantiles and no t agrees with it: estimates that are closer to each other than sampling
    allows. Viechtbauer (2007), doi:10.1002/sim.2514; Hartung, Knapp (2005), doi:10.1002/sim.2267.
    """
    freedom, error = y.shape[-1] - 1, tail(level)
    far, near = (float(chdtri(freedom, share)) for share in (error / 2, 1 - error / 2))
    lower = solve_q(y, v, lambda t: np.full(t.shape, far))
    upper = solve_q(y, v, lambda t: np.full(t.shape, near))
    return Interval(lower, upper)


def upper_limit(y: FloatArray, v: FloatArray, level: float) -> FloatArray:
    """Q-profile limit with the whole error above: tau^2 is below it with the probability ``level``, (...)."""
    near = float(chdtri(y.shape[-1] - 1, 1 - tail(level)))
    return solve_q(y, v, lambda t: np.full(t.shape, near))


def of_sidik_jonkman(estimate: FloatArray, subgroups: int, level: float) -> Interval:
    """Sidik and Jonkman's interval from their estimate, as if it were a scaled chi-square: (K - 1) estimate / quantile.

    It never holds 0 unless the estimate is 0. Sidik, Jonkman (2005), doi:10.1111/j.1467-9876.2005.00489.x.
    """
    freedom, error = subgroups - 1, tail(level)
    far, near = (float(chdtri(freedom, share)) for share in (error / 2, 1 - error / 2))
    return Interval(freedom * estimate / far, freedom * estimate / near)
