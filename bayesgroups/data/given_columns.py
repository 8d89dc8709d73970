"""Columns given as values: arrays, series and lists beside a frame become columns of it, and are named from then on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.stable.v2.dependencies import is_into_dataframe, is_into_series

from bayesgroups.data.frames import open_rows
from bayesgroups.data.sources import is_stream
from bayesgroups.errors import InputError

Column = str | Collection[object]
"""The name of a column, or its values, one per row."""


def with_given_columns(
    frame: object, by: object, given: Mapping[str, Column | None]
) -> tuple[object, Any, dict[str, str | None]]:
    """The frame with every column that was given as values, the names of attributes, and the name of each other column.

    A series keeps its name where that is free or belongs to the same values; any other column is called by its argument. Nothing is
    looked at where only names are given. InputError where values do not fit the rows one by one, or the frame is not in memory.
    """
    attributes = _attributes(by)
    values = {role: column for role, column in given.items() if _is_values(column)}
    if not values and not any(map(_is_series, attributes)):
        _check_names(frame, attributes)
        return frame, by, cast("dict[str, str | None]", dict(given))
    argument = next(iter(values), "by")
    opened = None if isinstance(frame, str | Path) or is_stream(frame) else open_rows(frame)
    if not isinstance(opened, nw.DataFrame):
        raise InputError(
            f"{argument}= is given as values, but the rows of frame= are not in memory; give the name of a column, as "
            f"{argument}='{argument if argument != 'by' else 'sex'}'"
        )
    names: dict[str, Any] = dict(given)  # of str, once the values have names
    for role, column in values.items():
        opened, names[role] = _added(opened, role, column)
    by_names = []
    for column in attributes:
        name = column
        if _is_series(column):
            opened, name = _attribute(opened, column)
        by_names.append(name)
    return opened, (by if isinstance(by, Mapping) else by_names), names


def _attributes(by: object) -> list[Any]:
    """Attributes one by one, each a name or a series."""
    if isinstance(by, str) or _is_series(by):
        return [by]
    if isinstance(by, Mapping) or not is_into_dataframe(by):
        return list(by) if isinstance(by, Iterable) else []
    opened: Any = nw.from_native(by)
    return [nw.to_native(opened[name]) for name in opened.columns]


def _check_names(frame: object, attributes: Sequence[object]) -> None:
    """Refuse the values of an attribute in place of its name."""
    if len(attributes) < 2 or len(set(map(str, attributes))) == len(attributes):
        return
    columns = list(frame) if isinstance(frame, dict) else getattr(frame, "columns", ())
    if all(str(name) not in map(str, columns) for name in set(map(str, attributes))):
        raise InputError(
            f"by= names columns and got {len(attributes)} values such as {str(attributes[0])!r}; make them a column, as "
            "frame['sex'] = values, and name it, as by=['sex']"
        )


def _is_values(column: object) -> bool:
    return column is not None and not isinstance(column, str | bytes) and isinstance(column, Collection)


def _is_series(column: object) -> bool:
    return isinstance(column, nw.Series) or is_into_series(column)


def _added(frame: nw.DataFrame[Any], role: str, values: Any) -> tuple[nw.DataFrame[Any], str]:
    """The frame with values that have a role, and the name of their column."""
    _check(frame, role, values)
    name = _name_of(values)
    if name in frame.columns and _same(frame, name, values):
        return frame, name
    if not name or name in frame.columns:
        name = role
        while name in frame.columns:
            name += "_"
    return _with(frame, name, values), name


def _attribute(frame: nw.DataFrame[Any], values: Any) -> tuple[nw.DataFrame[Any], str]:
    """The frame with the values of an attribute, whose name must be its own."""
    _check(frame, "by", values)
    name = _name_of(values)
    if not name:
        raise InputError("by= has a series without a name; give it one, as by=values.rename('sex')")
    if name not in frame.columns:
        return _with(frame, name, values), name
    if not _same(frame, name, values):
        raise InputError(
            f"by= has a series {name!r} whose values are not those of column {name!r} of frame=; rename one"
        )
    return frame, name


def _name_of(values: object) -> str:
    name = getattr(values, "name", None)
    return name if isinstance(name, str) else ""


def _check(frame: nw.DataFrame[Any], argument: str, values: Any) -> None:
    """Refuse values that are not one per row of the frame, or that an index assigns to other rows."""
    if isinstance(values, Mapping | AbstractSet):
        raise InputError(
            f"{argument}= must be the name of a column or one value per row; got a {type(values).__name__}"
        )
    if getattr(values, "ndim", 1) != 1:
        shape = tuple(getattr(values, "shape", ()))
        raise InputError(
            f"{argument}= must hold one value per row; got values of shape {shape}; take one column, as {argument}=values[:, 1]"
        )
    if len(values) != len(frame):
        raise InputError(
            f"{argument}= has {len(values)} values and frame= {len(frame)} rows; give one value per row, or the name of a column"
        )
    rows, index = getattr(nw.to_native(frame), "index", None), getattr(values, "index", None)
    if rows is not None and index is not None and hasattr(index, "equals") and not index.equals(rows):
        raise InputError(
            f"{argument}= has another index than frame=, so its values may belong to other rows; bring them in order, as "
            f"{argument}=values.reindex(frame.index), or give them by position, as {argument}=values.to_numpy()"
        )


def _same(frame: nw.DataFrame[Any], name: str, values: Any) -> bool:
    """True if a column has these values, missing ones at the same places."""
    import pandas as pd

    column = pd.Series(np.asarray(frame[name].to_numpy(), dtype=object))
    return bool(column.equals(pd.Series(np.asarray(values, dtype=object))))


def _with(frame: nw.DataFrame[Any], name: str, values: Any) -> nw.DataFrame[Any]:
    if frame.implementation.is_pandas():
        import pandas as pd

        return nw.from_native(nw.to_native(frame).assign(**{name: pd.Series(values).array}), eager_only=True)
    listed = values.to_list() if hasattr(values, "to_list") else np.asarray(values).tolist()
    return frame.with_columns(nw.new_series(name, listed, backend=frame.implementation))
