r"""The joint model with known standard deviations of its components: how much better one could be that learns them.

    python -m examples.comparisons.joint_ceiling --data FOLDER --output RESULTS --share 0.25 \
        --record docs/examples/joint_ceiling.csv

The standard deviations are those that the same model learns from all rows of a population. Draws, lines of the record and scores
are those of `examples.comparisons.joint_study`, whose answers are taken from the same output folder where they are there.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.estimators.confusion import ConfusionModel
from bayesgroups.estimators.crossed_effects import CrossedEffects
from bayesgroups.studies.populations import Population
from bayesgroups.studies.resampling import Entry, study
from examples.commands import add_options, executor
from examples.comparisons.joint_populations import joint_populations
from examples.comparisons.joint_study import draws_of_share, summarise
from examples.comparisons.known_components import ATTEMPTS, ExactAlone, first_usable
from examples.comparisons.shared_cells import MIN_ROWS_WITH_TRUTH, SEED
from examples.records import as_csv, write

if TYPE_CHECKING:
    from bayesgroups.report.posterior import Posterior

PROGRAM = "python -m examples.comparisons.joint_ceiling"
FITS = 16
"""Fits of all rows by which standard deviations are known: what chance of one fit leaves would be seen in the scores."""
KNOWN = {"known_components": True, "known_components_not_following": False}
"""Entries of the study by whether outcomes follow the selection rate."""


@dataclass(frozen=True)
class KnownFactors(ExactAlone, ConfusionModel):
    r"""The joint model with known standard deviations of the components; the exact engine alone knows them.

    Parameters
    ----------
    component_sd : tuple of tuple of float
        By factor, those of all components, on the logit scale.
    """

    component_sd: tuple[tuple[float, ...], ...] = ()

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Exact draws of all metrics."""
        from bayesgroups.inference.collapsed import confusion

        component_sd = np.array(self.component_sd)
        attempts = (
            confusion.sample(tally, seed=seed + i, follow_selection=self.follow_selection, component_sd=component_sd)
            for i in range(ATTEMPTS)
        )
        return first_usable(attempts)


def knowing(population: Population, *, follow_selection: bool, seed: int) -> KnownFactors:
    """The joint model that knows the components of a population.

    Parameters
    ----------
    population : Population
        Of the study.
    follow_selection : bool
        Whether outcomes given the more frequent decision follow the selection rate.
    seed : int
        Source of randomness.

    Returns
    -------
    KnownFactors
        With posterior means from all rows. Those of residual effects, which are fixed where something follows, are what the
        model learns where nothing does.
    """
    whole = population.tally(population.frame)
    learned = _means(whole, ConfusionModel(own_effects="learned", follow_selection=False), seed)
    if follow_selection:
        learned = np.concatenate([_means(whole, ConfusionModel(), seed), learned[:, -1:]], axis=1)
    return KnownFactors(follow_selection=follow_selection, component_sd=tuple(tuple(row) for row in learned.tolist()))


def _means(whole: xr.Dataset, estimator: ConfusionModel, seed: int) -> FloatArray:
    """Posterior means of the standard deviations, (factor, component), averaged over `FITS`."""
    means = []
    for fit in range(FITS):
        attempts = (estimator.collapsed(whole, seed=seed + fit + FITS * again) for again in range(ATTEMPTS))
        sd = first_usable(filter(None, attempts)).draws["factor_sd"]
        means.append(sd.mean(("chain", "draw")).transpose("factor", "component").values)
    return np.asarray(np.mean(means, axis=0))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="The joint model that knows its components.")
    parser.add_argument("--data", type=Path, required=True, help="folder with diabetes, adult and compas")
    parser.add_argument("--output", type=Path, required=True, help="folder of the answers")
    parser.add_argument("--record", type=Path, required=True, help="CSV file to write")
    parser.add_argument("--share", type=float, default=1.0, help="share of the draws, as in the joint study")
    parser.add_argument("--seed", type=int, default=SEED)
    add_options(parser, checkpoints=False)
    given = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    by_population: dict[str, xr.Dataset] = {}
    with executor(given) as run:
        for population in joint_populations(given.data, fewest=MIN_ROWS_WITH_TRUTH):
            entries: dict[str, Entry] = {
                name: knowing(population, follow_selection=follows, seed=given.seed) for name, follows in KNOWN.items()
            }
            entries = {"crossed_effects": CrossedEffects(), "confusion": ConfusionModel(), **entries}
            by_population[population.name] = study(
                population, entries, draws=draws_of_share(population, given.share), seed=given.seed, workers=run.workers,
                folder=given.output / population.name.replace(" ", "_"), progress=run.progress,
            )  # fmt: skip
    lines = summarise(by_population)
    for line in lines:
        if line.population == "all":
            sys.stdout.write(f"{line.estimator:50s} {line.size_class:6s} {line.mae:.3f} {line.coverage:.3f}\n")
    write(given.record, as_csv([line for line in lines if "frequentist" not in line.estimator]))


if __name__ == "__main__":
    main()
