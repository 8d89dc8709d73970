"""Items that several AI systems answered: the value of every system on every item, from rows of either shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesgroups.data import lazy_columns
from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.data.sources import open_source
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.paired_decisions import DecisionRate, counted


@dataclass(frozen=True, eq=False)
class Items:
    """Values (unit, system) of systems on units, which are items or their repetitions; NaN where a system has none.

    ``table`` has the columns of attributes and clusters, one row per unit; ``item`` (unit,) is the item of a unit.
    """

    systems: tuple[str, ...]
    values: FloatArray
    table: pd.DataFrame
    item: IndexArray


@dataclass(frozen=True)
class ItemColumns:
    """Columns that say which item a row is about: attributes, item, repetition and cluster."""

    by: tuple[str, ...]
    item: str | None
    epoch: str | None
    cluster: str | None

    @property
    def names(self) -> list[str]:
        """All of them that are given."""
        return list(dict.fromkeys([*self.by, *(c for c in (self.item, self.epoch, self.cluster) if c is not None)]))


def wide_items(
    frame: object, columns: ItemColumns, systems: Mapping[str, str], *, graded: bool,
    rate: DecisionRate | None = None, outcome: str | None = None,
) -> Items:  # fmt: skip
    """Items of a table with one row per item (and repetition) and one column per system.

    With a ``rate`` the columns are decisions, and ``outcome`` the column that says which rows count.
    """
    roles = {column: f"system {name!r}" for name, column in systems.items()}
    table = _read(frame, columns, roles if outcome is None else {**roles, outcome: "y_true="})
    values = np.column_stack([_numbers(pd.Series(table[column]), column, graded=graded) for column in systems.values()])
    if rate is not None:
        values = counted(values, None if outcome is None else _outcome(pd.Series(table[outcome]), outcome), rate)
    if columns.item is None:
        return Items(tuple(systems), values, table, np.arange(len(table)))
    keys = [name for name in (columns.item, columns.epoch) if name is not None]
    twice = table.duplicated(keys)
    if twice.any():
        _refuse_twice(table.loc[twice].iloc[0], columns, "")
    return Items(tuple(systems), values, table, _item_codes(table, columns))


def long_items(
    frame: object, columns: ItemColumns, system: str, value: str, systems: Sequence[str] | None, *, graded: bool
) -> Items:
    """Items of a table with one row per item (and repetition) and system."""
    assert columns.item is not None, "checked before"
    table = _read(frame, columns, {system: "system=", value: "correct=" if graded else "loss="})
    if np.any(pd.isna(table[system])):
        raise InputError(f"column {system!r} (system=) has missing values; every row must name its system")
    texts = np.array([level_text(each) for each in table[system]], dtype=object)
    seen = sorted(set(texts))
    names = seen if systems is None else [str(name) for name in systems]
    unknown = next((name for name in names if name not in seen), None)
    if unknown is not None:
        raise InputError(f"systems=: column {system!r} has no system {unknown!r}; {near_misses(unknown, seen)}")
    kept = np.isin(texts, names)
    table, texts = pd.DataFrame(table.loc[kept]).reset_index(drop=True), texts[kept]
    keys = [name for name in (columns.item, columns.epoch) if name is not None]
    twice = table.assign(**{system: texts}).duplicated([*keys, system])
    if twice.any():
        _refuse_twice(table.loc[twice].iloc[0], columns, f" of system {texts[twice.to_numpy()][0]!r}")
    unit = table.groupby(keys, sort=False).ngroup().to_numpy()
    values = np.full((int(unit.max(initial=-1)) + 1, len(names)), np.nan)
    position = {name: i for i, name in enumerate(names)}
    values[unit, [position[text] for text in texts]] = _numbers(pd.Series(table[value]), value, graded=graded)
    first = np.unique(unit, return_index=True)[1]
    item = _item_codes(table, columns)
    return Items(tuple(names), values, table.iloc[first].reset_index(drop=True), item[first])


def averaged(items: Items) -> Items:
    """Items with the mean of their repetitions, system by system."""
    size = int(items.item.max(initial=-1)) + 1
    answered = np.isfinite(items.values)
    total, number = np.zeros((size, len(items.systems))), np.zeros((size, len(items.systems)))
    np.add.at(total, items.item, np.where(answered, items.values, 0.0))
    np.add.at(number, items.item, answered)
    with np.errstate(invalid="ignore"):
        values = total / np.where(number > 0, number, np.nan)
    first = np.unique(items.item, return_index=True)[1]
    return Items(items.systems, values, items.table.iloc[first].reset_index(drop=True), np.arange(size))


def _read(frame: object, columns: ItemColumns, roles: Mapping[str, str]) -> pd.DataFrame:
    """The columns that are needed, in memory; an error names one that is absent, and items that cannot be told apart."""
    source = open_source(frame)
    present = source.frame.collect_schema().names()
    named = {**roles, **dict.fromkeys(columns.by, "by=")}
    given = {"item=": columns.item, "epoch=": columns.epoch, "cluster=": columns.cluster}
    named |= {column: role for role, column in given.items() if column is not None}
    for column, role in named.items():
        if column not in present:
            raise InputError(f"column {column!r} ({role}) is not in the frame; {near_misses(column, present)}")
    for role, key in given.items():
        if key is not None:
            lazy_columns.refuse_missing(source, source.frame, key, key, role.rstrip("="))
    wanted = list(dict.fromkeys([*columns.names, *roles]))
    collected = source.collect(source.frame.select(*wanted))
    if collected.implementation.is_pandas():
        return pd.DataFrame(collected.to_native()).reset_index(drop=True)
    return pd.DataFrame({name: collected[name].to_numpy() for name in wanted})


def _item_codes(table: pd.DataFrame, columns: ItemColumns) -> IndexArray:
    """Number of the item of every row; an error names an item that is in two subgroups or clusters."""
    codes: NDArray[np.intp] = pd.factorize(table[columns.item])[0].astype(np.intp)
    for name in (*columns.by, *([columns.cluster] if columns.cluster else ())):
        levels = pd.factorize(table[name], use_na_sentinel=False)[0]
        first = np.unique(codes, return_index=True)[1]
        differs = levels != levels[first][codes]
        if differs.any():
            row = int(np.argmax(differs))
            values = [level_text(table[name].iloc[place]) for place in (first[codes[row]], row)]
            item = level_text(table[columns.item].iloc[row])
            raise InputError(
                f"item {item!r} has two values of column {name!r}: {values[0]!r} and {values[1]!r}; an item is of one subgroup "
                "and one cluster"
            )
    return codes


def _refuse_twice(row: pd.Series, columns: ItemColumns, of_system: str) -> None:
    item = level_text(row[columns.item])
    if columns.epoch is None:
        raise InputError(
            f"item {item!r} has two rows{of_system}; name the column of repetitions in epoch=, or leave one row out"
        )
    raise InputError(
        f"item {item!r} has two rows{of_system} in {columns.epoch} {level_text(row[columns.epoch])!r}; leave one out"
    )


def _outcome(column: pd.Series, name: str) -> FloatArray:
    """Outcomes, each of which must be 0 or 1."""
    if column.isna().any():
        raise InputError(f"column {name!r} (y_true=) has missing values; every row must have its outcome")
    return _numbers(column, name, graded=True)


def _numbers(column: pd.Series, name: str, *, graded: bool) -> FloatArray:
    """Values as numbers, NaN where missing; graded answers must be 0 or 1."""
    try:
        values: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} must hold numbers; got values such as {column.dropna().iloc[0]!r}") from None
    some = values[~np.isnan(values)]
    wrong = some[~np.isin(some, (0.0, 1.0))] if graded else some[~np.isfinite(some)]
    if len(wrong):
        wanted = "1 (right) or 0 (wrong); for other scores give metric='mean'" if graded else "finite numbers"
        raise InputError(f"column {name!r} must hold {wanted}; got {wrong[0]:g}")
    return values
