"""Columns of frames under their common names, and what is said of them when they cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.columns import (
    MAX_MAGNITUDE,
    Roles,
    absence,
    check_columns,
    extreme_weight,
    infinity,
    negative_weight,
    no_number,
    partial_credit,
)
from bayesgroups.data.frames import Frame
from bayesgroups.data.sources import Source

MAX_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Number:
    """A column that must hold finite numbers: its name, the argument that names it, its common name, whether it has no nulls."""

    name: str
    argument: str
    column: str
    complete: bool = False


def numbers(source: Source, roles: Roles) -> list[Number]:
    """The columns of numbers, in the order in which they are checked."""
    check_columns(roles, list(source.frame.collect_schema()))
    given = [(name, f"features[{i}]", f"__feature_{i}__") for i, name in enumerate(roles.features)]
    arguments = {"weights": "__weight__", "loss": "__loss__", "correct": "__correct__", "y_score": "__y_score__"}
    for argument, column in arguments.items():
        name = getattr(roles, argument)
        if name is not None:
            given.append((name, argument, column))
    return [number(source, *names) for names in given]


def number(source: Source, name: str, argument: str, column: str) -> Number:
    """One column that must hold numbers, and something in some row."""
    dtype = source.frame.collect_schema()[name]
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        refuse_missing(source, source.frame, name, name, argument)
        first = source.collect(source.frame.select(nw.col(name)).head(1))[name].to_list()
        raise no_number(name, argument, dtype, first[0] if first else None)
    return Number(name, argument, column, source.is_complete(name))


def with_roles(
    source: Source, roles: Roles, labels: Sequence[str], threshold: float | None, given: Sequence[Number]
) -> Frame:
    """Add attributes, labels, numbers and clusters under their common names."""
    schema = source.frame.collect_schema()
    # Categories in memory may be numbers, and are their own codes when rows are grouped.
    codes = isinstance(source.frame, nw.DataFrame)

    def plain(name: str) -> nw.Expr:
        named = isinstance(schema[name], nw.Categorical | nw.Enum) and not codes
        return nw.col(name).cast(nw.String) if named else nw.col(name)

    columns = [plain(name).alias(column) for name, column in zip(roles.by, roles.attributes, strict=True)]
    columns += [nw.col(number.name).cast(nw.Float64).alias(number.column) for number in given]
    if roles.y_true is not None:
        columns.append(plain(roles.y_true).alias("__truth__"))
    if roles.y_pred is not None:
        columns.append(plain(roles.y_pred).alias("__decision__"))
    if roles.cluster is not None:
        cluster = nw.col(roles.cluster)
        if schema[roles.cluster] != nw.String:  # a cast of texts makes one of nothing in frames of older pandas
            cluster = cluster.cast(nw.String)
        if schema[roles.cluster].is_float() or schema[roles.cluster] == nw.Object:  # nothing must not become a text
            cluster = nw.when(~absent(source.frame, roles.cluster)).then(cluster)
        columns.append(cluster.alias("__cluster__"))
    frame = source.frame.with_columns(*columns)
    if threshold is not None and "__decision__" in labels:
        frame = frame.with_columns((nw.col("__y_score__") >= threshold).alias("__decision__"))
    return frame


def drop_missing(frame: Frame, roles: Roles) -> Frame:
    """The rows that have every attribute."""
    return frame.filter(*[~absent(frame, name) for name in roles.attributes])


def with_label_texts(frame: Frame, roles: Roles) -> Frame:
    """Add labels as texts, and whether they are the same, for metrics of one's own."""
    schema, columns = frame.collect_schema(), []
    named_columns = {"__truth__": ("__label_true__", roles.y_true), "__decision__": ("__label_pred__", roles.y_pred)}
    for column, (text, given) in named_columns.items():
        if given is None:
            continue
        label = nw.col(column).cast(nw.String)
        if schema[column] == nw.Boolean:  # engines write true or True
            label = nw.when(nw.col(column)).then(nw.lit("True")).otherwise(nw.lit("False"))
        columns.append(label.alias(text))
    if len(columns) == 2 and "__agrees__" not in schema:
        # Categories are compared as texts: engines refuse those of two columns that declare different ones.
        named = any(isinstance(schema[column], nw.Categorical | nw.Enum) for column in named_columns)
        pair = [text for text, _ in named_columns.values()] if named else list(named_columns)
        agrees = (nw.col(pair[0]) == nw.col(pair[1])).cast(nw.Float64).alias("__agrees__")
        return frame.with_columns(*columns).with_columns(agrees)
    return frame.with_columns(*columns) if columns else frame


def equals(column: str, dtype: Any, label: object) -> nw.Expr:
    """Equality of a column and a label; false where their types differ and engines would refuse the comparison."""
    if dtype == nw.Boolean:
        return nw.col(column) == bool(label) if label in (0, 1) else nw.lit(False)
    if dtype in (nw.Object, nw.Categorical, nw.Enum):  # in memory, where any two values can be compared
        return nw.col(column) == label
    if dtype.is_numeric() == isinstance(label, int | float | np.number):
        return nw.col(column) == (int(label) if isinstance(label, bool) else label)
    return nw.lit(False)


def absent(frame: Frame, column: str) -> nw.Expr:
    """Missing values: null in every engine, and NaN in a column of floats."""
    value = nw.col(column)
    return value.is_null() | value.is_nan() if frame.collect_schema()[column].is_float() else value.is_null()


def sums(column: str, *, complete: bool = False) -> list[nw.Expr]:
    """Sums that tell if a column is complete, unless that is known, and finite: a sum is finite only of finite numbers."""
    total = nw.col(column).sum().alias(f"{column}sum")
    return [total] if complete else [nw.col(column).count().alias(f"{column}count"), total]


def extremes(column: str) -> list[nw.Expr]:
    """The smallest and the largest number of a column."""
    return [nw.col(column).min().alias(f"{column}low"), nw.col(column).max().alias(f"{column}high")]


def refuse_missing(source: Source, frame: Frame, column: str, name: str, argument: str) -> None:
    """Refuse a column with missing values, naming the first row without one where rows have numbers."""
    kept = frame.select(nw.col(column))
    number = source.collect(kept.filter(absent(kept, column)).select(nw.len().alias("number")))["number"][0]
    if number:
        raise absence(name, argument, int(number), first_row(source, frame, column, absent(kept, column))[1])


def check(source: Source, frame: Frame, number: Number, table: Mapping[str, FloatArray], rows: FloatArray) -> None:
    """Refuse a column with missing or infinite values, negative weights, and grades other than 0 and 1.

    ``table`` holds, by cell, its sums of `sums`, its `extremes` if it holds weights, and ``{column}between`` if it holds grades; an
    error names the first row that cannot be used where rows have numbers.
    """
    column, value = number.column, nw.col(number.column)
    if not ((table[f"{column}count"] == rows).all() and np.isfinite(table[f"{column}sum"]).all()):
        refuse_missing(source, frame, column, number.name, number.argument)
        first, row = first_row(source, frame, column, (value > MAX_FLOAT) | (value < -MAX_FLOAT))
        if first is not None:
            raise infinity(number.name, number.argument, first, row)
    if column == "__weight__" and (table[f"{column}low"] < 0).any():
        raise negative_weight(number.name, *first_row(source, frame, column, value < 0))
    if column == "__weight__":
        totals = table[f"{column}sum"]
        tiny, largest = (totals > 0) & (totals < 1 / MAX_MAGNITUDE), table[f"{column}high"]
        if tiny.any() or (largest > MAX_MAGNITUDE).any():
            raise extreme_weight(number.name, float(totals[tiny].min() if tiny.any() else np.nanmax(largest)))
    if f"{column}between" in table and table[f"{column}between"].any():
        raise partial_credit(number.name, *first_row(source, frame, column, (value != 0) & (value != 1)))


def check_rows(source: Source, frame: Frame, number: Number) -> dict[str, FloatArray]:
    """Check a column by itself, see `check`; its sums and extremes, and the number of ``rows``."""
    column = number.column
    whole = source.collect(frame.select(nw.len().alias("rows"), *sums(column), *extremes(column)))
    table = {name: whole[name].cast(nw.Float64).to_numpy() for name in whole.columns}
    if table["rows"][0]:
        check(source, frame, number, table, table["rows"])
    return table


def first_row(source: Source, frame: Frame, column: str, wrong: nw.Expr) -> tuple[Any, int | None]:
    """The first value of a column that is wrong, ``None`` if there is none, and its row where rows have numbers."""
    if source.ordered:  # narwhals would have a lazy frame sorted first
        if isinstance(frame, nw.DataFrame):
            numbered: Frame = frame.with_row_index("__row__")
        else:
            numbered = nw.from_native(frame.to_native().with_row_index("__row__"))
        first = source.collect(numbered.select("__row__", column).filter(wrong).head(1))
        return (first[column][0], int(first["__row__"][0])) if len(first) else (None, None)
    first = source.collect(frame.select(column).filter(wrong).head(1))
    return first[column][0] if len(first) else None, None
