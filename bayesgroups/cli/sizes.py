"""Numbers of rows behind the tables of an answer, from the tally or the report that was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

    from bayesgroups.views.tables.answers import Column

COUNTED = frozenset({"count", "items", "judged", "rows", "positives"})
"""Variables with numbers of rows that answers have themselves."""


def with_sizes(
    printed: xr.Dataset, columns: Mapping[str, Column], source: object
) -> tuple[xr.Dataset, Mapping[str, Column]]:
    """A table along subgroups with a column of the rows that count for each, where it has none and the source knows."""
    tally = _tally(source)
    if tally is None or COUNTED & set(columns.values()) or "metric" not in printed.dims:
        return printed, columns
    if not set(printed["metric"].values.tolist()) <= set(tally["metric"].values.tolist()):
        return printed, columns
    count = tally["count"].reindex(subgroup=printed["subgroup"].values).sel(metric=printed["metric"].values)
    if count.isnull().all():
        return printed, columns
    return printed.assign(count=count.drop_vars(set(count.coords) - set(count.dims))), {"n": "count", **columns}


def numbers_of_rows(answer: xr.Dataset, columns: Mapping[str, Column], source: object) -> list[str]:
    """Lines with the rows that count for each metric of an answer, and with their subgroups, where its table does not say it."""
    import numpy as np

    from bayesgroups.report.view import plain

    tally = _tally(source)
    if tally is None or COUNTED & set(columns.values()):
        return []
    if "metric" not in answer.coords:
        return [f"n: {_size(tally['rows'])}"] if "rows" in tally else []
    told = {}
    for metric in np.ravel(answer["metric"].values).astype(str).tolist():
        if metric in tally["metric"].values:
            pairs = str(tally["kind"].sel(metric=metric).values) == "auc"  # whose count is an effective number of pairs
            told[metric] = _size(tally["rows"] if pairs and "rows" in tally else tally["count"].sel(metric=metric))
    if len(set(told.values())) < 2:
        return [f"n: {size}" for size in list(told.values())[:1]]
    return [f"n: {'; '.join(f'{plain(metric)} {size}' for metric, size in told.items())}"]


def _size(count: xr.DataArray) -> str:
    """Rows in all and the subgroups that have some, of numbers along subgroups."""
    from bayesgroups.report.view import whole

    counted = bool(count.notnull().any())
    subgroups = int((count > 0).sum()) if counted else count.size
    total = float(count.sum())
    kind = "rows" if total.is_integer() else "effective rows"  # of weights, clusters or labels of some rows
    rows = f"{whole(total)} {kind} in " if counted else "published estimates of "
    return f"{rows}{subgroups} subgroup{'' if subgroups == 1 else 's'}"


def _tally(source: object) -> xr.Dataset | None:
    """The tally, or that of a report; nothing of what has no subgroups with counts."""
    import xarray as xr

    tally = source["constant_data"].to_dataset() if isinstance(source, xr.DataTree) else source
    if isinstance(tally, xr.Dataset) and {"metric", "subgroup"} <= set(tally.dims) and "count" in tally:
        return tally
    return None
