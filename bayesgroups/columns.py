"""What must hold of a column before it is summed: nothing missing, numbers, finite, not negative."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from bayesgroups.errors import InputError


def missing_values(column: nw.Series[Any]) -> nw.Series[Any]:
    """Say where a column has nothing: null in every engine, and NaN in a column of floats."""
    return column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()


def _first(flags: nw.Series[Any]) -> int:
    return int(flags.arg_true()[0])


def refuse_missing(frame: nw.DataFrame[Any], name: str, argument: str) -> None:
    """Refuse a column with missing values.

    Raises
    ------
    InputError
        Naming the column, its argument, and the first row without a value.
    """
    absent = missing_values(frame[name])
    if bool(absent.any()):
        number = int(absent.cast(nw.Int64).sum())
        raise InputError(
            f"column {name!r} ({argument}=) has {number} missing value{'s' if number > 1 else ''}, "
            f"the first in row {_first(absent)}; fill or drop these rows before the tally"
        )


def number(frame: nw.DataFrame[Any], name: str, argument: str) -> nw.Series[Any]:
    """Take a column as finite float64.

    Raises
    ------
    InputError
        If a value is missing, is no number, or is not finite.

    Examples
    --------
    >>> import narwhals.stable.v2 as nw, pandas as pd
    >>> from bayesgroups.columns import number
    >>> number(nw.from_native(pd.DataFrame({"s": [1, 2]})), "s", "y_score").to_list()
    [1.0, 2.0]
    """
    refuse_missing(frame, name, argument)
    column = frame[name]
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        raise InputError(f"column {name!r} ({argument}=) must hold numbers; got {column.dtype} such as {column[0]!r}")
    found = column.cast(nw.Float64)
    finite = found.is_finite()
    if not bool(finite.all()):
        row = _first(~finite)
        raise InputError(f"column {name!r} ({argument}=) must be finite; row {row} has {found[row]}")
    return found


def weights(frame: nw.DataFrame[Any], name: str) -> nw.Series[Any]:
    """Take a column as weights: finite float64, none negative, not all 0.

    Raises
    ------
    InputError
        Naming the column and the first row that cannot be.
    """
    weight = number(frame, name, "weights")
    if bool((weight < 0).any()):
        row = _first(weight < 0)
        raise InputError(f"column {name!r} (weights=) must not be negative; row {row} has {weight[row]}")
    if float(weight.sum()) == 0:
        raise InputError(f"column {name!r} (weights=) is 0 in every row")
    return weight
