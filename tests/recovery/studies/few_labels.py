"""Coverage where a judge decides on all rows and few have a gold label: the joint model, labels alone, and closed forms.

    python -m tests.recovery.studies.few_labels --output tests/recovery/records/few_labels.csv

takes about a quarter of an hour of one core, in four parts with seeds of their own. Tables have 24 subgroups of three attributes
with 60 to 300 judged rows each. Logits of the prevalence vary by .6 between subgroups, half of the variance in main effects, a
quarter in pairs and a quarter in the subgroup itself. Judges are ``right`` (sensitivity and specificity .95), ``wrong`` (.7), or
``unequal`` (.85, and logits of both that vary by 1 between subgroups, shared out alike). Labels are drawn at random among the
rows of a subgroup, or half from either decision.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.files import write_text
from examples.records import as_csv

SHAPE = (2, 3, 4)
SPREAD = 0.6
LEVEL = 0.95
TABLES, PARTS = 6, 4
"""Tables of every design in each part of the record, and parts."""
SEED = 20_261_124
JUDGES = {"right": (0.95, 0.0), "wrong": (0.7, 0.0), "unequal": (0.85, 1.0)}
"""Sensitivity and specificity, and the standard deviation of the logit of either between subgroups."""
LABELS = {"2-10": (2, 10), "6-30": (6, 30)}
METHODS = (
    ("joint", "prev"), ("joint", "tpr"), ("joint", "tnr"), ("labels alone, pooled", "prev"), ("labels alone, Wilson", "prev"),
    ("post-stratified", "prev"), ("post-stratified", "tpr"), ("PPI++", "prev"),
)  # fmt: skip
DESIGNS = [(judge, base, labels, "random") for judge in JUDGES for base in (0.1, 0.4) for labels in LABELS] + [
    ("unequal", 0.4, labels, "even") for labels in LABELS
]


@dataclass(frozen=True)
class Table:
    """Counts of one table, (subgroup, decision) and (subgroup, outcome, decision), and true values by metric."""

    attributes: pd.DataFrame
    judged: FloatArray
    cells: FloatArray
    truth: dict[str, FloatArray]


@dataclass(frozen=True)
class Line:
    """Coverage of one method in one design, over subgroups of all tables, with its error over tables.

    ``width`` and ``error`` are the mean width of intervals and the mean absolute error of estimates, ``answered`` the share of
    subgroups with an interval.
    """

    judge: str
    base: float
    labels: str
    drawn: str
    method: str
    metric: str
    coverage: float
    mc_error: float
    width: float
    error: float
    answered: float
    tables: int
    seed: int


def effects(rng: np.random.Generator, levels: FloatArray, spread: float) -> FloatArray:
    """Effects (subgroup,) of attributes, pairs of them and the subgroup itself."""
    total = np.zeros(len(levels))
    subsets = [subset for size in (1, 2, 3) for subset in itertools.combinations(range(3), size)]
    for subset in subsets:
        share = {1: 0.5 / 3, 2: 0.25 / 3, 3: 0.25}[len(subset)]
        cell = np.unique(levels[:, subset], axis=0, return_inverse=True)[1].ravel()
        total += rng.normal(0.0, spread * np.sqrt(share), cell.max() + 1)[cell]
    return total


def table(judge: str, base: float, labels: str, drawn: str, seed: Sequence[int]) -> Table:
    """One table of a design."""
    rng = np.random.default_rng(list(seed))
    levels = np.array(list(itertools.product(*map(range, SHAPE))), dtype=np.float64)
    right, spread = JUDGES[judge]
    prev = expit(logit(base) + effects(rng, levels, SPREAD))
    tpr, tnr = (expit(logit(right) + effects(rng, levels, spread)) for _ in range(2))
    low, high = LABELS[labels]
    rows = np.exp(rng.uniform(np.log(60), np.log(301), len(levels))).astype(int)
    number = np.exp(rng.uniform(np.log(low), np.log(high + 1), len(levels))).astype(int)
    shares = np.stack([(1 - prev) * tnr, (1 - prev) * (1 - tnr), prev * (1 - tpr), prev * tpr], axis=1)
    every = rng.multinomial(rows, shares).reshape(-1, 2, 2)
    cells = np.zeros(every.shape)
    for g, counts in enumerate(every):
        if drawn == "random":
            cells[g] = rng.multivariate_hypergeometric(counts.ravel(), number[g]).reshape(2, 2)
            continue
        for decision in (0, 1):
            some = min(int(np.ceil(number[g] / 2)), int(counts[:, decision].sum()))
            cells[g, :, decision] = rng.multivariate_hypergeometric(counts[:, decision], some)
    attributes = pd.DataFrame(levels.astype(int).astype(str), columns=["first", "second", "third"])
    return Table(attributes, every.sum(axis=1).astype(np.float64), cells, {"prev": prev, "tpr": tpr, "tnr": tnr})


def logit(share: float) -> float:
    """Logit of a share."""
    return float(np.log(share / (1 - share)))


def expit(value: FloatArray) -> FloatArray:
    """Share of a logit."""
    return np.asarray(1 / (1 + np.exp(-value)))


def answers(given: Table, seed: int) -> dict[tuple[str, str], tuple[FloatArray, FloatArray, FloatArray]]:
    """Estimate and limits (subgroup,) of every method."""
    tally = bg.tally_from_cells(given.judged, given.cells, given.attributes, ["prev", "tpr", "tnr"])
    joint = bg.estimate(tally, bg.ConfusionModel(), seed=seed)["estimates"].to_dataset().sel(approach="bayesian")
    positives, number = given.cells[:, 1].sum(axis=1), given.cells.sum(axis=(1, 2))
    gold = bg.tally_from_counts(positives, number, given.attributes, metric="prev", larger_is_better=True)
    pooled = bg.estimate(gold, bg.CrossedEffects(), seed=seed)["estimates"].to_dataset().sel(approach="bayesian")
    closed = bg.judge_corrected(tally)
    powered = bg.judge_corrected(tally.sel(metric=["prev"]), method="ppi_tuned")
    return {
        **{("joint", metric): limits(joint, metric) for metric in ("prev", "tpr", "tnr")},
        ("labels alone, pooled", "prev"): limits(pooled, "prev"),
        ("labels alone, Wilson", "prev"): limits(closed, "prev", "gold_"),
        **{("post-stratified", metric): limits(closed, metric) for metric in ("prev", "tpr")},
        ("PPI++", "prev"): limits(powered, "prev"),
    }


def limits(answer: xr.Dataset, metric: str, prefix: str = "") -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimate and 95 % limits (subgroup,) of one metric."""
    chosen = answer.sel(metric=metric)
    lower, upper = (chosen[f"{prefix}{side}"].sel(level=LEVEL).values for side in ("lower", "upper"))
    return chosen[f"{prefix}estimate"].values, lower, upper


def lines(judge: str, base: float, labels: str, drawn: str, tables: int = TABLES, seed: int = SEED) -> list[Line]:
    """Lines of the record of one design."""
    place = DESIGNS.index((judge, base, labels, drawn))
    seen: dict[tuple[str, str], list[tuple[float, float, float, float]]] = {key: [] for key in METHODS}
    for i in range(tables):
        given = table(judge, base, labels, drawn, (seed, place, i))
        for key, (estimate, lower, upper) in answers(given, seed + i).items():
            truth = given.truth[key[1]]
            some = np.isfinite(lower) & np.isfinite(estimate)
            covered = (lower[some] <= truth[some]) & (truth[some] <= upper[some])
            numbers = (covered, upper[some] - lower[some], np.abs(estimate - truth)[some])
            means = [float(values.mean()) if some.any() else float("nan") for values in numbers]
            seen[key].append((means[0], means[1], means[2], float(some.mean())))
    made = []
    for (method, metric), values in seen.items():
        each = np.array(values)
        spread = float(each[:, 0].std(ddof=1) / np.sqrt(tables)) if tables > 1 else float("nan")
        coverage, width, error, answered = each.mean(axis=0).tolist()
        made.append(
            Line(judge, base, labels, drawn, method, metric, coverage, spread, width, error, answered, tables, seed)
        )
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--parts", type=int, default=PARTS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    seeds = [given.seed + part for part in range(given.parts)]
    every = [line for seed in seeds for design in DESIGNS for line in lines(*design, given.tables, seed)]
    write_text(given.output, as_csv(every))


if __name__ == "__main__":
    main()
