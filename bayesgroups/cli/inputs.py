"""From files to tallies: rows as CSV or Parquet, tallies as NetCDF."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesgroups.cli.options import RowOptions
from bayesgroups.data.file_names import is_netcdf
from bayesgroups.errors import InputError, near_misses

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesgroups.data.sources import Source


def check_header(data: Path, rows: RowOptions) -> None:
    """Refuse a column that a CSV file does not have by its first line, before libraries are loaded that read the rest."""
    from bayesgroups.data.columns import Roles, check_columns
    from bayesgroups.data.row_files import csv_header

    columns = csv_header(data)
    if columns is not None:
        roles = Roles(
            rows.by, rows.y_true, rows.y_pred, rows.y_score, rows.loss, rows.correct, features=rows.feature,
            cluster=rows.cluster, weights=rows.weights,
        )  # fmt: skip
        check_columns(roles, columns)


def tally_of(data: Path, rows: RowOptions) -> xr.Dataset:
    """The tally of a file of rows (or a pattern or directory of such files), or the one that a NetCDF file holds.

    Options of rows are an error for the latter, which has all that.
    """
    if not is_netcdf(data):
        return tally_rows(data, rows)
    given = rows.given()
    if given:
        option = "--" + given[0].replace("_", "-")
        raise InputError(
            f"{option} says what is in rows, but {str(data)!r} is a tally and already has that; leave it out"
        )
    from bayesgroups.tallies.files import open_tally

    return open_tally(data)


def source_of(data: Path, rows: RowOptions) -> xr.Dataset | xr.DataTree:
    """The report or the tally of a NetCDF file, or the tally of a file of rows."""
    if not is_netcdf(data) or not data.is_file() or not _holds_report(data):
        return tally_of(data, rows)
    given = rows.given()
    if given:
        option = "--" + given[0].replace("_", "-")
        raise InputError(f"{option} says what is in rows, but {str(data)!r} is a report and has that; leave it out")
    return report_of(data)


def without_direction(rows: RowOptions, data: Path) -> RowOptions:
    """The options for a question that takes a direction itself: it is no fact of the rows where a report or tally is asked."""
    return replace(rows, larger_is_better=None) if is_netcdf(data) else rows


def auc_tally_of(data: Path, rows: RowOptions) -> xr.Dataset:
    """A tally with the scores that curves need: that of a NetCDF file, or of rows."""
    if is_netcdf(data):
        return tally_of(data, rows)
    return tally_rows(data, replace(rows, metric=("auc",), y_pred=None, threshold=None, selection_rate=None))


def report_of(path: Path) -> xr.DataTree:
    """The report of a NetCDF file; an error names the file."""
    from bayesgroups.errors import SchemaError
    from bayesgroups.report.schema import open_report

    check_saved(path, "report", "estimate")
    try:
        return open_report(path)
    except SchemaError as problem:
        raise SchemaError(f"file {str(path)!r}: {problem}") from problem


def check_saved(path: Path, what: str, maker: str) -> None:
    """Refuse a file of rows, or any that is no NetCDF file, where a saved tally or report is needed, with the command for it."""
    if path.is_file() and not is_netcdf(path):
        raise InputError(
            f"file {str(path)!r} is no saved {what} (.nc); make one of rows first, with bayesgroups {maker} ... --output {what}.nc"
        )


def table_of(path: Path, needed: tuple[str, ...]) -> pd.DataFrame:
    """A small table, as CSV or Parquet, with the columns that are needed; an error names one that lacks and its nearest."""
    from bayesgroups.data.frames import open_frame

    frame: pd.DataFrame = open_frame(path).to_pandas()
    for column in needed:
        if column not in frame.columns:
            raise InputError(
                f"file {str(path)!r} has no column {column!r}; {near_misses(column, map(str, frame.columns))}"
            )
    return frame


def _holds_report(path: Path) -> bool:
    import xarray as xr

    try:
        with xr.open_dataset(path, engine="h5netcdf") as root:
            return bool(root.attrs.get("schema") == "bayesgroups.report")
    except (OSError, ValueError):
        return False


def tally_rows(data: Path, rows: RowOptions) -> xr.Dataset:
    """The tally of a file of rows; parameters and errors as in `tally_of`."""
    if not rows.by and not rows.time:
        raise InputError("name at least one column that forms subgroups, as --by race --by sex")
    if not rows.metric:
        raise InputError("name at least one metric, as --metric fnr")
    from bayesgroups.cli.values import pairs
    from bayesgroups.data.sources import open_source
    from bayesgroups.tallies import tally
    from bayesgroups.tallies.labels import name_levels

    source = open_source(data)
    positive = _label(source, rows)
    names = _level_names(rows)
    periods: Any = pairs(rows.time, option="--time", kind=str)
    result = tally(
        source, by=_attributes(rows), metrics=rows.metric, y_true=rows.y_true, y_pred=rows.y_pred, y_score=rows.y_score,
        loss=rows.loss, correct=rows.correct, threshold=rows.threshold, selection_rate=rows.selection_rate,
        positive=positive, features=rows.feature, cluster=rows.cluster, cluster_analysis=rows.cluster_analysis,
        shared_clusters=rows.shared_clusters,
        weights=rows.weights, missing=rows.missing, confusion=rows.confusion, row_covariates=rows.row_covariate,
        larger_is_better=rows.larger_is_better, unlabelled=rows.unlabelled, time=periods,
    )  # fmt: skip
    return name_levels(result, names) if names else result


def _attributes(rows: RowOptions) -> tuple[str, ...] | dict[str, list[str] | None]:
    """Columns that form subgroups, with the levels declared for them where there are any."""
    from bayesgroups.cli.values import pairs

    declared: dict[str, Any] = pairs(rows.levels, option="--levels", kind=_listed) or {}
    for name in declared:
        if name not in rows.by:
            raise InputError(f"--levels names {name!r}, which forms no subgroups; {near_misses(name, rows.by)}")
    return {name: declared.get(name) for name in rows.by} if declared else rows.by


def _listed(text: str) -> list[str]:
    """Levels as one line of CSV has them."""
    return next(csv.reader([text], skipinitialspace=True), [])


def _level_names(rows: RowOptions) -> dict[str, dict[str, str]]:
    """Names of levels by attribute and level, each typed as attribute:level=name."""
    from bayesgroups.cli.values import pairs

    names: dict[str, dict[str, str]] = {}
    for place, name in (pairs(rows.level_name, option="--level-name", kind=str) or {}).items():
        attribute, colon, level = place.rpartition(":")
        if not colon:
            raise InputError(f"--level-name '{place}={name}' is not of the form attribute:level=name, as edu:2=college")
        names.setdefault(attribute, {})[level] = str(name)
    return names


def _label(source: Source, rows: RowOptions) -> object:
    """The positive label with the type it has in the file: 2 and not '2' in a column of numbers."""
    import narwhals.stable.v2 as nw

    from bayesgroups.data.texts import level_text

    if rows.positive is None:
        return None
    schema = source.frame.collect_schema()
    for column in (rows.y_true, rows.y_pred):
        if column is None or column not in schema:
            continue
        for value in source.collect(source.frame.select(nw.col(column)).unique())[column].to_list():
            if level_text(value) == rows.positive:
                return value
    return rows.positive
