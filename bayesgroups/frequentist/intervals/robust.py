"""Robust empirical Bayes: intervals that cover on average over groups, whatever the groups are drawn from.

The estimate is the linear one of empirical Bayes; the interval is as wide as the worst law of the group means
with the same second and fourth moments asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.critical_values import bias_bound, critical_value
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile
from bayesgroups.frequentist.intervals.shrunk import Shrunk, finish, in_units


@dataclass(frozen=True)
class RobustFit:
    """Linear shrinkage fit with the moments that bound its bias.

    The variances of ``shrunk`` are those of the parametric interval, w_a v_a. ``bias`` (..., group) is the mean square of
    the bias in squared standard errors, v_a / mu2, NaN for groups that were not shrunk; ``kurtosis`` (...) the bound of
    that of the means.
    """

    shrunk: Shrunk
    bias: FloatArray
    kurtosis: FloatArray


def fit(z: FloatArray, v: FloatArray, *, centre: FloatArray | float | None = None) -> RobustFit:
    """Estimates shrunk towards their weighted mean or a known centre, and the moments of what is shrunk away.

    Arguments are those of `moments.fit`. ``tau_squared`` is the second moment after its floor, always positive;
    ``tau_squared_raw`` before it. The variance of a group without an estimate is tau^2 + Var(centre), without the second
    where the centre is known. Around a known centre the moments are those of z_a - c, which no estimated centre biases;
    floors and critical values are the same, and one group has a second moment. Armstrong, Kolesar, Plagborg-Moller
    (2022), sections 3-4 and Appendix A, doi:10.3982/ECTA18597.

    >>> answer = fit(np.array([0.2, 0.25, 0.4, 0.1, 0.75]), 0.16 / np.array([50, 30, 15, 8, 4]))
    >>> round(float(answer.shrunk.tau_squared), 6), round(float(answer.kurtosis), 4)
    (0.007847, 22.1176)
    """
    units = in_units(z, v, centre)
    y, s2, k, spent = units.y, units.v, units.number, units.spent
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        w = units.weights()
        total = w.sum(axis=-1, keepdims=True)
        p = w / total
        m = units.around((p * y).sum(axis=-1, keepdims=True))
        e2 = (y - m) ** 2
        second = (p * (e2 - s2)).sum(axis=-1, keepdims=True)
        fourth = (p * (e2 * e2 - 6 * s2 * e2 + 3 * s2 * s2)).sum(axis=-1, keepdims=True)
        # The floors of the reference, with weights 1 / v.
        spread = np.where(units.use, s2, 0.0)
        floor2 = 2 / total
        floor4 = 32 * (spread * s2).sum(axis=-1, keepdims=True) / spread.sum(axis=-1, keepdims=True) / total
        tau2 = np.maximum(second, floor2)
        kurtosis = np.maximum(fourth / tau2**2, 1 + floor4 / tau2**2)
        kurtosis = np.where(np.isnan(kurtosis), np.inf, kurtosis)  # overflow: no bound
        weight = tau2 / (s2 + tau2)
        shrunk = finish(
            units, z, v,
            shrinkage=s2 / (s2 + tau2), estimate=m + weight * (y - m), variance=weight * s2, overall=m,
            tau_squared=tau2, tau_squared_raw=second, new_variance=tau2 + spent / total,
        )  # fmt: skip
        bias = np.where(units.use & (k > spent), s2 / tau2, np.nan)
    return RobustFit(shrunk, bias, np.where(k > spent, kurtosis, np.nan)[..., 0])


def interval(fitted: RobustFit, level: float) -> Interval:
    """Estimate -+ critical value x w_a x standard error, (..., group).

    At least a share ``level`` of groups is covered, on average, not every group this often. A group without an estimate
    has the bound of Markov or Cantelli around the centre, to which the interval tends as a group's sampling variance
    grows. A lone group has the usual normal interval.

    >>> limits = interval(fit(np.array([0.2, 0.25, 0.4, 0.1, 0.75]), 0.16 / np.array([50, 30, 15, 8, 4])), 0.95)
    >>> ((limits.upper - limits.lower) / 2).round(4).tolist()
    [0.0968, 0.1203, 0.1684, 0.2212, 0.2722]
    """
    shrunk, kurtosis = fitted.shrunk, fitted.kurtosis[..., None]
    factor = np.full(shrunk.estimate.shape, normal_quantile(level))
    has_bias = np.isfinite(fitted.bias)
    where = np.broadcast_to(np.maximum(kurtosis, 1.0), has_bias.shape)[has_bias]
    # cva x w sigma, with sqrt(w) sigma the parametric standard deviation and w = 1 / (1 + bias)
    factor[has_bias] = critical_value(fitted.bias[has_bias], where, level=level) / np.sqrt(1 + fitted.bias[has_bias])
    factor = np.where(shrunk.imputed, np.sqrt(bias_bound(np.maximum(kurtosis, 1.0), level=level)), factor)
    return around(shrunk.estimate, factor * np.sqrt(shrunk.variance))
