"""Variance of the true values of a metric between subgroups, beyond that of sampling."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.questions.disparities import bootstrap_variance, finite_population, heterogeneity
from bayesgroups.questions.disparities.bootstrap_variance import Form
from bayesgroups.questions.disparities.population_variance import Estimate, of_population
from bayesgroups.questions.sampling_variances import Estimates, check_tally, read_estimates

Method = Literal["double_corrected", "corrected", "uncorrected", "dl", "pm", "he", "sj", "ml", "reml"]
IntervalName = Literal[
    "auto", "percentile", "basic", "unified", "upper", "q_profile", "profile_likelihood", "sidik_jonkman"
]
Variances = Literal["pooled", "own"]

_BOOTSTRAP: tuple[IntervalName, ...] = ("percentile", "basic")
_EXACT: tuple[IntervalName, ...] = ("q_profile", "unified", "upper")
INTERVALS: dict[Method, tuple[IntervalName, ...]] = {
    "double_corrected": (*_BOOTSTRAP, "unified", "upper"),
    "corrected": (*_BOOTSTRAP, "unified", "upper"),
    "uncorrected": _BOOTSTRAP,
    "dl": _EXACT,
    "pm": _EXACT,
    "he": _EXACT,
    "sj": ("sidik_jonkman", *_EXACT),
    "ml": ("profile_likelihood", *_EXACT),
    "reml": ("profile_likelihood", *_EXACT),
}
"""Intervals that each method has; its own first."""
OF_THESE = ("double_corrected", "corrected", "uncorrected")
"""Methods whose estimand is the variance of these very subgroups."""
NO_LEVEL: dict[Method, str] = {
    "uncorrected": (
        "limits of the bootstrap lie too high, for sampling counts as variance twice; method='corrected' with interval='unified' "
        "keeps the level"
    ),
    "corrected": (
        "limits of the bootstrap lie too high, for a replicate has the noise of two samples; interval='unified' keeps the level"
    ),
    "double_corrected": (
        "limits of the bootstrap need many subgroups and rows: of six subgroups of 1 to 80 rows 95 % limits covered 79 %; "
        "interval='unified' keeps the level"
    ),
}
"""Remark on intervals of the bootstrap by method."""
FLAT = "rows of a subgroup do not differ, so nothing says how exact its estimate is"
_NUMBERS = ("raw", "truncated", "std_error", "lower", "upper", "q", "q_df", "i_squared")
_WORDS = ("interval_method", "left_out", "note", "reason")


@checked_keywords
def between_group_variance(
    tally: xr.Dataset, method: Method = "double_corrected", *, level: float = 0.95, seed: int = 0,
    interval: IntervalName = "auto", form: Form = "unbiased", variances: Variances = "pooled", draws: int = 2000,
) -> xr.Dataset:  # fmt: skip
    """Estimate the variance of the true values of every metric between subgroups.

    Estimand: with ``uncorrected``, ``corrected`` and ``double_corrected`` the variance of the true values of these very
    subgroups, divisor K - 1; with the others tau^2, the variance of their population. Both in squared units of the metric.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    method : {"double_corrected", "corrected", "uncorrected", "dl", "pm", "he", "sj", "ml", "reml"}
        ``uncorrected``: the variance of the estimates, too large by the mean sampling variance. ``corrected``: less that.
        ``double_corrected``: the same estimate, with bootstrap replicates from which the resampling is taken off as well.
        ``dl`` DerSimonian-Laird, ``pm`` Paule-Mandel, ``he`` Hedges-Olkin, ``sj`` Sidik-Jonkman, ``ml`` and ``reml``
        (restricted) maximum likelihood.
    level : float
        Coverage that the interval aims at.
    seed : int
        Source of randomness of the bootstrap.
    interval : str
        ``auto`` takes the first that the method has. ``percentile``, ``basic``: of the bootstrap, for the first three.
        ``q_profile``: from Cochran's Q, for the others; ``sidik_jonkman`` and ``profile_likelihood`` for ``sj``, and for
        ``ml`` and ``reml``. ``unified``: an interval that keeps its level where the variance is 0 too, by testing every
        value; the estimand is that of the method; not for ``uncorrected``. ``upper``: an upper limit alone, ``lower`` is 0.
    form : {"unbiased", "published"}
        Sampling variance of a rate in the first three methods: y (1 - y) / (d - 1), or / d as published, which is too small.
    variances : {"pooled", "own"}
        Sampling variances that weigh subgroups in the other methods: from the pooled row variance of the tally, or from each
        subgroup's own rows (pooled where these all agree or there is one). Those of rates go with the rates, and weights
        that do so find variance where there is none, so own ones are for losses whose spread differs. The estimate of ``he``
        has no weights and always takes own ones.
    draws : int
        Bootstrap replicates.

    Returns
    -------
    xr.Dataset
        Along ``metric``: ``raw``, which can be negative, and ``truncated`` at 0; ``lower``, ``upper``; ``std_error`` of
        ``dl``, ``ml``, ``reml``, and of ``corrected`` and ``double_corrected``; Cochran's ``q`` on ``q_df`` degrees of
        freedom and ``i_squared``, the share of the spread that sampling does not explain; ``subgroups`` that are used,
        ``left_out`` (labels, joined by "; "); ``interval_method``; ``note``, what a reader must know; ``reason``, why a
        number is NaN. Attributes: ``method``, ``estimand``, ``interval_kind``, ``level``, ``variance_method``.

    Raises
    ------
    InputError
        If a setting does not exist, or the method has no such interval.
    SchemaError
        If ``tally`` is not a tally.

    Notes
    -----
    Coverage of the percentile intervals of ``uncorrected`` and ``corrected`` is far below the level, and that of
    ``double_corrected`` near 100 % where all true values agree, for it is cut off at 0, and below the level with few subgroups
    of few rows, where a replicate has no spread of its own. ``unified`` is within a point of
    the level in all four published designs, and no longer wherever the other holds its level, see the page on meta-metrics.

    References
    ----------
    Lum, Zhang, Bower (2022), doi:10.1145/3531146.3533105 (the first three); Viechtbauer (2007), doi:10.1002/sim.2514
    (intervals for tau^2); Veroniki et al. (2016), doi:10.1002/jrsm.1164 (its estimators); Feldman, Cousins (1998),
    doi:10.1103/PhysRevD.57.3873 (``unified``).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> sites = pd.DataFrame({"site": list("abcd")})
    >>> tally = bg.tally_from_counts([36, 16, 7, 3], [40, 20, 10, 5], sites)
    >>> found = bg.between_group_variance(tally, "corrected", interval="unified").isel(metric=0)
    >>> round(float(found["raw"]), 6), float(found["truncated"]), float(found["lower"])
    (-0.006849, 0.0, 0.0)
    >>> reml = bg.between_group_variance(tally, "reml").isel(metric=0)
    >>> str(reml["interval_method"].values), bool(reml["upper"] > reml["truncated"])
    ('profile_likelihood', True)
    """
    check_tally(tally)
    name = _check(method, interval, draws)
    tail(level)
    rows: list[dict[str, Any]] = []
    for i in range(tally.sizes["metric"]):
        estimates = read_estimates(tally, i)
        v = estimates.v if variances == "own" else estimates.pooled
        positive = np.where(v > 0, v, estimates.pooled)
        reason = _why_not(estimates, positive, method)
        answer = Estimate(np.nan, Interval(np.array(np.nan), np.array(np.nan)))
        if not reason and method in OF_THESE:
            answer = _of_these(tally, i, estimates, method, name, level, seed, form, draws)
        elif not reason:
            answer = of_population(estimates.y, estimates.v, positive, method, name, level)
        tested = len(estimates.y) > 1 and bool((positive > 0).all())
        row: dict[str, Any] = {
            "raw": answer.raw,
            "truncated": np.maximum(answer.raw, 0.0),
            "std_error": answer.std_error,
            "lower": answer.interval.lower,
            "upper": answer.interval.upper,
            "q": heterogeneity.q_statistic(estimates.y, positive) if tested else np.nan,
            "q_df": len(estimates.y) - 1 if tested else np.nan,
            "i_squared": heterogeneity.i_squared(estimates.y, positive) if tested else np.nan,
            "interval_method": name,
            "left_out": estimates.left_out,
            "note": _note(estimates, method, name),
        }
        row["reason"] = FLAT if not reason and np.isnan(row["lower"]) else reason
        rows.append(row | {"subgroups": len(estimates.y)})
    types = dict.fromkeys(_NUMBERS, np.float64) | dict.fromkeys(_WORDS, np.str_) | {"subgroups": np.int64}
    data = {key: ("metric", np.array([row[key] for row in rows], dtype=kind)) for key, kind in types.items()}
    return xr.Dataset(
        data,
        coords={"metric": tally["metric"].values},
        attrs={
            "method": method,
            "estimand": "variance of these subgroups" if method in OF_THESE else "variance of their population",
            "interval_kind": "bound" if name == "upper" else "confidence",
            "level": level,
            "variance_method": form if method in OF_THESE else variances,
        },
    )


def _check(method: Method, interval: IntervalName, draws: int) -> IntervalName:
    if draws < 1:
        raise InputError(f"draws={draws} must be 1 or more")
    has = INTERVALS[method]
    if interval == "auto":
        return has[0]
    if interval not in has:
        raise InputError(f"method {method!r} has no interval {interval!r}; it has {', '.join(map(repr, has))}")
    return interval


def _why_not(estimates: Estimates, positive: FloatArray, method: Method) -> str:
    """Reason why there is no answer, if so."""
    if len(estimates.y) < 2:
        return "fewer than two subgroups with an estimate"
    return "" if method in OF_THESE or (positive > 0).all() else FLAT


def _of_these(
    tally: xr.Dataset, position: int, estimates: Estimates, method: Method, name: IntervalName, level: float, seed: int,
    form: Form, draws: int,
) -> Estimate:  # fmt: skip
    correction = next(word for word in get_args(bootstrap_variance.Correction) if word == method)
    single: bootstrap_variance.Correction = "uncorrected" if correction == "uncorrected" else "corrected"
    raw = float(bootstrap_variance.variances(estimates.y, estimates, single, form))
    spread = finite_population.of_cells(estimates)
    at = finite_population.law(spread, np.maximum(spread.raw, 0.0))
    error = float(np.sqrt(at.variance)) if single == "corrected" else np.nan
    if name in _BOOTSTRAP:
        replicated = bootstrap_variance.resample(tally, position, estimates, seed=seed, draws=draws)
        values = bootstrap_variance.variances(replicated, estimates, correction, form)
        return Estimate(raw, bootstrap_variance.interval(values, raw, level, basic=name == "basic"), error)
    return Estimate(raw, finite_population.interval(spread, level, upper_only=name == "upper"), error)


def _note(estimates: Estimates, method: Method, name: IntervalName) -> str:
    """Remark that belongs beside the numbers."""
    notes, few = [NO_LEVEL[method]] if name in _BOOTSTRAP and len(estimates.y) > 1 else [], estimates.count <= 2
    if method != "uncorrected" and len(few) and 2 * few.sum() > len(few):
        notes.append(
            "more than half of the subgroups have one or two rows: the correction rests on the pooled row variance"
        )
    if (estimates.v == 0).any():
        notes.append(
            f"all rows agree in {int((estimates.v == 0).sum())} of the subgroups, which is no proof that they are exact"
        )
    return "; ".join(notes)
