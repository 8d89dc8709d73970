"""Intervals for an area under the ROC curve: arrays over subgroups in, limits out.

``logit`` and ``newcombe`` stay inside [0, 1] and have width also where an AUC is 0 or 1 or a class has one row;
``wald`` does neither and is here to be compared with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile

STEPS = 60
"""Halvings of the unit interval when a limit is searched: to the last bit."""
EDGE = 1e-12
"""An AUC as near to 0 or 1 as this is taken to be there: fewer than one pair among so many."""


def wald(auc: FloatArray, variance: FloatArray, level: float) -> Interval:
    """Normal interval, AUC +- z sqrt(variance); may leave [0, 1]."""
    half = normal_quantile(level) * np.sqrt(variance)
    return Interval(auc - half, auc + half)


def logit(auc: FloatArray, pairs: FloatArray, variance: FloatArray, level: float) -> Interval:
    """Normal interval of the logit, taken back: strictly inside (0, 1); NaN where there are no pairs.

    Where the variance is 0 or NaN that of a rate of ``pairs`` trials is taken. ``pairs`` are effective ones,
    `bayesgroups.tallies.auc_variances.effective_pairs`; half a success and half a failure are added to them where an AUC
    is 0 or 1 and has no logit. Pepe (2003), The Statistical Evaluation of Medical Tests, section 5.2; Qin, Hotilovac
    (2008), doi:10.1177/0962280207087173.

    >>> limits = logit(np.array([0.9, 1.0]), np.array([20.0, 4.0]), np.array([0.0045, 0.0]), 0.95)
    >>> limits.lower.round(3).tolist(), limits.upper.round(3).tolist()
    ([0.676, 0.256], [0.975, 0.996])
    """
    z = normal_quantile(level)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        inside = np.where((auc > EDGE) & (auc < 1 - EDGE), auc, (auc * pairs + 0.5) / (pairs + 1))
        usable = (variance > 0) & (inside == auc)
        sampling_variance = np.where(usable, variance, inside * (1 - inside) / pairs)
        centre = np.log(inside / (1 - inside))
        half = z * np.sqrt(sampling_variance) / (inside * (1 - inside))
        lower, upper = 0.5 * (1 + np.tanh((centre - half) / 2)), 0.5 * (1 + np.tanh((centre + half) / 2))
    some = np.isfinite(auc) & (pairs > 0)
    return Interval(np.where(some, lower, np.nan), np.where(some, upper, np.nan))


def newcombe(
    auc: FloatArray, positives: FloatArray, negatives: FloatArray, level: float, *, dispersion: float = 1.0
) -> Interval:
    """Newcombe's score interval: the AUCs from which the estimate is less than z standard errors away.

    Solves |AUC - t| = z sqrt(V(t)) with the variance of Hanley and McNeil at t, both classes taken for equally large in
    its numerator: V(t) = t (1 - t) (1 + N (1 - t) / (2 - t) + N t / (1 + t)) / (n1 n0), N = (n1 + n0) / 2 - 1;
    ``dispersion`` is a factor of it. Inside [0, 1], with width also at an AUC of 0 or 1; NaN where a class has no
    (effective) rows. Newcombe (2006), method 5, doi:10.1002/sim.2324.

    >>> limits = newcombe(np.ones(1), np.array([3.0]), np.array([9.0]), 0.95)
    >>> limits.lower.round(3).tolist(), limits.upper.tolist()
    ([0.621], [1.0])
    """
    z = normal_quantile(level)
    some = np.isfinite(auc) & (positives > 0) & (negatives > 0)
    a, n1, n0 = np.where(some, auc, 0.5), np.where(some, positives, 1.0), np.where(some, negatives, 1.0)
    more = (n1 + n0) / 2 - 1

    def inside(t: FloatArray) -> NDArray[np.bool_]:
        variance = t * (1 - t) * (1 + more * ((1 - t) / (2 - t) + t / (1 + t))) / (n1 * n0)
        return np.asarray((a - t) ** 2 <= dispersion * z**2 * variance)

    limits = []
    for end in (0.0, 1.0):
        near, far = a.copy(), np.full_like(a, end)
        for _ in range(STEPS):
            middle = (near + far) / 2
            within = inside(middle)
            near, far = np.where(within, middle, near), np.where(within, far, middle)
        limits.append(np.where(a == end, end, (near + far) / 2))
    return Interval(np.where(some, limits[0], np.nan), np.where(some, limits[1], np.nan))
