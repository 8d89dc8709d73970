"""How far credible intervals reach where no row, or every row, is a success: coverage of three rules at every level.

    python -m bayesgroups.studies.limits_at_the_end --data FOLDER --output tests/recovery/records/limits_at_the_end.csv

Evaluation sets are drawn from populations of people, whose subgroups may be so small that a true rate is exactly 0 or 1. The
rule ``to_the_end`` is that of reports: an equal-tailed interval whose one limit is moved to the end of the range. ``equal_tailed``
leaves it where it is, and ``one_sided`` takes as much mass from the end on as the level says.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import bayesgroups as bg
from bayesgroups.estimators import Estimator
from bayesgroups.levels import LEVELS
from bayesgroups.studies.command_line import add_options, executor
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.studies.populations import Population
from bayesgroups.studies.records import as_csv, write
from bayesgroups.studies.resampling import describe
from bayesgroups.studies.shared_cells import populations

FloatArray = NDArray[np.float64]

RULES = ("to_the_end", "equal_tailed", "one_sided")
DRAWS = {"diabetes": 4, "adult 0.01": 10, "adult 0.032": 10}
"""Evaluation sets by population."""
METRICS = ("fnr", "fpr", "ppv", "error")
WORDS: tuple[Estimator, ...] = (bg.PartialPooling(), bg.CrossedEffects())
SEED = 20_241_105


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    population, word, rule : str
    level : float
        Nominal coverage.
    coverage_at_ends : float
        Share of the subgroups without, or with only, successes whose true rate is covered.
    coverage : float
        The same of all subgroups with a row that counts.
    at_ends, pairs : int
        Numbers of the former and the latter, over all evaluation sets and metrics.
    """

    population: str
    word: str
    rule: str
    level: float
    coverage_at_ends: float
    coverage: float
    at_ends: int
    pairs: int


def limits(draws: FloatArray, end: float | None) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Lower and upper limits (level,) of every rule, from the draws of a rate.

    Parameters
    ----------
    draws : array (draw,)
    end : 0, 1 or None
        The end of the range at which the observed rate lies, if it does.

    Examples
    --------
    >>> import numpy as np
    >>> found = limits(np.linspace(0, 1, 101), 0.0)
    >>> {rule: (float(low[0]), float(high[0])) for rule, (low, high) in found.items()}
    {'to_the_end': (0.0, 0.75), 'equal_tailed': (0.25, 0.75), 'one_sided': (0.0, 0.5)}
    """
    level = np.array(LEVELS)
    low, high = np.quantile(draws, (1 - level) / 2), np.quantile(draws, (1 + level) / 2)
    tails = (low, high)
    if end is None:
        return dict.fromkeys(RULES, tails)
    ends = np.full_like(level, end)
    if end == 0:
        return dict(zip(RULES, ((ends, high), tails, (ends, np.quantile(draws, level))), strict=True))
    return dict(zip(RULES, ((low, ends), tails, (np.quantile(draws, 1 - level), ends)), strict=True))


def covered(tally: xr.Dataset, truth: FloatArray, draws: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Whether rules cover true rates (subgroup, rule, level), and which subgroups lie at an end, of those with rows.

    Parameters
    ----------
    tally : xr.Dataset
        Of one rate.
    truth : array (subgroup,)
    draws : array (draw, subgroup)
    """
    hits, count = tally["successes"].values[0], tally["count"].values[0]
    held, at_end = [], []
    for g in np.flatnonzero((count > 0) & np.isfinite(truth)):
        end = 0.0 if hits[g] == 0 else 1.0 if hits[g] == count[g] else None
        held.append([(low <= truth[g]) & (truth[g] <= high) for low, high in limits(draws[:, g], end).values()])
        at_end.append(end is not None)
    return np.array(held, dtype=np.float64), np.array(at_end, dtype=np.bool_)


def study(data: Path, seed: int = SEED, *, executor: Executor = HERE) -> list[Line]:
    """One line per population, word, rule and level.

    Parameters
    ----------
    data : Path
        The folder of `bayesgroups.studies.shared_cells.populations`.
    seed : int
        Source of randomness.
    executor : Executor
        Where evaluation sets are answered, each of them a piece, and what was covered kept.

    Returns
    -------
    list of Line
    """
    lines = []
    for population in populations(data, fewest=1):
        if population.name not in DRAWS:
            continue
        work = partial(_of_one, population, population.truth(), WORDS, seed)
        settings = {"seed": seed, "population": population.fingerprint(), "words": [describe(leaf) for leaf in WORDS]}
        name = f"limits at the end, {population.name}"
        found = executor.run(name, work, DRAWS[population.name], settings=settings)
        for word in found[0]:
            held = np.array([each for one in found for each in one[word]["held"]])
            at_end = np.array([each for one in found for each in one[word]["at_end"]], dtype=np.bool_)
            lines += [
                Line(
                    population.name, word, rule, level, float(held[at_end, j, k].mean()), float(held[:, j, k].mean()),
                    int(at_end.sum()), len(held),
                )
                for j, rule in enumerate(RULES)
                for k, level in enumerate(LEVELS)
            ]  # fmt: skip
    return lines


def _of_one(
    population: Population, truth: xr.DataArray, words: tuple[Estimator, ...], seed: int, draw: int
) -> dict[str, dict[str, list[Any]]]:
    """What is covered in one evaluation set, by word: ``held`` (subgroup, rule, level) and ``at_end`` (subgroup,), all metrics."""
    drawn = population.draw(draw, seed=seed, truth=truth)
    found: dict[str, dict[str, list[Any]]] = {leaf.word: {"held": [], "at_end": []} for leaf in words}
    for metric in [name for name in drawn.tally["metric"].values if str(name) in METRICS]:
        tally, known = drawn.tally.sel(metric=[metric]), drawn.truth.sel(metric=metric).values
        for leaf in words:
            posterior = leaf.collapsed(tally, seed=seed + draw)
            if posterior is not None:
                mu = posterior.draws["mu"].values.reshape(-1, tally.sizes["subgroup"])
                held, at_end = covered(tally, known, mu)
                found[leaf.word]["held"] += held.tolist()
                found[leaf.word]["at_end"] += at_end.tolist()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    program = "python -m bayesgroups.studies.limits_at_the_end"
    parser = argparse.ArgumentParser(prog=program, description="Limits where no row, or every row, is a success.")
    parser.add_argument("--data", type=Path, required=True, help="folder with diabetes and adult")
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--seed", type=int, default=SEED)
    add_options(parser)
    given = parser.parse_args(arguments)
    with executor(given) as run:
        lines = study(given.data, given.seed, executor=run)
    write(given.output, as_csv(lines))


if __name__ == "__main__":
    main()
