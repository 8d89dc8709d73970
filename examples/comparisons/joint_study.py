"""The joint study: the confusion model against words that see one metric, on the same evaluation sets.

    python -m examples.comparisons.joint_study --data FOLDER --output RESULTS --record docs/examples/joint_model.csv

Answers are kept in the output folder as they come, so that a run goes on where it was. The record has a line per population (and
``all``, also by metric), estimator and class of subgroups: geometric means over the cells (a metric of a population) of the mean
absolute error and the interval score relative to crossed effects, and the coverage of 95 % intervals, a mean over cells. In
every cell all estimators are held to the same pairs of draw and subgroup. Errors come from leaving out one draw at a time.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.studies.populations import Population
from bayesgroups.studies.ratios import overall
from bayesgroups.studies.resampling import study
from bayesgroups.studies.scores import SIZE_CLASSES, cell_sums
from examples.commands import add_options, executor
from examples.comparisons.joint_entrants import competitors
from examples.comparisons.joint_populations import JointPopulation, joint_populations
from examples.comparisons.shared_cells import MIN_ROWS_WITH_TRUTH, SEED, draws_of
from examples.records import as_csv, write

PROGRAM = "python -m examples.comparisons.joint_study"
REFERENCE = "crossed_effects (bayesian)"


@dataclass(frozen=True)
class Line:
    """One line of the record; ratios are to `REFERENCE`, ``se`` is the jackknife error of the one before."""

    population: str
    estimator: str
    size_class: str
    mae: float
    mae_se: float
    interval_score: float
    coverage: float
    coverage_se: float
    pairs: int
    draws: int


def summarise(by_population: Mapping[str, xr.Dataset], *, reference: str = REFERENCE) -> list[Line]:
    """Lines of the record from the answers of every population.

    Parameters
    ----------
    by_population : mapping
        By population, from `bayesgroups.studies.resampling.study`.
    reference : str
        The estimator whose ratio is 1.

    Returns
    -------
    list of Line
    """
    sums = {name: cell_sums(answers, reference=reference) for name, answers in by_population.items()}
    metrics = list(dict.fromkeys(str(metric) for cells in sums.values() for metric in cells["metric"].values))
    parts = {"all": sums, **{name: {name: cells} for name, cells in sums.items()}}
    for metric in metrics:
        has = {name: cells for name, cells in sums.items() if metric in cells["metric"].values}
        parts[f"all, {metric}"] = {name: cells.sel(metric=[metric]) for name, cells in has.items()}
    lines = []
    for name, part in parts.items():
        table = overall(part, reference=reference)
        for size in SIZE_CLASSES:
            for estimator in table.index:
                row = table.loc[estimator]
                pairs = sum(
                    float(cells["pairs"].sel(size_class=size, estimator=estimator).sum()) for cells in part.values()
                )
                mae, mae_se, score, coverage, coverage_se = (float(row[f"{key}_{size}{end}"]) for key, end in _COLUMNS)
                draws = min(cells.sizes["draw"] for cells in part.values())
                lines.append(
                    Line(name, str(estimator), size, mae, mae_se, score, coverage, coverage_se, round(pairs), draws)
                )
    return lines


def draws_of_share(population: Population, share: float) -> int:
    """Number of draws of a population in a run with this share of them, two at least."""
    return max(2, math.floor(draws_of(population) * share))


_COLUMNS = (("mae", ""), ("mae", "_se"), ("interval_score", ""), ("coverage", ""), ("coverage", "_se"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="One joint model against one model per metric.")
    parser.add_argument("--data", type=Path, required=True, help="folder with diabetes, adult and compas")
    parser.add_argument("--output", type=Path, required=True, help="folder of the answers")
    parser.add_argument("--record", type=Path, help="CSV file to write")
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the draws (20 of diabetes, 40 of the others)"
    )
    parser.add_argument(
        "--after", type=float, default=0.0, help="leave out of the record the draws that a run with this share has"
    )
    parser.add_argument("--populations", help="some of the eight, separated by commas; all when left out")
    parser.add_argument("--estimators", help=f"some of {', '.join(competitors())}, separated by commas")
    parser.add_argument(
        "--fewest", type=int, default=MIN_ROWS_WITH_TRUTH, help="rows below which a subgroup has no truth"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    add_options(parser, checkpoints=False)
    given = parser.parse_args(arguments)
    if not 0 < given.share <= 1:
        raise InputError(f"--share {given.share} must lie in (0, 1]")
    if not 0 <= given.after < given.share:
        raise InputError(f"--after {given.after} must be 0 or larger, and less than --share, which is {given.share}")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    names = list(competitors()) if given.estimators is None else given.estimators.split(",")
    unknown = [name for name in names if name not in competitors()]
    if unknown:
        raise InputError(f"estimator {unknown[0]!r} is not one of {', '.join(competitors())}")
    chosen = {name: entry for name, entry in competitors().items() if name in {*names, "crossed_effects"}}
    populations, by_population = _chosen(joint_populations(given.data, fewest=given.fewest), given.populations), {}
    with executor(given) as run:
        for population in populations:
            first, last = (draws_of_share(population, share) for share in (given.after, given.share))
            if given.after and first == last:
                raise InputError(
                    f"--after {given.after}: population {population.name!r} has no draw after its first {first}"
                )
            answers = study(
                population, chosen, draws=last, seed=given.seed, workers=run.workers,
                folder=given.output / population.name.replace(" ", "_"), progress=run.progress,
            )  # fmt: skip
            by_population[population.name] = answers.isel(draw=slice(first if given.after else 0, None))
    lines = summarise(by_population)
    for line in lines:
        if line.population == "all":
            sys.stdout.write(f"{line.estimator:40s} {line.size_class:6s} {line.mae:.3f} {line.coverage:.3f}\n")
    if given.record is not None:
        write(given.record, as_csv(lines))


def _chosen(populations: Sequence[JointPopulation], asked: str | None) -> list[JointPopulation]:
    """The populations that are asked for, in their order."""
    names = [each.name for each in populations] if asked is None else asked.split(",")
    for name in names:
        if name not in [each.name for each in populations]:
            raise InputError(f"population {name!r} is not one of {', '.join(each.name for each in populations)}")
    return [each for each in populations if each.name in names]


if __name__ == "__main__":
    main()
