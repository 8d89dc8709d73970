"""Multilevel models of rows in strata, from the strata's numbers, means and sums of squares.

    y_i ~ Normal(x_g . b + u_g, s2),   u_g ~ Normal(0, v)

The likelihood in v and s2 depends on rows through these sums alone, so that the fit is that of packages on rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.maihda.stratum_fit import StratumFit, without_fit

GRID = np.concatenate([[0.0], np.logspace(-8, 12, 81)])
"""Ratios of the variances, in units of one row, between which the highest likelihood is looked for."""
UNBOUNDED = (
    f"the likelihood still rises where the variance between strata is {GRID[-1]:.0e} times that of rows, which hardly differ "
    "within strata, so that there is no finite estimate"
)


@dataclass(frozen=True)
class Means:
    """Sums of strata with rows: numbers, means (stratum,), the sum of squares within all, and the columns of a model."""

    count: FloatArray
    mean: FloatArray
    within: float
    columns: FloatArray
    restricted: bool

    @property
    def rows(self) -> float:
        """Number of rows."""
        return float(self.count.sum())

    @property
    def freedom(self) -> float:
        """Rows, less the coefficients where these are integrated out."""
        return self.rows - (self.columns.shape[1] if self.restricted else 0)


def fit(data: Means) -> StratumFit:
    """Maximum likelihood, or restricted maximum likelihood.

    >>> data = Means(np.array([9.0, 8, 9, 8]), np.array([1.0, 2, 4, 3]), 40.0, np.ones((4, 1)), True)
    >>> strata = fit(data)
    >>> round(strata.between, 3), round(strata.residual, 3), strata.boundary
    (1.524, 1.333, False)
    """
    from scipy.optimize import brentq

    ratio = 0.0
    heights = np.array([_log_likelihood(at, data) for at in GRID])
    best = int(np.argmax(heights))
    if best == len(GRID) - 1:
        return without_fit(len(data.count), data.columns.shape[1], UNBOUNDED)
    low, high = GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)]
    if _slope(float(low), data) > 0 > _slope(float(high), data):
        tolerance: Any = 1e-14  # stubs of SciPy ask for a NumPy number
        root: Any = brentq(_slope, low, high, args=(data,), xtol=1e-16 * max(float(high), 1e-6), rtol=tolerance)
        ratio = float(root)
    weight, b, covariance, residual, square = _regression(ratio, data)
    residual_variance = square / data.freedom
    shrink = weight * ratio
    return StratumFit(
        between=ratio * residual_variance,
        residual=residual_variance,
        log_likelihood=_log_likelihood(ratio, data),
        coefficients=b,
        covariance=covariance * residual_variance,
        effect=shrink * residual,
        effect_sd=np.sqrt(ratio * residual_variance * (1 - shrink)),
        value=data.columns @ b + shrink * residual,
        boundary=ratio == 0.0,
    )


def profile(between: float, data: Means) -> float:
    """Log likelihood at a between-stratum variance, at its highest over the residual variance."""
    from scipy.optimize import minimize_scalar

    # The variance of rows is between that within strata and that of all rows, but for one degree of freedom or another.
    ends = np.log([data.within / max(data.rows - len(data.count), 1), _regression(0.0, data)[4] / data.freedom])

    def height(log_residual: float) -> float:
        return -_log_likelihood(between / np.exp(log_residual), data, float(np.exp(log_residual)))

    best = minimize_scalar(height, bounds=(ends.min() - 1, ends.max() + 1), method="bounded", options={"xatol": 1e-10})
    return float(-best.fun)


def ratio_profile(ratio: float, data: Means) -> float:
    """The same at a ratio of the between-stratum variance to the residual one."""
    return _log_likelihood(ratio, data)


def _regression(ratio: float, data: Means) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    """Weights, coefficients, their covariance in units of the residual variance, residuals, and sum of squares."""
    weight = data.count / (1 + data.count * ratio)
    information = (data.columns.T * weight) @ data.columns
    covariance = np.linalg.inv(information)
    b = covariance @ ((data.columns.T * weight) @ data.mean)
    residual = data.mean - data.columns @ b
    return weight, b, covariance, residual, float(data.within + weight @ residual**2)


def _log_likelihood(ratio: float, data: Means, residual_variance: float | None = None) -> float:
    _, _, covariance, _, square = _regression(ratio, data)
    s2 = square / data.freedom if residual_variance is None else residual_variance
    height = data.freedom * np.log(2 * np.pi * s2) + np.log1p(data.count * ratio).sum() + square / s2
    if data.restricted:
        height -= np.linalg.slogdet(covariance)[1]
    return float(-0.5 * height)


def _slope(ratio: float, data: Means) -> float:
    """Derivative of the log likelihood in the ratio, the residual variance at its best."""
    weight, _, covariance, residual, square = _regression(ratio, data)
    slope = data.freedom / square * float(weight**2 @ residual**2) - weight.sum()
    if data.restricted:
        slope += float(np.trace(covariance @ ((data.columns.T * weight**2) @ data.columns)))
    return float(0.5 * slope)
