"""Empirical Bayes with a moment estimate of the between-group variance.

    z_a ~ Normal(mu_a, v_a),   mu_a ~ Normal(mu, tau^2)

with the v_a known, tau^2 matched to the spread of the z_a, and the mu_a estimated as if it were known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile
from bayesgroups.frequentist.intervals.shrunk import Shrunk, finish, in_units


@dataclass(frozen=True)
class Between:
    """Between-group variance before and after its truncation at 0, centre and its variance, all (..., 1)."""

    raw: FloatArray
    tau_squared: FloatArray
    overall: FloatArray
    overall_variance: FloatArray


def fit(z: FloatArray, v: FloatArray, *, centre: FloatArray | float | None = None) -> Shrunk:
    """Estimates shrunk towards their weighted mean: the mean mu_a of every group, given mu and tau^2.

    ``z`` and ``v`` (..., group) are NaN where a group has none; leading axes are fitted one by one. ``centre``, which
    broadcasts to (...), was chosen without these estimates and is NaN where it is estimated. InputError if the shapes
    differ.

    ``tau_squared_raw`` is the moment estimate, which can be negative; with v_a = sigma^2 / d_a its weights are the shares
    d_a / n. Where it is, all groups have the centre for an estimate, with variance 0. The variance of a group without an
    estimate is tau^2 + Var(centre), without the second where the centre is known.

    The estimate of tau^2 is that of DerSimonian and Laird; around a known centre c it is, from E sum (z_a - c)^2 / v_a =
    K + tau^2 sum 1 / v_a, (sum (z_a - c)^2 / v_a - K) / sum 1 / v_a. Equation 13 of the first reference has a misprint in
    the denominator, 1 - sum w (1 - w) for sum w (1 - w); its main text has what is used here. Herlihy, Truong,
    Chouldechova, Dudik (2024), Eqs 8-14. DerSimonian, Laird (1986), doi:10.1016/0197-2456(86)90046-2.

    >>> shrunk = fit(np.array([0.2, 0.25, 0.4, 0.1, 0.75]), 0.16 / np.array([50, 30, 15, 8, 4]))
    >>> round(float(shrunk.tau_squared), 6), shrunk.estimate.round(3).tolist()
    (0.013813, [0.217, 0.261, 0.352, 0.213, 0.408])
    """
    units = in_units(z, v, centre)
    y, s2 = units.y, units.v
    population = between(y, s2, units.use, units.spent)
    tau2, overall = population.tau_squared, population.overall
    with np.errstate(invalid="ignore", under="ignore"):
        weight = tau2 / (s2 + tau2)
        return finish(
            units, z, v,
            shrinkage=s2 / (s2 + tau2), estimate=overall + weight * (y - overall), variance=weight * s2,
            overall=overall, tau_squared=tau2, tau_squared_raw=population.raw,
            new_variance=tau2 + population.overall_variance,
        )  # fmt: skip


def interval(shrunk: Shrunk, level: float) -> Interval:
    """Plug-in interval (..., group): as if centre and between-group variance were known, so it covers too seldom.

    Two thirds of the nominal level may be lost where tau^2 is small; of no width where it is estimated as 0.
    """
    return around(shrunk.estimate, normal_quantile(level) * np.sqrt(shrunk.variance))


def between(y: FloatArray, v: FloatArray, use: BoolArray, spent: FloatArray | None = None) -> Between:
    """Moment estimate itself; NaN with fewer than two groups, or than one around a known centre.

    ``y`` and ``v`` (..., group) are finite also where ``use`` is False; ``spent`` (..., 1) is 0 where the centre is known
    and is 0, and 1 where it is estimated, as everywhere without it.

    >>> population = between(np.array([0.0, 1.0, 2.0]), np.full(3, 0.1), np.array([True, True, True]))
    >>> population.raw.round(6).tolist(), population.overall.round(6).tolist()
    ([0.9], [1.0])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        # Weights relative to the largest, so that their products stay numbers.
        least = np.where(use, v, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
        w = np.where(use, least / v, 0.0)
        total = w.sum(axis=-1, keepdims=True)
        mean = (w * y).sum(axis=-1, keepdims=True) / total
        scatter = (w * (y - mean) ** 2).sum(axis=-1, keepdims=True)
        number = use.sum(axis=-1, keepdims=True)
        raw = (scatter - (number - 1) * least) * total / (2 * _pairs(w))
        raw = np.where(number > 1, raw, np.nan)
        fixed_centre = np.zeros(number.shape, dtype=np.bool_) if spent is None else spent == 0
        around = ((w * y * y).sum(axis=-1, keepdims=True) - number * least) / total
        raw = np.where(fixed_centre, np.where(number > 0, around, np.nan), raw)
        tau2 = np.maximum(raw, 0.0)
        w = use / (v + tau2)
        total = w.sum(axis=-1, keepdims=True)
        overall = np.where(fixed_centre, 0.0, (w * y).sum(axis=-1, keepdims=True) / total)
        return Between(raw, tau2, overall, np.where(fixed_centre, 0.0, 1 / total))


def _pairs(w: FloatArray) -> FloatArray:
    """Sum of w_i w_j over pairs, without the cancellation of (sum w)^2 - sum w^2."""
    before = np.zeros_like(w)
    np.cumsum(w[..., :-1], axis=-1, out=before[..., 1:])
    pairs: FloatArray = (w * before).sum(axis=-1, keepdims=True)
    return pairs
