"""Checks of a column before it is summed: nothing missing, numbers, finite, not negative."""

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
        raise absence(name, argument, int(absent.cast(nw.Int64).sum()), _first(absent))


def number(frame: nw.DataFrame[Any], name: str, argument: str) -> nw.Series[Any]:
    """Take a column as finite float64.

    Raises
    ------
    InputError
        If a value is missing, is no number, or is not finite.

    Examples
    --------
    >>> import narwhals.stable.v2 as nw, pandas as pd
    >>> from bayesgroups.data.columns import number
    >>> number(nw.from_native(pd.DataFrame({"s": [1, 2]})), "s", "y_score").to_list()
    [1.0, 2.0]
    """
    refuse_missing(frame, name, argument)
    column = frame[name]
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        raise no_number(name, argument, column.dtype, column[0])
    found = column.cast(nw.Float64)
    finite = found.is_finite()
    if not bool(finite.all()):
        row = _first(~finite)
        raise infinity(name, argument, found[row], row)
    return found


def graded(frame: nw.DataFrame[Any], name: str) -> nw.Series[Any]:
    """Take a column as grades: 1 for a correct answer, 0 for any other, as float64.

    Raises
    ------
    InputError
        Naming the column and the first row with another value.

    Examples
    --------
    >>> import narwhals.stable.v2 as nw, pandas as pd
    >>> from bayesgroups.data.columns import graded
    >>> graded(nw.from_native(pd.DataFrame({"right": [True, False]})), "right").to_list()
    [1.0, 0.0]
    """
    grade = number(frame, name, "correct")
    other = ~((grade == 0) | (grade == 1))
    if bool(other.any()):
        row = _first(other)
        raise partial_credit(name, grade[row], row)
    return grade


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
        raise negative_weight(name, weight[row], row)
    if float(weight.sum()) == 0:
        raise no_weight(name)
    return weight


# What is said of a bad column, by engines that know the row and by those whose rows have no order (row is None).


def absence(name: str, argument: str, number: int, row: int | None = None) -> InputError:
    """A column has missing values."""
    first = "" if row is None else f", the first in row {row}"
    return InputError(
        f"column {name!r} ({argument}=) has {number} missing value{'s' if number > 1 else ''}{first}; "
        "fill or drop these rows before the tally"
    )


def absent_attribute(name: str, number: int, rows: int) -> InputError:
    """An attribute has missing values, and nobody said what to do with them."""
    return InputError(
        f"attribute {name!r} is missing in {number} of {rows} rows; "
        "say missing='level' to make them a subgroup of their own, or missing='drop' to leave them out"
    )


def no_number(name: str, argument: str, dtype: object, value: object) -> InputError:
    """A column of numbers holds something else."""
    return InputError(f"column {name!r} ({argument}=) must hold numbers; got {dtype} such as {value!r}")


def infinity(name: str, argument: str, value: float, row: int | None = None) -> InputError:
    """A column of finite numbers has one that is not."""
    where = "a row" if row is None else f"row {row}"
    return InputError(f"column {name!r} ({argument}=) must be finite; {where} has {value}")


def partial_credit(name: str, value: float, row: int | None = None) -> InputError:
    """A grade is neither 0 nor 1."""
    where = "a row" if row is None else f"row {row}"
    return InputError(
        f"column {name!r} (correct=) must hold 0 and 1 or booleans; {where} has {value:g}. For scores with partial credit take "
        f"their mean: metrics=['mean'], loss={name!r}, larger_is_better=True"
    )


def negative_weight(name: str, value: float, row: int | None = None) -> InputError:
    """A weight is negative."""
    where = "a row" if row is None else f"row {row}"
    return InputError(f"column {name!r} (weights=) must not be negative; {where} has {value}")


def no_weight(name: str) -> InputError:
    """All weights are 0."""
    return InputError(f"column {name!r} (weights=) is 0 in every row")
