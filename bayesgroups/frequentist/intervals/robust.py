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
    """A linear shrinkage fit with the moments that bound its bias.

    Attributes
    ----------
    shrunk : Shrunk
        Estimates; their variances are those of the parametric interval, w_a v_a.
    bias : array (..., group)
        Mean square of the bias in squared standard errors, v_a / mu2; NaN for groups that were not shrunk.
    kurtosis : array (...)
        Bound of the kurtosis of the group means.
    """

    shrunk: Shrunk
    bias: FloatArray
    kurtosis: FloatArray


def fit(z: FloatArray, v: FloatArray, *, centre: FloatArray | float | None = None) -> RobustFit:
    """Shrink estimates towards their weighted mean or a known centre, and estimate the moments of what is shrunk away.

    Parameters
    ----------
    z, v : arrays (..., group)
        Estimates and their sampling variances; NaN where a group has none. Leading axes are fitted one by
        one.
    centre : float or array that broadcasts to (...), optional
        Known centre, chosen without these estimates; NaN where it is estimated, as everywhere without it.

    Returns
    -------
    RobustFit
        ``tau_squared`` is the second moment after its floor, always positive; ``tau_squared_raw`` before it.
        The variance of a group without an estimate is tau^2 + Var(centre), without the second where the centre is
        known.

    Raises
    ------
    InputError
        If the shapes differ.

    Notes
    -----
    Around a known centre the moments are those of z_a - c, which no estimated centre biases; floors and critical values
    are the same, and one group has a second moment.

    References
    ----------
    Armstrong, Kolesar, Plagborg-Moller (2022), sections 3-4 and Appendix A, doi:10.3982/ECTA18597.

    Examples
    --------
    >>> import numpy as np
    >>> z, v = np.array([0.2, 0.25, 0.4, 0.1, 0.75]), 0.16 / np.array([50, 30, 15, 8, 4])
    >>> found = fit(z, v)
    >>> round(float(found.shrunk.tau_squared), 6), round(float(found.kurtosis), 4)
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
    """Estimate -+ critical value x w_a x standard error.

    Parameters
    ----------
    fitted : RobustFit
        From `fit`.
    level : float
        Nominal coverage: at least this share of groups is covered, on average, not every group this often.

    Returns
    -------
    Interval
        Arrays (..., group). A group without an estimate has the bound of Markov or Cantelli around the
        centre, to which the interval tends as a group's sampling variance grows. A lone group has the usual
        normal interval.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> z, v = np.array([0.2, 0.25, 0.4, 0.1, 0.75]), 0.16 / np.array([50, 30, 15, 8, 4])
    >>> found = interval(fit(z, v), 0.95)
    >>> ((found.upper - found.lower) / 2).round(4).tolist()
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
