"""Ratios of estimators to a reference in every cell of a comparison, and the cell where each does worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesgroups.errors import InputError, near_misses
from bayesgroups.studies.ratios import Measure, Sums, estimators_of, ratios_to, sums_by_draw

if TYPE_CHECKING:
    import pandas as pd


def cell_name(population: str, metric: str, metrics: int) -> str:
    """Name of a cell: the population, with the metric where it has several."""
    return f"{population} {metric}" if metrics > 1 else population


def cell_ratios(sums: Sums, *, measure: Measure, size_class: str, reference: str) -> pd.DataFrame:
    """Measure of every estimator (columns) relative to the reference, in every cell (rows), of subgroups of one size class.

    ``sums`` are those of `bayesgroups.studies.scores.cell_sums` by population, with the same estimators; both sums of a
    ratio run over the same pairs of draw and subgroup. An InputError if there are none, estimators differ or the reference
    is unknown.
    """
    import pandas as pd

    names = estimators_of(sums, reference)
    totals = [sums_by_draw(population_sums, measure, size_class).sum(axis=0) for population_sums in sums.values()]
    table = np.concatenate([ratios_to(total, names.index(reference)) for total in totals])
    return pd.DataFrame(table, index=pd.Index(_cells(sums), name="cell"), columns=pd.Index(names, name="estimator"))


def worst_cells(ratios: pd.DataFrame, references: Sequence[str]) -> pd.DataFrame:
    """Table by estimator of the cell where it does worst against the best of the references in that cell.

    ``ratios`` are those of `cell_ratios`. ``worst`` is the largest ratio to the best reference of the cell, ``cell`` where
    that is, ``best`` which reference it is. An InputError if there are no references, or one is not in the table.
    """
    import pandas as pd

    if not references:
        raise InputError("references= is empty; name at least one estimator")
    for name in references:
        if name not in ratios.columns:
            raise InputError(f"reference {name!r} is not in the table; {near_misses(name, list(ratios.columns))}")
    best = ratios[list(references)]
    against = ratios.div(best.min(axis=1), axis=0)
    worst, cell, which = [], [], []
    for values in against.to_numpy(dtype=np.float64).T:
        at = int(np.nanargmax(values)) if np.isfinite(values).any() else None
        worst.append(np.nan if at is None else float(values[at]))
        cell.append("" if at is None else str(ratios.index[at]))
        which.append("" if at is None else list(references)[int(np.nanargmin(best.to_numpy(dtype=np.float64)[at]))])
    return pd.DataFrame({"worst": worst, "cell": cell, "best": which}, index=ratios.columns)


def _cells(sums: Sums) -> list[str]:
    return [
        cell_name(population, str(metric), population_sums.sizes["metric"])
        for population, population_sums in sums.items()
        for metric in population_sums["metric"].values
    ]
