"""Real decisions with 95 % of the outcomes hidden: the census of 1994, judged by a language model.

    python -m tests.recovery.studies.few_labels_adult ../shared/data/adult --output tests/recovery/records/few_labels_adult.csv

takes about a minute. From 48,842 people with a language model's answer to "does this person earn more than 50,000 dollars?" a
tenth is drawn and judged, and one in twenty of these is labelled. Estimand: the rate of all 48,842 in each subgroup of race, sex
and age that has 100 of them or more, for the rate of fewer says little about people like them. Methods are those of
`tests.recovery.studies.few_labels`. Subgroups with fewer than two labels are counted apart; so are rates of 0.5 % or more, for
equal-tailed limits never hold a rate of 0, which one subgroup of 120 people has.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.data.files import write_text
from examples.published.data.adult import load_adult
from examples.records import as_csv
from tests.recovery.studies.few_labels import Table, answers

BY = ("race", "sex", "age_band")
DRAWN, LABELLED = 0.1, 0.05
MIN_PEOPLE = 100
DRAWS = 12
SEED = 20_261_125
RARE = 0.005
LABELS = ("2 or more", "0 or 1", "2 or more, not rare", "0 or 1, not rare")
METHODS = ("joint", "labels alone, pooled", "labels alone, Wilson", "post-stratified", "PPI++")


@dataclass(frozen=True)
class Line:
    """Shares of covered subgroups in one draw, and mean width of 95 % intervals and mean error, of those that have an interval.

    ``labels`` says which subgroups, ``answered`` is how many of them have an interval.
    """

    draw: int
    method: str
    labels: str
    coverage: float
    width: float
    error: float
    answered: int
    seed: int


def people(path: str | Path) -> pd.DataFrame:
    """Everybody, with ``group``, the number of the subgroup among all combinations."""
    frame = load_adult(path)
    codes = [np.unique(frame[name].to_numpy().astype(str), return_inverse=True) for name in BY]
    group = np.ravel_multi_index(tuple(code for _, code in codes), tuple(len(levels) for levels, _ in codes))
    return frame.assign(group=group)


def table(everybody: pd.DataFrame, seed: Sequence[int]) -> Table:
    """One draw of judged and labelled people."""
    rng = np.random.default_rng(list(seed))
    drawn = everybody.iloc[rng.choice(len(everybody), round(DRAWN * len(everybody)), replace=False)]
    labelled = rng.random(len(drawn)) < LABELLED
    levels = [np.unique(everybody[name].to_numpy().astype(str)).tolist() for name in BY]
    attributes = pd.DataFrame(list(itertools.product(*levels)), columns=list(BY))
    group, outcome, decision = (drawn[name].to_numpy().astype(np.int64) for name in ("group", "income", "predicted"))
    judged, cells = np.zeros((len(attributes), 2)), np.zeros((len(attributes), 2, 2))
    np.add.at(judged, (group, decision), 1)
    np.add.at(cells, (group[labelled], outcome[labelled], decision[labelled]), 1)
    incomes = everybody.groupby("group")["income"]
    truth = incomes.mean().where(incomes.size() >= MIN_PEOPLE).reindex(range(len(attributes)))
    return Table(attributes, judged, cells, {"prev": truth.to_numpy(dtype=np.float64)})


def lines(everybody: pd.DataFrame, draw: int, seed: int = SEED) -> list[Line]:
    """Lines of the record of one draw."""
    given, made = table(everybody, (seed, draw)), []
    truth = given.truth["prev"]
    scored = (given.judged.sum(axis=1) > 0) & np.isfinite(truth)
    enough = (given.cells.sum(axis=(1, 2)) >= 2) & scored
    for (method, metric), (estimate, lower, upper) in answers(given, seed + draw).items():
        finite = np.isfinite(lower) & np.isfinite(estimate)
        for labels, chosen in _chosen(enough, scored, truth) if metric == "prev" else ():
            some = finite & chosen
            covered = (lower[some] <= truth[some]) & (truth[some] <= upper[some])
            numbers = (covered, (upper - lower)[some], np.abs(estimate - truth)[some])
            coverage, width, error = (float(values.mean()) if some.any() else float("nan") for values in numbers)
            made.append(Line(draw, method, labels, coverage, width, error, int(some.sum()), seed))
    return made


def _chosen(enough: BoolArray, scored: BoolArray, truth: FloatArray) -> list[tuple[str, BoolArray]]:
    """Subgroups by their labels and by their rate."""
    frequent = np.nan_to_num(truth) >= RARE
    parts = (enough, ~enough & scored, enough & frequent, ~enough & scored & frequent)
    return list(zip(LABELS, parts, strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=DRAWS)
    given = parser.parse_args(arguments)
    everybody = people(given.data)
    write_text(given.output, as_csv([line for draw in range(given.draws) for line in lines(everybody, draw)]))


if __name__ == "__main__":
    main()
