"""Scale of each metric: the centre and the widths that weak priors take from it.

One rule for the normal likelihoods of every model and for the exact engines, without PyMC:

=====================  =========================================  =============================================
metric                 ``centre``                                 ``scale``
=====================  =========================================  =============================================
finite range [lo, hi]  (lo + hi) / 2                              (hi - lo) / 2
``estimate``           mean of the estimates, weights 1/variance  sqrt(mean sampling variance + variance between)
any other              mean of the estimates, weights ``count``   sqrt(pooled variance of one row)
=====================  =========================================  =============================================

and ``tau_scale = scale / 2``. On [0, 1] that is Normal(.5, .5) and HalfNormal(.25). Without a range the prior holds the
information of a single row (unit information; Kass and Wasserman 1995, doi:10.1080/01621459.1995.10476592).
"""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

LOGIT_OVERALL_SCALE = 1.5
"""Prior standard deviation of the logit of a grand rate."""
LOGIT_TAU_SCALE = 0.5
"""Scale of the half-normal prior of the spread of logits between subgroups."""
LARGEST_LOGIT_SCALE = 50.0
"""Largest scale of logits that can be asked for: rates of 2e-22 to 1 - 2e-22 are one standard deviation from even odds."""
JEFFREYS = 0.5
"""Both parameters of the Beta prior of a rate that stands alone."""
WEAK = 4.0
"""Prior standard deviation of a value that stands alone and is no rate, as a multiple of the metric's scale."""


def natural_scale(tally: xr.Dataset) -> xr.Dataset:
    """Centre and widths of the weak default priors of each metric, on its own scale.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are ``estimate``, ``count`` and ``sampling_variance`` (metric, subgroup) and ``kind``,
        ``range_lower``, ``range_upper`` and ``pooled_variance`` (metric). Subgroups without an estimate are left out.

    Returns
    -------
    xr.Dataset
        ``centre``, ``scale`` and ``tau_scale``, each with dim ``metric`` and in the units of the metric. A scale of
        0, or one that cannot be computed, is 1; a centre that cannot be computed is 0.

    References
    ----------
    Kass and Wasserman (1995), "A reference Bayesian test for nested hypotheses and its relationship to the Schwarz
    criterion", JASA 90, doi:10.1080/01621459.1995.10476592.

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"estimate": (cells, [[0.2, 0.5], [3.0, 6.0]]), "count": (cells, [[10.0, 10.0], [10.0, 20.0]]),
    ...      "sampling_variance": (cells, [[0.01, 0.01], [0.4, 0.2]]), "pooled_variance": ("metric", [0.1, 4.0]),
    ...      "kind": ("metric", ["rate", "mean"]), "range_lower": ("metric", [0.0, 0.0]),
    ...      "range_upper": ("metric", [1.0, np.inf])},
    ...     coords={"metric": ["fnr", "wer"], "subgroup": ["a", "b"]})
    >>> natural = natural_scale(tally)
    >>> natural["centre"].values.tolist(), natural["scale"].values.tolist(), natural["tau_scale"].values.tolist()
    ([0.5, 5.0], [0.5, 2.0], [0.25, 1.0])
    """
    kinds = [str(kind) for kind in tally["kind"].values]
    rows = [_one(tally.isel(metric=position), kind) for position, kind in enumerate(kinds)]
    centre = np.array([row[0] for row in rows], dtype=np.float64)
    scale = np.array([row[1] for row in rows], dtype=np.float64)
    return xr.Dataset(
        {"centre": ("metric", centre), "scale": ("metric", scale), "tau_scale": ("metric", scale / 2)},
        coords={"metric": tally["metric"].values},
    )


def _one(metric: xr.Dataset, kind: str) -> tuple[float, float]:
    """Centre and scale of one metric, 0 and 1 where they cannot be computed."""
    lower, upper = float(metric["range_lower"]), float(metric["range_upper"])
    if math.isfinite(lower) and math.isfinite(upper):
        centre, scale = lower + (upper - lower) / 2, (upper - lower) / 2
    elif kind == "estimate":
        centre, scale = _published(_floats(metric["estimate"]), _floats(metric["sampling_variance"]))
    else:
        centre = _weighted_mean(_floats(metric["estimate"]), _floats(metric["count"]))
        scale = math.sqrt(float(metric["pooled_variance"]))
    return (
        centre if math.isfinite(centre) else 0.0,
        scale if math.isfinite(scale) and scale > 0 else 1.0,
    )


def _published(estimate: FloatArray, variance: FloatArray) -> tuple[float, float]:
    """Centre and scale of estimates whose rows are not known: total variance of an estimate around the centre."""
    known = np.isfinite(estimate) & np.isfinite(variance)
    if not known.any():
        return math.nan, math.nan
    estimate, variance = estimate[known], variance[known]
    # Estimates known exactly outweigh all others; the smallest variance is put to 1 so that no weight overflows.
    smallest = variance.min()
    weight = np.where(variance == 0, 1.0, 0.0) if smallest == 0 else smallest / variance
    return _weighted_mean(estimate, weight), math.sqrt(float(variance.mean() + estimate.var()))


def _weighted_mean(value: FloatArray, weight: FloatArray) -> float:
    """Mean over the entries that have a value and a positive weight; NaN if there is none."""
    used = np.isfinite(value) & np.isfinite(weight) & (weight > 0)
    return float(np.average(value[used], weights=weight[used])) if used.any() else math.nan


def _floats(values: xr.DataArray) -> FloatArray:
    return np.asarray(values.values, dtype=np.float64)


def chosen(default: FloatArray, given: float | None, name: str, *, logit: bool) -> FloatArray:
    """The given scale for every metric, or else the default of each.

    Parameters
    ----------
    default : array (metric,)
        Scale of each metric where none is given.
    given : float, optional
        Scale of all metrics.
    name : str
        Name of the setting, for the message.
    logit : bool
        Whether it is the scale of logits of any metric.

    Raises
    ------
    ValueError
        If it is not a positive finite number, or is no scale of logits.
    """
    if given is None:
        return default
    check_scale(given, name, logit=logit)
    return np.full_like(default, given)


def check_scale(given: float, name: str, *, logit: bool) -> None:
    """Refuse a scale that is not positive and finite, or that spans more logits than a double can tell from 0 and 1.

    Raises
    ------
    ValueError
    """
    if not (math.isfinite(given) and given > 0):
        raise ValueError(f"{name} must be a positive number; got {given!r}")
    if logit and given > LARGEST_LOGIT_SCALE:
        raise ValueError(
            f"{name}={given:g} is a scale of logits, where 5 spans rates from 0.007 to 0.993; "
            f"choose one of at most {LARGEST_LOGIT_SCALE:g}"
        )
