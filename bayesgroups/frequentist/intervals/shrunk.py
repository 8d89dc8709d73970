"""Result of an empirical-Bayes fit, and the units it is computed in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError

MIN_VARIANCE, MAX_VARIANCE = 1e-300, 1e300
"""Bounds of a sampling variance in the units of the fit, so that it and its inverse are numbers."""


@dataclass(frozen=True)
class Shrunk:
    """Estimates drawn towards their centre.

    ``estimate`` and ``variance`` (..., group) are as the method sees them: a group without an estimate has the centre,
    and the variance of a new group around it; a group whose sampling variance is 0 is known, and left as it is.
    ``shrinkage`` (..., group) is the share of the way to the centre, B_a: 0 is no shrinkage, 1 all the way; NaN where
    there is nothing to shrink.

    ``overall``, ``tau_squared``, ``tau_squared_raw``, ``number`` (...) are the centre, the between-group variance
    (truncated at 0, and as it came), and the number of groups they rest on: those with a finite estimate and a positive,
    finite sampling variance. With one such group tau is NaN, unless the centre is known. ``spent`` (...) is 1, a degree
    of freedom, where the centre was estimated, and 0 where it was known; ``imputed`` (..., group) marks groups without an
    estimate.
    """

    estimate: FloatArray
    variance: FloatArray
    shrinkage: FloatArray
    overall: FloatArray
    tau_squared: FloatArray
    tau_squared_raw: FloatArray
    number: FloatArray
    spent: FloatArray
    imputed: BoolArray


@dataclass(frozen=True)
class Units:
    """Estimates and variances in units of their own spread: no square of them overflows or vanishes.

    ``y``, ``v``, ``use`` are (..., group), with y = 0 and v = 1 where a group is not used; ``centre``, ``unit``,
    ``number`` and ``spent`` are (..., 1). Where the centre is known it is the zero of ``y``, and ``spent`` is 0; where it
    is estimated it is 1.
    """

    y: FloatArray
    v: FloatArray
    use: BoolArray
    centre: FloatArray
    unit: FloatArray
    number: FloatArray
    spent: FloatArray

    def weights(self, tau_squared: FloatArray | float = 0.0) -> FloatArray:
        """Inverse variances, 0 where a group is not used."""
        return self.use / (self.v + tau_squared)

    def around(self, mean: FloatArray) -> FloatArray:
        """The centre in these units, (..., 1): 0 where it is known, the mean elsewhere."""
        centre: FloatArray = np.where(self.spent == 0, 0.0, mean)
        return centre


def in_units(z: FloatArray, v: FloatArray, centre: FloatArray | float | None = None) -> Units:
    """Centred and scaled estimates (..., group) and their sampling variances, of the same shape.

    Known centres broadcast to (...), NaN where the centre is to be estimated, as everywhere without them. InputError if
    the shapes differ or there is no axis of groups.

    >>> units = in_units(np.array([1.0, 3.0, np.nan]), np.array([4.0, 1.0, 1.0]))
    >>> units.y.tolist(), units.v.tolist(), units.number.tolist()
    ([-1.0, 0.0, 0.0], [1.0, 0.25, 1.0], [2.0])
    """
    if z.shape != v.shape or z.ndim == 0:
        raise InputError(
            f"estimates have shape {z.shape}, sampling variances {v.shape}; both must be (..., group), alike"
        )
    with np.errstate(invalid="ignore"):
        use = np.isfinite(z) & np.isfinite(v) & (v > 0)
    number = use.sum(axis=-1, keepdims=True).astype(np.float64)
    given = np.broadcast_to(np.asarray(np.nan if centre is None else centre, dtype=np.float64), z.shape[:-1])[..., None]
    is_known = np.isfinite(given)
    spent = np.where(is_known, 0.0, 1.0)
    if z.shape[-1] == 0:
        return Units(z, v, use, np.zeros_like(number), np.ones_like(number), number, spent)
    # Around the most precise estimate nothing that matters is lost to rounding.
    sharpest = np.argmin(np.where(use, v, np.inf), axis=-1)[..., None]
    zero = np.where(is_known, given, np.take_along_axis(np.where(use, z, 0.0), sharpest, axis=-1))
    deviation = np.where(use, np.where(use, z, 0.0) - zero, 0.0)
    spread = np.abs(deviation).max(axis=-1, keepdims=True)
    least = np.where(use, v, np.inf).min(axis=-1, keepdims=True)
    unit = np.where(number > 0, np.maximum(spread, np.sqrt(least)), 1.0)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.clip(np.where(use, v, 1.0) / unit / unit, MIN_VARIANCE, MAX_VARIANCE)
    return Units(deviation / unit, np.where(use, scaled, 1.0), use, zero, unit, number, spent)


def finish(
    units: Units, z: FloatArray, v: FloatArray, *,
    shrinkage: FloatArray, estimate: FloatArray, variance: FloatArray, overall: FloatArray,
    tau_squared: FloatArray, tau_squared_raw: FloatArray, new_variance: FloatArray,
) -> Shrunk:  # fmt: skip
    """Fit in the units of the metric, with the groups that it did not use filled in.

    ``z`` and ``v`` are as they were given, all else is in ``units``: of the groups used (..., group), or of the
    population (..., 1), where ``new_variance`` is that of a group without an estimate around the centre.
    """
    single, none = (units.number == 1) & (units.spent == 1), units.number == 0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = np.where(single | none, np.nan, units.unit) * units.unit
        centre = np.where(none, np.nan, np.where(single, 0.0, overall) * units.unit + units.centre)
        pooled = units.use & ~single & (shrinkage != 0)  # what is not shrunk stays as it came, to the last digit
        shown = np.where(pooled, estimate * units.unit + units.centre, z)
        spread = np.where(pooled, variance / units.v * v, v)  # right also where v was bounded
        # Neither known nor unknown: an estimate whose own variance is missing stays as it is.
        imputed = ~np.isfinite(z) | np.isposinf(v)
        observed = np.isfinite(z) & ~imputed
        spread = np.where(observed & (v >= 0), spread, np.nan)
        return Shrunk(
            estimate=np.where(imputed, centre, shown),
            variance=np.where(imputed, new_variance * square, spread),
            shrinkage=np.where(pooled, shrinkage, np.where(observed & (v >= 0), 0.0, np.nan)),
            overall=centre[..., 0],
            tau_squared=(tau_squared * square)[..., 0],
            tau_squared_raw=(tau_squared_raw * square)[..., 0],
            number=units.number[..., 0],
            spent=units.spent[..., 0],
            imputed=imputed,
        )
