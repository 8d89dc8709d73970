"""The tables of the shared study: the score, every cell, every measure, and the worst cells."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.studies.ratios import RATIOS, overall
from bayesgroups.studies.scores import cell_sums, measures, share_lost
from examples.comparisons.cell_ratios import cell_ratios, worst_cells
from examples.comparisons.entrants import REFERENCES, STANDARD
from examples.comparisons.shared_cells import MIN_ROWS_WITH_TRUTH
from examples.pages import table
from examples.records import write

if TYPE_CHECKING:
    import pandas as pd

HEAVY_TAILS = "speech_normalised"
"""Populations whose name begins so have losses up to 21 where most are below 1."""

_COLUMNS = (
    "mae_all", "mae_small", "interval_score_all", "interval_score_small", "coverage_all", "coverage_small",
)  # fmt: skip
"""Ratios to the standard estimator, and coverage of 95 % intervals."""

_HEADINGS = ("MAE all", "MAE small", "interval score all", "small", "coverage all", "small", "worst cell")


@dataclass(frozen=True, eq=False)
class Tables:
    """Results of the study.

    Parameters
    ----------
    scores : dict of pandas DataFrame
        By set of cells (``all cells``, ``heavy tails``, ``other cells``), from `bayesgroups.studies.ratios.overall`.
    ratios : pandas DataFrame
        Indexed by (measure, size_class, cell), a column per estimator.
    measures : pandas DataFrame
        Indexed by (population, metric, estimator, size_class), of 95 % intervals.
    worst : pandas DataFrame
        From `examples.comparisons.cell_ratios.worst_cells`, of the mean absolute error over all subgroups.
    lost : pandas DataFrame
        Indexed by (population, metric), from `bayesgroups.studies.scores.share_lost`.
    """

    scores: dict[str, pd.DataFrame]
    ratios: pd.DataFrame
    measures: pd.DataFrame
    worst: pd.DataFrame
    lost: pd.DataFrame

    def markdown(self) -> str:
        """The scores as Markdown tables."""
        lines = []
        for title, score in self.scores.items():
            rows = [[name, *self._line(score, name, first=title == "all cells")] for name in score.index]
            lines += [f"**{title}**", "", table(["estimator", *_HEADINGS], rows), ""]
        return "\n".join(lines)

    def _line(self, score: pd.DataFrame, name: str, *, first: bool) -> list[str]:
        cells = [
            _number(score.loc[name, column], score.loc[name, f"{column}_se"], percent=column.startswith("coverage"))
            for column in _COLUMNS
        ]
        at = self.worst.loc[name] if first and name in self.worst.index else None
        return [*cells, "-" if at is None or np.isnan(at["worst"]) else f"{at['worst']:.2f} ({at['cell']})"]


def tables(by_population: Mapping[str, xr.Dataset], *, level: float = 0.95) -> Tables:
    """Score studies of several populations, one cell per metric.

    Parameters
    ----------
    by_population : mapping
        By population, from `bayesgroups.studies.resampling.study`; ``standard`` must be among the estimators.
    level : float
        Level of the intervals.

    Returns
    -------
    Tables

    Raises
    ------
    InputError
        If there is no population or no ``standard``.
    """
    import pandas as pd

    sums = {name: cell_sums(answers, reference=STANDARD, level=level) for name, answers in by_population.items()}
    heavy = {name: cells for name, cells in sums.items() if name.startswith(HEAVY_TAILS)}
    other_cells = {name: cells for name, cells in sums.items() if name not in heavy}
    sets = {"all cells": sums, "heavy tails": heavy, "other cells": other_cells}
    if not (heavy and other_cells):
        sets = {"all cells": sums}
    by_part: dict[Hashable, pd.DataFrame] = {
        (measure, size_class): cell_ratios(sums, measure=measure, size_class=size_class, reference=STANDARD)
        for measure in RATIOS
        for size_class in ("all", "small", "large")
    }
    mae = by_part["mae", "all"]
    references = [name for name in REFERENCES if name in mae.columns]
    return Tables(
        {title: overall(chosen, reference=STANDARD) for title, chosen in sets.items()},
        pd.concat(by_part, names=["measure", "size_class"]),
        pd.concat(
            {name: measures(answers, reference=STANDARD, level=level) for name, answers in by_population.items()},
            names=["population"],
        ),
        worst_cells(mae, references),
        pd.concat({name: share_lost(answers) for name, answers in by_population.items()}, names=["population"]),
    )


def write_tables(made: Tables, folder: Path) -> None:
    """Write ``score.md``, ``score.csv``, ``cells.csv``, ``measures.csv``, ``worst.csv`` and ``lost.csv``."""
    import pandas as pd

    write(folder / "score.md", made.markdown())
    score = pd.concat(made.scores, names=["cells"])
    parts = {"score": score, "cells": made.ratios, "measures": made.measures, "worst": made.worst, "lost": made.lost}
    for name, frame in parts.items():
        write(folder / f"{name}.csv", frame.to_csv(float_format="%.6g", lineterminator="\n"))


def numbers(parts: Sequence[Tables], fewest: int) -> dict[str, str]:
    """Blocks of the page by name: scores and the ratios of every cell.

    A study with its control, or one whose truths come from fewer rows than usual, fills a block of its own and no other.
    """
    made, *control = parts
    if control:
        return {"scores where no subgroup differs": control[0].markdown()}
    if fewest != MIN_ROWS_WITH_TRUTH:
        return {f"scores of subgroups with {fewest} rows and more": made.markdown()}
    texts = {"scores": made.markdown()}
    for measure in ("mae", "interval_score"):
        ratios = made.ratios.xs((measure, "all"), level=("measure", "size_class"))
        rows = zip(ratios.index, ratios.to_numpy(dtype=np.float64), strict=True)
        lines = [[cell, *("-" if np.isnan(value) else f"{value:.2f}" for value in values)] for cell, values in rows]
        texts[f"{measure} by cell"] = table(["cell", *ratios.columns], lines)
    return texts


def _number(value: float, error: float, *, percent: bool) -> str:
    if np.isnan(value):
        return "-"
    scale, digits = (100, 0) if percent else (1, 3)
    around = "" if np.isnan(error) else f" ({scale * error:.{digits + int(percent)}f})"
    return f"{scale * value:.{digits}f}{around}"
