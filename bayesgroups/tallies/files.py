"""Tallies as files: NetCDF4, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from bayesgroups.data.file_names import check_ending
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.netcdf import check_version, read_netcdf, with_texts, write_netcdf
from bayesgroups.errors import SchemaError
from bayesgroups.tallies.assembly import SCHEMA, SCHEMA_VERSION

REQUIRED = ("metric", "subgroup", "estimate", "count", "status", "kind")
"""Variables that every tally has, whatever it was made of."""


@checked_keywords
def save_tally(tally: xr.Dataset, path: str | Path) -> Path:
    """Save a tally as NetCDF4, whole or not at all.

    Parameters
    ----------
    tally : xr.Dataset
        A tally.
    path : str or Path
        The file; an older one of that name is replaced in one step.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the file cannot be written, or its name has the ending of another format, such as ``.csv``.
    SchemaError
        If it is no tally.

    Examples
    --------
    >>> import tempfile, pathlib, pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 3], [10, 9], pd.DataFrame({"site": ["a", "b"]}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = bg.save_tally(counts, pathlib.Path(folder) / "rate.tally.nc")
    ...     bg.open_tally(path).identical(counts)
    True
    """
    if not isinstance(tally, xr.Dataset) or "schema" not in tally.attrs:
        raise SchemaError(f"tally must come from bg.tally() or a related function; got {type(tally).__name__}")
    check_ending(path, "a tally", "NetCDF4")
    return write_netcdf(path, tally)


@checked_keywords
def open_tally(path: str | Path) -> xr.Dataset:
    """Open a tally saved by `save_tally`, into memory.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    xr.Dataset

    Raises
    ------
    InputError
        If the file does not exist.
    SchemaError
        If it holds no tally, or one of a newer version.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.open_tally("nowhere.nc")
    Traceback (most recent call last):
    bayesgroups.errors.InputError: file 'nowhere.nc' does not exist
    """
    source = Path(path)
    tally: xr.Dataset = read_netcdf(source, xr.open_dataset)
    schema = tally.attrs.get("schema")
    if schema == "bayesgroups.report":
        raise SchemaError(f"file {str(source)!r} is a report, not a tally; compare reports with 'bayesgroups compare'")
    if schema != SCHEMA:
        raise SchemaError(f"file {str(source)!r} is not a tally of bayesgroups: its attribute 'schema' is {schema!r}")
    check_version(tally.attrs, SCHEMA_VERSION, f"file {str(source)!r}")
    for name in REQUIRED:
        if name not in tally.variables:
            raise SchemaError(f"file {str(source)!r} is a tally without the variable {name!r}; make the tally again")
    return with_texts(tally)
