"""One number per estimator over many cells: geometric means of ratios to a reference."""

from __future__ import annotations

from collections.abc import Mapping
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
        If the mapping is empty, the reference is unknown, or the populations have different estimators.
    """
    import pandas as pd

    names = estimators_of(sums, reference)
    at = names.index(reference)
    parts = (*RATIOS, "coverage", "covers")
    blocks = [
        {(part, size): sums_by_draw(population_sums, part, size) for part in parts for size in SIZE_CLASSES}
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
                    ratios = np.concatenate([ratios_to(total[measure, size_class], at) for total in totals])
                    resampled.append(np.exp(np.log(ratios).mean(axis=0)))
                covered, pairs = (
                    np.concatenate([total[part, size_class] for total in totals]) for part in ("coverage", "covers")
                )
                # Cells without a subgroup that is large enough in the population say nothing of coverage.
                resampled.append(np.where(pairs > 0, covered / pairs, 0.0).sum(axis=0) / (pairs > 0).sum(axis=0))
        return np.stack(resampled)

    value, se = jackknife(statistic, [population_sums.sizes["draw"] for population_sums in sums.values()])
    labels = [f"{measure}_{size_class}" for size_class in SIZE_CLASSES for measure in (*RATIOS, "coverage")]
    columns: dict[str, FloatArray] = {}
    for label, numbers, errors in zip(labels, value, se, strict=True):
        columns |= {label: numbers, f"{label}_se": errors}
    return pd.DataFrame(columns, index=pd.Index(names, name="estimator"))


def estimators_of(sums: Sums, reference: str) -> list[str]:
    """Names of the estimators, which all populations have and the reference is one of, or an InputError."""
    if not sums:
        raise InputError("there is no population to score")
    names = [str(name) for name in next(iter(sums.values()))["estimator"].values]
    for population, population_sums in sums.items():
        if [str(name) for name in population_sums["estimator"].values] != names:
            raise InputError(f"population {population!r} was studied with other estimators than the first: {names}")
    if reference not in names:
        raise InputError(f"reference={reference!r} is not in the study; {near_misses(reference, names)}")
    return names


def sums_by_draw(population_sums: xr.Dataset, part: str, size_class: str) -> FloatArray:
    """Sums (draw, metric, estimator)."""
    totals = population_sums[part].sel(size_class=size_class).transpose("draw", "metric", "estimator")
    return np.asarray(totals.values, dtype=np.float64)


def ratios_to(total: FloatArray, at: int) -> FloatArray:
    """Ratio of totals (metric, estimator) to those of one estimator; NaN where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / total[:, at][:, None], dtype=np.float64)
