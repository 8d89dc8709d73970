"""Names of variables in files: NetCDF has no empty ones, and marks none with a space as a coordinate."""

from __future__ import annotations

import json
from collections.abc import Mapping

import xarray as xr

NAMES = "stored_names"
"""Attribute of the root of a file: names in memory by names in the file, as JSON, where they differ."""


def with_stored_names[Values: (xr.Dataset, xr.DataTree)](values: Values) -> Values:
    """Values as they are written.

    >>> written = with_stored_names(xr.Dataset(coords={"age group": ("subgroup", ["young"])}))
    >>> list(written.coords), list(with_given_names(written).coords)
    (['age_group'], ['age group'])
    """
    parts = [values] if isinstance(values, xr.Dataset) else [node.to_dataset() for node in values.subtree]
    given = {str(name) for part in parts for name in part.variables}
    names: dict[str, str] = {}
    for name in sorted(given):
        if not _is_plain(name):
            plain = "".join(character if character.isalnum() else "_" for character in name) or "_"
            while plain in given or plain in names:
                plain += "_"
            names[plain] = name
    if not names:
        return values
    written = _renamed(values, {name: plain for plain, name in names.items()})
    written.attrs = {**values.attrs, NAMES: json.dumps(names)}
    return written


def with_given_names[Values: (xr.Dataset, xr.DataTree)](values: Values) -> Values:
    """Values as they were before `with_stored_names`."""
    if NAMES not in values.attrs:
        return values
    given = _renamed(values, json.loads(values.attrs[NAMES]))
    given.attrs = {name: value for name, value in values.attrs.items() if name != NAMES}
    return given


def _renamed[Values: (xr.Dataset, xr.DataTree)](values: Values, names: Mapping[str, str]) -> Values:
    def rename(part: xr.Dataset) -> xr.Dataset:
        return part.rename({name: other for name, other in names.items() if name in part.variables})

    return rename(values) if isinstance(values, xr.Dataset) else values.map_over_datasets(rename)


def _is_plain(name: str) -> bool:
    return name not in ("", ".") and not any(character.isspace() or not character.isprintable() for character in name)
