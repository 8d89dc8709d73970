"""Disjoint subgroups of a source, the cells, and what is made of them: margins by label or by levels, and populations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.certification.overlapping import ALL, MARGINS_SCHEMA, TABLES
from bayesgroups.questions.values import Source, Using, open_source
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.participation import Imputed
from bayesgroups.tallies.subgroups import attributes_of, label

COUNT = "count"
"""Column of a population with the number of people."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Labels of the cells and the levels of their attributes, each (cell,)."""

    labels: TextArray
    levels: Mapping[str, TextArray]

    @property
    def attributes(self) -> list[str]:
        """Names of the attributes."""
        return list(self.levels)

    @cached_property
    def each(self) -> dict[str, BoolArray]:
        """Members (cell,) of every cell, by its label: itself."""
        return dict(zip(map(str, self.labels), np.eye(len(self.labels), dtype=bool), strict=True))

    @cached_property
    def margins(self) -> dict[str, BoolArray]:
        """Members (cell,) of every margin by its label, those that look at few attributes first."""
        choices = [[*dict.fromkeys(levels.tolist()), ALL] for levels in self.levels.values()]
        members = {}
        for levels in sorted(itertools.product(*choices), key=self.crossed) if len(choices) > 1 else ():
            mask = self.with_levels(dict(zip(self.levels, levels, strict=True)))
            if 0 < self.crossed(levels) < len(choices) and mask.any():
                members[label(levels)] = mask
        return members

    @staticmethod
    def crossed(levels: Sequence[str]) -> int:
        """Number of attributes that a margin looks at."""
        return sum(level != ALL for level in levels)

    def with_levels(self, levels: Mapping[str, str]) -> BoolArray:
        """Members (cell,) of the margin with these levels; ``(all)`` is every level."""
        mask = np.ones(self.labels.shape, dtype=bool)
        for name, level in levels.items():
            mask &= (self.levels[name] == level) | (level == ALL)
        return mask

    def members(self, name: object, setting: str) -> BoolArray:
        """Members (cell,) of a subgroup or margin by its label; an InputError names the setting that has an unknown one."""
        text = str(name)
        if text not in self.each and text not in self.margins:
            names = [*self.each, *self.margins]
            raise InputError(f"{setting}: no subgroup is called {name!r}; {near_misses(text, names)}")
        return self.each[text] if text in self.each else self.margins[text]

    def check_levels(self, levels: Mapping[str, object], setting: str) -> dict[str, str]:
        """Levels as texts, or an InputError that names an unknown attribute or level."""
        texts = {}
        for name, level in levels.items():
            if name not in self.levels:
                raise InputError(f"{setting}: there is no attribute {name!r}; {near_misses(str(name), self.levels)}")
            text = level_text(level)
            if text not in self.levels[name]:
                raise InputError(
                    f"{setting}: attribute {name!r} has no level {text!r}; {near_misses(text, set(self.levels[name]))}"
                )
            texts[name] = text
        return texts


def open_cells(
    source: object, using: Using, imputed: Imputed, larger_is_better: bool | None
) -> tuple[Source, Cells, bool]:
    """Source of cells, of a tally, of margins (whose intersections are the cells) or of a report, and True for margins."""
    opened = open_source(source, using, imputed=imputed, larger_is_better=larger_is_better, schemas=TABLES)
    table, overlapping = opened.tally, opened.tally.attrs.get("schema") == MARGINS_SCHEMA
    if overlapping:
        kept = table.sel(subgroup=table["cell"].values).drop_vars(["members", "attributes_crossed", "cell"])
        table = kept.assign_attrs({**kept.attrs, "schema": SCHEMA})
        opened = replace(opened, tally=table, estimates=table["estimate"].transpose("metric", "subgroup").values)
    return opened, cells_of(table), overlapping


def cells_of(table: xr.Dataset) -> Cells:
    """Cells of a tally."""
    levels = {name: table[name].values.astype(str) for name in attributes_of(table)}
    return Cells(table["subgroup"].values.astype(str), levels)


def population_of(population: object, cells: Cells) -> FloatArray:
    """Number of people (cell,) of a table with a column per attribute and ``count``; 0 for a cell that it lacks.

    InputError if a column is missing, a level unknown, a cell twice in the table, or a number negative or not finite.
    """
    if not isinstance(population, pd.DataFrame):
        raise InputError(
            f"population= must be a DataFrame with the columns {[*cells.attributes, COUNT]}; got {type(population).__name__}"
        )
    lacking = [name for name in (*cells.attributes, COUNT) if name not in population]
    if lacking:
        raise InputError(f"population= lacks the column {lacking[0]!r}; give one per attribute, and {COUNT!r}")
    numbers = population[COUNT].to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all() or (numbers < 0).any() or not numbers.sum() > 0:
        raise InputError(
            f"population= must have a column {COUNT!r} of numbers that are 0 or larger, and not all 0; "
            f"got {population[COUNT].tolist()[:5]}"
        )
    people = np.zeros(len(cells.labels))
    place = {key: i for i, key in enumerate(zip(*(cells.levels[name] for name in cells.attributes), strict=True))}
    seen: set[Sequence[str]] = set()
    for row, number in zip(population[cells.attributes].itertuples(index=False), numbers, strict=True):
        key = tuple(cells.check_levels(dict(zip(cells.attributes, row, strict=True)), "population=").values())
        if key in seen:
            raise InputError(f"population= has two rows for {label(key)!r}; add them up")
        seen.add(key)
        if key in place:
            people[place[key]] = number
    return people
