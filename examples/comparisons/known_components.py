"""Crossed effects with known standard deviations of the components: the ceiling of the family on the shared study.

    python -m examples.comparisons.known_components --data FOLDER --output RESULTS --workers 2

The standard deviations are those that the same model learns from all rows of a population. Draws, cells and scores are those of
`examples.comparisons.shared_study`; a default that learns all this from a few rows cannot be expected to do better.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import is_binomial
from bayesgroups.estimators.crossed_effects import CrossedEffects
from bayesgroups.estimators.estimate import estimate
from bayesgroups.report.diagnostics import usable
from bayesgroups.studies.populations import Population
from bayesgroups.studies.resampling import Entry
from examples.commands import add_options, executor
from examples.comparisons.entrants import STANDARD, standard
from examples.comparisons.shared_cells import MIN_ROWS_WITH_TRUTH, SEED, populations
from examples.comparisons.shared_study import run
from examples.comparisons.shared_tables import tables, write_tables

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayesgroups.report.posterior import Posterior

PROGRAM = "python -m examples.comparisons.known_components"
ATTEMPTS = 8
"""Times that an evaluation set is fitted while its weights are not good."""


def first_usable(attempts: Iterator[Posterior]) -> Posterior:
    """Posterior of the first attempt that passes its checks, or of the first: others pass where weights had too long a tail."""
    first = next(attempts)
    return first if usable(first.checks) else next((each for each in attempts if usable(each.checks)), first)


class ExactAlone:
    """A word whose model is not sampled by NUTS, which would learn what is known."""

    def model(self, tally: xr.Dataset) -> pm.Model:
        """There is none.

        Raises
        ------
        InputError
        """
        raise InputError("known standard deviations are for the exact engine, whose checks did not pass here")


@dataclass(frozen=True)
class KnownComponents(ExactAlone, CrossedEffects):
    """Crossed effects with known standard deviations of the components; the exact engine alone knows them.

    Parameters
    ----------
    component_sd : tuple of (str, tuple of float)
        By metric, those of all components, on the logit scale for rates and in units of the metric otherwise.
    """

    component_sd: tuple[tuple[str, tuple[float, ...]], ...] = ()

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Exact draws of one metric."""
        from bayesgroups.inference.collapsed import crossed_effects

        component_sd = dict(self.component_sd)[str(tally["metric"].values[0])]
        rates = is_binomial(tally, self.likelihood)
        attempts = (
            crossed_effects.sample(tally, seed=seed + i, binomial_likelihood=rates, component_sd=component_sd)
            for i in range(ATTEMPTS)
        )
        return first_usable(attempts)


def knowing(population: Population, *, seed: int) -> KnownComponents:
    """Crossed effects that know the components of a population.

    Parameters
    ----------
    population : Population
        Of the study.
    seed : int
        Source of randomness.

    Returns
    -------
    KnownComponents
        With posterior means from all rows, no part of the residual effects known beforehand.
    """
    whole = population.tally(population.frame)
    report = estimate(whole, CrossedEffects(own_effects="learned"), seed=seed)
    learned = report["posterior"].to_dataset()["component_sd"].mean(("chain", "draw")).transpose("metric", "component")
    component_sd = tuple(
        (str(metric), tuple(float(sd) for sd in row))
        for metric, row in zip(learned["metric"].values, np.asarray(learned.values), strict=True)
    )
    return KnownComponents(component_sd=component_sd)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run both on every population, print the score and write the tables."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Crossed effects that know their components.")
    parser.add_argument("--data", type=Path, required=True, help="folder with diabetes, adult and asr_commonvoice")
    parser.add_argument("--output", type=Path, required=True, help="folder of the records and tables")
    parser.add_argument("--draws", type=int, help="draws of every population (20 of diabetes and 40 of the others)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--fewest", type=int, default=MIN_ROWS_WITH_TRUTH, help="rows below which a subgroup has no truth"
    )
    add_options(parser, checkpoints=False)
    given = parser.parse_args(arguments)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    by_population: dict[str, xr.Dataset] = {}
    with executor(given) as place:
        for population in populations(given.data, fewest=given.fewest):
            estimators: dict[str, Entry] = {
                STANDARD: standard,
                "crossed_effects": CrossedEffects(),
                "known_components": knowing(population, seed=given.seed),
            }
            by_population |= run(
                [population], estimators, draws=given.draws, seed=given.seed, workers=place.workers,
                folder=given.output / "records", progress=place.progress,
            )  # fmt: skip
    made = tables(by_population)
    write_tables(made, given.output)
    sys.stdout.write(made.markdown())


if __name__ == "__main__":
    main()
