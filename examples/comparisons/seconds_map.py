"""Map of the seconds that exact engines take: subgroups and components, rows of a subgroup, and how much subgroups differ.

    python -m examples.comparisons.seconds_map --output docs/seconds.csv
    python -m examples.comparisons.seconds_map --side frequentist --output docs/seconds_frequentist.csv

takes about 15 minutes on one processor, and 8 of the frequentist side. Every cell is one metric of a made-up table (three of the
joint models, whose engines take them together), by the default settings of an estimator, and by its own engine
(``inference="collapsed"``) or its reference, with three seeds of which the slowest counts.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.linear_algebra import one_thread_of_linear_algebra
from bayesgroups.data.threads import on_this_thread
from bayesgroups.errors import InputError
from bayesgroups.estimators import Estimator
from bayesgroups.report.diagnostics import Check
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import add_options, executor
from examples.records import as_csv, write

SHAPES = ((4, 3), (6, 6), (5, 4, 3), (5, 4, 3, 2), (8, 6, 4, 2), (10, 9, 5, 2))
"""Levels of the attributes; all subsets of these are components."""
ROWS = (5, 100, 1000)
"""Rows of a subgroup on average; a tenth of the subgroups have less than a third of them."""
SPREADS = (0.01, 0.3, 3.0)
"""Standard deviations of the logits of subgroups, all components together."""
ESTIMATORS: dict[str, Estimator] = {
    each.word: each
    for each in (bg.CrossedEffects(), bg.ConfusionModel(), bg.StructuredRegression(), bg.ModelBasedMetrics())
}
SEEDS = (1, 2, 3)
"""Those of the fits of a cell: chains that go on until they mix may do so with one seed and not with another."""
Answer = Literal["usable", "flagged", "none"]
Side = Literal["bayesian", "frequentist"]


@dataclass(frozen=True)
class Cell:
    """One line of the record.

    Attributes
    ----------
    word : str
    subgroups, components : int
        Components are the subsets of the attributes that subgroups can share, the overall level not counted.
    rows : int
        Of a subgroup, on average.
    spread : float
    seconds : float
        Of the processor, the most of fits with all `SEEDS`.
    answer : {"usable", "flagged", "none"}
        Whether the engine passed its checks with every seed; where it did not, or where there is none, ``bg.estimate`` goes on with
        NUTS. The frequentist side is always usable.
    """

    word: str
    subgroups: int
    components: int
    rows: int
    spread: float
    seconds: float
    answer: Answer


def table(shape: Sequence[int], rows: int, spread: float, seed: int = 1) -> pd.DataFrame:
    """Rows of a made-up table: attributes, outcome ``y``, score ``p`` and decision ``d``.

    Examples
    --------
    >>> frame = table((2, 2), rows=50, spread=0.3)
    >>> frame.columns.tolist(), frame.groupby(["a0", "a1"]).ngroups
    (['a0', 'a1', 'y', 'p', 'd'], 4)
    """
    rng = np.random.default_rng(seed)
    names = [f"a{number}" for number in range(len(shape))]
    levels = np.array(list(itertools.product(*map(range, shape))))
    subsets = [each for size in range(1, len(shape) + 1) for each in itertools.combinations(range(len(shape)), size)]
    shift = np.zeros((2, len(levels)))
    for subset in subsets:
        cell = np.unique(levels[:, subset], axis=0, return_inverse=True)[1].ravel()
        shift += rng.normal(0, spread / np.sqrt(len(subsets)), (2, int(cell.max()) + 1))[:, cell]
    count = np.maximum(rng.lognormal(np.log(rows) - 0.5, 1, len(levels)).astype(int), 1)
    at = np.repeat(np.arange(len(levels)), count)
    y = (rng.random(len(at)) < 1 / (1 + np.exp(-shift[0, at]))).astype(int)
    latent = -0.5 + shift[1, at] + 1.5 * (y - 0.5) + rng.logistic(size=len(at))
    frame = pd.DataFrame(levels[at].astype(str), columns=names)
    return frame.assign(y=y, p=1 / (1 + np.exp(-latent)), d=(latent > 0).astype(int))


def tally_of(word: str, frame: pd.DataFrame) -> xr.Dataset:
    """The tally that an estimator takes.

    Examples
    --------
    >>> tally_of("crossed_effects", table((2, 2), rows=50, spread=0.3))["metric"].values.tolist()
    ['sel']
    """
    by = [name for name in frame if name not in ("y", "p", "d")]
    if word == "model_based_metrics":
        return bg.tally(frame, by, ["tpr", "fpr", "auc"], y_true="y", y_score="p", threshold=0.5)
    if word == "confusion":
        return bg.tally(frame, by, ["tpr", "fpr", "acc"], y_true="y", y_pred="d", confusion=True)
    return bg.tally(frame, by, ["sel"], y_pred="d")


def cells_of(words: Sequence[str]) -> list[tuple[str, tuple[int, ...], int, float]]:
    """Estimator, levels of the attributes, rows of a subgroup and spread of every cell.

    Examples
    --------
    >>> len(cells_of(["crossed_effects", "model_based_metrics"]))
    108
    """
    return list(itertools.product(words, SHAPES, ROWS, SPREADS))


def measured(word: str, shape: Sequence[int], rows: int, spread: float, side: Side = "bayesian") -> Cell:
    """One cell of the map.

    Examples
    --------
    >>> cell = measured("crossed_effects", (2, 2), 50, 0.3)
    >>> cell.subgroups, cell.components, cell.answer
    (4, 3, 'usable')
    """
    tally, estimator = tally_of(word, table(shape, rows, spread)), ESTIMATORS[word]
    times, passed = [], []
    for seed in SEEDS:
        start = time.process_time()
        try:
            with one_thread_of_linear_algebra():
                checks = on_this_thread(partial(_fitted, estimator, tally, side, seed))
        except InputError:
            checks = None
        times.append(time.process_time() - start)
        passed.append(None if checks is None else all(check.passed for check in checks))
    answer: Answer = "none" if None in passed else "usable" if all(passed) else "flagged"
    return Cell(word, int(np.prod(shape)), 2 ** len(shape) - 1, rows, spread, max(times), answer)


def _fitted(estimator: Estimator, tally: xr.Dataset, side: Side, seed: int) -> Sequence[Check] | None:
    """Checks of an answer, or None if there is no engine."""
    if side == "frequentist":
        estimator.reference(tally, seed=seed)
        return ()
    posterior = estimator.collapsed(tally, seed=seed)
    return None if posterior is None else posterior.checks


def _of_piece(cells: Sequence[tuple[str, tuple[int, ...], int, float]], side: Side, piece: int) -> tuple[float, Answer]:
    cell = measured(*cells[piece], side)
    return cell.seconds, cell.answer


def study(
    *, executor: Executor = HERE, words: Sequence[str] = tuple(ESTIMATORS), side: Side = "bayesian"
) -> list[Cell]:
    """Measure every cell of some estimators.

    Parameters
    ----------
    executor : Executor
        Where measurements are kept; times mean something with one worker only.
    words : sequence of str
        Words of the estimators.
    side : {"bayesian", "frequentist"}

    Returns
    -------
    list of Cell
    """
    for word in words:
        measured(word, (2, 2), 50, 0.3, side)  # imports
    cells = cells_of(words)
    settings = {"cells": cells, "side": side}
    answers = executor.run("seconds", partial(_of_piece, cells, side), len(cells), settings=settings)
    return [
        Cell(word, int(np.prod(shape)), 2 ** len(shape) - 1, rows, spread, *answer)
        for (word, shape, rows, spread), answer in zip(cells, answers, strict=True)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.comparisons.seconds_map", description="Seconds over tables."
    )
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument(
        "--words", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS), help="estimators to measure"
    )
    parser.add_argument("--side", choices=get_args(Side), default="bayesian", help="what to measure")
    add_options(parser)
    given = parser.parse_args(arguments)
    with executor(given) as run:
        lines = study(executor=run, words=given.words, side=given.side)
    write(given.output, as_csv(lines))


if __name__ == "__main__":
    main()
