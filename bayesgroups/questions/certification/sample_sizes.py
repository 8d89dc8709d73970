"""Sample sizes for statements about every subgroup, before rows are collected."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.certification import multiplicity
from bayesgroups.questions.certification.multiplicity import Correction
from bayesgroups.questions.certification.overlapping import open_table
from bayesgroups.questions.certification.standards import check_standard
from bayesgroups.questions.subgroup_values import Values

Side = Literal["reaches", "misses"]
GRID = 4_001
"""Points of the integral over the value of the worst estimate."""


def rows_to_certify(
    tally: xr.Dataset, standard: float, *, truth: xr.DataArray | None = None, power: float = 0.8, level: float = 0.95
) -> xr.Dataset:
    """Plan the further rows that each subgroup needs for the pessimist to certify a standard.

    Estimand: the smallest denominators with which all lower limits exceed the standard with probability ``power``.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; what it has already counts.
    standard : float
        Value of the metric that every subgroup is to be shown to reach.
    truth : xr.DataArray, optional
        Assumed values (metric, subgroup); by default the estimates. Small subgroups make extreme estimates, so better
        give shrunken ones, ``report["estimates"]["estimate"].sel(approach="bayesian")``.
    power : float
        Probability that all subgroups are certified together.
    level : float
        One-sided confidence. The pessimist needs no correction.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``subgroup``: ``assumed`` value, ``needed`` denominator and ``more``, what is lacking; infinite
        where the assumed value is not better than the standard. Along ``metric``: ``total`` of ``more``,
        and ``left_out``, labels and reasons of the subgroups without rows that count.

    Raises
    ------
    InputError
        If power or level is no probability, the standard is not finite or outside the range of a metric, or metrics have
        both directions.
    SchemaError
        If it is not a tally.

    Notes
    -----
    Normal approximation: (z_a s_0 + z_b s_1)^2 / (truth - standard)^2 with s_0, s_1 the standard deviations of a row at the
    standard and at the truth (binomial for rates, pooled over subgroups otherwise); for rates with the correction for
    continuity that Clopper-Pearson limits need. Subgroups are independent, so each gets
    power^(1 / number of subgroups). Denominators are rows that count: a false negative rate needs so many positives.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([90, 45], [100, 50], pd.DataFrame({"site": ["a", "b"]}), metric="acc")
    >>> from bayesgroups.questions.certification import rows_to_certify
    >>> rows_to_certify(counts, 0.8)[["needed", "more"]].to_array().values[:, 0].tolist()
    [[117.0, 117.0], [17.0, 67.0]]
    """
    _check("power", power)
    _check("level", level)
    z = multiplicity.critical_value("none", level, 1)
    tables = []
    opened = open_table(tally, "tally")
    check_standard(standard, opened.metrics)
    for i, numbers in enumerate(opened.metrics):
        assumed = _assumed(numbers, truth, i)
        each = power ** (1 / max(int(numbers.included.sum()), 1))
        needed = rows_for_gap(
            numbers.sign * (assumed - standard), _row_sd(numbers, np.full_like(assumed, standard)), _row_sd(numbers, assumed),
            z, NormalDist().inv_cdf(each),
        )  # fmt: skip
        if numbers.kind == "rate":
            needed = continuity_corrected(needed, numbers.sign * (assumed - standard))
        tables.append(_needs(numbers, assumed, needed))
    return opened.answer(tables, {"standard": standard, "power": power, "level": level, **opened.noted})


def rows_to_narrow(tally: xr.Dataset, *, factor: float = 0.5, truth: xr.DataArray | None = None) -> xr.Dataset:
    """Plan the further rows, and their subgroups, that make the widest interval of the table so much narrower.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    factor : float
        Of the widest interval, between 0 and 1.
    truth : xr.DataArray, optional
        Assumed values (metric, subgroup), see `rows_to_certify`.

    Returns
    -------
    xr.Dataset
        As `rows_to_certify` gives; ``needed`` makes every interval at most ``factor`` times as wide as the widest is now.
        Where estimates of rates are 0 or 1 and nothing else is assumed, the pooled row variance stands in.

    Raises
    ------
    InputError
        If the factor does not lie strictly between 0 and 1.
    SchemaError
        If it is not a tally.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([450, 5], [500, 10], pd.DataFrame({"site": ["a", "b"]}), metric="acc")
    >>> from bayesgroups.questions.certification import rows_to_narrow
    >>> rows_to_narrow(counts)["more"].values.tolist()
    [[0.0, 30.0]]
    """
    if not 0 < factor < 1:
        raise InputError(f"factor={factor!r} must lie strictly between 0 and 1: 0.5 halves the widest interval")
    opened = open_table(tally, "tally")
    tables = []
    for i, numbers in enumerate(opened.metrics):
        assumed = _assumed(numbers, truth, i)
        variance = _row_sd(numbers, assumed) ** 2
        variance = np.where(variance > 0, variance, _pooled(numbers))
        with np.errstate(divide="ignore", invalid="ignore"):
            error = variance / numbers.sample.count
        widest = np.nanmax(np.where(numbers.included, error, np.nan)) if numbers.included.any() else np.nan
        needed = np.ceil(variance / (factor**2 * widest) - 1e-9)
        tables.append(_needs(numbers, assumed, np.where(numbers.included, needed, np.nan)))
    return opened.answer(tables, {"factor": factor})


def minimum_detectable_gap(
    tally: xr.Dataset, *, power: float = 0.8, level: float = 0.95, correction: Correction = "bonferroni"
) -> xr.Dataset:
    """The smallest gap between a subgroup and everyone else that the table would probably show.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    power : float
        Probability that a gap of that size is shown.
    level : float
        One-sided confidence.
    correction : {"none", "bonferroni", "holm", "simultaneous"}
        For the number of subgroups that are looked at.

    Returns
    -------
    xr.Dataset
        ``gap`` along ``metric`` and ``subgroup``, in units of the metric; NaN where undefined or without anyone else. Gaps beyond
        the range of the metric cannot be shown. ``left_out`` along ``metric``: labels and reasons of subgroups without rows.

    Raises
    ------
    InputError
        If power or level is no probability.
    SchemaError
        If it is not a tally.

    Notes
    -----
    (z_a + z_b) sqrt(v_G + v_rest), with pooled row variances.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([450, 5], [500, 10], pd.DataFrame({"site": ["a", "b"]}), metric="acc")
    >>> from bayesgroups.questions.certification import minimum_detectable_gap
    >>> minimum_detectable_gap(counts)["gap"].round(2).values.tolist()
    [[0.27, 0.27]]
    """
    _check("power", power)
    _check("level", level)
    opened = open_table(tally, "tally")
    tables = []
    for numbers in opened.metrics:
        some = numbers.included
        count = np.where(some, numbers.sample.count, 0.0)
        z = multiplicity.critical_value(correction, level, int(some.sum())) + NormalDist().inv_cdf(power)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = z * np.sqrt(_pooled(numbers) * (1 / count + 1 / (count.sum() - count)))
        shown = np.where(np.isfinite(gap), gap, np.nan)
        tables.append(xr.Dataset({"gap": ("subgroup", shown), "left_out": numbers.left_out}))
    return opened.answer(tables, {"power": power, "level": level, "correction": correction})


def probability_of_finding_worst(
    tally: xr.Dataset, *, truth: xr.DataArray | None = None, factors: Sequence[float] = (1.0, 2.0, 5.0, 10.0)
) -> xr.Dataset:
    """Compute the probability that the subgroup with the worst estimate is the worst, as the table grows.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    truth : xr.DataArray, optional
        Assumed values (metric, subgroup), see `rows_to_certify`.
    factors : sequence of float
        How many times the rows.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``factor``: ``probability``; along ``metric`` ``worst_subgroup``, the assumed worst, and
        ``left_out``, labels and reasons of the subgroups without rows that count.

    Raises
    ------
    InputError
        If a factor is not positive.
    SchemaError
        If it is not a tally.

    Notes
    -----
    Integral of the normal density of the worst subgroup's estimate times the probability that all others are better. Assumed
    rates of 0 or 1 have the pooled row variance.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([90, 80], [100, 100], pd.DataFrame({"site": ["a", "b"]}), metric="acc")
    >>> from bayesgroups.questions.certification import probability_of_finding_worst
    >>> probability_of_finding_worst(counts)["probability"].round(3).values.tolist()
    [[0.977, 0.998, 1.0, 1.0]]
    """
    growth = np.asarray(factors, dtype=np.float64)
    if growth.ndim != 1 or not (growth > 0).all():
        raise InputError(f"factors={factors!r} must be positive numbers: how many times the rows")
    opened = open_table(tally, "tally")
    tables = []
    for i, numbers in enumerate(opened.metrics):
        assumed = _assumed(numbers, truth, i)
        some = numbers.included & np.isfinite(assumed)
        label, probability = "", np.full(len(growth), np.nan)
        if some.any():
            values = numbers.sign * assumed[some]
            variance = _row_sd(numbers, assumed)[some] ** 2
            variance = np.where(variance > 0, variance, _pooled(numbers)) / numbers.sample.count[some]
            label = str(numbers.labels[some][int(np.argmin(values))])
            probability = np.array([chance_of_lowest(values, np.sqrt(variance / factor)) for factor in growth])
        answer = {"probability": ("factor", probability), "worst_subgroup": label, "left_out": numbers.left_out}
        tables.append(xr.Dataset(answer))
    names = {"metric": opened.coordinates["metric"], "factor": growth}
    joined = xr.concat(tables, dim="metric", data_vars="all", join="exact")
    return joined.assign_coords(names).assign_attrs(opened.noted)


def rows_for_gap(gap: FloatArray, null_sd: FloatArray, sd: FloatArray, z: float, z_power: float) -> FloatArray:
    """Rows with which a normal test shows a gap: whole numbers, infinite where there is no gap in that direction."""
    effort = np.maximum(z * null_sd + z_power * sd, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.maximum(np.ceil((effort / gap) ** 2), 1.0)
    return np.where(gap > 0, rows, np.where(np.isnan(gap), np.nan, np.inf))


def continuity_corrected(rows: FloatArray, gap: FloatArray) -> FloatArray:
    """Rows that an exact binomial test needs where the normal one needs so many.

    Fleiss, Levin, Paik (2003), Statistical Methods for Rates and Proportions, https://doi.org/10.1002/0471445428, Eq 2.8.
    """
    some = np.isfinite(rows)
    finite = np.where(some, rows, 1.0)
    corrected = finite / 4 * (1 + np.sqrt(1 + 2 / (finite * np.where(some, np.abs(gap), 1.0)))) ** 2
    return np.where(some, np.ceil(corrected), rows)


def chance_of_lowest(truth: FloatArray, error: FloatArray) -> float:
    """Probability that the subgroup with the lowest true value has the lowest of normal estimates."""
    from scipy.special import ndtr

    lowest = int(np.argmin(truth))
    standard = np.linspace(-9, 9, GRID)
    value = truth[lowest] + error[lowest] * standard
    rivals = np.delete(np.arange(len(truth)), lowest)
    better = np.ones_like(value)
    for other in rivals:  # one by one: the grid times many subgroups would not be small
        better *= ndtr((truth[other] - value) / error[other])
    density = np.exp(-(standard**2) / 2)
    return float((better * density).sum() / density.sum())


def _check(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r} must lie strictly between 0 and 1")


def _assumed(numbers: Values, truth: xr.DataArray | None, i: int) -> FloatArray:
    if truth is None:
        return np.where(numbers.included, numbers.sample.estimate, np.nan)
    try:
        values = truth.sel(metric=numbers.metric, subgroup=list(numbers.labels)).values.astype(np.float64)
    except (KeyError, AttributeError, TypeError, ValueError):
        raise InputError(
            f"truth= must be a DataArray along metric and subgroup with metric {numbers.metric!r}"
        ) from None
    return np.where(numbers.included, values, np.nan)


def _pooled(numbers: Values) -> float:
    """Row variance pooled over subgroups."""
    with np.errstate(invalid="ignore"):
        each = (numbers.sample.variance * numbers.sample.count)[numbers.included]
    return float(each[0]) if len(each) else float("nan")


def _row_sd(numbers: Values, at: FloatArray) -> FloatArray:
    """Standard deviation of one row where the metric has a value."""
    if numbers.kind == "rate":
        inside = np.clip(at, 0.0, 1.0)
        return np.sqrt(inside * (1 - inside))
    return np.full(at.shape, np.sqrt(_pooled(numbers)))


def _needs(numbers: Values, assumed: FloatArray, needed: FloatArray) -> xr.Dataset:
    with np.errstate(invalid="ignore"):
        more = np.maximum(needed - np.where(np.isnan(numbers.sample.count), 0.0, numbers.sample.count), 0.0)
    data = {
        name: ("subgroup", row) for name, row in (("assumed", assumed), ("needed", needed), ("more", np.ceil(more)))
    }
    return xr.Dataset({**data, "total": float(np.nansum(more)), "left_out": numbers.left_out})
