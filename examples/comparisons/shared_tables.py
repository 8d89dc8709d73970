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
from examples.comparisons.shared_cells import COVERAGE_COUNT, COVERAGE_ROWS
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
            lines += [
                f"**{title}**",
                "",
                f"| estimator | {' | '.join(_HEADINGS)} |",
                "|---" * (len(_HEADINGS) + 1) + "|",
            ]
            for name in score.index:
                lines.append(f"| {name} | {' | '.join(self._line(score, name, first=title == 'all cells'))} |")
            lines.append("")
        return "\n".join(lines)

    def _line(self, score: pd.DataFrame, name: str, *, first: bool) -> list[str]:
        cells = [
            _number(score.loc[name, column], score.loc[name, f"{column}_se"], percent=column.startswith("coverage"))
            for column in _COLUMNS
        ]
        at = self.worst.loc[name] if first and name in self.worst.index else None
        return [*cells, "-" if at is None or np.isnan(at["worst"]) else f"{at['worst']:.2f} ({at['cell']})"]


def tables(found: Mapping[str, xr.Dataset], *, level: float = 0.95) -> Tables:
    """Score studies of several populations, one cell per metric.

    Parameters
    ----------
    found : mapping
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

    sums = {name: cell_sums(one, reference=STANDARD, level=level) for name, one in found.items()}
    heavy = {name: one for name, one in sums.items() if name.startswith(HEAVY_TAILS)}
    others = {name: one for name, one in sums.items() if name not in heavy}
    sets = {"all cells": sums, "heavy tails": heavy, "other cells": others}
    if not (heavy and others):
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
            {name: measures(one, reference=STANDARD, level=level) for name, one in found.items()}, names=["population"]
        ),
        worst_cells(mae, references),
        pd.concat({name: share_lost(one) for name, one in found.items()}, names=["population"]),
    )


def write_tables(made: Tables, folder: Path) -> None:
    """Write ``score.md``, ``score.csv``, ``cells.csv``, ``measures.csv``, ``worst.csv`` and ``lost.csv``."""
    import pandas as pd

    write(folder / "score.md", made.markdown())
    score = pd.concat(made.scores, names=["cells"])
    parts = {"score": score, "cells": made.ratios, "measures": made.measures, "worst": made.worst, "lost": made.lost}
    for name, table in parts.items():
        write(folder / f"{name}.csv", table.to_csv(float_format="%.6g", lineterminator="\n"))


def page(parts: Sequence[Tables], command: str, fewest: int) -> str:
    """The study as a Markdown page: what it is, its scores, the ratios of every cell, and the control if there is one."""
    made, *control = parts
    lines = [
        "# The shared study: fifteen cells",
        "",
        f"Made by `{command}`.",
        "",
        "Six metrics of a readmission model (5,000 of 73,988 admissions, stratified, 20 draws), errors of a language model "
        "about incomes at 1, 3.2 and 10 % of 48,842 people, and word error rates at 3.2, 10 and 32 % of 2,581 speakers, "
        "from raw texts and from normalised ones whose rates reach 21 (40 draws each, with replacement). The truth is the "
        f"value in the population; subgroups with fewer than {fewest} rows there have none (diabetes: all 32 have one). Estimators "
        "are compared where all are defined; small subgroups have at most 25 rows in the draw. Estimates of posteriors are "
        f"medians. Coverage is scored on subgroups with at least {COVERAGE_ROWS} rows in the population and {COVERAGE_COUNT} in "
        "the metric's denominator: their value there is near that of the superpopulation, which the intervals are about.",
        "",
        "Numbers are geometric means over cells of the ratio to `standard` (each subgroup by itself, pooled normal interval), "
        "and the mean coverage of 95 % intervals, which are clipped to the range of the metric; in brackets jackknife "
        "standard errors over draws. The last column is the largest ratio of the mean absolute error to that of the best "
        "reference of a cell.",
        "",
        "## Scores",
        "",
        made.markdown(),
    ]
    for measure, title in (("mae", "Mean absolute error"), ("interval_score", "Interval score")):
        table = made.ratios.xs((measure, "all"), level=("measure", "size_class"))
        lines += [
            f"## {title} by cell",
            "",
            f"| cell | {' | '.join(table.columns)} |",
            "|---" * (len(table.columns) + 1) + "|",
        ]
        for cell, values in zip(table.index, table.to_numpy(dtype=np.float64), strict=True):
            lines.append(f"| {cell} | {' | '.join('-' if np.isnan(value) else f'{value:.2f}' for value in values)} |")
        lines.append("")
    for part in control:
        lines += [
            "## Where no subgroup differs",
            "",
            "Outcomes are permuted over rows before every draw.",
            "",
            part.markdown(),
        ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _number(value: float, error: float, *, percent: bool) -> str:
    if np.isnan(value):
        return "-"
    scale, digits = (100, 0) if percent else (1, 3)
    around = "" if np.isnan(error) else f" ({scale * error:.{digits + int(percent)}f})"
    return f"{scale * value:.{digits}f}{around}"
