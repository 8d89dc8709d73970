"""Coverage and interval scores of credible limits where no row, or every row, is a success: three rules at every level.

    python -m bayesgroups.studies.boundary_coverage --data FOLDER --output tests/recovery/records/boundary_coverage.csv

Evaluation sets are drawn from populations whose subgroups have at least 500 rows, and 300 in the denominator of the metric, so that
the rate of all rows is near the superpopulation's. The rule ``shortest`` is that of reports, see `bayesgroups.credible`;
``equal_tailed`` cuts the same mass off either end, and ``one_sided`` holds the level's mass from the end on.
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
from bayesgroups.credible import credible_limits
from bayesgroups.estimators import Estimator
from bayesgroups.levels import LEVELS
from bayesgroups.studies.command_line import add_options, executor
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.studies.populations import Population
from bayesgroups.studies.records import as_csv, write
from bayesgroups.studies.resampling import describe
from bayesgroups.studies.shared_cells import populations

FloatArray = NDArray[np.float64]

RULES = ("shortest", "equal_tailed", "one_sided")
DRAWS = {"diabetes": 10, "adult 0.01": 20, "adult 0.032": 20}
"""Evaluation sets by population."""
MIN_ROWS, MIN_COUNT = 500, 300
"""Rows of a subgroup, and of the denominator of the metric, from which on the rate of all rows is taken for a truth."""
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
    coverage_at_ends, score_at_ends : float
        Share of the subgroups without, or with only, successes whose true rate is covered; their mean interval score.
    coverage, score : float
        The same of all subgroups with a row that counts.
    at_ends, pairs : int
        Numbers of the former and the latter, over all evaluation sets and metrics.
    """

    population: str
    word: str
    rule: str
    level: float
    coverage_at_ends: float
    score_at_ends: float
    coverage: float
    score: float
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
    >>> found = limits(np.linspace(0, 1, 101), 0.0)
    >>> {rule: (float(low[0]), float(high[0])) for rule, (low, high) in found.items()}
    {'shortest': (0.25, 0.75), 'equal_tailed': (0.25, 0.75), 'one_sided': (0.0, 0.5)}
    """
    flags = {"no_success": np.array([end == 0]), "all_success": np.array([end == 1])}
    shortest = credible_limits(
        draws[:, None], np.array([draws.mean()]), LEVELS, ends=(np.zeros(1), np.ones(1)), **flags
    )
    level = np.array(LEVELS)
    tails = np.quantile(draws, (1 - level) / 2), np.quantile(draws, (1 + level) / 2)
    ends = np.full_like(level, np.nan if end is None else end)
    one_sided = {0.0: (ends, np.quantile(draws, level)), 1.0: (np.quantile(draws, 1 - level), ends)}
    found = (shortest.lower[0], shortest.upper[0]), tails, tails if end is None else one_sided[float(end)]
    return dict(zip(RULES, found, strict=True))


def judged(tally: xr.Dataset, truth: FloatArray, draws: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Coverage and interval scores (subgroup, rule, level), and which subgroups lie at an end, of those with rows and a truth.

    Parameters
    ----------
    tally : xr.Dataset
        Of one rate.
    truth : array (subgroup,)
    draws : array (draw, subgroup)
    """
    hits, count = tally["successes"].values[0], tally["count"].values[0]
    held, scores, at_end = [], [], []
    outside = 2 / (1 - np.array(LEVELS))
    for g in np.flatnonzero((count > 0) & np.isfinite(truth)):
        end = 0.0 if hits[g] == 0 else 1.0 if hits[g] == count[g] else None
        rules = limits(draws[:, g], end).values()
        held.append([(low <= truth[g]) & (truth[g] <= high) for low, high in rules])
        missed = [np.maximum(low - truth[g], 0) + np.maximum(truth[g] - high, 0) for low, high in rules]
        scores.append([high - low + outside * miss for (low, high), miss in zip(rules, missed, strict=True)])
        at_end.append(end is not None)
    return np.array(held, dtype=np.float64), np.array(scores), np.array(at_end, dtype=np.bool_)


def truths(population: Population) -> xr.DataArray:
    """Rates of all rows of a population (metric, subgroup); NaN where rows are too few for them to be truths."""
    whole = population.tally(population.frame)
    large = (whole["rows"] >= MIN_ROWS) & (whole["count"] >= MIN_COUNT)
    known = population.truth()
    return known.where(large.transpose(*known.dims).sel(subgroup=known["subgroup"]).values)


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
        work = partial(_of_one, population, truths(population), WORDS, seed)
        settings = {"seed": seed, "population": population.fingerprint(), "words": [describe(leaf) for leaf in WORDS]}
        name = f"boundary coverage, {population.name}"
        found = executor.run(name, work, DRAWS[population.name], settings=settings)
        for word in found[0]:
            held, scores = (np.array([each for one in found for each in one[word][part]]) for part in ("held", "score"))
            at_end = np.array([each for one in found for each in one[word]["at_end"]], dtype=np.bool_)
            lines += [
                Line(
                    population.name, word, rule, level, float(held[at_end, j, k].mean()), float(scores[at_end, j, k].mean()),
                    float(held[:, j, k].mean()), float(scores[:, j, k].mean()), int(at_end.sum()), len(held),
                )
                for j, rule in enumerate(RULES)
                for k, level in enumerate(LEVELS)
            ]  # fmt: skip
    return lines


def _of_one(
    population: Population, truth: xr.DataArray, words: tuple[Estimator, ...], seed: int, draw: int
) -> dict[str, dict[str, list[Any]]]:
    """Judgement of one evaluation set by word, all metrics: ``held``, ``score`` (subgroup, rule, level), ``at_end`` (subgroup,)."""
    drawn = population.draw(draw, seed=seed, truth=truth)
    found: dict[str, dict[str, list[Any]]] = {leaf.word: {"held": [], "score": [], "at_end": []} for leaf in words}
    for metric in [name for name in drawn.tally["metric"].values if str(name) in METRICS]:
        tally, known = drawn.tally.sel(metric=[metric]), drawn.truth.sel(metric=metric).values
        for leaf in words:
            posterior = leaf.collapsed(tally, seed=seed + draw)
            if posterior is not None:
                mu = posterior.draws["mu"].values.reshape(-1, tally.sizes["subgroup"])
                held, scores, at_end = judged(tally, known, mu)
                found[leaf.word]["held"] += held.tolist()
                found[leaf.word]["score"] += scores.tolist()
                found[leaf.word]["at_end"] += at_end.tolist()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    program = "python -m bayesgroups.studies.boundary_coverage"
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
