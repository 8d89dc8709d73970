"""One door for every dataframe: opening it, or reading it from a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
from narwhals.exceptions import DuplicateError

from bayesgroups.errors import InputError, MissingDependencyError

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]
"""Rows in memory, or rows that stay where they are."""
Missing = Literal["error", "level", "drop"]
MISSING_LEVEL = "(missing)"
"""The level that missing attribute values form with ``missing="level"``."""


def open_frame(source: object) -> nw.DataFrame[Any]:
    """A dataframe of any kind in memory, see `open_rows`; lazy ones are collected, and one without rows is an error."""
    opened = open_rows(source)
    frame = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
    if len(frame) == 0:
        raise InputError("the frame has no rows; nothing can be tallied")
    return frame


def open_rows(source: object) -> Frame:
    """A dataframe of any kind that narwhals knows as it is, lazy or not, or a dictionary of columns or a file, in memory.

    In CSV files only the empty field is missing: the texts ``NA`` and ``None`` stay levels as they are. Parquet files need
    pyarrow.
    """
    if isinstance(source, str | Path):
        return _read(Path(source))
    if isinstance(source, dict):
        return _of_columns(source)
    try:
        opened: Frame = nw.from_native(source)
    except TypeError:
        raise InputError(
            "frame must be a dataframe (pandas, polars, pyarrow ...), a dictionary of columns or the path of a CSV or Parquet "
            f"file; got {type(source).__name__}"
        ) from None
    except DuplicateError as problem:
        twice = str(problem).partition("\n")[2].strip("- ")
        raise InputError(f"the frame has columns of one name ({twice}); rename one") from None
    return opened


def _of_columns(columns: dict[Any, Any]) -> nw.DataFrame[Any]:
    """A pandas frame of columns by name; columns that have an index are taken by position."""
    import pandas as pd

    if not columns:
        raise InputError("frame= is a dictionary without columns; give at least one, as {'sex': ['f', 'm']}")
    lengths: dict[Any, int] = {}
    for name, values in columns.items():
        listed = isinstance(values, Collection) and not isinstance(values, str | bytes | Set | Mapping)
        if not listed or getattr(values, "ndim", 1) != 1:
            raise InputError(
                f"column {name!r} of frame= must hold one value per row, as a list; got {type(values).__name__}"
            )
        lengths[name] = len(values)
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {number}" for name, number in lengths.items())
        raise InputError(f"columns of frame= must be of one length; {shown}")
    frame = pd.DataFrame({name: pd.Series(values).array for name, values in columns.items()})
    return nw.from_native(frame, eager_only=True)


def _read(path: Path) -> nw.DataFrame[Any]:
    import pandas as pd

    if not path.exists():
        raise InputError(f"file {str(path)!r} does not exist")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    try:
        if ".parquet" in suffixes[-1:] or ".pq" in suffixes[-1:]:
            return nw.from_native(pd.read_parquet(path), eager_only=True)
        if ".csv" in suffixes[-2:]:
            return nw.from_native(pd.read_csv(path, keep_default_na=False, na_values=[""]), eager_only=True)
    except ImportError:
        raise MissingDependencyError(
            "reading Parquet needs pyarrow; install it with: pip install 'bayesgroups[parquet]'"
        ) from None
    except (OSError, ValueError) as problem:  # the parsers of pandas and pyarrow raise ValueErrors of many names
        reason = str(problem).split("\n", maxsplit=1)[0]
        raise InputError(f"file {str(path)!r} cannot be read as rows: {reason}") from problem
    raise InputError(
        f"file {str(path)!r}: expected .csv (also .csv.gz) or .parquet; got {''.join(suffixes) or 'no suffix'}"
    )
