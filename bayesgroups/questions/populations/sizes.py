"""Sizes of a population's pieces for one metric, with their error: cells of the tally, or parts of them by region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray, IndexArray, TextArray
from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.populations.cells import Cells
from bayesgroups.questions.populations.declared import (
    Table,
    cell_positions,
    check_by,
    read_table,
    read_tally,
)
from bayesgroups.questions.populations.raking import Margin, converged_sizes, rake
from bayesgroups.questions.populations.second_sample import PopulationSample, drawn_shares, effective_counts

ROWS = "rows"
"""The population that the evaluated rows are themselves."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """Sizes (piece,) of a population and the ``cell`` (piece,) of the tally of each; ``regions`` have levels (piece,).

    ``sampled`` (piece,) are the counts of a second sample, with ``prior`` to be added in all; ``margins`` those that ``seed``
    (cell,), in effective rows, was raked to. Without either the sizes are known; ``whole`` if they are numbers of people.
    """

    size: FloatArray
    cell: IndexArray
    regions: Mapping[str, TextArray]
    whole: bool
    sampled: FloatArray | None = None
    prior: float = 0.0
    margins: tuple[Margin, ...] = ()
    seed: FloatArray | None = None

    def shares(self, members: BoolArray, cells: int) -> FloatArray:
        """Weights (cell,) of a target, NaN where it has nobody."""
        sizes = np.bincount(self.cell, weights=np.where(members, self.size, 0.0), minlength=cells)
        total = float(sizes.sum())
        return np.asarray(sizes / total if total > 0 else np.full(cells, np.nan), dtype=np.float64)

    def drawn(self, rng: np.random.Generator, draws: int) -> tuple[FloatArray, float] | None:
        """Draws (draw, piece) of the sizes and the largest miss of a margin; none where sizes are known."""
        if self.sampled is not None:
            counts = self.sampled + self.prior / len(self.sampled)
            return drawn_shares(counts, rng, draws) * self.size.sum(), 0.0
        if self.margins and self.seed is not None:
            raked = rake(drawn_shares(self.seed, rng, draws), self.margins)
            return raked.sizes, float(raked.miss.max())
        return None


@dataclass(frozen=True, eq=False)
class Declared:
    """A population read once for all metrics: a table, a tally, margins, or the rows; ``prior`` where it is a second sample.

    ``prevalence`` (cell,) are shares of positives among the people, where they are given.
    """

    columns: Mapping[str, TextArray]
    by: tuple[str, ...]
    table: Table | None = None
    tally: xr.Dataset | None = None
    margins: tuple[Margin, ...] = ()
    prior: float | None = None
    prevalence: FloatArray | None = None

    @property
    def is_rows(self) -> bool:
        """True where the population is the evaluated rows themselves."""
        return self.table is None and self.tally is None and not self.margins

    def sizes(self, cells: Cells, people: FloatArray, *, denominator: bool, smoothing: float) -> Sizes:
        """Sizes for one metric; ``people`` (cell,) is what its rows weigh, ``denominator`` asks a tally for those of the metric."""
        number = len(cells.labels)
        places = np.arange(number, dtype=np.intp)
        if self.margins:
            return self._raked(cells, people, smoothing)
        if self.is_rows:
            if not np.isfinite(people).all():
                raise InputError(
                    f"population='rows': metric {cells.metric!r} was published without numbers of rows; give their sizes"
                )
            if not people.sum() > 0:
                people = np.zeros(number)
            return Sizes(people, places, {}, bool((people == np.rint(people)).all()))
        table = self.table
        if table is None:
            assert self.tally is not None
            table = read_tally(self.tally, self.columns, self.by, cells.metric if denominator else "")
        parts = table.size.shape[1]
        size, squares = table.size.ravel(), table.squares.ravel()
        sizes = Sizes(
            size, np.repeat(places, parts), {name: np.tile(levels, number) for name, levels in table.regions.items()},
            table.whole,
        )  # fmt: skip
        if self.prior is None:
            return sizes
        return replace(sizes, sampled=effective_counts(size, squares), prior=self.prior, whole=False)

    def _raked(self, cells: Cells, people: FloatArray, smoothing: float) -> Sizes:
        possible = np.ones(len(people), dtype=bool)
        for margin in self.margins:
            possible &= margin.sizes[margin.level] > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = np.where(people > 0, people**2 / np.where(cells.count > 0, cells.count, people), 0.0)
        seed = effective_counts(np.nan_to_num(people), squares) if cells.weighted else np.nan_to_num(people)
        seed = np.where(possible, seed + smoothing, seed)
        sizes = converged_sizes(seed, self.margins, cells.labels.tolist())
        return Sizes(
            sizes, np.arange(len(sizes), dtype=np.intp), {}, False, margins=self.margins, seed=np.where(possible, seed, 0.0)
        )  # fmt: skip


def declare(population: object, columns: Mapping[str, TextArray], by: Sequence[str], smoothing: float) -> Declared:
    """A population read and checked against the levels (cell,) of the attributes of a tally."""
    names, wanted = list(columns), tuple(by)
    prior = population.prior if isinstance(population, PopulationSample) else None
    source = population.sample if isinstance(population, PopulationSample) else population
    if prior is not None and (isinstance(source, str) and source == ROWS):
        raise InputError(
            "PopulationSample: the evaluated rows are no second sample, for their counts and values share rows; give "
            "population='rows'"
        )
    declared = Declared(columns, wanted, prior=prior)
    margins = _margins(source)
    if smoothing and not margins:
        raise InputError(f"smoothing={smoothing!r} is for a population of margins; leave it out")
    if isinstance(source, xr.DataTree):
        raise InputError("population: got a report; give a tally of the population, a frame, margins, or 'rows'")
    if isinstance(source, str) and source == ROWS:
        check_by(wanted, names, [])
        return declared
    if margins:
        if prior is not None:
            raise InputError(
                "PopulationSample: margins are no sample of people; give a frame with all attributes, or a tally"
            )
        check_by(wanted, names, [])
        return replace(declared, margins=tuple(_margin(key, frame, columns) for key, frame in margins.items()))
    if isinstance(source, xr.Dataset):
        for name in names:
            if name not in source.coords:
                raise InputError(
                    f"population: the tally lacks the attribute {name!r} ({near_misses(name, map(str, source.coords))}); tally "
                    "the population by the same attributes"
                )
        table = read_tally(source, columns, wanted, "")
        check_by(wanted, names, list(table.regions))
        return replace(declared, tally=source)
    table = read_table(source, columns, wanted, names=names, sampled=prior is not None)
    check_by(wanted, names, list(table.regions))
    return replace(declared, table=table)


def _margins(source: object) -> dict[tuple[str, ...], object]:
    """Margins by their attributes; none where the source is no mapping of frames."""
    if not isinstance(source, Mapping) or not source:
        return {}
    framed = all(isinstance(key, tuple) or hasattr(frame, "columns") for key, frame in source.items())
    if not framed:
        return {}
    return {(key,) if isinstance(key, str) else tuple(key): frame for key, frame in source.items()}


def _margin(key: tuple[str, ...], frame: object, columns: Mapping[str, TextArray]) -> Margin:
    title = f"population margin {', '.join(map(repr, key))}"
    for name in key:
        if name not in columns:
            raise InputError(f"{title}: {name!r} is no attribute of the tally ({near_misses(str(name), columns)})")
    if not key or len(set(key)) < len(key):
        raise InputError(f"{title}: name one attribute or more, each once")
    table = read_table(frame, columns, (), names=key, sampled=False, title=title)
    level, labels = cell_positions(columns, key)
    return Margin(" x ".join(key), level, table.size[:, 0], labels)
