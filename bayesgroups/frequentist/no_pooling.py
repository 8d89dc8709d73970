"""The standard estimator: every subgroup by its own rows, with the interval of one's choice."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.errors import InputError, near_misses
from bayesgroups.frequentist.answer import Answer, lay_out
from bayesgroups.frequentist.intervals import Interval, means, proportions
from bayesgroups.levels import LEVELS

FloatArray = NDArray[np.float64]

RATE_INTERVALS = ("wilson", "jeffreys", "clopper_pearson", "wald", "percentile")
INTERVALS = ("pooled_normal", "pooled_t", "separate_normal", "t")
PROPORTIONS = {
    "wilson": proportions.wilson,
    "jeffreys": proportions.jeffreys,
    "clopper_pearson": proportions.clopper_pearson,
    "wald": proportions.wald,
    "percentile": proportions.percentile,
}


def estimate(tally: xr.Dataset, *, interval: str = "auto") -> xr.Dataset:
    """Estimate every subgroup by its own rows.

    Estimand: the metric in each subgroup. The estimate is unbiased given that it is defined.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    interval : str
        ``auto``: Wilson for rates, pooled t for everything else (pooled normal where there are no degrees of freedom). For
        rates ``wilson``, ``jeffreys``, ``clopper_pearson``, ``wald``, ``percentile``; for every metric
        ``pooled_normal`` and ``pooled_t`` (one row variance for all subgroups), ``separate_normal`` (exact bootstrap variance of
        the subgroup), ``t`` (the subgroup's own variance, two rows or more).

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist`. ``std_error`` belongs to the interval: the square root of the pooled
        sampling variance, or of the subgroup's own.

    Raises
    ------
    InputError
        If the interval is unknown or does not exist for a metric of the tally.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Eq 1, 6, 7 and Appendix A; Brown, Cai, DasGupta (2001),
    doi:10.1214/ss/1009213286.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import no_pooling
    >>> counts = bg.tally_from_counts([9, 0], [10, 5], pd.DataFrame({"site": ["a", "b"]}))
    >>> found = no_pooling.estimate(counts).sel(level=0.95)
    >>> found["lower"].values.round(4).tolist(), found["upper"].values.round(4).tolist()
    ([[0.5958, 0.0]], [[0.9821, 0.4345]])
    """
    known = ("auto", *RATE_INTERVALS, *INTERVALS)
    if interval not in known:
        raise InputError(f"unknown interval {interval!r}; {near_misses(interval, known)}")
    return lay_out(tally, [_one(tally.isel(metric=i), interval) for i in range(tally.sizes["metric"])])


def _one(one: xr.Dataset, interval: str) -> Answer:
    z, kind, df = one["estimate"].values, str(one["kind"].values), float(one["pooled_df"])
    method = interval
    if interval == "auto":
        method = "wilson" if kind == "rate" else "pooled_t" if np.isfinite(df) else "pooled_normal"
    elif interval in RATE_INTERVALS and kind != "rate":
        raise InputError(
            f"interval {interval!r} is for rates, but metric {str(one['metric'].values)!r} is of kind {kind!r}; "
            f"use one of {', '.join(repr(name) for name in INTERVALS)}, or 'auto'"
        )
    if method in PROPORTIONS:
        k, d = one["successes"].values, one["count"].values
        intervals: list[Interval] = [PROPORTIONS[method](k, d, level) for level in LEVELS]
        return Answer(z, np.sqrt(one["sampling_variance"].values), intervals, method, one["status"].values)
    count = one["count"].values
    variance = one["sampling_variance"].values
    freedom = np.full(z.shape, df)
    if method == "separate_normal":
        variance = one["bootstrap_variance"].values
    elif method == "t":
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(count > 0, one["row_variance"].values / count, np.nan)
        freedom = np.nan_to_num(count) - 1
    if method in ("pooled_t", "t"):
        intervals = [means.t(z, variance, np.nan_to_num(freedom), level) for level in LEVELS]
    else:
        intervals = [means.normal(z, variance, level) for level in LEVELS]
    return Answer(z, np.sqrt(variance), intervals, method, one["status"].values)
