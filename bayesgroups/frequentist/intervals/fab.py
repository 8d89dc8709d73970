"""Intervals that are frequentist, assisted by Bayes: exact in every group, short where a guess is good.

For z ~ Normal(theta, s^2) and a guess theta ~ Normal(m, t^2) that does not use z, the two tails of the test
of each theta share the error unevenly, so that the interval is shortest on average under the guess.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import moments
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.frequentist.intervals.shrunk import Shrunk, in_units

MIN_GROUPS = 3
"""Groups below which the others cannot make a guess: two are needed for a variance, or one around a known centre."""
HALVINGS = 64


@dataclass(frozen=True)
class FabFit:
    """Estimates shrunk by guesses from the other groups, and what the intervals need.

    Each estimate of ``shrunk`` is the posterior mean under its guess, which the interval always holds; its ``overall``
    and ``tau_squared`` are those of all groups. ``z`` and ``v`` (..., group) are as they came; ``guess`` and
    ``guess_variance`` (..., group) are centre and between-group variance of the other groups, NaN and infinite where
    these are too few.
    """

    shrunk: Shrunk
    z: FloatArray
    v: FloatArray
    guess: FloatArray
    guess_variance: FloatArray


def fit(z: FloatArray, v: FloatArray, *, centre: FloatArray | float | None = None) -> FabFit:
    """Guess of every group from the others, and the estimates shrunk towards it.

    Arguments are those of `moments.fit`. With two groups or fewer, a lone one around a known centre, nothing is shrunk. A
    known centre is the mean of every guess, and the others make its variance. Neither uses the estimate itself, so that
    the interval stays exact in every group, wherever the centre is. Yu, Hoff (2018), doi:10.1093/biomet/asy009; guesses
    by DerSimonian-Laird, see `moments`.

    >>> answer = fit(np.array([0.1, 0.2, 0.6]), np.full(3, 0.01))
    >>> answer.guess.round(2).tolist(), answer.guess_variance.round(3).tolist()
    ([0.4, 0.35, 0.15], [0.07, 0.115, 0.0])
    """
    units = in_units(z, v, centre)
    whole = moments.fit(z, v, centre=centre)
    y, s2 = units.y, units.v
    enough = units.use & (units.number - units.spent >= MIN_GROUPS - 1)
    middle, between = np.full(z.shape, np.nan), np.full(z.shape, np.nan)
    for a in range(z.shape[-1]):
        rest = units.use.copy()
        rest[..., a] = False
        population = moments.between(y, s2, rest, units.spent)
        middle[..., a], between[..., a] = population.overall[..., 0], population.tau_squared[..., 0]
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        guess = np.where(enough, middle * units.unit + units.centre, np.nan)
        variance = np.where(enough, between * units.unit * units.unit, np.inf)
        shrinkage = np.where(enough, s2 / (s2 + between), 0.0)
        unshrunk = np.where(units.use, z, whole.estimate)
        shrunk = replace(
            whole,
            estimate=np.where(enough, guess + (1 - shrinkage) * (z - guess), unshrunk),
            variance=np.where(units.use, (1 - shrinkage) * v, whole.variance),
            shrinkage=np.where(units.use, shrinkage, whole.shrinkage),
        )
    return FabFit(shrunk, z, v, guess, variance)


def interval(fitted: FabFit, level: float) -> Interval:
    """FAB interval (..., group), which covers each group by itself at this level.

    A group without an estimate has the whole line: without data no interval shorter than that covers whatever the group
    is.

    >>> limits = interval(fit(np.array([0.1, 0.2, 0.6, np.nan]), np.full(4, 0.01)), 0.95)
    >>> limits.lower.round(3).tolist(), limits.upper.round(3).tolist()
    ([-0.066, 0.025, 0.15, -inf], [0.31, 0.392, 0.764, inf])
    """
    limits = assisted(fitted.z, fitted.v, fitted.guess, fitted.guess_variance, level)
    imputed, line = fitted.shrunk.imputed, np.where(np.isfinite(fitted.shrunk.estimate), np.inf, np.nan)
    return Interval(np.where(imputed, -line, limits.lower), np.where(imputed, line, limits.upper))


def assisted(
    z: FloatArray, v: FloatArray, guess: FloatArray, guess_variance: FloatArray, level: float,
) -> Interval:  # fmt: skip
    """FAB interval for a given guess, exact for every guess that does not use z; arrays of one shape.

    The guess has mean m and variance t^2. An infinite variance is no guess and gives the usual interval; with 0 the
    interval is one-sided, stretched to the guess. NaN where the estimate or its variance is.

    The upper limit is theta = z - s u with u = q(alpha w), q the normal quantile. Put into the equation of w, q(alpha w)
    - q(alpha (1 - w)) = 2 s (theta - m) / t^2, it makes u the root of an increasing function on (-inf, q(alpha)), which
    halving finds to the last digit however far guess and estimate are apart. The lower limit mirrors it. Yu, Hoff (2018),
    section 2, doi:10.1093/biomet/asy009. Pratt (1963), doi:10.2307/2527336.

    >>> limits = assisted(*(np.array([value]) for value in (0.5, 0.04, 0.3, 0.01)), 0.95)
    >>> limits.lower.round(4).tolist(), limits.upper.round(4).tolist()
    ([0.171], [0.829])
    """
    alpha = tail(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        s = np.sqrt(v)
        # Share of the guess in the equation, 0 for an exact one and 1 for none.
        trust = np.where(np.isinf(guess_variance), 1.0, guess_variance / (guess_variance + 2 * v))
        distance = np.where(trust == 1, 0.0, (z - guess) / s)
        upper = z - s * _share(distance, trust, alpha)
        lower = z + s * _share(-distance, trust, alpha)
    # No sampling error: the estimate is known.
    return Interval(np.where(v == 0, z, lower), np.where(v == 0, z, upper))


def _share(distance: FloatArray, trust: FloatArray, alpha: float) -> FloatArray:
    """Root u of (1 - trust) (u - away) + trust (u - q(alpha - Phi(u))) on (-inf, q(alpha))."""
    from scipy.special import ndtr, ndtri

    top = float(ndtri(alpha))
    low = np.minimum(float(ndtri(alpha / 2)), distance) - 1
    high = np.full(distance.shape, top)
    for _ in range(HALVINGS):
        u = (low + high) / 2
        rest = np.maximum(alpha - ndtr(u), 0.0)
        above = (1 - trust) * (u - distance) + np.where(trust > 0, trust * (u - ndtri(rest)), 0.0) > 0
        low, high = np.where(above, low, u), np.where(above, u, high)
    root: FloatArray = (low + high) / 2
    return root
