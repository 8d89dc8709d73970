"""A population as it was declared, checked against the cells of a tally: sizes, a second sample, or margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IndexArray, TextArray
from bayesgroups.data.frames import open_rows
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.denominators import denominators
from bayesgroups.tallies.subgroups import attributes_of

COUNT, WEIGHT = "count", "weight"
"""Columns with the size of a cell, and with the weight of one of the sampled people."""
_SIZE, _SQUARE, _ABSENT = "__size__", "__square__", "__absent__"


@dataclass(frozen=True, eq=False)
class Table:
    """Sizes (cell, region) and sums of squared weights, over all cells of the tally and the observed regions.

    ``regions`` has levels (region,) of the columns that are no attributes; ``whole`` says that sizes are whole numbers.
    """

    size: FloatArray
    squares: FloatArray
    regions: Mapping[str, TextArray] = field(default_factory=dict)
    whole: bool = True


def read_table(
    source: object, columns: Mapping[str, TextArray], by: Sequence[str], *, names: Sequence[str], sampled: bool,
    title: str = "population",
) -> Table:  # fmt: skip
    """Sizes from a frame with the attributes ``names`` and ``count``, added up over all other columns but those in ``by``.

    ``columns`` (cell,) are the levels of the attributes of each cell; cells are those of ``names``, each once. ``sampled`` frames
    may have rows of single people, with or without a ``weight``. An InputError names the column, level or value that is wrong.
    """
    frame = open_rows(source)
    schema = frame.collect_schema()
    for name in names:
        if name not in schema:
            raise InputError(
                f"{title}: no column {name!r}, an attribute of the tally ({near_misses(name, schema)}). Name it so; where only "
                "margins are known, give a mapping such as {('race',): frame, ('sex', 'age'): frame}"
            )
    regions = [name for name in by if name not in columns and name in schema]
    measure = COUNT if COUNT in schema else WEIGHT if sampled and WEIGHT in schema else None
    if measure is None and not sampled:
        raise InputError(f"{title}: no column 'count' with the size of each cell; the frame has {list(schema)}")
    if measure is not None and not schema[measure].is_numeric():
        raise InputError(f"{title}: column {measure!r} must hold numbers; got {schema[measure]}")
    keys = [*names, *regions]
    size = nw.lit(1.0) if measure is None else nw.col(measure).cast(nw.Float64)
    rows = frame.select(*keys, size.alias(_SIZE)).with_columns(
        (nw.col(_SIZE) if measure == COUNT else nw.col(_SIZE) ** 2).alias(_SQUARE),
        nw.col(_SIZE).is_null().cast(nw.Float64).alias(_ABSENT),
        nw.col(_SIZE).alias("__least__"),
    )
    sums = rows.group_by(*keys).agg(
        nw.col(_SIZE).sum(), nw.col(_SQUARE).sum(), nw.col(_ABSENT).sum(), nw.col("__least__").min()
    )
    table: Any = sums.collect() if isinstance(sums, nw.LazyFrame) else sums
    levels = [_levels(table, name, columns.get(name), title) for name in keys]
    arrays = [np.asarray(table[name].to_numpy(), dtype=np.float64) for name in (_SIZE, _SQUARE, _ABSENT, "__least__")]
    labels = [" | ".join(key) for key in zip(*levels, strict=True)]
    wrong = ~np.isfinite(arrays[0]) | (arrays[2] > 0) | ~(arrays[3] >= 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        problem = "negative" if arrays[3][i] < 0 else "missing or not finite"
        raise InputError(
            f"{title}: {labels[i]!r} has a {measure} that is {problem}; counts must be numbers, 0 or larger"
        )
    if not arrays[0].sum() > 0:
        raise InputError(f"{title}: all counts are 0; give the sizes of a population that has people")
    return _laid_out(columns, names, regions, levels, arrays[0], arrays[1])


def _levels(table: Any, name: str, declared: TextArray | None, title: str) -> list[str]:
    """Levels of a column as text; an InputError for a missing one, or one that the tally has not."""
    values = table[name].to_list()
    if any(value is None or value != value for value in values):  # noqa: PLR0124 - NaN
        raise InputError(f"{title}: column {name!r} has a missing value; name it, or leave these people out")
    texts = [level_text(value) for value in values]
    if declared is not None:
        levels = list(dict.fromkeys(declared.tolist()))
        strange = next((text for text in texts if text not in levels), None)
        if strange is not None:
            raise InputError(
                f"{title}: attribute {name!r} has level {strange!r}, which the tally has not ({near_misses(strange, levels)}); "
                f"leave these people out, or declare the level where rows are tallied in Python: {{{name!r}: [..., {strange!r}]}}"
            )
    return texts


def _laid_out(
    columns: Mapping[str, TextArray], names: Sequence[str], regions: Sequence[str], levels: list[list[str]],
    size: FloatArray, squares: FloatArray,
) -> Table:  # fmt: skip
    """Sums of keys laid over all cells and the observed regions; keys that print alike are added."""
    every = [tuple(key) for key in zip(*(columns[name].tolist() for name in names), strict=True)]
    cells = {key: place for place, key in enumerate(dict.fromkeys(every))}
    where = list(zip(*levels, strict=True))
    parts = sorted({key[len(names) :] for key in where})
    place = {part: position for position, part in enumerate(parts)}
    sizes, sums = np.zeros((len(cells), len(parts))), np.zeros((len(cells), len(parts)))
    for key, each, square in zip(where, size, squares, strict=True):
        at = cells[key[: len(names)]], place[key[len(names) :]]
        sizes[at] += each
        sums[at] += square
    texts = {name: np.array([part[i] for part in parts], dtype=str) for i, name in enumerate(regions)}
    return Table(sizes, sums, texts, bool((sizes == np.rint(sizes)).all()))


def read_tally(population: xr.Dataset, columns: Mapping[str, TextArray], by: Sequence[str], metric: str) -> Table:
    """Sizes from a tally of the population: rows, or those that count for a ``metric``, or their weights."""
    if population.attrs.get("schema") != SCHEMA:
        raise InputError(
            "population: expected a tally from bg.tally() or a related function, a frame, margins, or 'rows'; got a Dataset"
        )
    weighted = "weight" in population
    if metric:
        if metric not in population["metric"].values:
            raise InputError(
                f"population: the tally has no metric {metric!r} to count its denominators by "
                f"({near_misses(metric, map(str, population['metric'].values))}); tally it there too"
            )
        table = population.sel(metric=metric)
        size, count = denominators(table), table["count"].values
    elif weighted:
        table = population.isel(metric=int(np.argmax(population["weight"].sum("subgroup").values)))
        size, count = table["weight"].values, table["count"].values
    else:
        size = count = population["rows"].values
    if not np.isfinite(size).all():
        raise InputError("population: the tally holds published estimates without numbers of rows; give counts")
    squares = np.where(count > 0, size**2 / np.where(count > 0, count, 1.0), 0.0)
    names = attributes_of(population)
    frame = {name: population[name].values.astype(str).tolist() for name in names}
    first = read_table({**frame, COUNT: size.tolist()}, columns, by, names=list(columns), sampled=False)
    second = read_table({**frame, COUNT: squares.tolist()}, columns, by, names=list(columns), sampled=False)
    return Table(first.size, second.size, first.regions, first.whole)


def check_by(by: Sequence[str], columns: Sequence[str], regions: Sequence[str]) -> None:
    """Refusal of a name that is neither an attribute nor a column of the population."""
    for name in by:
        if name not in (*columns, *regions):
            raise InputError(
                f"by: {name!r} is neither an attribute of the tally nor a column of the population "
                f"({near_misses(name, [*columns, *regions])})"
            )


def cell_positions(columns: Mapping[str, TextArray], names: Sequence[str]) -> tuple[IndexArray, tuple[str, ...]]:
    """Position (cell,) of every cell in a margin over some attributes, and the labels of the margin's levels."""
    every = list(zip(*(columns[name].tolist() for name in names), strict=True))
    place = {key: position for position, key in enumerate(dict.fromkeys(every))}
    return np.array([place[key] for key in every], dtype=np.intp), tuple(" | ".join(key) for key in place)
