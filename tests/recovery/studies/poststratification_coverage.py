"""Coverage of frequentist intervals for target populations, of every form of population.

    python -m tests.recovery.studies.poststratification_coverage --output tests/recovery/records/poststratification_coverage.csv

takes 16 minutes of one core. Six cells of two attributes, with true rates around .05 or .5 and as many rows as the design says.
Forms: ``known`` sizes, the ``survey`` variance, ``raked`` margins (rows are a simple random sample of a population whose joint
composition only its margins tell), a ``second sample`` of 200, ``finite`` populations of three times the rows, ``bounds`` where
a cell without rows has the value 1, ``means`` of skewed losses with Student's t, ``score`` or ``exact`` limits of known sizes, and
the first five again with mid-p limits in place of Wilson's.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.data.files import write_text
from examples.records import as_csv

WHO = pd.DataFrame({"race": np.repeat(["a", "b", "c"], 2), "sex": ["f", "m"] * 3})
PEOPLE = np.array([400, 100, 300, 150, 250, 200])
SHAPES = {"few": np.array([6, 12, 5, 15, 20, 8]), "many": np.array([30, 90, 40, 120, 100, 60])}
RATES = {
    "rare": np.array([0.02, 0.05, 0.08, 0.03, 0.1, 0.05]),
    "middle": np.array([0.3, 0.5, 0.6, 0.4, 0.7, 0.5]),
}
MID_P = {
    "mid-p": "known",
    "mid-p survey": "survey",
    "mid-p raked": "raked",
    "mid-p second sample": "second sample",
    "mid-p finite": "finite",
}
"""Forms with mid-p limits, and those they are of."""
FORMS = ("known", "survey", "raked", "second sample", "finite", "bounds", "means", "score", "exact", *MID_P)
SECOND_SAMPLE = 200
LEVEL = 0.95
REPLICATIONS = 400
SEED = 20_261_123


@dataclass(frozen=True)
class Line:
    """Coverage, its Monte Carlo error, the mean width of 95 % intervals, and the share of tables that had an interval."""

    form: str
    rates: str
    rows: str
    coverage: float
    mc_error: float
    width: float
    answered: float
    replications: int
    seed: int


def limits(form: str, rates: FloatArray, rows: IntArray, rng: np.random.Generator) -> tuple[float, float, float]:
    """Limits and truth of one simulated evaluation."""
    share = PEOPLE / PEOPLE.sum()
    truth, settings = float(share @ rates), dict[str, Any]()
    population: Any = WHO.assign(count=PEOPLE)
    if form in MID_P:
        settings["interval"], form = "mid_p", MID_P[form]
    if form == "means":
        return _means(rates, rows, rng)
    if form == "raked":
        rows = rng.multinomial(int(rows.sum()), share)
        population = {(name,): population.groupby(name, as_index=False)["count"].sum() for name in ("race", "sex")}
        if len(np.unique(WHO["race"][rows > 0])) < 3:
            return np.nan, np.nan, truth
    elif form == "second sample":
        population = bg.PopulationSample(WHO.assign(count=rng.multinomial(SECOND_SAMPLE, share)))
    elif form == "survey":
        settings["variance"] = "survey"
    elif form in ("score", "exact"):
        settings["interval"] = form
    elif form == "finite":
        population, settings["finite"] = WHO.assign(count=3 * rows), True
    elif form == "bounds":
        rows, rates = np.append(rows[:-1], 0), np.append(rates[:-1], 1.0)
        truth = float(share @ rates)
    successes = rng.binomial(rows, rates)
    if form == "finite":
        truth = float((successes + rng.binomial(2 * rows, rates)).sum() / (3 * rows).sum())
    tally = bg.tally_from_counts(successes, rows, WHO, metric="acc")
    return (*_interval(bg.poststratify(tally, population, **settings)), truth)


def _means(rates: FloatArray, rows: IntArray, rng: np.random.Generator) -> tuple[float, float, float]:
    """Exponential losses with the rates for their means."""
    frame = WHO.loc[np.repeat(np.arange(len(WHO)), rows)].assign(loss=rng.exponential(np.repeat(rates, rows)))
    tally = bg.tally(frame, ["race", "sex"], ["mean"], loss="loss")
    return (*_interval(bg.poststratify(tally, WHO.assign(count=PEOPLE))), float(PEOPLE @ rates / PEOPLE.sum()))


def _interval(report: xr.DataTree) -> tuple[float, float]:
    table = report["estimates"].to_dataset().sel(approach="frequentist", subgroup="all", level=LEVEL).isel(metric=0)
    return float(table["lower"]), float(table["upper"])


def line(form: str, rates: str, rows: str, replications: int = REPLICATIONS, seed: int = SEED) -> Line:
    """One line of the record; designs have streams of their own."""
    place = [FORMS.index(form), list(RATES).index(rates), list(SHAPES).index(rows)]
    answers = np.array(
        [
            limits(form, RATES[rates], SHAPES[rows], np.random.default_rng([seed, *place, i]))
            for i in range(replications)
        ]
    )
    answered = np.isfinite(answers).all(axis=1)
    low, high, truth = answers[answered].T
    covered = (low <= truth + 1e-12) & (truth <= high + 1e-12)
    share = float(covered.mean())
    error = float(np.sqrt(share * (1 - share) / len(covered)))
    return Line(form, rates, rows, share, error, float((high - low).mean()), float(answered.mean()), replications, seed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    designs = [(form, rates, rows) for form in FORMS for rates in RATES for rows in SHAPES]
    lines = [line(*design, given.replications, given.seed) for design in designs]
    write_text(given.output, as_csv(lines))


def read(path: Path) -> list[dict[str, str]]:
    """Lines of a record."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert lines
    assert list(lines[0]) == [field.name for field in fields(Line)]
    return lines


if __name__ == "__main__":
    main()
