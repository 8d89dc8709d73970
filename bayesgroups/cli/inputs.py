"""From files to tallies: rows as CSV or Parquet, tallies as NetCDF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesgroups.cli.options import RowOptions
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.files import write_atomically

if TYPE_CHECKING:
    from bayesgroups.tallies.sources import Source


def tally_of(data: Path, rows: RowOptions) -> xr.Dataset:
    """The tally of a file of rows, or the one that a NetCDF file holds.

    Parameters
    ----------
    data : Path
        ``.csv``, ``.csv.gz``, ``.parquet``, a pattern or directory of such files, or ``.nc`` as
        written by ``bayesgroups tally --output``.
    rows : RowOptions
        What is in the rows; not for a tally, which has all that.

    Returns
    -------
    xr.Dataset

    Raises
    ------
    InputError
        If the file cannot be read as rows, options are missing, or options are given for a tally.
    SchemaError
        If a NetCDF file holds no tally.
    """
    if data.suffix.lower() != ".nc":
        return tally_rows(data, rows)
    given = rows.given()
    if given:
        option = "--" + given[0].replace("_", "-")
        raise InputError(
            f"{option} says what is in rows, but {str(data)!r} is a tally and already has that; leave it out"
        )
    return open_tally(data)


def tally_rows(data: Path, rows: RowOptions) -> xr.Dataset:
    """The tally of a file of rows; parameters and errors as in `tally_of`."""
    if not rows.by:
        raise InputError("name at least one column that forms subgroups, as --by race --by sex")
    if not rows.metric:
        raise InputError("name at least one metric, as --metric fnr")
    from bayesgroups.frames import open_frame
    from bayesgroups.tallies import tally
    from bayesgroups.tallies.sources import Source, open_source

    source = open_source(data)  # None for a file that is best read whole
    frame: Any = data if source is not None else open_frame(data)
    positive = _label(source or Source(frame.lazy()), rows)
    return tally(
        frame, by=rows.by, metrics=rows.metric, y_true=rows.y_true, y_pred=rows.y_pred, y_score=rows.y_score,
        loss=rows.loss, threshold=rows.threshold, selection_rate=rows.selection_rate,
        positive=positive, features=rows.feature, cluster=rows.cluster, cluster_analysis=rows.cluster_analysis,
        weights=rows.weights, missing=rows.missing,
    )  # fmt: skip


def save_tally(tally: xr.Dataset, path: Path) -> Path:
    """Save a tally as NetCDF4, whole or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    return write_atomically(path, lambda place: tally.to_netcdf(place, engine="h5netcdf"))


def open_tally(path: Path) -> xr.Dataset:
    """Open a tally saved by `save_tally`, into memory.

    Raises
    ------
    InputError
        If the file does not exist.
    SchemaError
        If it holds no tally, or one of a newer version.
    """
    from bayesgroups.tallies.assembly import SCHEMA, SCHEMA_VERSION

    if not path.is_file():
        raise InputError(f"file {str(path)!r} does not exist")
    try:
        with xr.open_dataset(path, engine="h5netcdf") as opened:
            tally: xr.Dataset = opened.load()
    except (OSError, ValueError) as problem:
        raise SchemaError(f"file {str(path)!r} is not a NetCDF4 file: {problem}") from problem
    found = tally.attrs.get("schema")
    if found == "bayesgroups.report":
        raise SchemaError(f"file {str(path)!r} is a report, not a tally; compare reports with 'bayesgroups compare'")
    if found != SCHEMA:
        raise SchemaError(f"file {str(path)!r} is not a tally of bayesgroups: its attribute 'schema' is {found!r}")
    if int(tally.attrs.get("schema_version", 0)) > SCHEMA_VERSION:
        raise SchemaError(f"file {str(path)!r} was written by a newer bayesgroups; update it")
    texts = {name: tally[name].astype(str) for name in tally.variables if tally[name].dtype.kind == "O"}
    return tally.assign_coords({name: text for name, text in texts.items() if name in tally.coords}).assign(
        {name: text for name, text in texts.items() if name not in tally.coords}
    )


def _label(source: Source, rows: RowOptions) -> object:
    """The positive label with the type it has in the file: 2 and not '2' in a column of numbers."""
    import narwhals.stable.v2 as nw

    from bayesgroups.texts import level_text

    if rows.positive is None:
        return None
    known = source.frame.collect_schema()
    for column in (rows.y_true, rows.y_pred):
        if column is None or column not in known:
            continue
        for value in source.collect(source.frame.select(nw.col(column)).unique())[column].to_list():
            if level_text(value) == rows.positive:
                return value
    return rows.positive
