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

DECIMALS = 12
"""Decimals to which draws of a curve are told apart."""


def miss(truth: FloatArray, successes: FloatArray, trials: FloatArray) -> FloatArray:
    """Smallest a at which Jeffreys' interval of level 1 - a misses the truth, in [0, 1]; counts may be no whole numbers.

    1 without trials, where no interval can miss.
    """
    from scipy.special import betainc

    below = betainc(successes + 0.5, np.maximum(trials - successes, 0.0) + 0.5, truth)
    under = np.where(successes <= 0, 1.0, below)  # a lower limit of 0 is never above the truth
    over = np.where(successes >= trials, 1.0, 1 - below)
    return np.asarray(np.where(trials > 0, np.minimum(2 * np.minimum(under, over), 1.0), 1.0))


def calibrated(misses: FloatArray, level: float) -> FloatArray:
    """Pointwise level (...) of a simultaneous band, from misses (replicate, ..., point): at least ``level``, at most Bonferroni's.

    Misses come from `miss` or, of posterior draws, from `rank_misses`. Besag, Green, Higdon, Mengersen (1995),
    doi:10.1214/ss/1177010123, section 6.3; Montiel Olea, Plagborg-Moller (2019), doi:10.1002/jae.2656.
    """
    alpha = tail(level)
    smallest = misses.min(axis=-1)
    alphas = np.quantile(smallest, alpha, axis=0, method="lower")
    return np.asarray(1 - np.clip(alphas, alpha / misses.shape[-1], alpha), dtype=np.float64)


def rank_misses(draws: FloatArray) -> FloatArray:
    """Largest a at which equal-tailed limits of level 1 - a hold each draw, (draw, point): 0 at either end, 1 from the middle on.

    A limit at a value holds every draw that has it, so equal draws have the miss of the innermost. Equal is what agrees to
    `DECIMALS`: rates of next to everyone are 1 up to rounding, which would put them in an order of its own on every processor.
    """
    from scipy.stats import rankdata

    rounded = np.round(draws, DECIMALS)
    up_to, from_there_on = rankdata(rounded, "max", axis=0), rankdata(-rounded, "max", axis=0)
    beyond = np.minimum(up_to, from_there_on) - 1  # other draws on its side, those that are equal to it among them
    return np.asarray(np.minimum(2 * beyond / max(len(draws) - 1, 1), 1.0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class CurveLimits:
    """Limits of one curve, ``point`` and ``band``, and the pointwise ``level`` that the band has."""

    point: Interval
    band: Interval
    level: float

    def beside(self, estimate: FloatArray) -> tuple[FloatArray, ...]:
        """An estimate with its limits, in the order of `bayesgroups.questions.curves.thresholds.LIMITS`."""
        return estimate, self.point.lower, self.point.upper, self.band.lower, self.band.upper


def draw_limits(draws: FloatArray, level: float) -> CurveLimits:
    """Equal-tailed limits (point,) at every point, and limits that hold whole curves, from draws (draw, point) of one curve."""
    band_level = float(calibrated(rank_misses(draws), level))
    ordered = np.sort(draws, axis=0)
    return CurveLimits(_quantiles(ordered, tail(level)), _quantiles(ordered, 1 - band_level), band_level)


def rate_limits(
    successes: FloatArray, trials: FloatArray, truth: FloatArray, drawn: tuple[FloatArray, FloatArray], level: float,
    *, exact: bool = True,
) -> CurveLimits:  # fmt: skip
    """Jeffreys' limits (point,), and limits at the level at which Jeffreys' hold whole curves of replicates.

    ``truth`` (point,) is the law that replicates were drawn from, ``drawn`` their successes and trials (replicate, point).
    An ``exact`` band has Clopper and Pearson's limits, wider than Jeffreys' by about half a row: replicates know no more of
    a small subgroup than it says itself, and need the margin. Not for trials that are none.
    """
    band_level = float(calibrated(miss(truth, *drawn), level))
    outer = clopper_pearson if exact else jeffreys
    return CurveLimits(jeffreys(successes, trials, level), outer(successes, trials, band_level), band_level)


def rising(band: Interval) -> tuple[FloatArray, FloatArray]:
    """Limits between which the curves of a band lie that never fall."""
    return np.maximum.accumulate(band.lower), np.minimum.accumulate(band.upper[::-1])[::-1]


def _quantiles(ordered: FloatArray, alpha: float) -> Interval:
    """Equal-tailed limits from sorted draws, as `numpy.quantile` has them."""
    places = np.array([alpha / 2, 1 - alpha / 2]) * (len(ordered) - 1)
    low = np.floor(places).astype(np.intp)
    share = (places - low)[:, None]
    high = np.minimum(low + 1, len(ordered) - 1)
    limits = (1 - share) * ordered[low] + share * ordered[high]
    return Interval(limits[0], limits[1])
