"""Pointwise limits, and bands that hold a whole curve: the same limits at a level that is found by calibration.

A band of level .95 is made of pointwise limits of a higher level 1 - a. Every replicate (or posterior draw) of a curve has,
at every point, the smallest ``a`` at which the limits just miss; the smallest of these over the curve decides whether the
curve is inside. Their quantile at .05 is the ``a`` of the band. Limits of rates stay inside [0, 1] and keep a width where
a curve sits at 0 or 1, which the curve plus or minus a multiple of its standard error does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.frequentist.intervals.proportions import clopper_pearson, jeffreys


def miss(truth: FloatArray, successes: FloatArray, trials: FloatArray) -> FloatArray:
    """The smallest a at which Jeffreys' interval of level 1 - a misses the truth.

    Parameters
    ----------
    truth, successes, trials : arrays that broadcast
        Rates and counts, whole or not.

    Returns
    -------
    array
        In [0, 1]; 1 without trials, where no interval can miss.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.frequentist.intervals.proportions import jeffreys
    >>> lower = jeffreys(np.array([3.0]), np.array([9.0]), 0.9).lower
    >>> miss(lower, np.array([3.0]), np.array([9.0])).round(6).tolist()
    [0.1]
    """
    from scipy.special import betainc

    below = betainc(successes + 0.5, np.maximum(trials - successes, 0.0) + 0.5, truth)
    under = np.where(successes <= 0, 1.0, below)  # a lower limit of 0 is never above the truth
    over = np.where(successes >= trials, 1.0, 1 - below)
    return np.asarray(np.where(trials > 0, np.minimum(2 * np.minimum(under, over), 1.0), 1.0))


def calibrated(misses: FloatArray, level: float) -> FloatArray:
    """The pointwise level of a simultaneous band.

    Parameters
    ----------
    misses : array (replicate, ..., point)
        From `miss`, or two-sided ranks of posterior draws.
    level : float
        Of the band.

    Returns
    -------
    array (...)
        1 - a, at least ``level`` and at most that of Bonferroni, which needs no replicates.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    References
    ----------
    Besag, Green, Higdon, Mengersen (1995), doi:10.1214/ss/1177010123, section 6.3; Montiel Olea, Plagborg-Moller (2019),
    doi:10.1002/jae.2656.

    Examples
    --------
    >>> import numpy as np
    >>> misses = np.linspace(0, 1, 1001)[:, None] * [[1.0, 1.0]]  # two points that move together: nothing to pay
    >>> calibrated(misses, 0.9).round(2).tolist()
    0.9
    """
    alpha = tail(level)
    smallest = misses.min(axis=-1)
    found = np.quantile(smallest, alpha, axis=0, method="lower")
    return np.asarray(1 - np.clip(found, alpha / misses.shape[-1], alpha), dtype=np.float64)


def rank_misses(draws: FloatArray) -> FloatArray:
    """The two-sided rank of every draw among all, (draw, point): small at either end, 1 in the middle or without spread.

    Examples
    --------
    >>> rank_misses(np.array([[3.0], [1.0], [2.0], [4.0]])).ravel().tolist()
    [1.0, 0.5, 1.0, 0.5]
    """
    size = len(draws)
    order = np.argsort(draws, axis=0)
    rank = np.arange(1, size + 1, dtype=np.float64)
    found = np.empty_like(draws)
    np.put_along_axis(found, order, (2 * np.minimum(rank, size + 1 - rank) / size)[:, None], axis=0)
    found[:, draws.min(axis=0) == draws.max(axis=0)] = 1.0
    return found


@dataclass(frozen=True, eq=False)
class CurveLimits:
    """Limits of one curve, ``point`` and ``band``, and the pointwise ``level`` that the band has."""

    point: Interval
    band: Interval
    level: float


def draw_limits(draws: FloatArray, level: float) -> CurveLimits:
    """Pointwise and simultaneous credible limits of a curve.

    Parameters
    ----------
    draws : array (draw, point)
        Draws of one curve.
    level : float
        Of both.

    Returns
    -------
    CurveLimits
        Limits (point,): equal-tailed at every point, and holding whole curves.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> curves = np.random.default_rng(1).normal(size=(4000, 20))
    >>> found = draw_limits(curves, 0.9)
    >>> inside = ((found.band.lower <= curves) & (curves <= found.band.upper)).all(axis=1).mean()
    >>> round(float(inside), 2), bool((found.point.upper < found.band.upper).all())
    (0.9, True)
    """
    band_level = float(calibrated(rank_misses(draws), level))
    ordered = np.sort(draws, axis=0)
    return CurveLimits(_quantiles(ordered, tail(level)), _quantiles(ordered, 1 - band_level), band_level)


def rate_limits(
    successes: FloatArray, trials: FloatArray, truth: FloatArray, drawn: tuple[FloatArray, FloatArray], level: float,
    *, exact: bool = True,
) -> CurveLimits:  # fmt: skip
    """Pointwise and simultaneous confidence limits of a curve of rates.

    Parameters
    ----------
    successes, trials : arrays (point,)
        Counts that the curve was estimated from.
    truth : array (point,)
        Rates of the law that replicates were drawn from.
    drawn : tuple of arrays (replicate, point)
        Their successes and trials.
    level : float
        Of both.
    exact : bool
        Whether the band has Clopper and Pearson's limits, which are wider than Jeffreys' by about half a row: replicates
        know no more of a small subgroup than it says itself, and need the margin. Not for trials that are none.

    Returns
    -------
    CurveLimits
        Jeffreys' limits (point,) at this level, and limits at the level at which Jeffreys' hold whole curves of the
        replicates.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.
    """
    band_level = float(calibrated(miss(truth, *drawn), level))
    outer = clopper_pearson if exact else jeffreys
    return CurveLimits(jeffreys(successes, trials, level), outer(successes, trials, band_level), band_level)


def rising(band: Interval) -> tuple[FloatArray, FloatArray]:
    """The limits between which the curves of a band lie that never fall.

    Examples
    --------
    >>> lower, upper = rising(Interval(np.array([0.2, 0.1, 0.5]), np.array([0.9, 0.6, 1.0])))
    >>> lower.tolist(), upper.tolist()
    ([0.2, 0.2, 0.5], [0.6, 0.6, 1.0])
    """
    return np.maximum.accumulate(band.lower), np.minimum.accumulate(band.upper[::-1])[::-1]


def _quantiles(ordered: FloatArray, alpha: float) -> Interval:
    """Equal-tailed limits from sorted draws, as `numpy.quantile` has them."""
    places = np.array([alpha / 2, 1 - alpha / 2]) * (len(ordered) - 1)
    low = np.floor(places).astype(np.intp)
    share = (places - low)[:, None]
    high = np.minimum(low + 1, len(ordered) - 1)
    limits = (1 - share) * ordered[low] + share * ordered[high]
    return Interval(limits[0], limits[1])
