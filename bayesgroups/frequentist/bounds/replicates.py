"""Bootstrap replicates of agreements and disagreements: what other judgements might have been counted.

``judgements`` resamples the judgements of each subgroup, ``critics`` and ``items`` resample critics and items with all that
belongs to them. Judgements of one critic share the critic's leniency and those of one item its difficulty, so the last two
vary more, as they should.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError

Unit = Literal["judgements", "critics", "items"]
UNITS: tuple[Unit, ...] = get_args(Unit)
BLOCK = 2_000_000
"""Numbers held at a time."""


def units_of(tally: xr.Dataset) -> tuple[Unit, ...]:
    """Units that can be resampled: judgements always, critics and items where the tally was made with them."""
    available = (True, "critic_agreements" in tally.data_vars, "item_agreements" in tally.data_vars)
    return tuple(unit for unit, kept in zip(UNITS, available, strict=True) if kept)


def replicates(tally: xr.Dataset, unit: Unit, rng: np.random.Generator, *, draws: int) -> tuple[FloatArray, FloatArray]:
    """Bootstrap replicates of agreements and of disagreements, arrays (draw, label, subgroup).

    ``unit`` is resampled with replacement; InputError if the tally was made without it.
    """
    if unit not in units_of(tally):
        raise InputError(f"{unit} cannot be resampled: the tally was made without {unit.removesuffix('s')}=")
    if unit == "judgements":
        return _judgements(tally, rng, draws)
    if unit == "critics":
        both = np.stack([tally["critic_agreements"].values, tally["critic_disagreements"].values], axis=1)
        return _resampled(both.reshape(len(both), -1), both.shape[1:], rng, draws)
    shape = (2, tally.sizes["label"], tally.sizes["subgroup"])
    index, cells = tally["item_index"].values, np.arange(np.prod(shape)).reshape(shape)
    place = cells[:, tally["item_label"].values, tally["item_subgroup"].values]
    table = np.zeros((int(index.max()) + 1, cells.size))
    for s, counts in enumerate((tally["item_agreements"].values, tally["item_disagreements"].values)):
        table[index, place[s]] = counts
    return _resampled(table, shape, rng, draws)


def _judgements(tally: xr.Dataset, rng: np.random.Generator, draws: int) -> tuple[FloatArray, FloatArray]:
    counts = np.stack([tally["agreements"].values, tally["disagreements"].values])
    cells = counts.reshape(-1, counts.shape[-1]).T
    size = cells.sum(axis=1)
    # A subgroup without judgements stays without; any law will do.
    law = np.where(size[:, None] > 0, cells / np.maximum(size, 1)[:, None], 1 / cells.shape[1])
    drawn = rng.multinomial(size.astype(np.int64), law, size=(draws, len(size))).astype(np.float64)
    both = np.moveaxis(drawn, 1, 2).reshape(draws, *counts.shape)
    return both[:, 0], both[:, 1]


def _resampled(
    table: FloatArray, shape: tuple[int, ...], rng: np.random.Generator, draws: int
) -> tuple[FloatArray, FloatArray]:
    """Sums of the rows of ``table`` (unit, cell), drawn with replacement."""
    units = len(table)
    resampled = np.empty((draws, table.shape[1]))
    step = max(1, BLOCK // units)
    for start in range(0, draws, step):
        number = min(step, draws - start)
        times = rng.multinomial(units, np.full(units, 1 / units), size=number)
        resampled[start : start + number] = times.astype(np.float64) @ table
    both = resampled.reshape(draws, *shape)
    return both[:, 0], both[:, 1]
