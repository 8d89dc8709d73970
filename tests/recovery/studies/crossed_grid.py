"""Diagnostics of the exact engine of crossed effects on a grid of data sets of every shape.

    python -m tests.recovery.studies.crossed_grid --output tests/recovery/records/crossed_grid.csv

Data are drawn from components of one size, over shapes of the attributes, rows per subgroup, overall rates and sizes of the
components, among them none at all and ones far beyond the prior's scale. Each data set is estimated as a user would, with
``inference="auto"``; the record holds the largest k-hat, the smallest effective number of weighted draws, and the engine that
answered in the end: weights and grids, chains, or NUTS.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import add_options, executor
from examples.records import rows_as_csv, write

SHAPES = ((4,), (3, 2), (8, 4), (3, 2, 2), (5, 4, 3), (3, 3, 2, 2))
"""Levels of the attributes."""
ROWS = {"few": (0.7, 1.0), "mixed": (3.0, 1.6), "many": (6.5, 0.5)}
"""Mean and standard deviation of the log of the rows of a subgroup."""
OVERALL = (-3.5, -0.8)
"""Overall logits: 3 % and 31 %."""
SPREADS = (0.0, 0.3, 1.5)
"""Standard deviations of every component, on the logit scale."""
LIKELIHOODS = ("binomial", "normal")
SEED = 20_261_121
HEADER = ("shape", "rows", "overall", "spread", "likelihood", "k_hat", "ess", "usable", "inference")


class Setting(NamedTuple):
    """One data set of the grid."""

    shape: tuple[int, ...]
    rows: str
    overall: float
    spread: float
    likelihood: str


def settings() -> list[Setting]:
    """All data sets.

    Examples
    --------
    >>> len(settings())
    216
    """
    return [Setting(*each) for each in itertools.product(SHAPES, ROWS, OVERALL, SPREADS, LIKELIHOODS)]


def simulate(setting: Setting, rng: np.random.Generator) -> xr.Dataset:
    """Counts of one data set.

    Examples
    --------
    >>> import numpy as np
    >>> tally = simulate(Setting((3, 2), "mixed", -0.8, 0.3, "binomial"), np.random.default_rng(1))
    >>> tally.sizes["subgroup"]
    6
    """
    names = [f"a{i}" for i in range(len(setting.shape))]
    codes = np.array(list(itertools.product(*map(range, setting.shape))))
    table = pd.DataFrame({name: codes[:, i].astype(str) for i, name in enumerate(names)})
    n = np.floor(np.exp(rng.normal(*ROWS[setting.rows], size=len(table)))).astype(int)
    n[0] = max(n[0], 1)
    empty = bg.tally_from_counts(np.zeros(len(table)), n, table)
    eta = np.full(len(table), setting.overall)
    for cell in subsets(empty).cells:
        eta += setting.spread * rng.standard_normal(int(cell.max()) + 1)[cell]
    return bg.tally_from_counts(rng.binomial(n, 1 / (1 + np.exp(-eta))), n, table)


def study(seed: int = SEED, *, executor: Executor = HERE) -> list[list[object]]:
    """One line of the record per data set.

    Parameters
    ----------
    seed : int
        Source of randomness; every data set has its own stream.
    executor : Executor
        Where data sets are estimated, each of them a piece, and their lines kept.

    Returns
    -------
    list of lists
        Each in the order of `HEADER`.
    """
    return executor.run("grid of crossed effects", partial(of_one, seed), len(settings()), settings={"seed": seed})


def of_one(seed: int, position: int) -> list[object]:
    """The line of one data set, by its place in `settings`."""
    setting, rng = settings()[position], np.random.default_rng([seed, position])
    estimator = bg.CrossedEffects(likelihood="binomial" if setting.likelihood == "binomial" else "normal")
    report = bg.estimate(simulate(setting, rng), estimator, seed=seed)
    checks = report["diagnostics"].to_dataset()
    name, value = checks["check"].values.astype(str), checks["value"].values
    k_hat = max(value[np.char.find(name, "k-hat") >= 0], default=np.nan)
    ess = min(value[np.char.find(name, "importance ESS") >= 0], default=np.nan)
    return [
        "x".join(map(str, setting.shape)), setting.rows, setting.overall, setting.spread, setting.likelihood,
        round(float(k_hat), 3), round(float(ess), 0), int(report.attrs["usable"]), str(report.attrs["inference"]),
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the grid and write its record."""
    program = "python -m tests.recovery.studies.crossed_grid"
    parser = argparse.ArgumentParser(prog=program, description="k-hat of crossed effects on a grid of data sets.")
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--seed", type=int, default=SEED)
    add_options(parser)
    given = parser.parse_args(arguments)
    with executor(given) as run:
        lines = study(given.seed, executor=run)
    write(given.output, rows_as_csv([HEADER, *lines]))
    exact = [line for line in lines if line[-1] != "nuts"]
    # A grid and chains have no weights to judge: their checks are those of the report.
    passed = sum(line[7] == 1 for line in exact)
    sys.stdout.write(f"{len(lines)} data sets, {len(exact)} answered by the exact engine, {passed} within the gate\n")


if __name__ == "__main__":
    main()
