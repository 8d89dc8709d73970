"""The shared study: every estimator on fifteen cells of three public data sets.

    python -m examples.comparisons.shared_study --data FOLDER --output RESULTS --workers 2

FOLDER of the data holds ``diabetes``, ``adult`` and ``asr_commonvoice``. The other one gets a record of every (population,
draw, estimator), so that an interrupted run goes on where it was and estimators can be added later without running the
others again, and the tables ``score.csv``, ``cells.csv``, ``measures.csv``, ``worst.csv`` and ``score.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import xarray as xr

from bayesgroups.errors import InputError, near_misses
from bayesgroups.studies.execution import Progress
from bayesgroups.studies.populations import Population
from bayesgroups.studies.resampling import Entry, study
from examples.commands import add_options, executor
from examples.comparisons.entrants import BAYESIAN, REFERENCES, STANDARD, competitors
from examples.comparisons.shared_cells import MIN_ROWS_WITH_TRUTH, SEED, draws_of, populations
from examples.comparisons.shared_tables import numbers, tables, write_tables
from examples.pages import blocks, fill

if TYPE_CHECKING:
    from distributed import Client

PROGRAM = "python -m examples.comparisons.shared_study"


def run(
    chosen: Sequence[Population],
    estimators: Mapping[str, Entry],
    *,
    draws: int | None = None,
    seed: int = SEED,
    workers: int | Client = 1,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, xr.Dataset]:
    """Run estimators on populations, each with its own folder of records.

    Parameters
    ----------
    chosen : sequence of Population
        Such as those of `examples.comparisons.shared_cells.populations`.
    estimators : mapping
        As in `bayesgroups.studies.resampling.study`.
    draws : int, optional
        Draws of every population; by default 20 of diabetes and 40 of the others.
    seed, workers, folder, progress
        As in `bayesgroups.studies.resampling.study`.

    Returns
    -------
    dict of xr.Dataset
        By name of the population.
    """
    return {
        population.name: study(
            population,
            estimators,
            draws=draws_of(population) if draws is None else draws,
            seed=seed,
            workers=workers,
            folder=None if folder is None else folder / population.name.replace(" ", "_").replace(",", ""),
            progress=progress,
        )
        for population in chosen
    }


def chosen_estimators(names: str | None) -> dict[str, Entry]:
    """The estimators of a comma-separated list; the standard one always, all of them for ``None``.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    estimators = competitors()
    if names is None:
        return estimators
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in estimators:
            raise InputError(f"estimator {name!r} is unknown; {near_misses(name, list(estimators))}")
    return {name: entry for name, entry in estimators.items() if name == STANDARD or name in wanted}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, print the score and write the tables."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Estimators on fifteen cells of three public data sets.")
    parser.add_argument("--data", type=Path, required=True, help="folder with diabetes, adult and asr_commonvoice")
    parser.add_argument("--output", type=Path, required=True, help="folder of the records and tables")
    parser.add_argument("--draws", type=int, help="draws of every population (20 of diabetes and 40 of the others)")
    parser.add_argument("--estimators", help=f"some of {', '.join((*REFERENCES, *BAYESIAN))}, separated by commas")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--no-differences", action="store_true", help="also run the control, where no subgroup differs")
    parser.add_argument(
        "--fewest", type=int, default=MIN_ROWS_WITH_TRUTH, help="rows below which a subgroup has no truth"
    )
    parser.add_argument("--page", type=Path, help="Markdown page whose numbers to fill in")
    add_options(parser, checkpoints=False)
    given = parser.parse_args(arguments)
    # Every process does small linear algebra; more threads than processes only get in each other's way.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    chosen = populations(given.data, fewest=given.fewest)
    if given.no_differences:
        chosen += [population.without_differences() for population in chosen]
    estimators = chosen_estimators(given.estimators)
    with executor(given) as place:
        by_population = run(
            chosen, estimators, draws=given.draws, seed=given.seed, workers=place.workers,
            folder=given.output / "records", progress=place.progress,
        )  # fmt: skip
    names = [population.name for population in chosen if not population.no_differences]
    made = tables({name: by_population[name] for name in names})
    control = {name: answers for name, answers in by_population.items() if name not in names}
    parts = {given.output: made} | ({given.output / "no_differences": tables(control)} if control else {})
    for folder, part in parts.items():
        write_tables(part, folder)
        sys.stdout.write(part.markdown())
    if given.page is not None:
        kept = blocks(given.page.read_text(encoding="utf-8"))
        fill(given.page, kept | numbers(list(parts.values()), given.fewest))


if __name__ == "__main__":
    main()
