"""One number per estimator over many cells: geometric means of ratios to a reference, and the worst cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.errors import InputError, near_misses
from bayesgroups.studies.scores import SIZE_CLASSES, jackknife

if TYPE_CHECKING:
    import pandas as pd

Measure = Literal["mae", "interval_score"]
Sums = Mapping[str, xr.Dataset]

RATIOS: tuple[Measure, ...] = ("mae", "interval_score")


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

    names = _estimators(sums, reference)
    totals = [_arrays(population_sums, measure, size_class).sum(axis=0) for population_sums in sums.values()]
    table = np.concatenate([_ratios(total, names.index(reference)) for total in totals])
    return pd.DataFrame(table, index=pd.Index(_cells(sums), name="cell"), columns=pd.Index(names, name="estimator"))


def overall(sums: Sums, *, reference: str) -> pd.DataFrame:
    """The score: geometric means over cells, and mean coverage, with jackknife errors over draws.

    Parameters
    ----------
    sums : mapping
        By population, from `bayesgroups.studies.scores.cell_sums`.
    reference : str
        The standard estimator.

    Returns
    -------
    pandas DataFrame
        Rows: estimators. Columns ``mae_all``, ``interval_score_small`` ...: geometric means of ratios to the reference;
        ``coverage_all`` ...: means over cells; each with ``_se``. Draws of a population are left out in all its cells
        at once, because its metrics share them. NaN where a cell has no such subgroup or an estimator no interval.

    Raises
    ------
    InputError
        As `cell_ratios`.
    """
    import pandas as pd

    names = _estimators(sums, reference)
    at = names.index(reference)
    parts = ("pairs", *RATIOS, "coverage", "covers")
    blocks = [
        {(part, size): _arrays(population_sums, part, size) for part in parts for size in SIZE_CLASSES}
        for population_sums in sums.values()
    ]

    def statistic(kept: list[IntArray]) -> FloatArray:
        totals = [
            {key: values[draws].sum(axis=0) for key, values in block.items()}
            for block, draws in zip(blocks, kept, strict=True)
        ]
        resampled = []
        with np.errstate(divide="ignore", invalid="ignore"):
            for size_class in SIZE_CLASSES:
                for measure in RATIOS:
                    ratios = np.concatenate([_ratios(total[measure, size_class], at) for total in totals])
                    resampled.append(np.exp(np.log(ratios).mean(axis=0)))
                shares = np.concatenate(
                    [total["coverage", size_class] / total["covers", size_class] for total in totals]
                )
                # Cells without a subgroup that is large enough in the population say nothing of coverage.
                scored = np.concatenate([total["covers", size_class] for total in totals]) > 0
                resampled.append(np.where(scored, shares, 0.0).sum(axis=0) / scored.sum(axis=0))
        return np.stack(resampled)

    value, se = jackknife(statistic, [population_sums.sizes["draw"] for population_sums in sums.values()])
    labels = [f"{measure}_{size_class}" for size_class in SIZE_CLASSES for measure in (*RATIOS, "coverage")]
    columns: dict[str, FloatArray] = {}
    for label, numbers, errors in zip(labels, value, se, strict=True):
        columns |= {label: numbers, f"{label}_se": errors}
    return pd.DataFrame(columns, index=pd.Index(names, name="estimator"))


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


def _estimators(sums: Sums, reference: str) -> list[str]:
    if not sums:
        raise InputError("there is no population to score")
    names = [str(name) for name in next(iter(sums.values()))["estimator"].values]
    for population, population_sums in sums.items():
        if [str(name) for name in population_sums["estimator"].values] != names:
            raise InputError(f"population {population!r} was studied with other estimators than the first: {names}")
    if reference not in names:
        raise InputError(f"reference={reference!r} is not in the study; {near_misses(reference, names)}")
    return names


def _cells(sums: Sums) -> list[str]:
    return [
        cell_name(population, str(metric), population_sums.sizes["metric"])
        for population, population_sums in sums.items()
        for metric in population_sums["metric"].values
    ]


def _arrays(population_sums: xr.Dataset, part: str, size_class: str) -> FloatArray:
    """Sums (draw, metric, estimator)."""
    totals: FloatArray = (
        population_sums[part].sel(size_class=size_class).transpose("draw", "metric", "estimator").values
    )
    return totals


def _ratios(total: FloatArray, at: int) -> FloatArray:
    """Ratio of totals (metric, estimator) to those of one estimator; NaN where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / total[:, at][:, None], dtype=np.float64)
