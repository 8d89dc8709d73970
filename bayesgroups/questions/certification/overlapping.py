"""Subgroups that overlap: every margin of a table of intersections, by adding up."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.sampling_variances import covariance_of
from bayesgroups.questions.subgroup_values import Values
from bayesgroups.questions.values import Source, Using, open_source
from bayesgroups.tallies import add_tallies
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.denominators import denominators
from bayesgroups.tallies.participation import Imputed
from bayesgroups.tallies.subgroups import attributes_of, label

MARGINS_SCHEMA = "bayesgroups.margins"
"""Not that of a tally: an estimator would count every row several times."""
TABLES = (SCHEMA, MARGINS_SCHEMA)
"""Schemas of the Datasets whose subgroups can be certified."""
ADDITIVE = ("rate", "mean")
"""Kinds of metrics of which a margin has the mean of its intersections."""
ALL = "(all)"
"""Level of an attribute that a margin does not look at."""
BY_METRIC = (
    "pooled_variance", "pooled_df", "kind", "range_lower", "range_upper", "larger_is_better", "undefined_when", "ties",
)  # fmt: skip
BY_SUBGROUP = (
    "rows", "count", "successes", "estimate", "row_variance", "sampling_variance", "bootstrap_variance", "status", "reason",
)  # fmt: skip


@checked_keywords
def margins(tally: xr.Dataset, *, order: int | None = None) -> xr.Dataset:
    """Tally every margin beside the intersections: women, Asian people and Asian women.

    Parameters
    ----------
    tally : xr.Dataset
        A tally of rows or counts over intersections.
    order : int, optional
        Most attributes that a margin looks at; by default all margins. The intersections themselves always stay.

    Returns
    -------
    xr.Dataset
        Variables of a tally along ``metric`` and ``subgroup``, margins of fewest attributes first and the intersections last,
        with the level ``(all)`` where a margin does not look; ``attributes_crossed(subgroup)`` counts those that it does;
        ``members(subgroup, cell)`` is 1 where an intersection (``cell``) is in a subgroup. Subgroups overlap, so this is for
        `bayesgroups.certify` and related functions; an estimator refuses it. ``sampling_variance`` pools the row variance over
        the margins of the same attributes; ``pooled_variance`` and ``pooled_df`` are those of the intersections.

    Raises
    ------
    InputError
        If the order is below 1, an attribute has the level ``(all)``, or the tally holds published estimates.
    SchemaError
        If it is not a tally.

    Notes
    -----
    Attributes with one level are crossed always. Sums add, so every margin is what a tally of the rows by those
    attributes alone would say, at no more cost than the table has cells.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    >>> table = bg.margins(bg.tally_from_counts([9, 5, 4, 2], [10, 10, 5, 5], who, metric="acc"))
    >>> table["subgroup"].values[:4].tolist(), table["estimate"].values[0, :4].round(2).tolist()
    (['a | (all)', 'b | (all)', '(all) | f', '(all) | m'], [0.7, 0.6, 0.87, 0.47])
    """
    by = _check(tally, order)
    tables: dict[tuple[str, ...], xr.Dataset] = {tuple(by): tally}
    varied = [name for name in by if len(np.unique(tally[name].values)) > 1]
    fixed = [name for name in by if name not in varied]
    for size in range(len(varied) - 1, 0, -1):
        for chosen in itertools.combinations(varied, size):
            missing = next(name for name in varied if name not in chosen)
            parent = tuple(name for name in by if name in {*chosen, missing, *fixed})
            tables[tuple(name for name in by if name in {*chosen, *fixed})] = collapse(tables[parent], missing)
    highest = len(by) if order is None else order
    kept = {
        names: table
        for names, table in sorted(
            tables.items(), key=lambda item: (len(item[0]), [by.index(name) for name in item[0]])
        )
        if len(names) == len(by) or len(set(names) - set(fixed)) <= highest
    }
    return _join(tally, by, kept)


def collapse(tally: xr.Dataset, attribute: str) -> xr.Dataset:
    """Tally added up over the levels of one attribute, whose level becomes ``(all)``."""
    levels = tally[attribute].values
    return add_tallies([_part(tally, np.flatnonzero(levels == level), attribute) for level in dict.fromkeys(levels)])


def overall(tally: xr.Dataset) -> FloatArray:
    """Value of every metric (metric,) over all rows, whichever subgroup they are in."""
    table = tally
    for name in attributes_of(tally):
        table = collapse(table, name)
    values: FloatArray = table["estimate"].values[:, 0]
    return values


def weighted_means(values: FloatArray, weights: FloatArray, members: BoolArray) -> FloatArray:
    """Values (..., subgroup) of margins from those of their intersections (..., cell), weighted by the rows that count.

    Values may be NaN where the weight is 0. A margin without weight is NaN; an intersection keeps its value whatever it weighs.
    """
    share = members * weights
    with np.errstate(divide="ignore", invalid="ignore"):
        share = share / share.sum(axis=1, keepdims=True)
    means: FloatArray = np.where(weights > 0, values, 0.0) @ share.T
    single = members.sum(axis=1) == 1
    means[..., single] = values[..., members[single].argmax(axis=1)]
    return means


def deviations(estimate: FloatArray, count: FloatArray, pooled_variance: float, members: BoolArray) -> FloatArray:
    """Factor (subgroup, 2 * cell) of the covariance of sampling errors of margins, which share rows.

    A margin errs with the rows of its intersections, and with how many of its rows are in each. ``pooled_variance`` is the
    row variance within intersections; pooled, so that saturated ones have some.
    """
    value = np.where(count > 0, estimate, 0.0)
    share = members * count
    with np.errstate(divide="ignore", invalid="ignore"):
        total = share.sum(axis=1, keepdims=True)
        centre = weighted_means(estimate, count, members)[:, None]
        root = np.where(members & (count > 0), np.sqrt(count) / total, 0.0)
    factor: FloatArray = np.concatenate([root * np.sqrt(pooled_variance), root * np.nan_to_num(value - centre)], axis=1)
    return factor


def open_table(
    source: object, using: Using = "auto", *, with_margins: bool = False, order: int | None = None,
    larger_is_better: bool | None = None, imputed: Imputed = "leave_out", targets: bool = False,
) -> Source:  # fmt: skip
    """Source of a tally, margins or a report, with every margin added if asked; draws of a margin are means of its intersections'.

    Refuses, besides what `bayesgroups.questions.values.open_source` and `margins` refuse, an order without margins, and
    draws of a metric of which a margin is no mean of its intersections. Overlapping ``targets`` only pass if
    the question says so.
    """
    opened = open_source(
        source, using, imputed=imputed, larger_is_better=larger_is_better, schemas=TABLES, overlapping=targets
    )
    if order is not None and not with_margins:
        raise InputError(f"order={order!r} is about margins; give margins=True as well")
    if not with_margins or opened.tally.attrs.get("schema") != SCHEMA:
        return opened
    table = margins(opened.tally, order=order)
    cells = table.sel(subgroup=table["cell"].values)
    if opened.draws is None:
        return replace(opened, tally=table, estimates=table["estimate"].values)
    members, draws, estimates = table["members"].values.astype(bool), [], []
    for i, (name, kind) in enumerate(zip(table["metric"].values, table["kind"].values, strict=True)):
        if str(kind) not in ADDITIVE:
            raise InputError(
                f"metric {str(name)!r}: that of a margin is no mean of its intersections, so draws do not add up"
            )
        weights, drawn = denominators(cells.isel(metric=i)), opened.draws.isel(metric=i).values
        draws.append(weighted_means(drawn.reshape(-1, drawn.shape[-1]), weights, members))
        estimates.append(weighted_means(opened.estimates[i], weights, members))
    mu = xr.DataArray(np.stack(draws), dims=("metric", "draw", "subgroup"))
    return replace(opened, tally=table, draws=mu, estimates=np.stack(estimates))


def shared_errors(values: Values) -> FloatArray | None:
    """Factor (subgroup, source) of errors that are shared: of overlapping subgroups `deviations`, of clusters their covariance.

    ``None`` where nothing is shared, or if a margin is no mean of intersections.
    """
    table = values.table
    covariance = covariance_of(table, np.isfinite(table["estimate"].values))
    if covariance is not None:
        eigenvalues, vectors = np.linalg.eigh(np.nan_to_num(covariance))
        return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))
    if "members" not in table or values.kind not in ADDITIVE:
        return None
    cells = table.sel(subgroup=table["cell"].values)
    members = table["members"].values.astype(bool)
    return deviations(cells["estimate"].values, cells["count"].values, float(table["pooled_variance"]), members)


def _check(tally: xr.Dataset, order: int | None) -> list[str]:
    if not isinstance(tally, xr.Dataset) or tally.attrs.get("schema") != SCHEMA:
        raise SchemaError(
            f"margins are taken of a tally from bg.tally() or a related function; got {type(tally).__name__}"
        )
    if order is not None and order < 1:
        raise InputError(f"order={order!r} must be 1 or larger: the most attributes that a margin looks at")
    by = attributes_of(tally)
    for name in by:
        if ALL in tally[name].values:
            raise InputError(f"attribute {name!r} has the level {ALL!r}, which margins need for themselves; rename it")
    if "estimate" in tally["kind"].values:
        raise InputError("published estimates have no sums to add up to margins; give counts or rows")
    return by


def _part(tally: xr.Dataset, positions: NDArray[np.intp], attribute: str) -> xr.Dataset:
    """Some subgroups with their score and cluster cells, as if the attribute had one level."""
    part = tally.isel(subgroup=positions)
    place = np.full(tally.sizes["subgroup"], -1)
    place[positions] = np.arange(len(positions))
    for cell, variable in (("score_cell", "score_subgroup"), ("cluster_cell", "cluster_subgroup")):
        if cell in part.dims:
            part = part.isel({cell: np.flatnonzero(place[part[variable].values] >= 0)})
            part[variable] = (cell, place[part[variable].values])
    names = attributes_of(tally)
    columns = {name: part[name].values.astype(str) for name in names}
    columns[attribute] = np.full(len(positions), ALL)
    labels = [label(levels) for levels in zip(*columns.values(), strict=True)]
    along: dict[str, object] = {name: ("subgroup", levels, part[name].attrs) for name, levels in columns.items()}
    return part.assign_coords({"subgroup": labels, **along})


def _join(tally: xr.Dataset, by: Sequence[str], tables: dict[tuple[str, ...], xr.Dataset]) -> xr.Dataset:
    parts = [table[list(BY_SUBGROUP)] for table in tables.values()]
    joined = xr.concat(parts, dim="subgroup", data_vars="all", join="exact")
    joined = joined.assign({name: tally[name] for name in BY_METRIC})
    members = np.ones((joined.sizes["subgroup"], tally.sizes["subgroup"]), dtype=bool)
    for name in by:
        mine = joined[name].values[:, None]
        members &= (mine == ALL) | (mine == tally[name].values)
    crossed = [len(names) for names, table in tables.items() for _ in range(table.sizes["subgroup"])]
    joined["members"] = (("subgroup", "cell"), members.astype(np.int8))
    joined["attributes_crossed"] = ("subgroup", np.array(crossed))
    cells = tally["subgroup"].values
    return joined.assign_coords(cell=cells).assign_attrs({**tally.attrs, "schema": MARGINS_SCHEMA})
