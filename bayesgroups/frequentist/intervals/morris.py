"""Empirical Bayes with Morris's correction: intervals that count the uncertainty of centre and spread.

    z_a ~ Normal(mu_a, v_a),   mu_a ~ Normal(mu, A)

A is estimated by iterated weighted moments; the shrinkage is reduced by (K - 3) / (K - 1), so that no
interval collapses when A is estimated as 0. Where mu is known it is (K - 2) / K.
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile, t_quantile
from bayesgroups.frequentist.intervals.shrunk import Shrunk, Units, finish, in_units

MIN_GROUPS_FOR_SHRINKAGE = 4
"""Groups below which nothing is shrunk: K - 3 must be positive; one less where the centre is known."""
STEPS = 5000
DAMPED_AFTER = 200
"""Steps of the iteration, at most; and those after which a step goes half the way, should it oscillate."""


def fit(z: FloatArray, v: FloatArray, *, centre: FloatArray | float | None = None) -> Shrunk:
    """Shrunken estimates, and the variance that makes a normal interval cover. Morris (1983), doi:10.1080/01621459.1983.10477920.

    The mean mu_a of every group, averaged over the uncertainty of mu and A. Arguments are those of `moments.fit`. With
    three groups or fewer, two around a known centre, the estimates and variances are those that were given.

    A group without an estimate has the centre, with variance A* + Var(centre). A* = A + 2 (V + A) / (K - 3) is the
    between-group variance at which a group of average sampling variance V would be shrunk as the method shrinks it; it
    stays positive when A is 0. With two or three groups it is s^2 (1 + 1/K), s^2 the variance of the estimates, for a t
    interval with K - 1 degrees of freedom: an interval for one more estimate, and so for its mean. E s^2 = A + V with V
    the mean sampling variance, so with A cut off at 0 it is s^2 = max(variance, V): estimates that happen to agree do not
    make a new group known.

    Around a known centre c no regression coefficient is estimated. Morris's K - r - 2, K - r and K / (K - r) have r = 0
    for r = 1: B_a is (K - 2) / K v_a / (v_a + A), its uncertainty has 2 / (K - 2), the weighted squares (z_a - c)^2 enter
    A as they are, and the terms for the error of the centre, r_a / K and Var(centre), are gone. With equal variances v
    that is James and Stein's (K - 2) v / sum (z_a - c)^2 as long as A is not cut off at 0. A new group has A + 2 (V + A)
    / (K - 2); with one or two groups it is the mean square of z_a - c, or V if that is larger, for a t interval with K
    degrees of freedom.

    >>> shrunk = fit(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.full(5, 0.01))
    >>> shrunk.estimate.round(2).tolist(), shrunk.variance.round(4).tolist()
    ([0.14, 0.22, 0.3, 0.38, 0.46], [0.01, 0.0088, 0.0084, 0.0088, 0.01])
    """
    units = in_units(z, v, centre)
    y, s2, k, spent = units.y, units.v, units.number, units.spent
    free = k - spent
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        raw = _between(units)
        a = np.maximum(raw, 0.0)
        w = units.weights(a)
        total = w.sum(axis=-1, keepdims=True)
        m = units.around((w * y).sum(axis=-1, keepdims=True) / total)
        b = (free - 2) / free * s2 / (s2 + a)
        average = (w * s2).sum(axis=-1, keepdims=True) / total
        uncertain = 2 / (free - 2) * b**2 * (average + a) / (s2 + a)
        variance = s2 * (1 - (1 - spent * w / total) * b) + uncertain * (y - m) ** 2
        # A between-group variance below 0 is cut off at 0 here too: estimates scatter at least by their sampling error.
        scatter = np.maximum(
            _scatter(y, units.use, k, spent), np.where(units.use, s2, 0.0).sum(axis=-1, keepdims=True) / k
        )
        few = free < MIN_GROUPS_FOR_SHRINKAGE - 1
        return finish(
            units, z, v,
            shrinkage=np.where(few, 0.0, b),
            estimate=np.where(few, y, m + (1 - b) * (y - m)),
            variance=np.where(few, s2, variance),
            overall=m, tau_squared=a, tau_squared_raw=raw,
            new_variance=np.where(few, scatter * (1 + spent / k), a + 2 * (average + a) / (free - 2) + spent / total),
        )  # fmt: skip


def interval(shrunk: Shrunk, level: float) -> Interval:
    """Morris's interval (..., group): estimate -+ normal quantile x standard deviation.

    The level is nominal, on average over groups; unshrunk with three groups or fewer, two around a known centre.
    """
    quantile: float | FloatArray = normal_quantile(level)
    free = shrunk.number - shrunk.spent
    guessed = shrunk.imputed & (free < MIN_GROUPS_FOR_SHRINKAGE - 1)[..., None]
    if guessed.any():
        quantile = np.where(guessed, t_quantile(level, free)[..., None], quantile)
    return around(shrunk.estimate, quantile * np.sqrt(shrunk.variance))


def _between(units: Units) -> FloatArray:
    """Fixed point of the weighted moment equation for A, before its truncation at 0, (..., 1)."""
    shape = units.number.shape
    flat = (units.number.size, units.y.shape[-1])
    y, v, use = units.y.reshape(flat), units.v.reshape(flat), units.use.reshape(flat)
    k, spent = units.number.reshape(-1, 1), units.spent.reshape(-1, 1)
    precise = k / (use / v).sum(axis=-1, keepdims=True)  # harmonic mean: the scale on which A matters
    raw = _scatter(y, use, k, spent) - np.where(use, v, 0.0).sum(axis=-1, keepdims=True) / k
    active = np.flatnonzero((k > spent)[:, 0])
    for step in range(STEPS):
        if active.size == 0:
            break
        yy, vv, a = y[active], v[active], np.maximum(raw[active], 0.0)
        w = use[active] / (vv + a)
        w /= w.max(axis=-1, keepdims=True)
        total = w.sum(axis=-1, keepdims=True)
        size, lost = k[active], spent[active]
        m = np.where(lost == 0, 0.0, (w * yy).sum(axis=-1, keepdims=True) / total)
        new = (w * (size / (size - lost) * (yy - m) ** 2 - vv)).sum(axis=-1, keepdims=True) / total
        if step >= DAMPED_AFTER:
            new = np.where(np.maximum(new, 0.0) == a, new, (new + a) / 2)
        raw[active] = new
        moved = np.abs(np.maximum(new, 0.0) - a) > 1e-13 * (a + precise[active])
        active = active[moved[:, 0]]
    return np.where(k > spent, raw, np.nan).reshape(shape)


def _scatter(y: FloatArray, use: BoolArray, k: FloatArray, spent: FloatArray) -> FloatArray:
    """Unweighted variance of the estimates, divisor K - 1, or around a known centre, divisor K."""
    mean = np.where(spent == 0, 0.0, np.where(use, y, 0.0).sum(axis=-1, keepdims=True) / k)
    scatter: FloatArray = np.where(use, (y - mean) ** 2, 0.0).sum(axis=-1, keepdims=True) / (k - spent)
    return scatter
