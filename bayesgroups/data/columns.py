"""Errors of columns that cannot be summed; ``row`` is ``None`` where rows have no numbers."""

from __future__ import annotations

from bayesgroups.errors import InputError


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
