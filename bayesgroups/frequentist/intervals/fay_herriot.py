"""Area-level regression with known sampling variances: the estimator of Fay and Herriot, and its mean squared errors.

    z_a ~ Normal(mu_a, v_a),   mu_a ~ Normal(x_a . b, A)

b is estimated by weighted least squares and A by REML, maximum likelihood or the moment equation of Fay and Herriot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile

Method = Literal["reml", "ml", "moment"]

NODES = 60
"""Values of A between which the slope of the likelihood changes its sign."""
TOLERANCE = 1e-15
"""Error of A, as a share of the bracket that it is looked for in."""


@dataclass(frozen=True)
class AreaFit:
    """Estimates of all areas, in the units of the metric.

    ``estimate``, ``mse`` and ``shrinkage`` (area,), the latter the share of the way to the regression; an area without an
    estimate is on it, with shrinkage NaN, and one whose sampling variance is 0 is left as it is. ``variance`` is A, and
    ``boundary`` says that it is at its bound, 0; ``beta`` (column,) has the ``covariance`` of the coefficients beside it.
    """

    estimate: FloatArray
    mse: FloatArray
    shrinkage: FloatArray
    variance: float
    beta: FloatArray
    covariance: FloatArray
    boundary: bool
    imputed: BoolArray


def usable(z: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
    """Areas that the regression rests on: those with an estimate and a positive, finite sampling variance."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isfinite(z) & np.isfinite(v) & (v > 0))


def fit(z: FloatArray, v: FloatArray, x: FloatArray, method: Method = "reml") -> AreaFit:
    """Best linear unbiased predictions with A estimated, and their mean squared errors to second order.

    ``z`` and ``v`` (area,) are NaN where there is no estimate; ``x`` (area, column) has an intercept, and full rank among the
    areas with an estimate, of which there are two more than columns. The error of an estimate is never less than with A known,
    g1 + g2 of the second reference.

    Fay, Herriot (1979), doi:10.1080/01621459.1979.10482505; Prasad, Rao (1990), doi:10.1080/01621459.1990.10475320; Datta,
    Lahiri (2000), Statistica Sinica 10, 613-627.

    >>> z = np.array([0.20, 0.25, 0.40, 0.10, 0.75, 0.35])
    >>> v = np.array([0.0032, 0.005333, 0.010667, 0.02, 0.04, 0.008])
    >>> areas = fit(z, v, np.ones((6, 1)))
    >>> round(areas.variance, 6), areas.estimate.round(3).tolist()
    (0.007187, [0.229, 0.268, 0.336, 0.242, 0.362, 0.32])
    """
    use = usable(z, v)
    unit = float(np.sqrt(np.median(v[use])))
    y, s2, columns = z[use] / unit, v[use] / unit / unit, x[use]
    a, boundary = _variance(y, s2, columns, method)
    w, q, b = _regression(a, y, s2, columns)
    gamma = a * w
    leverage = np.einsum("ij,jk,ik->i", columns, q, columns)
    first, second = gamma * s2, (1 - gamma) ** 2 * leverage
    total, squares = w.sum(), (w * w).sum()
    spread = 2 * len(y) / total**2 if method == "moment" else 2 / squares
    bias = {
        "reml": 0.0,
        "ml": -float(np.trace(q @ ((columns.T * w * w) @ columns))) / squares,
        "moment": 2 * (len(y) * squares - total**2) / total**3,
    }[method]
    error = first + second + np.maximum(2 * s2**2 * w**3 * spread - bias * (1 - gamma) ** 2, 0.0)
    synthetic = x @ b
    estimate, mse, shrinkage = synthetic * unit, a + np.einsum("ij,jk,ik->i", x, q, x), np.full(len(z), np.nan)
    estimate[use], mse[use], shrinkage[use] = (gamma * y + (1 - gamma) * synthetic[use]) * unit, error, 1 - gamma
    exact = np.isfinite(z) & (v == 0)
    estimate[exact], mse[exact], shrinkage[exact] = z[exact], 0.0, 0.0
    square = unit * unit
    return AreaFit(estimate, mse * square, shrinkage, a * square, b * unit, q * square, boundary, ~np.isfinite(z))


def interval(areas: AreaFit, level: float) -> Interval:
    """Normal intervals with these errors."""
    return around(areas.estimate, normal_quantile(level) * np.sqrt(areas.mse))


def nothing(areas: int, columns: int) -> AreaFit:
    """The fit of a metric that has no estimates: NaN."""
    empty, beta = np.full(areas, np.nan), np.full(columns, np.nan)
    covariance = np.full((columns, columns), np.nan)
    return AreaFit(empty, empty, empty, np.nan, beta, covariance, False, np.zeros(areas, dtype=np.bool_))


def _regression(a: float, y: FloatArray, v: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, covariance of the coefficients, and these."""
    w = 1 / (a + v)
    root = np.sqrt(w)[:, None]
    triangle = np.linalg.qr(root * x, mode="r")
    inverse = np.linalg.inv(triangle)
    covariance = inverse @ inverse.T
    return w, covariance, covariance @ ((x.T * w) @ y)


def _score(a: float, y: FloatArray, v: FloatArray, x: FloatArray, method: Method) -> float:
    """The estimating equation of A, positive below its root."""
    w, q, b = _regression(a, y, v, x)
    r = y - x @ b
    if method == "moment":
        return float((w * r * r).sum() - (len(y) - x.shape[1]))
    lost = float(np.trace(q @ ((x.T * w * w) @ x))) if method == "reml" else 0.0
    return float((w * w * r * r).sum() - w.sum() + lost)


def _log_likelihood(a: float, y: FloatArray, v: FloatArray, x: FloatArray, method: Method) -> float:
    """Logarithm of the likelihood of A, or of the restricted one, up to a constant."""
    w, q, b = _regression(a, y, v, x)
    r = y - x @ b
    restricted = np.linalg.slogdet(q)[1] if method == "reml" else 0.0
    return float(0.5 * (np.log(w).sum() - (w * r * r).sum() + restricted))


def _variance(y: FloatArray, v: FloatArray, x: FloatArray, method: Method) -> tuple[float, bool]:
    """Root of the equation, and True where it lies at the bound 0.

    Where sampling variances differ much the likelihood can have several maxima, the bound among them: it is at the highest. The
    equation of moments has one root at most.
    """
    from scipy.optimize import brentq

    upper = float(v.min() + np.var(y))
    while _score(upper, y, v, x, method) > 0:
        upper *= 4
    nodes = np.concatenate([[0.0], np.geomspace(min(1e-3 * v.min(), 1e-3 * upper), upper, NODES)])
    rising = [_score(float(a), y, v, x, method) > 0 for a in nodes]
    tolerance: Any = 1e-14  # stubs of SciPy ask for a NumPy number
    roots: list[float] = []
    for place in np.flatnonzero(np.greater(rising[:-1], rising[1:])):
        low, high = float(nodes[place]), float(nodes[place + 1])
        root: Any = brentq(lambda a: _score(a, y, v, x, method), low, high, xtol=TOLERANCE * upper, rtol=tolerance)
        roots.append(float(root))
    maxima = roots if rising[0] else [0.0, *roots]
    best = max(maxima, key=lambda a: _log_likelihood(a, y, v, x, method))
    return best, best == 0.0
