"""Leave-one-subgroup-out densities beside fits without the subgroup, of rates.

    python -m tests.recovery.studies.left_out --output tests/recovery/records/left_out.csv

takes about two minutes on one core.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import binom

import bayesgroups as bg
from bayesgroups.estimators import Estimator
from tests.recovery.studies.public_tallies import tally

SEED = 1
REFIT_SEED = 2
ESTIMATORS: tuple[Estimator, ...] = (bg.PartialPooling(), bg.CrossedEffects())


class Line(NamedTuple):
    """One subgroup: log density from the report, k-hat, and from a fit without it with its standard error."""

    data: str
    estimator: str
    subgroup: str
    rows: int
    elpd: float
    pareto_k: float
    refitted: float
    error: float


def large() -> xr.Dataset:
    """Rates of 120 subgroups of three attributes.

    Examples
    --------
    >>> large().sizes["subgroup"]
    120
    """
    rng = np.random.default_rng(SEED)
    levels = [[f"{name}{level}" for level in range(size)] for name, size in (("a", 6), ("b", 4), ("c", 5))]
    who = pd.MultiIndex.from_product(levels, names=["race", "sex", "age"]).to_frame(index=False)
    trials = rng.integers(2, 150, len(who))
    logit = rng.normal(-1, 0.4, (6, 1, 1)) + rng.normal(0, 0.3, (1, 4, 1)) + rng.normal(0, 0.2, (6, 4, 5))
    return bg.tally_from_counts(rng.binomial(trials, 1 / (1 + np.exp(-logit.ravel()))), trials, who, metric="fnr")


DATA: dict[str, Callable[[], xr.Dataset]] = {
    "demonstration": lambda: tally("demonstration").sel(metric=["fnr"]),
    "compas": lambda: tally("compas").isel(metric=[0]),
    "120 subgroups": large,
}


def chosen(counts: xr.Dataset, number: int) -> list[int]:
    """Subgroups with rows, evenly spaced in the order of their numbers of rows."""
    count = counts["count"].values[0]
    order = [int(g) for g in np.argsort(count, kind="stable") if count[g] > 0]
    return [order[place] for place in np.linspace(0, len(order) - 1, number).astype(int)]


def without(counts: xr.Dataset, g: int) -> xr.Dataset:
    """The tally without the rows of one subgroup."""
    kept = np.arange(counts.sizes["subgroup"]) != g
    k, n = (np.where(kept, counts[name].values[0], 0.0) for name in ("successes", "count"))
    names = [str(name) for name in counts.coords if counts[name].dims == ("subgroup",) and name != "subgroup"]
    who = pd.DataFrame({name: counts[name].values for name in names})
    return bg.tally_from_counts(k, n, who, metric=str(counts["metric"].values[0]))


def lines(data: str, estimator: Estimator, number: int = 5) -> Iterator[Line]:
    """Lines of one data set and estimator."""
    counts = DATA[data]()
    answer = bg.loo(bg.estimate(counts, estimator, seed=SEED)).isel(metric=0)
    for g in chosen(counts, number):
        posterior = bg.estimate(without(counts, g), estimator, seed=REFIT_SEED)["posterior"].to_dataset()
        mu = posterior["mu"].values[:, :, 0, g].ravel()
        k, n = (float(counts[name].values[0, g]) for name in ("successes", "count"))
        density = binom.pmf(k, n, mu)
        error = float(density.std() / density.mean() / np.sqrt(len(density)))
        yield Line(
            data, estimator.word, str(counts["subgroup"].values[g]), int(n), round(float(answer["elpd_i"][g]), 6),
            round(float(answer["pareto_k"][g]), 6), round(float(np.log(density.mean())), 6), round(error, 6),
        )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    program = "python -m tests.recovery.studies.left_out"
    parser = argparse.ArgumentParser(
        prog=program, description="Densities of subgroups left out, and of fits without them."
    )
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    output = parser.parse_args(arguments).output
    with output.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Line._fields)
        for data in DATA:
            for estimator in ESTIMATORS:
                table.writerows(lines(data, estimator))


if __name__ == "__main__":
    main()
