"""Sizes of positives and negatives from sizes of people and the share of positives in every cell, which is taken for known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import narwhals.stable.v2 as nw
import numpy as np

from bayesgroups.data.arrays import FloatArray, TextArray
from bayesgroups.data.frames import open_rows
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.populations.sizes import Declared, Sizes

PREVALENCE = "prevalence"
"""Column with the share of positives among the people of a cell."""


def with_prevalence(declared: Declared, prevalence: object, population_of: str) -> Declared:
    """The population with the share of positives of every cell; an InputError where sizes are not those of known people."""
    if prevalence is None:
        return declared
    if population_of != "people":
        raise InputError(
            f"prevalence= is for sizes of people, and population_of={population_of!r}; leave one of them out"
        )
    if declared.margins or declared.prior is not None or (declared.table is None and declared.tally is None):
        raise InputError(
            "prevalence= is for numbers of people that are known, a frame or a tally of all attributes; the rows, margins and "
            "samples have no such numbers"
        )
    return replace(declared, prevalence=read_prevalence(prevalence, declared.columns))


def read_prevalence(source: object, columns: Mapping[str, TextArray]) -> FloatArray:
    """Shares (cell,) from a frame with the attributes, whose levels are ``columns`` (cell,), and ``prevalence``; NaN if absent."""
    frame = open_rows(source)
    schema = frame.collect_schema()
    for name in (*columns, PREVALENCE):
        if name not in schema:
            raise InputError(
                f"prevalence: no column {name!r} ({near_misses(name, schema)}); give one per attribute, and 'prevalence'"
            )
    if not schema[PREVALENCE].is_numeric():
        raise InputError(f"prevalence: column 'prevalence' must hold numbers; got {schema[PREVALENCE]}")
    rows = frame.select(*columns, nw.col(PREVALENCE).cast(nw.Float64))
    table = rows.collect() if isinstance(rows, nw.LazyFrame) else rows
    place = {key: i for i, key in enumerate(zip(*(levels.tolist() for levels in columns.values()), strict=True))}
    shares = np.full(len(place), np.nan)
    for *levels, value in table.rows():
        key = tuple(level_text(level) for level in levels)
        title = " | ".join(key)
        if key not in place:
            raise InputError(f"prevalence: {title!r} is no subgroup of the tally; name its levels as the tally does")
        if np.isfinite(shares[place[key]]):
            raise InputError(f"prevalence: {title!r} is there twice; give every subgroup once")
        if value is None or not 0 <= value <= 1:
            raise InputError(f"prevalence: {title!r} has {value!r}; expected a share of positives between 0 and 1")
        shares[place[key]] = value
    return shares


def turned(sizes: Sizes, prevalence: FloatArray, labels: TextArray, *, negatives: bool) -> Sizes:
    """Sizes of the positives or negatives among people; an InputError for a cell with people and without a prevalence."""
    share = prevalence[sizes.cell]
    lacking = (sizes.size > 0) & ~np.isfinite(share)
    if lacking.any():
        label = str(labels[sizes.cell[int(np.argmax(lacking))]])
        raise InputError(f"prevalence: subgroup {label!r} has people in the population and no prevalence; add its row")
    size = sizes.size * np.nan_to_num(1 - share if negatives else share)
    return replace(sizes, size=size, whole=bool((size == np.rint(size)).all()))
