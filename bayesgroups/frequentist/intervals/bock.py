"""James and Stein's estimator in the form of Bock: every group goes the same share of the way to the centre.

    z_a ~ Normal(mu_a, v_a),   Q = sum (z_a - mu0)^2 / v_a,   estimate_a = mu0 + (1 - (K - 3) / Q)_+ (z_a - mu0)

with the v_a known and mu0 the precision-weighted mean, or a known centre, with K - 2 for K - 3. Nothing is assumed of
the mu_a. No interval was published with it; the one here resamples its errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, around, tail
from bayesgroups.frequentist.intervals.shrunk import in_units

MIN_GROUPS_FOR_SHRINKAGE = 4
"""Groups below which nothing is shrunk: K - 3 must be positive; one less where the centre is known."""
REPLICATES = 2000
"""Bootstrap samples of an interval."""
CHUNK = 500_000
"""Numbers resampled at once, so that the arrays on the way stay small."""


@dataclass(frozen=True)
class BockFit:
    """Estimates drawn towards their centre by one factor.

    ``estimate`` (..., group) is the centre for a group without an estimate, and NaN where only its sampling variance is
    missing; a group whose sampling variance is 0 is known, and left as it is. ``shrinkage`` (..., group) is the share of
    the way to the centre, 1 - factor, NaN where there is nothing to shrink. ``overall``, ``q``, ``factor``, ``number``
    (...) are the centre mu0, the statistic Q, what is left of each distance to the centre, and the number K of the groups
    they rest on: those with a finite estimate and a positive, finite sampling variance. The factor is 1 where there are
    too few, where Q is 0, and where it is so small that estimates carried past the centre would be no numbers. ``few`` (...)
    marks three groups or fewer, two or fewer around a known centre; ``imputed`` (..., group) groups without an estimate.
    """

    estimate: FloatArray
    shrinkage: FloatArray
    overall: FloatArray
    q: FloatArray
    factor: FloatArray
    number: FloatArray
    few: BoolArray
    imputed: BoolArray


def fit(
    z: FloatArray, v: FloatArray, *, positive_part: bool = True, centre: FloatArray | float | None = None
) -> BockFit:
    """Estimates shrunk towards their precision-weighted mean, or towards a known centre.

    ``z`` and ``v`` (..., group) are NaN where a group has none; leading axes are fitted one by one. Without
    ``positive_part`` a factor below 0 carries the estimates past the centre. ``centre``, which broadcasts to (...), was
    chosen without these estimates and is NaN where it is estimated. InputError if the shapes differ.

    With v_a = sigma^2 / d_a the weights are the shares of the rows, d_a / n. It is K - 3 and not K - 2 because the centre
    is estimated. Bock has sum v_a / max v_a in place of K, which promises a smaller total error whatever the mu_a; where
    sizes differ much it is below 3 and nothing would be shrunk, so the number of groups stands here and the promise is
    given up.

    Towards a known centre c nothing is estimated but Q: it is sum (z_a - c)^2 / v_a, and K - 2 stands for K - 3. With
    equal variances the plain estimator then has a smaller total squared error than the estimates have, whatever the mu_a
    and whatever c, from K = 3 on. Where all mu_a are c, its error is 2 / K of theirs: Q is chi-squared with K degrees of
    freedom, and E sum (estimate_a - c)^2 / v_a = E (1 - (K - 2) / Q)^2 Q = K - 2 (K - 2) + (K - 2)^2 E 1 / Q = 2.

    Herlihy, Truong, Chouldechova, Dudik (2024), section 5. Bock (1975), Annals of Statistics 3, 209-218. James, Stein
    (1961), Proceedings of the fourth Berkeley symposium 1, 361-379.

    >>> shrunk = fit(np.array([0.2, 0.25, 0.4, 0.1, 0.75]), 0.16 / np.array([50, 30, 15, 8, 4]))
    >>> round(float(shrunk.factor), 6), shrunk.estimate.round(6).tolist()
    (0.804839, [0.210761, 0.251003, 0.371729, 0.130277, 0.653423])
    """
    units = in_units(z, v, centre)
    y, k = units.y, units.number
    free = k - units.spent
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        # Weights relative to the largest, so that they stay numbers.
        least = np.where(units.use, units.v, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
        w = np.where(units.use, least / units.v, 0.0)
        mean = (w * y).sum(axis=-1, keepdims=True) / w.sum(axis=-1, keepdims=True)
        m = units.around(mean)
        q = (w * (y - m) ** 2).sum(axis=-1, keepdims=True) / least
        few = free < MIN_GROUPS_FOR_SHRINKAGE - 1
        factor = np.where(few | (q == 0), 1.0, 1 - (free - 2) / q)
        if positive_part:
            factor = np.maximum(factor, 0.0)
        overall = np.where(k > 0, m, mean) * units.unit + units.centre  # not a number where there is none
        shrunk = (m + factor * (y - m)) * units.unit + units.centre
        beyond = (units.use & ~np.isfinite(shrunk)).any(axis=-1, keepdims=True)
        factor = np.where(beyond, 1.0, factor)
        changed = units.use & (factor != 1)  # what is not shrunk stays as it came, to the last digit
        imputed = ~np.isfinite(z) | np.isposinf(v)
        observed = np.where(v >= 0, z, np.nan)
        shrinkage = np.where(changed, 1 - factor, np.where(imputed | ~(v >= 0), np.nan, 0.0))
    return BockFit(
        estimate=np.where(imputed, overall, np.where(changed, shrunk, observed)),
        shrinkage=shrinkage,
        overall=overall[..., 0],
        q=np.where(k > 0, q, np.nan)[..., 0],
        factor=np.where(k > 0, factor, np.nan)[..., 0],
        number=k[..., 0],
        few=few[..., 0],
        imputed=imputed,
    )


def errors(
    z: FloatArray, v: FloatArray, rng: np.random.Generator, *,
    positive_part: bool = True, centre: FloatArray | float | None = None, replicates: int = REPLICATES,
) -> FloatArray:  # fmt: skip
    """Absolute errors of the estimator in parametric bootstrap samples, shrinkage bias included, (replicate, ..., group).

    |estimate(z*) - z| for z* ~ Normal(z, v), in the units of z; NaN for groups that `fit` does not use. Arguments are
    those of `fit`.

    Samples are drawn around the estimates before shrinkage. These lie further apart than the true means do, so that the
    bias of shrinking is rather overstated than forgotten. Around the shrunken ones, the other way round, there is little
    left to be biased by, and 95 % intervals cover 85 to 91 % of the time (12 groups of 4 to 80 rows). Davison, Hinkley
    (1997), Bootstrap methods and their application, sections 2.2 and 5.2.
    """
    use = in_units(z, v).use
    spread = np.sqrt(np.where(use, v, 0.0))
    resampled = np.empty((replicates, *z.shape))
    size = max(CHUNK // max(z.size, 1), 1)
    for start in range(0, replicates, size):
        part = resampled[start : start + size]
        again = np.where(use, z + spread * rng.standard_normal(part.shape), np.nan)
        estimate = fit(again, np.broadcast_to(v, part.shape), positive_part=positive_part, centre=centre).estimate
        part[:] = np.where(use, np.abs(estimate - z), np.nan)
    return resampled


def interval(fitted: BockFit, resampled: FloatArray, level: float) -> Interval:
    """Estimate -+ the size that a share ``level`` of the bootstrap errors stays below; NaN for groups that `fit` does not use.

    The level is nominal, on average over groups.
    """
    half = np.quantile(resampled, 1 - tail(level), axis=0)
    return around(fitted.estimate, half)
