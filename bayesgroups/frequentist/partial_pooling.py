"""Partial pooling the frequentist way: empirical Bayes with the interval of one's choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.errors import InputError, near_misses
from bayesgroups.frequentist.answer import Answer, lay_out
from bayesgroups.frequentist.intervals import Interval, means
from bayesgroups.frequentist.intervals.interval import around
from bayesgroups.frequentist.moments import empirical_bayes
from bayesgroups.frequentist.morris import morris
from bayesgroups.levels import LEVELS

FloatArray = NDArray[np.float64]

INTERVALS = ("morris", "plug_in", "robust", "fab")


@dataclass(frozen=True)
class _Fit:
    """One metric: ``spread`` is the variance of a subgroup that was not seen."""

    centre: float
    tau_squared: float
    raw: float
    spread: float
    estimate: FloatArray
    variance: FloatArray
    shrinkage: FloatArray
    intervals: list[Interval]
    method: str
    degenerate: bool = False


def estimate(tally: xr.Dataset, *, interval: str = "morris") -> xr.Dataset:
    """Empirical-Bayes estimates of every subgroup.

    Estimand: the metric of each subgroup, mu_a ~ Normal(overall, tau^2), z_a ~ Normal(mu_a, v_a) with v_a the pooled
    sampling variance of the tally, for every kind of metric.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    interval : {"morris", "plug_in", "robust", "fab"}
        ``morris``: Morris-corrected estimates and intervals. ``plug_in``: moment estimates taken for the truth; these
        intervals under-cover and have length 0, status ``degenerate``, when tau^2 is estimated as 0. ``robust``: average
        coverage over subgroups whatever the distribution of the true values. ``fab``: coverage in every
        subgroup, around the unshrunk estimate.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist`, with ``overall``, ``tau``, ``tau_squared_raw`` (metric; the moment
        estimate, negative values kept) and ``shrinkage`` (metric, subgroup; 1 = all the way to ``overall``). Subgroups
        without an estimate get ``overall``, with the interval of a subgroup yet unseen and status ``imputed``. Too few
        subgroups to learn from (three or fewer; two for ``plug_in``) keep the standard interval, and
        ``interval_method`` says so.

    Raises
    ------
    InputError
        If the interval is unknown.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Eq 8-14; Morris (1983); Armstrong, Kolesar, Plagborg-Moller (2022); Yu, Hoff
    (2018).

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import partial_pooling
    >>> z, d = [0.2, 0.25, 0.4, 0.1, 0.75], np.array([50, 30, 15, 8, 4])
    >>> table = bg.tally_from_estimates(z, 0.16 / d, pd.DataFrame({"site": list("abcde")}))
    >>> found = partial_pooling.estimate(table, interval="plug_in")
    >>> round(float(found["tau"].item()) ** 2, 6), found["estimate"].values.ravel().round(3).tolist()
    (0.013813, [0.217, 0.261, 0.352, 0.213, 0.408])
    """
    if interval not in INTERVALS:
        raise InputError(f"unknown interval {interval!r}; {near_misses(interval, INTERVALS)}")
    return lay_out(tally, [_one(tally.isel(metric=i), interval) for i in range(tally.sizes["metric"])])


def _one(one: xr.Dataset, interval: str) -> Answer:
    z, v = one["estimate"].values, one["sampling_variance"].values
    some = np.isfinite(z) & np.isfinite(v)
    status = one["status"].values.astype("<U10")
    fit = _fit(z[some], v[some], interval)

    def everywhere(values: FloatArray, elsewhere: float) -> FloatArray:
        full = np.full(z.shape, elsewhere)
        full[some] = values
        return full

    intervals = []
    for level, known in zip(LEVELS, fit.intervals, strict=True):
        unseen = means.normal(np.array([fit.centre]), np.array([fit.spread]), level)
        intervals.append(Interval(everywhere(known.lower, unseen.lower[0]), everywhere(known.upper, unseen.upper[0])))
    if np.isfinite(fit.centre):
        status[~some] = "imputed"
    if fit.degenerate:
        status[some] = "degenerate"
    return Answer(
        estimate=everywhere(fit.estimate, fit.centre),
        std_error=np.sqrt(everywhere(fit.variance, fit.spread)),
        intervals=intervals,
        method=fit.method,
        status=status,
        subgroup={"shrinkage": everywhere(fit.shrinkage, 1.0)},
        scalar={"overall": fit.centre, "tau": float(np.sqrt(fit.tau_squared)), "tau_squared_raw": fit.raw},
    )


def _fit(z: FloatArray, v: FloatArray, interval: str) -> _Fit:
    if len(z) == 0:
        nothing = [Interval(np.empty(0), np.empty(0)) for _ in LEVELS]
        return _Fit(np.nan, np.nan, np.nan, np.nan, z, v, z, nothing, f"{interval} (nothing to pool)")
    if (v == 0).all():
        # Estimates said to be exact leave nothing to pool, and no standard error to trust.
        exact = [Interval(z, z) for _ in LEVELS]
        return _Fit(
            float(z.mean()), np.nan, np.nan, np.nan, z, v, 0 * z, exact, f"{interval} (no variance)", degenerate=True
        )
    v = np.maximum(v, 1e-12 * v.max())
    moments = empirical_bayes(z, v)
    raw = moments.moments.raw
    if len(z) <= (1 if interval == "plug_in" else 3):
        tau_squared = moments.moments.truncated
        spread = tau_squared + float(1 / (1 / (v + np.nan_to_num(tau_squared))).sum())
        intervals = [means.normal(z, v, level) for level in LEVELS]
        method = f"{interval} (unshrunk: too few subgroups)"
        return _Fit(moments.centre, tau_squared, raw, spread, z, v, 0 * z, intervals, method)
    if interval == "morris":
        found = morris(z, v)
        intervals = [means.normal(found.estimate, found.variance, level) for level in LEVELS]
        spread = found.tau_squared + found.centre_variance
        return _Fit(
            found.centre,
            found.tau_squared,
            raw,
            spread,
            found.estimate,
            found.variance,
            found.shrinkage,
            intervals,
            "morris",
        )
    tau_squared = moments.moments.truncated
    spread = tau_squared + float(1 / (1 / (v + tau_squared)).sum())
    if interval == "plug_in":
        intervals = [means.normal(moments.estimate, moments.variance, level) for level in LEVELS]
        return _Fit(
            moments.centre, tau_squared, raw, spread, moments.estimate, moments.variance, moments.shrinkage, intervals,
            "plug_in", degenerate=tau_squared == 0,
        )  # fmt: skip
    if interval == "robust":
        from bayesgroups.frequentist.robust import critical_values, robust

        shrunk = robust(z, v)
        intervals = [
            around(shrunk.estimate, critical_values(v / shrunk.mu2, shrunk.kappa, level) * shrunk.std_error)
            for level in LEVELS
        ]
        return _Fit(
            shrunk.centre, shrunk.mu2, raw, shrunk.mu2 + float(1 / (1 / v).sum()), shrunk.estimate, shrunk.weight * v,
            1 - shrunk.weight, intervals, "robust",
        )  # fmt: skip
    from bayesgroups.frequentist.fab import fab, leave_one_out

    guess, width = leave_one_out(z, v)
    intervals = [fab(z, v, guess, width, level) for level in LEVELS]
    return _Fit(moments.centre, tau_squared, raw, spread, z, v, 0 * z, intervals, "fab")
