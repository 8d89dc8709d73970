"""Coverage of intervals of subgroups without rows: every estimator, both sides.

    python -m tests.recovery.studies.imputed_coverage --output tests/recovery/records/imputed_coverage.csv

takes about ten minutes of one core; ``--estimator`` measures one estimator again and leaves the other lines of the record as they
are. Evaluation sets are those of `tests.recovery.studies.imputed_populations`, the same for all estimators of a kind.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.estimators import Estimator
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.studies.resampling import describe
from examples.commands import add_options, executor
from examples.coverage_loop import covers, mean_and_error, require
from examples.records import as_csv, write
from tests.recovery.studies.imputed_populations import EMPTY, KINDS

REPLICATIONS = 72
SEED = 20_261_122
SPREADS = (0.0, 0.2, 0.5, 1.0)
LEVELS = (0.8, 0.95)
SIDES = ("bayesian", "frequentist")
COUNTED = ("rate", "mean")


@dataclass(frozen=True)
class Competitor:
    """An estimator, the kinds of evaluation sets it is tried on, and by how much both sides are thinned out."""

    estimator: Estimator
    kinds: tuple[str, ...]
    bayesian: int = 1
    frequentist: int = 1


COMPETITORS = {
    "no_pooling": Competitor(bg.NoPooling(), COUNTED, 2, 2),
    "complete_pooling": Competitor(bg.CompletePooling(), COUNTED, 2),
    "james_stein": Competitor(bg.JamesStein(), COUNTED),
    "partial_pooling": Competitor(bg.PartialPooling(), COUNTED),
    "crossed_effects": Competitor(bg.CrossedEffects(), COUNTED, 2),
    "structured_regression": Competitor(bg.StructuredRegression(bootstrap=20), COUNTED, 6),
    "confusion": Competitor(bg.ConfusionModel(), ("cells",), 3, 6),
    "model_based_metrics": Competitor(bg.ModelBasedMetrics(bootstrap=20), ("scores",), 6, 6),
    "disagreement": Competitor(bg.DisagreementModel(), ("judgements",), 2, 6),
}
"""By name. The bootstraps say nothing of subgroups without rows."""


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    estimator, side, kind : str
    spread : float
        Standard deviation of eta between subgroups.
    level : float
        Nominal coverage.
    coverage, mc_error : float
        Share of the (replication, subgroup) pairs without rows whose truth is covered, of those that have an interval, and its
        Monte Carlo standard error over replications; NaN without any.
    width : float
        Mean width of these intervals, in units of the metric.
    answered : float
        Share of pairs that have an interval.
    replications, seed : int
    """

    estimator: str
    side: str
    kind: str
    spread: float
    level: float
    coverage: float
    mc_error: float
    width: float
    answered: float
    replications: int
    seed: int


def study(
    replications: int = REPLICATIONS,
    seed: int = SEED,
    *,
    estimators: Sequence[str] = tuple(COMPETITORS),
    executor: Executor = HERE,
) -> list[Line]:
    """Measure the coverage of every estimator.

    Parameters
    ----------
    replications : int
        Evaluation sets per kind and spread before thinning, at least 24, so that two are left of the slowest.
    seed : int
        Source of randomness; every evaluation set has its own stream.
    estimators : sequence of str
        Names of `COMPETITORS`.
    executor : Executor
        Where evaluation sets are answered, each of them a piece, and what was covered kept.

    Returns
    -------
    list of Line
        The same numbers for the same arguments, whichever other estimators are measured.

    Raises
    ------
    InputError
        If there are too few replications, or a name is not that of a competitor.
    """
    require(replications, 24, "to leave two of the slowest estimator")
    lines = []
    for name in estimators:
        if name not in COMPETITORS:
            raise InputError(f"estimator {name!r} is not one of {', '.join(COMPETITORS)}")
        competitor = COMPETITORS[name]
        settings = {"seed": seed, "estimator": describe(competitor.estimator)}
        for kind in competitor.kinds:
            for position, spread in enumerate(SPREADS):
                work = partial(answer, name, kind, position, seed)
                title = f"imputed coverage, {name}, {kind}, {spread}"
                answers = executor.run(title, work, replications, settings=settings)
                for i, side in enumerate(SIDES):
                    tried = np.array([each[i] for each in answers if each[i]])
                    lines += [_line(name, side, kind, spread, k, tried, seed) for k in range(len(LEVELS))]
    return lines


def answer(name: str, kind: str, position: int, seed: int, replication: int) -> list[list[list[list[float | None]]]]:
    """Limits less the truth of the subgroups without rows, in one evaluation set.

    Returns
    -------
    list
        Per side, empty if it is not tried in this replication: (subgroup, level, limit), None where there is no interval.
    """
    competitor = COMPETITORS[name]
    rng = np.random.default_rng([seed, list(KINDS).index(kind), position, replication])
    tally, truth = KINDS[kind](SPREADS[position], rng)
    empty = np.flatnonzero(tally["rows"].values == 0)
    assert len(empty) == EMPTY
    sides: list[list[list[list[float | None]]]] = []
    for side, thinning in zip(SIDES, (competitor.bayesian, competitor.frequentist), strict=True):
        if replication % thinning:
            sides.append([])
            continue
        if side == "bayesian":
            found = (
                bg.estimate(tally, competitor.estimator, seed=replication)["estimates"].to_dataset().sel(approach=side)
            )
        else:
            found = competitor.estimator.reference(tally, seed=replication)
        one = found.isel(metric=0, subgroup=empty).sel(level=list(LEVELS))
        limits = np.stack([one[end].transpose("subgroup", "level").values for end in ("lower", "upper")], axis=-1)
        away = limits - truth[empty, None, None]
        sides.append([[[None if np.isnan(x) else float(x) for x in pair] for pair in level] for level in away])
    return sides


def _line(name: str, side: str, kind: str, spread: float, k: int, tried: np.ndarray, seed: int) -> Line:
    """One level of one side; tried is (replication, subgroup, level, limit)."""
    away = tried[:, :, k].astype(np.float64)
    known = ~np.isnan(away).any(axis=-1)
    coverage = mc_error = width = float("nan")
    if known.any():
        covered = np.where(known, covers(away[..., 0], away[..., 1], 0.0), np.nan)
        coverage, mc_error = mean_and_error(np.nanmean(covered[known.any(axis=1)], axis=1))
        width = float((away[..., 1] - away[..., 0])[known].mean())
    return Line(
        name, side, kind, spread, LEVELS[k], coverage, mc_error, width, float(known.mean()), len(tried), seed
    )  # fmt: skip


def read(path: Path) -> list[Line]:
    """Lines of a record."""
    kinds = {field.name: {"str": str, "float": float, "int": int}[str(field.type)] for field in fields(Line)}
    with path.open(encoding="utf-8", newline="") as file:
        return [Line(**{name: kinds[name](text) for name, text in row.items()}) for row in csv.DictReader(file)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    program = "python -m tests.recovery.studies.imputed_coverage"
    parser = argparse.ArgumentParser(prog=program, description="Coverage of intervals of subgroups without rows.")
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--estimator", choices=list(COMPETITORS), help="measure this one, and keep the others of the record"
    )
    add_options(parser)
    given = parser.parse_args(arguments)
    chosen = list(COMPETITORS) if given.estimator is None else [given.estimator]
    with executor(given) as run:
        lines = study(given.replications, given.seed, estimators=chosen, executor=run)
    if given.estimator is not None and given.output.exists():
        lines += [line for line in read(given.output) if line.estimator not in chosen]
        lines.sort(key=lambda line: list(COMPETITORS).index(line.estimator))
    write(given.output, as_csv(lines))


if __name__ == "__main__":
    main()
