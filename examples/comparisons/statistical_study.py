"""The statistical study: every estimator on all public populations, its errors, interval scores, coverage and worst cells.

    python -m examples.comparisons.statistical_study --data FOLDER --output RESULTS --record docs/examples/statistical_study.csv

Populations are those of the joint study (admissions, a language model's guesses of income, a scored file of the same census,
defendants; five metrics each) and the speakers of the shared study, and each of them once more without differences. Numbers are
ratios to the standard estimator on the same draws, geometric means over cells, with jackknife errors over draws; coverage of 95 %
intervals counts subgroups of at least 500 rows in the population and 300 in the metric's denominator. Answers are kept in the
output folder as they come, so that a run goes on where it was; ``--page`` fills in the tables of a page.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.estimators import ConfusionModel
from bayesgroups.studies.populations import Population
from bayesgroups.studies.ratios import overall
from bayesgroups.studies.resampling import Entry
from bayesgroups.studies.scores import SIZE_CLASSES, cell_sums
from examples.commands import add_options, executor
from examples.comparisons.cell_ratios import cell_name
from examples.comparisons.entrants import STANDARD, competitors
from examples.comparisons.joint_populations import JointPopulation, joint_populations
from examples.comparisons.shared_cells import SEED, populations
from examples.comparisons.shared_study import run
from examples.pages import fill, table
from examples.records import as_csv, write

PROGRAM = "python -m examples.comparisons.statistical_study"

DRAWS = 8
"""Draws of every population; of one metric alone, which takes a second, four times as many."""
DRAWS_WITHOUT_DIFFERENCES = 2
SPEECH_TIMES = 4
ESTIMATORS = ("standard", "js", "eb_ml", "no_pooling", "partial_pooling", "crossed_effects")
REFERENCES = ("standard", "js", "eb_ml", "partial_pooling (frequentist)", "crossed_effects (frequentist)")
"""What an estimator is held to in every cell, the best of them."""
JOINT = "confusion"
SETS = ("all cells", "confusion cells", "no differences", "no differences, confusion cells")
"""Sets of cells with lines of their own: those that every estimator answers, and those of the joint model."""
LOWEST = 0.9
"""Coverage below which a cell is named."""


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    cells : str
        One of `SETS`, or a cell: a population with a metric.
    estimator, size_class : str
        ``size_class`` is ``all``, ``small`` (at most 25 rows drawn) or ``large``.
    mae, mae_se, interval_score, interval_score_se : float
        Ratios to the standard estimator and their jackknife errors.
    coverage, coverage_se : float
        Of 95 % intervals, the mean over cells; NaN where no subgroup is large enough in the population.
    pairs, scored : int
        Pairs of draw and subgroup, and those whose coverage is scored.
    """

    cells: str
    estimator: str
    size_class: str
    mae: float
    mae_se: float
    interval_score: float
    interval_score_se: float
    coverage: float
    coverage_se: float
    pairs: int
    scored: int


def lines(by_population: Mapping[str, xr.Dataset]) -> list[Line]:
    """Lines of the record from the answers of every population, as `bayesgroups.study` gives them.

    Populations without differences are told by their names; their cells have no lines of their own.
    """
    sums = {name: cell_sums(answers, reference=STANDARD) for name, answers in by_population.items()}
    made: list[Line] = []
    for null, titles in ((False, SETS[:2]), (True, SETS[2:])):
        part = {name: cells for name, cells in sums.items() if name.endswith("no differences") == null}
        joint = {name: cells for name, cells in part.items() if f"{JOINT} (bayesian)" in cells["estimator"].values}
        for title, chosen in zip(titles, (part, joint), strict=True):
            made += _summary(title, chosen)
        if null:
            continue
        for name, cells in part.items():
            for metric in cells["metric"].values.tolist():
                cell = {name: cells.sel(metric=[metric])}
                made += _summary(cell_name(name, metric, cells.sizes["metric"]), cell)
    return made


def _summary(title: str, part: Mapping[str, xr.Dataset]) -> list[Line]:
    """Lines of some cells, of the estimators that all of them have."""
    if not part:
        return []
    first, *rest = ([str(name) for name in cells["estimator"].values] for cells in part.values())
    names = [name for name in first if all(name in other for other in rest)]
    chosen = {name: cells.sel(estimator=names) for name, cells in part.items()}
    score = overall(chosen, reference=STANDARD)
    made = []
    for size_class in SIZE_CLASSES:
        for name in names:
            of_size = [cells.sel(estimator=name, size_class=size_class) for cells in chosen.values()]
            pairs, scored = (
                round(sum(float(cells[count].sum()) for cells in of_size)) for count in ("pairs", "covers")
            )
            numbers = {
                f"{measure}{end}": float(score.loc[name, f"{measure}_{size_class}{end}"])
                for measure in ("mae", "interval_score", "coverage")
                for end in ("", "_se")
            }
            made.append(Line(cells=title, estimator=name, size_class=size_class, **numbers, pairs=pairs, scored=scored))
    return made


def read(path: Path) -> list[Line]:
    """The lines of a record."""
    kinds = {field.name: {"str": str, "float": float, "int": int}[str(field.type)] for field in fields(Line)}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return [Line(**{name: kinds[name](value or "nan") for name, value in row.items()}) for row in rows]


def lowest(record: Iterable[Line], estimator: str) -> list[Line]:
    """Cells of an estimator whose coverage is scored, that of the lowest first."""
    cells = [line for line in record if line.cells not in SETS and line.size_class == "all"]
    scored = [line for line in cells if line.estimator == estimator and math.isfinite(line.coverage)]
    return sorted(scored, key=lambda line: line.coverage)


def worst_against_references(record: Iterable[Line], estimator: str) -> tuple[str, float]:
    """The cell where an estimator has the largest error relative to the best of `REFERENCES`, and that ratio."""
    cells = [line for line in record if line.cells not in SETS and line.size_class == "all"]
    best = {
        name: min(line.mae for line in cells if line.cells == name and line.estimator in REFERENCES)
        for name in {line.cells for line in cells}
    }
    ratios = {line.cells: line.mae / best[line.cells] for line in cells if line.estimator == estimator}
    cell = max(ratios, key=lambda name: ratios[name])
    return cell, ratios[cell]


def tables(record: Sequence[Line]) -> dict[str, str]:
    """Blocks of the page by name: scores of every set of cells, and the cells below `LOWEST` of the words of the package."""
    joint_cells = {line.cells for line in record if line.estimator.startswith(JOINT)}
    texts = {}
    for title in SETS:
        chosen = {(line.estimator, line.size_class): line for line in record if line.cells == title}
        rows = []
        for name in dict.fromkeys(estimator for estimator, _ in chosen):
            sizes = [chosen[name, size_class] for size_class in ("all", "small", "large")]
            row = [name, *(_ratio(line.mae, line.mae_se) for line in sizes)]
            row += [_ratio(line.interval_score, line.interval_score_se) for line in sizes[:2]]
            row += [_percent(line.coverage, line.coverage_se) for line in sizes[:2]]
            if title in SETS[:2]:
                part = [line for line in record if title == SETS[0] or line.cells in joint_cells]
                worst, (cell, ratio) = lowest(part, name)[0], worst_against_references(part, name)
                row += [f"{_percent(worst.coverage, worst.coverage_se)} {worst.cells}", f"{ratio:.2f} {cell}"]
            rows.append(row)
        texts[title] = table(["estimator", *_COLUMNS[: len(rows[0]) - 1]], rows) if rows else "none"
    names = dict.fromkeys(line.estimator for line in record if line.estimator.endswith(("(bayesian)", "(frequentist)")))
    below = [line for name in names for line in lowest(record, name) if line.coverage < LOWEST]
    texts["cells below 90 %"] = table(
        ["estimator", "cell", "coverage", "intervals"],
        [[line.estimator, line.cells, _percent(line.coverage, line.coverage_se), line.scored] for line in below],
    )
    return texts


_COLUMNS = (
    "MAE all", "MAE small", "MAE large", "interval score all", "small", "coverage all", "small", "lowest coverage of a cell",
    "largest error to the best reference",
)  # fmt: skip


def _ratio(value: float, error: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f} ({error:.3f})"


def _percent(value: float, error: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f} ({100 * error:.1f})"


def all_populations(data_folder: Path) -> list[Population]:
    """Populations of the study, those without differences last."""
    speakers = [each for each in populations(data_folder) if each.name.startswith("speech")]
    chosen: list[Population] = [*joint_populations(data_folder), *speakers]
    return chosen + [each.without_differences() for each in chosen]


def estimators_of(population: Population, names: Sequence[str]) -> dict[str, Entry]:
    """The estimators that answer a population: the joint model where confusion cells are tallied."""
    chosen = {name: entry for name, entry in competitors().items() if name in {STANDARD, *names}}
    return chosen | ({JOINT: ConfusionModel()} if isinstance(population, JointPopulation) and JOINT in names else {})


def draws_of(population: Population, draws: int, without_differences: int) -> int:
    """Number of draws of a population, two at least."""
    number = without_differences if population.no_differences else draws
    return max(2, number * (1 if isinstance(population, JointPopulation) else SPEECH_TIMES))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, print its tables, and write record and page."""
    accepted = (*ESTIMATORS, JOINT, "sr", "structured_regression")
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Every estimator on all public populations.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--output", type=Path, required=True, help="folder of the answers")
    parser.add_argument("--record", type=Path, help="CSV file to write")
    parser.add_argument("--page", type=Path, help="Markdown page whose tables to fill in")
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help="draws of a population, four times as many of speakers"
    )
    parser.add_argument(
        "--null-draws", type=int, default=DRAWS_WITHOUT_DIFFERENCES, help="the same without differences"
    )
    parser.add_argument("--estimators", default=",".join((*ESTIMATORS, JOINT)), help=f"some of {', '.join(accepted)}")
    parser.add_argument("--seed", type=int, default=SEED)
    add_options(parser, checkpoints=False)
    given = parser.parse_args(arguments)
    names = [name.strip() for name in given.estimators.split(",")]
    for name in names:
        if name not in accepted:
            raise InputError(f"estimator {name!r} is not one of {', '.join(accepted)}")
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    answers: dict[str, xr.Dataset] = {}
    with executor(given) as place:
        for population in all_populations(given.data):
            answers |= run(
                [population], estimators_of(population, names), draws=draws_of(population, given.draws, given.null_draws),
                seed=given.seed, workers=place.workers, folder=given.output, progress=place.progress,
            )  # fmt: skip
    record = lines(answers)
    made = tables(record)
    sys.stdout.write("\n\n".join(f"**{title}**\n\n{text}" for title, text in made.items()) + "\n")
    if given.record is not None:
        write(given.record, as_csv(record))
    if given.page is not None:
        fill(given.page, made)


if __name__ == "__main__":
    main()
