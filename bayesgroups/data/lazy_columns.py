"""Columns of lazy frames under their common names, and what is said of them when they cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.columns import absence, infinity, no_number, partial_credit
from bayesgroups.data.roles import Roles
from bayesgroups.data.sources import Source
from bayesgroups.errors import InputError, near_misses

FloatArray = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Number:
    """A column that must hold finite numbers: its name, the argument that names it, its common name, whether it has no nulls."""

    name: str
    argument: str
    column: str
    complete: bool = False


def numbers(source: Source, roles: Roles) -> list[Number]:
    """The columns of numbers, in the order in which they are checked.

    Raises
    ------
    InputError
        If a column is absent or holds no numbers.
    """
    schema = source.frame.collect_schema()
    for argument, name in roles.columns().items():
        if name not in schema:
            raise InputError(f"column {name!r} ({argument}=) is not in the frame; {near_misses(name, list(schema))}")
    given = [(name, f"features[{i}]", f"__feature_{i}__") for i, name in enumerate(roles.features)]
    arguments = {"weights": "__weight__", "loss": "__loss__", "correct": "__correct__", "y_score": "__y_score__"}
    for argument, column in arguments.items():
        name = getattr(roles, argument)
        if name is not None:
            given.append((name, argument, column))
    found = [Number(*names, complete=names[0] in source.complete) for names in given]
    for number in found:
        dtype = schema[number.name]
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            first = source.collect(source.frame.select(nw.col(number.name)).head(1))[number.name].to_list()
            raise no_number(number.name, number.argument, dtype, first[0] if first else None)
    return found


def with_roles(
    source: Source, roles: Roles, labels: Sequence[str], threshold: float | None, given: Sequence[Number]
) -> nw.LazyFrame[Any]:
    """Add attributes, labels, numbers and clusters under their common names."""
    schema = source.frame.collect_schema()

    def plain(name: str) -> nw.Expr:
        named = isinstance(schema[name], nw.Categorical | nw.Enum)
        return nw.col(name).cast(nw.String) if named else nw.col(name)

    columns = [plain(name).alias(f"__by_{i}__") for i, name in enumerate(roles.by)]
    columns += [nw.col(number.name).cast(nw.Float64).alias(number.column) for number in given]
    if roles.y_true is not None:
        columns.append(plain(roles.y_true).alias("__truth__"))
    if roles.y_pred is not None:
        columns.append(plain(roles.y_pred).alias("__decision__"))
    if roles.cluster is not None:
        dtype = schema[roles.cluster]
        columns.append(nw.col(roles.cluster).cast(nw.String).alias("__cluster__"))
        if dtype.is_float():  # in the text of a cluster nothing would be a cluster of its own
            cluster = nw.col(roles.cluster)
            gone = cluster.is_null() | cluster.is_nan()
            columns[-1] = nw.when(~gone).then(cluster.cast(nw.String)).alias("__cluster__")
    frame = source.frame.with_columns(*columns)
    if threshold is not None and "__decision__" in labels:
        frame = frame.with_columns((nw.col("__y_score__") >= threshold).alias("__decision__"))
    return frame


def with_label_texts(frame: nw.LazyFrame[Any], roles: Roles) -> nw.LazyFrame[Any]:
    """Add labels as texts, and whether they are the same, for metrics of one's own."""
    schema, columns = frame.collect_schema(), []
    named = {"__truth__": ("__label_true__", roles.y_true), "__decision__": ("__label_pred__", roles.y_pred)}
    for column, (text, given) in named.items():
        if given is None:
            continue
        label = nw.col(column).cast(nw.String)
        if schema[column] == nw.Boolean:  # engines write true or True
            label = nw.when(nw.col(column)).then(nw.lit("True")).otherwise(nw.lit("False"))
        columns.append(label.alias(text))
    if len(columns) == 2:
        columns.append((nw.col("__truth__") == nw.col("__decision__")).cast(nw.Float64).alias("__agrees__"))
    return frame.with_columns(*columns) if columns else frame


def equals(column: str, dtype: Any, label: object) -> nw.Expr:
    """Equality of a column and a label; false where their types differ and engines would refuse the comparison."""
    if dtype == nw.Boolean:
        return nw.col(column) == bool(label) if label in (0, 1) else nw.lit(False)
    if dtype.is_numeric() == isinstance(label, int | float | np.number):
        return nw.col(column) == (int(label) if isinstance(label, bool) else label)
    return nw.lit(False)


def absent(frame: nw.LazyFrame[Any], column: str) -> nw.Expr:
    """Missing values: null in every engine, and NaN in a column of floats."""
    found = nw.col(column)
    return found.is_null() | found.is_nan() if frame.collect_schema()[column].is_float() else found.is_null()


def sums(column: str, *, complete: bool = False) -> list[nw.Expr]:
    """Sums that tell if a column is complete, unless that is known, and finite: a sum is finite only of finite numbers."""
    total = nw.col(column).sum().alias(f"{column}sum")
    return [total] if complete else [nw.col(column).count().alias(f"{column}count"), total]


def extremes(column: str) -> list[nw.Expr]:
    """The smallest and the largest number of a column."""
    return [nw.col(column).min().alias(f"{column}low"), nw.col(column).max().alias(f"{column}high")]


def check(
    source: Source, frame: nw.LazyFrame[Any], number: Number, table: Mapping[str, FloatArray], rows: FloatArray
) -> None:
    """Refuse a column with missing or infinite values.

    Raises
    ------
    InputError
        Naming the column, and the first row where the engine keeps the order of rows.
    """
    column = number.column
    whole = (table[f"{column}count"] == rows).all()
    if whole and np.isfinite(table[f"{column}sum"]).all():
        return
    kept = frame.select(nw.col(column))
    gone = source.collect(kept.filter(absent(kept, column)).select(nw.len().alias("number")))["number"][0]
    wrong = absent(kept, column) if gone else (nw.col(column) > LARGEST) | (nw.col(column) < -LARGEST)
    first, row = _first(source, frame, column, wrong)
    if gone:
        raise absence(number.name, number.argument, int(gone), row)
    if len(first):
        raise infinity(number.name, number.argument, float(first[0]), row)


def check_grades(source: Source, frame: nw.LazyFrame[Any], number: Number, table: Mapping[str, FloatArray]) -> None:
    """Refuse a column of finite grades with a value other than 0 and 1.

    Raises
    ------
    InputError
        Naming the column, and the first row where the engine keeps the order of rows.
    """
    if not table[f"{number.column}between"].any():
        return
    grade = nw.col(number.column)
    first, row = _first(source, frame, number.column, (grade != 0) & (grade != 1))
    raise partial_credit(number.name, float(first[0]), row)


def _first(source: Source, frame: nw.LazyFrame[Any], column: str, wrong: nw.Expr) -> tuple[nw.Series[Any], int | None]:
    """The first value of a column that is wrong, if there is one, and its row where the engine keeps the order of rows."""
    ordered = source.engine == "polars"
    if ordered:
        frame = nw.from_native(frame.to_native().with_row_index("__row__"))
    kept = frame.select(nw.col(column), *([nw.col("__row__")] if ordered else []))
    first = source.collect(kept.filter(wrong).head(1))
    return first[column], int(first["__row__"][0]) if ordered and len(first) else None
