"""Anytime-valid limits of one metric of a tally: where they exist, what they need, and what is fixed beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import anytime
from bayesgroups.frequentist.intervals.interval import Interval

MIN_ROWS = 30
"""Rows of a subgroup below which an estimated row variance is not taken for the variance."""
MIN_CLUSTERS = 10
"""The same for the variance between clusters."""


@dataclass(frozen=True)
class Anytime:
    """Choices made before the first look: the Beta prior of a rate, and the rows at which limits of a mean are shortest."""

    prior: anytime.Prior = anytime.JEFFREYS
    optimal_n: float = anytime.OPTIMAL_COUNT

    def __post_init__(self) -> None:
        shapes = self.prior
        if len(shapes) != 2 or not all(math.isfinite(shape) and shape > 0 for shape in shapes):
            raise InputError(
                f"anytime_prior={shapes!r} must be two positive numbers, the shapes of a Beta, as (0.5, 0.5)"
            )
        if not (math.isfinite(self.optimal_n) and self.optimal_n > 0):
            raise InputError(f"anytime_optimal_n={self.optimal_n!r} must be a positive number of rows, such as 1000")


FIXED = Anytime()
"""Choices where nothing is given."""


def method(metric_tally: xr.Dataset) -> Literal["anytime_beta", "anytime_normal"]:
    """The name of the limits of a metric; an InputError where its kind or its rows do not allow any."""
    name, kind = str(metric_tally["metric"].values), str(metric_tally["kind"].values)
    if kind not in ("rate", "mean"):
        raise InputError(
            f"metric {name!r} has no interval 'anytime', because its kind is {kind!r}; rates and means have one, use 'auto'"
        )
    n = metric_tally["count"].values
    clusters = _clusters(metric_tally)
    if clusters and kind == "rate":
        raise InputError(
            f"metric {name!r} has no interval 'anytime', because it needs independent unweighted rows and the tally has "
            "clusters; use 'cluster_robust'"
        )
    if kind == "rate":
        check_whole(name, metric_tally, (n != np.round(n)) | _fractional(metric_tally["successes"].values))
        return "anytime_beta"
    if not clusters:
        check_whole(name, metric_tally, n != np.round(n))
    units = metric_tally["cluster_count"].values if clusters else n
    least, unit = (MIN_CLUSTERS, "clusters") if clusters else (MIN_ROWS, "rows")
    few = np.isfinite(metric_tally["estimate"].values) & (units < least)
    if few.any():
        raise InputError(
            f"metric {name!r}, {_place(metric_tally, few)} has {units[few][0]:g} {unit} and interval='anytime' needs {least}, for "
            "its variance is estimated; wait for more, leave the subgroup out, or use interval='auto'"
        )
    return "anytime_normal"


def limits(metric_tally: xr.Dataset, level: float, fixed: Anytime) -> Interval:
    """Limits of all subgroups of a metric that has them; NaN where a subgroup has no value."""
    z, n = metric_tally["estimate"].values, metric_tally["count"].values
    if str(metric_tally["kind"].values) == "mean":
        variance = metric_tally["row_variance"].values
        if _clusters(metric_tally):
            n = metric_tally["cluster_count"].values
            variance = metric_tally["cluster_robust_variance"].values * n
        return anytime.mean(z, variance, n, level, fixed.optimal_n)
    some = np.isfinite(z)
    k = np.where(some, metric_tally["successes"].values, 0.0)
    none = np.full(z.shape, np.nan)
    return anytime.rate(k, np.where(some, n, 0.0), level, fixed.prior).where(some, Interval(none, none))


def check_whole(name: str, metric_tally: xr.Dataset, broken: BoolArray) -> None:
    """Refuse counts that are not whole, of rows with weights."""
    broken = broken & np.isfinite(metric_tally["estimate"].values)
    if broken.any():
        count = metric_tally["count"].values[broken][0]
        raise InputError(
            f"metric {name!r}, {_place(metric_tally, broken)}: interval='anytime' needs independent unweighted rows, and its "
            f"count is {count:g}, not a whole number (weights?); use interval='auto', or tally without weights"
        )


def _fractional(counts: np.ndarray) -> BoolArray:
    return np.asarray(np.isfinite(counts) & (counts != np.round(counts)))


def _clusters(metric_tally: xr.Dataset) -> bool:
    """Clusters are there and taken into account."""
    return "cluster_analysis" in metric_tally and str(metric_tally["cluster_analysis"].values) != "ignore"


def _place(metric_tally: xr.Dataset, where: BoolArray) -> str:
    return f"subgroup {str(metric_tally['subgroup'].values[where][0])!r}"
