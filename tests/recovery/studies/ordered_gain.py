"""Gain of an order of levels: errors and coverage of `CrossedEffects` with an ordered attribute, beside those without.

    python -m tests.recovery.studies.ordered_gain --output tests/recovery/records/ordered_gain.csv

takes about twelve minutes of one core. A table has three groups by two by 3, 5 or 10 ordered levels, of 10 to 80 rows. Logits of
an error are a centre, exchangeable effects of the other attributes and of single subgroups, and along the levels a ``trend``, a
random ``walk``, effects without an order (``none``), or a ``bend``, whose middle level differs. Each is fitted without an order,
with it, and with the levels in a random order.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from examples.coverage_loop import require
from examples.records import as_csv, write

POPULATIONS = ("trend", "walk", "bend", "none")
LEVELS = (3, 5, 10)
ORDERS = ("true", "random")
TABLES = 24
SEED = 20_261_125
SPREAD = 0.6
"""Standard deviation of the effects of the ordered attribute, in logits."""
CENTRE, OWN = -1.2, 0.2
LEVEL = 0.95
Model = bg.CrossedEffects | bg.ConfusionModel


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    population : str
        Shape along the levels.
    levels : int
        Number of ordered levels.
    order : str
        Order that the model is told.
    error, error_mc : float
        Mean over tables of the ratio of mean absolute errors with the order and without, and its Monte Carlo standard error.
    width : float
        Mean ratio of the widths of 95 % intervals.
    coverage, coverage_without : float
        Share of subgroups whose rate is within its 95 % interval, with the order and without.
    share : float
        Mean of the posterior mean of the share of the variance that follows the order.
    usable : float
        Share of the ordered fits that passed their diagnostics.
    tables, seed : int
    """

    population: str
    levels: int
    order: str
    error: float
    error_mc: float
    width: float
    coverage: float
    coverage_without: float
    share: float
    usable: float
    tables: int
    seed: int


def table(population: str, levels: int, rng: np.random.Generator) -> tuple[xr.Dataset, FloatArray]:
    """A tally, its levels named ``00``, ``01`` ..., and the true rates of its subgroups."""
    age = [f"{level:02d}" for level in range(levels)]
    who = pd.DataFrame(itertools.product("abc", "fm", age), columns=["race", "sex", "age"])
    along = along_levels(population, levels, rng)
    eta = CENTRE + along[who["age"].astype(int)] + OWN * rng.standard_normal(len(who))
    for name in ("race", "sex"):
        effects = {level: 0.4 * rng.standard_normal() for level in dict.fromkeys(who[name])}
        eta = eta + who[name].map(effects).to_numpy()
    rate, count = expit(eta), rng.integers(10, 81, len(who))
    return bg.tally_from_counts(rng.binomial(count, rate), count, who, metric="fnr"), np.asarray(rate)


def along_levels(population: str, levels: int, rng: np.random.Generator) -> FloatArray:
    """Effects of the levels, of a given standard deviation around 0."""
    if population == "trend":
        shape = np.linspace(0, 1, levels)
    elif population == "bend":
        shape = np.where(np.arange(levels) == levels // 2, 1.0, 0.0)
    else:
        shape = rng.standard_normal(levels)
        shape = shape.cumsum() if population == "walk" else shape
    return np.asarray(SPREAD * (shape - shape.mean()) / shape.std())


def _fitted(tally: xr.Dataset, truth: FloatArray, estimator: Model, seed: int) -> list[float]:
    """Error, width, coverage, share and usability of one fit, over all metrics."""
    report = bg.estimate(tally, estimator, seed=seed, inference="collapsed")
    answer = report["estimates"].to_dataset().sel(approach="bayesian", level=LEVEL)
    low, high = answer["lower"].values, answer["upper"].values
    posterior = report["posterior"].to_dataset()
    share = float(posterior["ordered_share"].mean()) if "ordered_share" in posterior else np.nan
    error = float(np.abs(answer["estimate"].values - truth).mean())
    covered = float(((low <= truth) & (truth <= high)).mean())
    return [error, float((high - low).mean()), covered, share, float(report.attrs["usable"])]


def lines(
    population: str, levels: int, tables: int = TABLES, seed: int = SEED, *,
    make: Callable[[str, int, np.random.Generator], tuple[xr.Dataset, FloatArray]] = table,
    kind: type[Model] = bg.CrossedEffects,
) -> list[Line]:  # fmt: skip
    """Lines of one population and number of levels, a line per order; tables have streams of their own.

    ``make`` gives a tally and the true values (metric, subgroup), ``kind`` is the estimator's class.
    """
    require(tables, 2)
    plain, ordered = [], dict[str, list[list[float]]]({order: [] for order in ORDERS})
    for number in range(tables):
        rng = np.random.default_rng([seed, POPULATIONS.index(population), levels, number])
        tally, truth = make(population, levels, rng)
        age = [f"{level:02d}" for level in range(levels)]
        plain.append(_fitted(tally, truth, kind(), number))
        orders = {"true": age, "random": scrambled(age, rng)}
        for order, named in orders.items():
            ordered[order].append(_fitted(tally, truth, kind(ordered={"age": named}), number))
    without = np.array(plain)
    answers = []
    for order, each in ordered.items():
        found = np.array(each)
        ratio = found[:, 0] / without[:, 0]
        answers.append(
            Line(
                population, levels, order, float(ratio.mean()), float(ratio.std(ddof=1) / np.sqrt(tables)),
                float((found[:, 1] / without[:, 1]).mean()), float(found[:, 2].mean()), float(without[:, 2].mean()),
                float(found[:, 3].mean()), float(found[:, 4].mean()), tables, seed,
            )
        )  # fmt: skip
    return answers


def scrambled(levels: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Another order than the true one and its reverse, which are the same to the model."""
    while True:
        order = [str(level) for level in rng.permutation(list(levels))]
        if order not in (list(levels), list(levels)[::-1]):
            return order


def read(path: Path) -> list[dict[str, str]]:
    """Lines of a record."""
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert found
    assert list(found[0]) == [field.name for field in fields(Line)]
    return found


def write_record(
    about: str, arguments: Sequence[str] | None, levels: Sequence[int], tables: int, seed: int,
    of_design: Callable[..., list[Line]],
) -> None:  # fmt: skip
    """The command of a study: lines of every population and number of levels, written where it says."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--tables", type=int, default=tables)
    parser.add_argument("--seed", type=int, default=seed)
    given = parser.parse_args(arguments)
    designs = [(population, number) for population in POPULATIONS for number in levels]
    write(given.output, as_csv([line for design in designs for line in of_design(*design, given.tables, given.seed)]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    write_record(str(__doc__), arguments, LEVELS, TABLES, SEED, lines)


if __name__ == "__main__":
    main()
