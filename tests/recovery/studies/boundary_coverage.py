"""Boundary coverage: credible limits where no row, or every row, is a success, and their scores; three rules at every level.

    python -m tests.recovery.studies.boundary_coverage --output tests/recovery/records/boundary_coverage.csv

Tables of 24 subgroups are drawn from superpopulations whose rates are known: crossed effects of one size around an overall rate,
and a few rows each. The rule ``shortest`` is that of reports, see `bayesgroups.report.credible`; ``equal_tailed`` cuts the same
mass off either end, and ``one_sided`` holds the level's mass from the end on.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import bayesgroups as bg
from bayesgroups.estimators import Estimator
from bayesgroups.estimators.estimate import estimate
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.report.credible import credible_limits
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.studies.resampling import describe
from examples.commands import parser, record
from examples.coverage_loop import Judgement, covers, judgements

PROGRAM = "tests.recovery.studies.boundary_coverage"
FloatArray = NDArray[np.float64]

RULES = ("shortest", "equal_tailed", "one_sided")
SHAPE = (4, 2, 3)
"""Levels of the attributes."""
ROWS_SHAPE, ROWS_MEAN = 1.0, 8.0
"""Gamma distribution of the rows of a subgroup, of which there is one at least."""
RATES = (0.01, 0.05, 0.2)
"""Overall rates."""
SPREADS = (0.15, 0.5)
"""Standard deviations of every component, in logits."""
WORDS: tuple[Estimator, ...] = (bg.PartialPooling(), bg.CrossedEffects())
REPLICATIONS = 15
"""Tables of every superpopulation."""
SEED = 20_261_122


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    rate, spread : float
        Of the superpopulation: overall rate, and standard deviation of every component in logits.
    word, rule : str
    level : float
        Nominal coverage.
    coverage_at_ends, score_at_ends : float
        Share of the subgroups without, or with only, successes whose true rate is covered; their mean interval score.
    coverage, score : float
        The same of all subgroups with a row that counts.
    at_ends, pairs : int
        Numbers of the former and the latter, over all tables.
    """

    rate: float
    spread: float
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
        held.append([covers(low, high, truth[g]) for low, high in rules])
        missed = [np.maximum(low - truth[g], 0) + np.maximum(truth[g] - high, 0) for low, high in rules]
        scores.append([high - low + outside * miss for (low, high), miss in zip(rules, missed, strict=True)])
        at_end.append(end is not None)
    return np.array(held, dtype=np.float64), np.array(scores), np.array(at_end, dtype=np.bool_)


def worlds() -> list[tuple[float, float]]:
    """Overall rates and spreads of the superpopulations.

    Examples
    --------
    >>> len(worlds())
    6
    """
    return list(itertools.product(RATES, SPREADS))


def simulate(rate: float, spread: float, rng: np.random.Generator) -> tuple[xr.Dataset, FloatArray]:
    """A table of counts, and the superpopulation rates of its subgroups.

    Examples
    --------
    >>> tally, truth = simulate(0.05, 0.5, np.random.default_rng(1))
    >>> tally.sizes["subgroup"], truth.shape
    (24, (24,))
    """
    names = [f"a{i}" for i in range(len(SHAPE))]
    codes = np.array(list(itertools.product(*map(range, SHAPE))))
    who = pd.DataFrame({name: codes[:, i].astype(str) for i, name in enumerate(names)})
    n = np.maximum(np.round(ROWS_MEAN * rng.gamma(ROWS_SHAPE, 1 / ROWS_SHAPE, len(who))), 1).astype(int)
    eta = np.full(len(who), np.log(rate / (1 - rate)))
    for cell in subsets(bg.tally_from_counts(np.zeros(len(who)), n, who)).cells:
        eta += spread * rng.standard_normal(int(cell.max()) + 1)[cell]
    truth = 1 / (1 + np.exp(-eta))
    return bg.tally_from_counts(rng.binomial(n, truth), n, who), truth


def study(replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE) -> list[Line]:
    """One line per superpopulation, word, rule and level.

    Parameters
    ----------
    replications : int
        Tables of every superpopulation.
    seed : int
        Source of randomness; the first tables are the same however many there are.
    executor : Executor
        Where tables are answered, each of them a piece, and what was covered kept.

    Returns
    -------
    list of Line
    """
    settings = {"seed": seed, "words": [describe(leaf) for leaf in WORDS], "worlds": worlds()}
    lines = []
    for position, (rate, spread) in enumerate(worlds()):
        judge, title = (
            partial(_judge, (rate, spread), position, WORDS, seed),
            f"boundary coverage, {rate:g}, {spread:g}",
        )
        tables = judgements(title, judge, replications, settings=settings, executor=executor)
        for estimator in WORDS:
            held, scores, ends = (
                np.concatenate(list(tables[estimator.word, part])) for part in ("held", "score", "at_end")
            )
            at_end = ends.astype(np.bool_)
            lines += [
                Line(
                    rate, spread, estimator.word, rule, level, float(held[at_end, j, k].mean()), float(scores[at_end, j, k].mean()),
                    float(held[:, j, k].mean()), float(scores[:, j, k].mean()), int(at_end.sum()), len(held),
                )
                for j, rule in enumerate(RULES)
                for k, level in enumerate(LEVELS)
            ]  # fmt: skip
    return lines


def _judge(
    world: tuple[float, float], position: int, words: tuple[Estimator, ...], seed: int, number: int
) -> list[Judgement]:
    """Judgements of one table by word: ``held``, ``score`` (subgroup, rule, level), ``at_end`` (subgroup,)."""
    tally, truth = simulate(*world, np.random.default_rng([seed, position, number]))
    kept: list[Judgement] = []
    for estimator in words:
        mu = estimate(tally, estimator, seed=seed + number)["posterior"].to_dataset()["mu"]
        parts = judged(tally, truth, mu.values.reshape(-1, tally.sizes["subgroup"]))
        names = ("held", "score", "at_end")
        kept += [((estimator.word, name), part.tolist()) for name, part in zip(names, parts, strict=True)]
    return kept


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    description = "Limits where no row, or every row, is a success."
    record(parser(PROGRAM, description, REPLICATIONS, SEED).parse_args(arguments), study)


if __name__ == "__main__":
    main()
