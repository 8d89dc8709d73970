"""Method map: errors and coverage of estimators by number of subgroups and rows, in two worlds.

    python -m examples.comparisons.choice --output docs/choice.csv

Rates of subgroups are logistic with a standard deviation of 0.5 around 27 %. In the world ``shared`` half of that variance is
an effect of each attribute alone, in ``apart`` every subgroup is itself only. All subgroups have the same number of rows. Errors
are relative to those of each subgroup's own rate. `examples.comparisons.choice_figure` draws the record.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.estimators import Estimator
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import parser, record

PROGRAM = "examples.comparisons.choice"

WORLDS = ("shared", "apart")
SHAPES = ((2,), (2, 2), (2, 4), (2, 4, 4), (4, 4, 8))
"""Levels of the attributes: 2, 4, 8, 32 and 128 subgroups."""
ROWS = (3, 10, 30, 100, 300)
WORDS = ("complete_pooling", "partial_pooling", "crossed_effects")
OVERALL, SPREAD = -1.0, 0.5
"""Centre and standard deviation of the logits."""
PAIRS = 72
"""Subgroups times replications of a setting, at least; there are never fewer than `MIN_REPLICATIONS` replications."""
MIN_REPLICATIONS = 3
REPLICATIONS = 1
SEED = 20_261_130
LEVEL = 0.95


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    world : str
        ``shared`` or ``apart``.
    subgroups, rows : int
    word : str
        The estimator; ``alone`` is each subgroup's own rate with the Jeffreys posterior.
    error, error_se : float
        Mean absolute error relative to that of each subgroup's own rate, and its jackknife standard error.
    coverage : float
        Of 95 % credible intervals.
    pairs, seed : int
        Subgroups times replications.
    """

    world: str
    subgroups: int
    rows: int
    word: str
    error: float
    error_se: float
    coverage: float
    pairs: int
    seed: int


class Setting(NamedTuple):
    """One cell of the grid."""

    world: str
    shape: tuple[int, ...]
    rows: int


def settings() -> list[Setting]:
    """All cells; with one attribute the worlds are one.

    Examples
    --------
    >>> len(settings())
    45
    """
    every = [Setting(*each) for each in itertools.product(WORLDS, SHAPES, ROWS)]
    return [setting for setting in every if len(setting.shape) > 1 or setting.world == "apart"]


def truth(setting: Setting, rng: np.random.Generator) -> tuple[pd.DataFrame, FloatArray]:
    """Subgroups and their true rates.

    Examples
    --------
    >>> import numpy as np
    >>> table, rate = truth(Setting("shared", (2, 4), 10), np.random.default_rng(1))
    >>> list(table), rate.shape
    (['a', 'b'], (8,))
    """
    codes = np.array(list(itertools.product(*map(range, setting.shape))))
    names = list("abc")[: len(setting.shape)]
    logit = np.full(len(codes), OVERALL)
    part_sd = SPREAD
    if setting.world == "shared":
        part_sd = SPREAD / np.sqrt(2)
        for i, levels in enumerate(setting.shape):
            logit += part_sd / np.sqrt(len(setting.shape)) * rng.standard_normal(levels)[codes[:, i]]
    logit += part_sd * rng.standard_normal(len(codes))
    return pd.DataFrame({name: codes[:, i].astype(str) for i, name in enumerate(names)}), 1 / (1 + np.exp(-logit))


def of_one(seed: int, replications: int, position: int) -> list[list[float]]:
    """Of a setting, by its place: per replication and word the summed absolute error and the number of covered truths."""
    setting = settings()[position]
    size = int(np.prod(setting.shape))
    times = replications * max(MIN_REPLICATIONS, PAIRS // size)
    return [_once(setting, np.random.default_rng([seed, position, i]), seed + i).ravel().tolist() for i in range(times)]


def _once(setting: Setting, rng: np.random.Generator, seed: int) -> FloatArray:
    """Errors and covered truths (word, 2), ``alone`` first."""
    table, rate = truth(setting, rng)
    rows = np.full(len(rate), setting.rows)
    tally = bg.tally_from_counts(rng.binomial(rows, rate), rows, table)
    estimators: dict[str, Estimator] = {
        "complete_pooling": bg.CompletePooling(), "partial_pooling": bg.PartialPooling(), "crossed_effects": bg.CrossedEffects(),
    }  # fmt: skip
    alone = _score(bg.estimate(tally, bg.NoPooling(), seed=seed), rate)
    alone[0] = np.abs(tally["estimate"].values[0] - rate).sum()
    scores = {"alone": alone}
    for word in WORDS:
        if word == "crossed_effects" and len(setting.shape) == 1:
            scores[word] = scores["partial_pooling"]  # with one attribute they are the same family
        else:
            scores[word] = _score(bg.estimate(tally, estimators[word], seed=seed), rate)
    return np.array(list(scores.values()))


def _score(report: xr.DataTree, rate: FloatArray) -> FloatArray:
    estimates = report["estimates"].to_dataset().sel(approach="bayesian", level=LEVEL).isel(metric=0)
    covered = (estimates["lower"].values <= rate) & (rate <= estimates["upper"].values)
    return np.array([np.abs(estimates["estimate"].values - rate).sum(), covered.sum()], dtype=np.float64)


def study(replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE) -> list[Line]:
    """One line per setting and word.

    Parameters
    ----------
    replications : int
        Multiplies the replications of every setting.
    seed : int
        Source of randomness; every replication has its own stream.
    executor : Executor
        Where settings are computed, each of them a piece, and their answers kept.

    Returns
    -------
    list of Line
    """
    given = {"seed": seed, "replications": replications}
    answers = executor.run("choice", partial(of_one, seed, replications), len(settings()), settings=given)
    lines: list[Line] = []
    for setting, answer in zip(settings(), answers, strict=True):
        lines += summarise(setting, answer, seed)
    return lines


def summarise(setting: Setting, answer: list[list[float]], seed: int) -> list[Line]:
    """The lines of a setting, one per word, from what `of_one` says of it.

    Examples
    --------
    >>> lines = summarise(Setting("apart", (2,), 3), [[0.4, 2, 0.2, 1, 0.1, 2, 0.1, 2], [0.2, 2, 0.1, 2, 0.2, 2, 0.2, 2]], 1)
    >>> [(line.word, round(line.error, 2), line.coverage) for line in lines][:3]
    [('alone', 1.0, 1.0), ('complete_pooling', 0.5, 0.75), ('partial_pooling', 0.5, 1.0)]
    """
    size = int(np.prod(setting.shape))
    values = np.array(answer, dtype=np.float64).reshape(len(answer), 1 + len(WORDS), 2)
    lines = []
    for i, word in enumerate(("alone", *WORDS)):
        ratio, error = _ratio(values[:, i, 0], values[:, 0, 0])
        pairs = len(values) * size
        coverage = float(values[:, i, 1].sum() / pairs)
        lines.append(Line(setting.world, size, setting.rows, word, ratio, error, coverage, pairs, seed))
    return lines


def _ratio(above: FloatArray, below: FloatArray) -> tuple[float, float]:
    """Ratio of two sums over replications and its jackknife standard error."""
    without = (above.sum() - above) / (below.sum() - below)
    n = len(above)
    return float(above.sum() / below.sum()), float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the grid and write its record."""
    record(parser(PROGRAM, "Errors by subgroups and rows.", REPLICATIONS, SEED).parse_args(arguments), study)


if __name__ == "__main__":
    main()
