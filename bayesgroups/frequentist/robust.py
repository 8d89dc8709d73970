"""Robust empirical-Bayes intervals: average coverage whatever the distribution of the true values.

With t the squared standardised bias of a shrunken estimate, a +-c interval misses with probability
r(t, c) = Phi(-sqrt t - c) + Phi(sqrt t - c). The critical value is the c at which the worst distribution of t with the given
mean (and kurtosis) misses with probability alpha.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq
from scipy.special import chndtrix, ndtr

FloatArray = NDArray[np.float64]

KNOTS = 24
"""Critical values of more subgroups than this are interpolated between as many."""


@dataclass(frozen=True)
class Robust:
    """``centre``, second moment ``mu2`` and kurtosis ``kappa`` of the true values around it; arrays (subgroup,)
    ``estimate``, ``weight`` (1 - shrinkage) and ``std_error`` = weight x sampling standard error."""  # noqa: D205, D209

    centre: float
    mu2: float
    kappa: float
    estimate: FloatArray
    weight: FloatArray
    std_error: FloatArray


def robust(z: FloatArray, v: FloatArray) -> Robust:
    """Shrunken estimates and the moments that their critical values need.

    Parameters
    ----------
    z, v : arrays (subgroup,)
        Estimates and their sampling variances, finite and positive; weights are 1/v.

    Returns
    -------
    Robust

    References
    ----------
    Armstrong, Kolesar, Plagborg-Moller (2022), doi:10.3982/ECTA18597.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.robust import robust
    >>> z, d = np.array([0.2, 0.25, 0.4, 0.1, 0.75]), np.array([50.0, 30, 15, 8, 4])
    >>> found = robust(z, 0.16 / d)
    >>> round(found.mu2, 6), round(found.kappa, 4), found.estimate.round(6).tolist()
    (0.007847, 22.1176, [0.215972, 0.25208, 0.316541, 0.211422, 0.336302])
    """
    unit = v.min()
    s2, w = v / unit, unit / v
    centre = float((w * z).sum() / w.sum())
    e2 = (z - centre) ** 2 / unit
    second = (w * (e2 - s2)).sum() / w.sum()
    fourth = (w * (e2**2 - 6 * s2 * e2 + 3 * s2**2)).sum() / w.sum()
    floor_2 = 2 * (w**2 * s2**2).mean() / (w.sum() * (w * s2).mean())
    floor_4 = 32 * (w**2 * s2**4).mean() / (w.sum() * (w * s2**2).mean())
    mu2 = max(second, floor_2)
    kappa = max(fourth / mu2**2, 1 + floor_4 / mu2**2)
    weight = mu2 / (mu2 + s2)
    return Robust(centre, float(mu2 * unit), float(kappa), centre + weight * (z - centre), weight, weight * np.sqrt(v))


def critical_values(m2: FloatArray, kappa: float, level: float) -> FloatArray:
    """Critical values for several second moments and one kurtosis.

    Parameters
    ----------
    m2 : array
        Second moment of the standardised bias, v / mu2.
    kappa : float
        Kurtosis of the true values; infinity if nothing is known of it.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    array
        For more than `KNOTS` distinct values, a cubic spline in log m2 through `KNOTS` of them.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.robust import critical_values
    >>> critical_values(np.array([4.0, 1.0, 0.25, 0.0]), np.inf, 0.95).round(6).tolist()
    [7.216351, 3.259199, 2.226654, 1.959964]
    """
    values = np.unique(m2)
    if len(values) <= KNOTS:
        found = np.array([critical_value(float(value), kappa, level) for value in values])
        return np.asarray(found[np.searchsorted(values, m2)], dtype=np.float64)
    knots = np.geomspace(values[values > 0][0], values[-1], KNOTS)
    spline = CubicSpline(np.log(knots), np.log([critical_value(float(knot), kappa, level) for knot in knots]))
    with np.errstate(divide="ignore"):
        return np.where(m2 > 0, np.exp(spline(np.log(m2))), critical_value(0.0, kappa, level))


def critical_value(m2: float, kappa: float, level: float) -> float:
    """The c at which the worst case misses with probability 1 - level.

    Parameters
    ----------
    m2, kappa, level : float
        As for `critical_values`.

    Returns
    -------
    float

    Examples
    --------
    >>> from bayesgroups.frequentist.robust import critical_value
    >>> round(critical_value(4.0, 3.0, 0.95), 5), round(critical_value(1.0, 3.0, 0.8), 5)
    (4.61951, 1.84947)
    """
    alpha = 1 - level
    # With kurtosis 1 the bias is a single point: the smallest critical value there is.
    lowest = float(np.sqrt(chndtrix(level, 1.0, m2)))
    if kappa <= 1 or m2 == 0:
        return lowest
    highest = float(np.sqrt((1 + m2) / alpha))  # Chebyshev

    def excess(c: float) -> float:
        return _worst(m2, kappa, c) - alpha

    low, high = lowest - 0.01, highest + 0.01
    if excess(low) <= 0:
        return lowest
    return float(brentq(excess, low, high, xtol=1e-10))


def _miss(t: FloatArray | float, c: float) -> FloatArray:
    root = np.sqrt(t)
    return np.asarray(ndtr(-root - c) + ndtr(root - c), dtype=np.float64)


def _slope(t: float, c: float) -> float:
    """Derivative of the miss probability in t."""
    if t < 1e-8:
        return c * float(_density(c))
    root = np.sqrt(t)
    return float((_density(root - c) - _density(root + c)) / (2 * root))


def _density(x: float) -> float:
    return float(np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi))


def _worst(m2: float, kappa: float, c: float) -> float:
    """Largest miss probability over distributions of t with mean m2 and second moment at most kappa m2^2."""
    start = float(_miss(0.0, c))
    corner = _corner(c)
    if m2 >= corner:
        return float(_miss(m2, c))
    if corner <= kappa * m2:  # the worst two points, 0 and the corner, have a kurtosis that is allowed
        return start + m2 / corner * (float(_miss(corner, c)) - start)
    return _bounded(m2, kappa, c, corner)


def _corner(c: float) -> float:
    """Where the tangent from (0, r(0)) touches the miss probability; 0 where that is concave throughout."""
    if c * c < 3:
        return 0.0

    def gap(t: float) -> float:
        return float(_miss(0.0, c)) - float(_miss(t, c)) + t * _slope(t, c)

    # The tangent touches beyond the inflection point, which lies below c^2.
    low, high = max(c * c - 3, 1e-6), (c + 6) ** 2
    grid = np.linspace(np.sqrt(low) * 0.5, np.sqrt(high), 200) ** 2
    values = np.array([gap(t) for t in grid])
    last = np.flatnonzero(values > 0)
    if len(last) == 0 or last[-1] + 1 >= len(grid):
        return 0.0
    return float(brentq(gap, grid[last[-1]], grid[last[-1] + 1], xtol=1e-12))


def _bounded(m2: float, kappa: float, c: float, corner: float) -> float:
    """Worst case when the kurtosis binds: the smallest parabola above the miss probability that touches it at x0.

    By duality the answer is the smallest, over parabolas above r, of their expectation, which depends on the first
    two moments alone.
    """
    root = np.linspace(0.0, max(np.sqrt(corner), c) + 8, 2001)
    t = root**2
    value = _miss(t, c)

    def bound(x0: float) -> float:
        level, slope = float(_miss(x0, c)), _slope(x0, c)
        away = t - x0
        far = np.abs(away) > 1e-6 * (1 + x0)
        curvature = float(((value[far] - level - slope * away[far]) / away[far] ** 2).max())
        return level + slope * (m2 - x0) + max(curvature, 0.0) * (kappa * m2**2 - 2 * x0 * m2 + x0**2)

    return _smallest(bound, 0.0, corner)


def _smallest(function, low: float, high: float) -> float:  # type: ignore[no-untyped-def]
    from scipy.optimize import minimize_scalar

    grid = np.linspace(low, high, 33)
    values = [function(float(x)) for x in grid]
    best = int(np.argmin(values))
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(function, bounds=(left, right), method="bounded", options={"xatol": 1e-9 * (1 + high)})
    return float(min(found.fun, values[best]))
