"""Fit of one multilevel model of strata, whatever its likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray


@dataclass(frozen=True)
class StratumFit:
    """Variances, coefficients and effects of the strata with rows.

    ``between`` and ``residual`` are on the scale of the predictor; ``effect`` and ``effect_sd`` (stratum,) are means and standard
    deviations of the effects given the variances, ``value`` (stratum,) the expected value on the scale of the metric;
    ``boundary`` is True where the between-stratum variance is estimated as 0. ``reason`` says why there is no fit.
    """

    between: float
    residual: float
    log_likelihood: float
    coefficients: FloatArray
    covariance: FloatArray
    effect: FloatArray
    effect_sd: FloatArray
    value: FloatArray
    boundary: bool
    reason: str = ""


def without_fit(strata: int, columns: int, reason: str) -> StratumFit:
    """The fit of a model that has none."""
    nan, empty = np.full(strata, np.nan), np.full((columns, columns), np.nan)
    return StratumFit(np.nan, np.nan, np.nan, empty[0], empty, nan, nan, nan, False, reason)


def profile_limits(
    profile: Callable[[float], float], estimate: float, level: float, largest: float = 1e12
) -> tuple[float, float]:
    """Limits of a value that is not negative, from its profile log likelihood.

    The lower one is 0 where 0 is not excluded, and the upper one infinite where the ``largest`` value is not.

    >>> low, high = profile_limits(lambda x: -0.5 * (x - 3) ** 2, 3.0, 0.95)
    >>> round(low, 4), round(high, 4)
    (1.04, 4.96)
    """
    from scipy.optimize import brentq
    from scipy.stats import chi2

    bound = profile(estimate) - float(chi2.ppf(level, 1)) / 2

    def above(value: float) -> float:
        return profile(value) - bound

    high = max(2 * estimate, 1e-6)
    while above(high) > 0 and high < largest:
        high = min(2 * high, largest)
    tolerance: Any = 1e-12  # stubs of SciPy ask for a NumPy number
    upper = np.inf
    if above(high) <= 0:
        root: Any = brentq(above, estimate, high, xtol=1e-12 * high, rtol=tolerance)
        upper = float(root)
    if estimate == 0 or above(0.0) >= 0:
        return 0.0, upper
    root = brentq(above, 0.0, estimate, xtol=1e-12 * high, rtol=tolerance)
    return float(root), upper


def p_value_zero(height: float, at_zero: float) -> float:
    """P-value of a variance of 0, by likelihood ratio against an even mixture of a point at 0 and chi-squared with 1 degree.

    Self, Liang (1987), doi:10.1080/01621459.1987.10478472.

    >>> round(p_value_zero(15.741553 / 2, 0.0), 7), p_value_zero(1.0, 1.0)
    (3.63e-05, 1.0)
    """
    from scipy.stats import chi2

    ratio = max(2 * (height - at_zero), 0.0)
    return 1.0 if ratio == 0.0 else float(chi2.sf(ratio, 1)) / 2
