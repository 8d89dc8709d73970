"""Moment estimate of the between-subgroup variance, and the empirical-Bayes estimates that follow from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """Moment estimates of a normal hierarchy.

    Attributes
    ----------
    centre : float
        Mean of the estimates with weights 1/v.
    q : float
        Cochran's Q, sum of (z - centre)^2 / v.
    raw, truncated : float
        The DerSimonian-Laird estimate of tau^2, and the same with negative values set to 0; NaN below two subgroups.
    """

    centre: float
    q: float
    raw: float
    truncated: float


@dataclass(frozen=True)
class EmpiricalBayes:
    """Plug-in empirical Bayes: ``centre`` mu, ``tau_squared``, and arrays (subgroup,) ``estimate``, ``variance``, ``shrinkage``."""

    centre: float
    moments: Moments
    estimate: FloatArray
    variance: FloatArray
    shrinkage: FloatArray


def dersimonian_laird(z: FloatArray, v: FloatArray) -> Moments:
    """Method of moments with weights 1/v.

    Estimand: tau^2 in mu_a ~ (mu, tau^2), z_a ~ (mu_a, v_a).

    Parameters
    ----------
    z, v : arrays (subgroup,)
        Estimates and their sampling variances, finite and positive.

    Returns
    -------
    Moments

    Notes
    -----
    With v_a = sigma^2 / d_a this is exactly the moment estimator of Herlihy et al. (2024), section 5; their Eq 13 is
    misprinted (its denominator must be 1 - sum w^2).

    References
    ----------
    DerSimonian, Laird (1986), doi:10.1016/0197-2456(86)90046-2.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.moments import dersimonian_laird
    >>> z, d = np.array([0.2, 0.25, 0.4, 0.1, 0.75]), np.array([50.0, 30, 15, 8, 4])
    >>> found = dersimonian_laird(z, 0.16 / d)
    >>> round(found.centre, 6), round(found.raw, 6), round(found.q, 6)
    (0.25514, 0.013813, 10.247956)
    """
    if len(z) == 0:
        return Moments(np.nan, np.nan, np.nan, np.nan)
    unit = v.min()
    w = unit / v  # relative weights, so that tiny variances do not overflow
    centre = float((w * z).sum() / w.sum())
    spread = float((w * (z - centre) ** 2).sum())
    if len(z) == 1:
        return Moments(centre, 0.0, np.nan, np.nan)
    raw = (spread - (len(z) - 1) * unit) / (w.sum() - (w**2).sum() / w.sum())
    return Moments(centre, float(spread / unit), float(raw), max(float(raw), 0.0))


def empirical_bayes(z: FloatArray, v: FloatArray) -> EmpiricalBayes:
    """Posterior means and variances with the moment estimates plugged in.

    Parameters
    ----------
    z, v : arrays (subgroup,)
        Estimates and their sampling variances, finite and positive.

    Returns
    -------
    EmpiricalBayes
        B = v / (tau^2 + v), estimate = mu + (1 - B)(z - mu), variance = (1 - B) v. When tau^2 = 0 every estimate is mu and
        every variance 0, which is no statement of certainty. A single subgroup keeps its estimate.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Eq 8-14.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.moments import empirical_bayes
    >>> z, d = np.array([0.2, 0.25, 0.4, 0.1, 0.75]), np.array([50.0, 30, 15, 8, 4])
    >>> empirical_bayes(z, 0.16 / d).estimate.round(6).tolist()
    [0.216969, 0.261203, 0.352162, 0.212512, 0.408233]
    """
    found = dersimonian_laird(z, v)
    if len(z) <= 1:
        return EmpiricalBayes(found.centre, found, z.copy(), v.copy(), np.zeros(len(z)))
    total = found.truncated + v
    w = total.min() / total
    centre = float((w * z).sum() / w.sum())
    shrinkage = v / total
    return EmpiricalBayes(centre, found, centre + (1 - shrinkage) * (z - centre), (1 - shrinkage) * v, shrinkage)
