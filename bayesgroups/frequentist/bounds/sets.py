"""Confidence sets of a value that is known within bounds: identification and sampling in one interval.

    [L - c se_L, U + c se_U],   Phi(c + (U - L) / max(se_L, se_U)) - Phi(-c) = level

c falls from the two-sided normal quantile, where the ends coincide, to the one-sided one, where they are far apart: the true
value cannot be near both ends.

References
----------
Imbens, Manski (2004), Econometrica 72, 1845-1857, doi:10.1111/j.1468-0262.2004.00555.x. Stoye (2009), Econometrica 77,
1299-1315, doi:10.3982/ECTA7347. Cameron, Gelbach, Miller (2011), two-way clustering, doi:10.1198/jbes.2010.07136.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.bounds.bounds import Across, disagreement_bounds
from bayesgroups.frequentist.bounds.differences import differences, over_labels
from bayesgroups.frequentist.bounds.replicates import UNITS, Unit, replicates, units_of
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.disagreement_notions import Form, Notion
from bayesgroups.tallies.disagreement_rates import Bounds, bounds

Resample = Literal["all", "judgements", "critics", "items"]
DRAWS = 1000
"""Bootstrap replicates."""


def confidence_sets(
    tally: xr.Dataset,
    notion: Notion,
    *,
    seed: int,
    form: Form = "sharp",
    across: Across | None = None,
    resample: Resample = "all",
    draws: int = DRAWS,
) -> xr.Dataset:
    """Confidence sets of the rate of a notion, or of its largest difference between subgroups.

    Estimand: the value in the population that judgements, critics and items were drawn from. The set covers the value,
    wherever within its bounds it lies, in at least ``level`` of all samples.

    Parameters
    ----------
    tally : xr.Dataset
        From `bayesgroups.disagreement_tally`.
    notion : str
        As in `bayesgroups.disagreement_bounds`.
    seed : int
        Source of randomness.
    form : {"sharp", "published"}
        As in `bayesgroups.disagreement_bounds`.
    across : {"subgroups"}, optional
        As in `bayesgroups.disagreement_bounds`.
    resample : {"all", "judgements", "critics", "items"}
        What is drawn anew. ``all`` takes all that the tally knows: with critics and items, variances of both bootstraps are
        added and that of judgements, counted twice, is taken off.
    draws : int
        Number of bootstrap replicates, at least 2.

    Returns
    -------
    xr.Dataset
        ``lower``, ``upper`` (the bounds), ``lower_std_error``, ``upper_std_error``, and along ``level`` (0.5, 0.8, 0.9,
        0.95) ``confidence_lower``, ``confidence_upper`` (not clipped) and ``critical_value``. NaN where the bounds are.

    Raises
    ------
    InputError
        If a choice does not exist or the tally was made without what is to be resampled.

    Notes
    -----
    A standard error of 0 means that all judgements of a kind agree, not that nothing can change. The largest of several
    differences has no normal law where some are about equal; its set is then too wide at the upper end. Its lower end at 0
    is no evidence of fairness.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist.bounds.sets import confidence_sets
    >>> rows = pd.DataFrame({"sex": ["f"] * 60, "label": ["a", "b", "c"] * 20, "disagrees": ([0] * 4 + [1]) * 12})
    >>> counted = bg.disagreement_tally(rows, ["sex"], "label", "disagrees")
    >>> answer = confidence_sets(counted, "equal_opportunity", seed=1)
    >>> bool((answer["confidence_lower"] < answer["lower"]).all())
    True
    """
    choices = ("all", *UNITS)
    if resample not in choices:
        raise InputError(f"resample={resample!r} is not one of {', '.join(map(repr, choices))}")
    if draws < 2:
        raise InputError(f"draws={draws}: a spread needs at least 2 replicates")
    bounds = disagreement_bounds(tally, notion, form=form, across=across)
    units = units_of(tally) if resample == "all" else (resample,)
    errors = _errors(tally, notion, form, across, units, seed, draws)
    ends = Bounds(bounds["lower"].values, bounds["upper"].values)
    data: dict[str, Any] = {
        "lower_std_error": (bounds["lower"].dims, errors.lower),
        "upper_std_error": (bounds["lower"].dims, errors.upper),
    }
    dims = (*bounds["lower"].dims, "level")
    critical = np.stack([critical_value(ends, errors, level) for level in LEVELS], axis=-1)
    data["confidence_lower"] = (dims, ends.lower[..., None] - critical * errors.lower[..., None])
    data["confidence_upper"] = (dims, ends.upper[..., None] + critical * errors.upper[..., None])
    data["critical_value"] = (dims, critical)
    attrs = {"interval_kind": "bound", "interval_method": "imbens_manski", "resampled": ", ".join(units)}
    return bounds.assign(data).assign_coords(level=np.array(LEVELS)).assign_attrs(attrs)


def critical_value(ends: Bounds, errors: Bounds, level: float) -> FloatArray:
    """Number of standard errors that an end is moved outwards; NaN where an end is. All arrays are of one shape.

    >>> ends, errors = Bounds(np.zeros(3), np.array([0.0, 0.1, 5.0])), Bounds(np.full(3, 0.1), np.full(3, 0.05))
    >>> critical_value(ends, errors, 0.95).round(4).tolist()
    [1.96, 1.6815, 1.6449]
    """
    from scipy.special import ndtr, ndtri

    wider = np.maximum(errors.lower, errors.upper)
    width = ends.upper - ends.lower
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without sampling error nothing is moved, whatever the number.
        apart = np.where(wider > 0, width / wider, np.inf)
    low, high = np.full(width.shape, ndtri(level)), np.full(width.shape, ndtri((1 + level) / 2))
    for _ in range(60):
        middle = (low + high) / 2
        enough = ndtr(middle + apart) - ndtr(-middle) >= level
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(np.isnan(width), np.nan, high)


def _errors(
    tally: xr.Dataset, notion: Notion, form: Form, across: Across | None, units: Sequence[Unit], seed: int, draws: int
) -> Bounds:
    """Standard errors of both ends."""
    variance: dict[Unit, Bounds] = {}
    for unit in units:
        rng = np.random.default_rng([seed, UNITS.index(unit)])
        rate = bounds(*replicates(tally, unit, rng, draws=draws), notion, form)
        ends = rate if across is None else over_labels(differences(rate, form))
        variance[unit] = Bounds(_variance(ends.lower), _variance(ends.upper))
    lower = joined({unit: ends.lower for unit, ends in variance.items()})
    upper = joined({unit: ends.upper for unit, ends in variance.items()})
    return Bounds(np.sqrt(lower), np.sqrt(upper))


def joined(variance: dict[Unit, FloatArray]) -> FloatArray:
    """Variance that all resampled units make together, never below that of one of them.

    >>> joined({"judgements": np.array([1.0]), "critics": np.array([3.0]), "items": np.array([2.5])}).tolist()
    [4.5]
    """
    largest = np.max(np.stack(list(variance.values())), axis=0)
    if {"critics", "items"} <= set(variance):
        both = variance["critics"] + variance["items"] - variance["judgements"]
        return np.maximum(largest, both)
    return np.asarray(largest, dtype=np.float64)


def _variance(values: FloatArray) -> FloatArray:
    """Variance over replicates, axis 0, of those in which the rate exists; NaN with fewer than two."""
    some = np.isfinite(values)
    number = some.sum(axis=0)
    mean = np.where(some, values, 0.0).sum(axis=0) / np.maximum(number, 1)
    squares = np.where(some, (values - mean) ** 2, 0.0).sum(axis=0)
    return np.where(number > 1, squares / np.maximum(number - 1, 1), np.nan)
