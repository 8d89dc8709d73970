"""Definitions of unfairness across subgroups that were published before the optimist's and the pessimist's.

Each takes values whose last axis is the subgroup, with draws before it, and says how unfair they are; 0 is best.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.certification.overlapping import open_table
from bayesgroups.questions.subgroup_values import Values
from bayesgroups.questions.values import Using
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.participation import Imputed

NAMES = ("equality_gap", "size_weighted_gap", "differential_ratio", "share_beyond")
INTERVALS = {
    "posterior": ("credible", "equal_tailed"), "bootstrap": ("confidence", "percentile"), "tally": ("none", ""),
}  # fmt: skip
"""Kind and method of the intervals that each part gives."""


def equality_gap(values: FloatArray, overall: FloatArray | float) -> FloatArray:
    """Largest distance of a subgroup from everyone; Himmelreich et al., Eq 1, https://doi.org/10.48550/arXiv.2411.02569."""
    return np.asarray(np.abs(values - np.asarray(overall)[..., None]).max(axis=-1), dtype=np.float64)


def size_weighted_gap(values: FloatArray, share: FloatArray, overall: FloatArray | float) -> FloatArray:
    """Largest distance from everyone weighted by the subgroup's share, so that small ones hardly count.

    Kearns, Neel, Roth, Wu (2018), https://proceedings.mlr.press/v80/kearns18a.html; Himmelreich et al., Eq 2, whose example
    prints .014 where gap .7 and share .2 give .14.
    """
    return np.asarray((share * np.abs(values - np.asarray(overall)[..., None])).max(axis=-1), dtype=np.float64)


def differential_ratio(values: FloatArray) -> FloatArray:
    """Largest absolute log ratio of two values, none negative; infinite where one of them is 0 and another is not.

    Foulds, Islam, Keya, Pan (2020), https://doi.org/10.1109/ICDE48307.2020.00203; Himmelreich et al., Eq 3.
    """
    highest, lowest = values.max(axis=-1), values.min(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(highest == lowest, 0.0, np.log(highest) - np.log(lowest))


def share_beyond(values: FloatArray, share: FloatArray, overall: FloatArray | float, tolerance: float) -> FloatArray:
    """Share of people in subgroups farther from everyone than a tolerance, in units of the metric.

    Molina, Loiseau (2022), https://doi.org/10.48550/arXiv.2206.05828 (probabilistic fairness).
    """
    beyond = np.abs(values - np.asarray(overall)[..., None]) > tolerance
    return np.asarray((beyond * share).sum(axis=-1), dtype=np.float64)


@renamed_keyword("part", "using")
@checked_keywords
def fairness_definitions(
    source: xr.Dataset | xr.DataTree,
    *,
    tolerance: float = 0.05,
    level: float = 0.95,
    using: Using = "auto",
    imputed: Imputed = "leave_out",
    seed: int = 0,
) -> xr.Dataset:
    """Say how unfair a table is by the definitions that the optimist's and the pessimist's were made to replace.

    Estimand: a function of the values of a metric in all subgroups, of their shares and of the value over everyone.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally or a report.
    tolerance : float
        Of ``share_beyond``, in units of the metric.
    level : float
        Of the two-sided intervals that draws give.
    using : {"auto", "tally", "posterior", "bootstrap"}
        Where the values come from: of a report its posterior (``auto``), its bootstrap where it has one, or its tally.
    imputed : {"leave_out", "include"}
        Treatment of subgroups without rows that count for the metric, for which a report's answer comes from the model alone.
    seed : int
        Source of randomness where replicates of saturated subgroups are replaced.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``definition``: ``value`` (that of the estimates), and with draws ``lower`` and ``upper``, NaN
        for a tally. ``equality_gap``: largest distance from everyone; ``size_weighted_gap``: the same weighted by shares;
        ``differential_ratio``: largest log ratio of two subgroups; ``share_beyond``: share of people in subgroups farther
        from everyone than ``tolerance``. Along ``metric``: ``estimand`` of the values that are compared; ``interval_kind``,
        ``credible`` of a posterior, ``confidence`` of a bootstrap and ``none`` of a tally, and ``interval_method``;
        ``left_out``, the subgroups that take no part, with reasons; ``usable``, 0 of a report that failed its diagnostics.

    Raises
    ------
    InputError
        If the tolerance is negative or a setting does not exist.
    SchemaError
        If ``source`` is neither a tally nor a report.

    Notes
    -----
    Shares are of the rows that count, and everyone's value is the mean of the subgroups weighted by them. All four grow with
    the noise of small subgroups, see `bayesgroups.questions.certification.desiderata` for what else is wrong with them.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"site": ["a", "b"]})
    >>> found = bg.fairness_definitions(bg.tally_from_counts([15, 940], [100, 1000], who, metric="acc"))
    >>> found["value"].round(3).values.tolist()
    [[0.718, 0.065, 1.835, 1.0]]
    """
    tail(level)  # refuses a level outside (0, 1)
    if not tolerance >= 0:
        raise InputError(f"tolerance={tolerance!r} must be 0 or larger, in units of the metric")
    opened = open_table(source, using, imputed=imputed)
    tables = [_one(numbers, tolerance, level, seed) for numbers in opened.metrics]
    joined = xr.concat(tables, dim="metric", data_vars="all", join="exact")
    names = {"metric": opened.coordinates["metric"], "definition": list(NAMES)}
    return joined.assign_coords(names).assign_attrs(
        tolerance=tolerance, level=level, using=opened.using, imputed=imputed
    )


def _one(numbers: Values, tolerance: float, level: float, seed: int) -> xr.Dataset:
    some = numbers.included
    value, lower, upper = (np.full(len(NAMES), np.nan) for _ in range(3))
    if some.any():
        weight = numbers.weights()
        share = weight / weight.sum()
        value = _all(numbers.sample.estimate[some], share, tolerance)
        if numbers.draws is not None:
            draws = numbers.spread(generator(seed, numbers.metric, "definitions"))[0][:, some]
            drawn = _all(draws[np.isfinite(draws).all(axis=1)], share, tolerance)
            lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=-1, method="nearest")
    data = {name: ("definition", row) for name, row in (("value", value), ("lower", lower), ("upper", upper))}
    kind, method = INTERVALS[numbers.using]
    notes = {
        "left_out": numbers.left_out,
        "estimand": numbers.estimand,
        "interval_kind": kind,
        "interval_method": method,
        "usable": np.int8(numbers.usable),
    }
    return xr.Dataset({**data, **notes})


def _all(values: FloatArray, share: FloatArray, tolerance: float) -> FloatArray:
    """All definitions (definition, ...)."""
    overall = values @ share
    return np.stack(
        [
            equality_gap(values, overall),
            size_weighted_gap(values, share, overall),
            differential_ratio(np.maximum(values, 0.0)),
            share_beyond(values, share, overall, tolerance),
        ]
    )
