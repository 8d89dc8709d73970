"""Simulation-based calibration of values for target populations, through the report that users get.

    python -m tests.recovery.studies.poststratification_calibration --output tests/recovery/records/sbc_poststratification.csv

takes four minutes of one core. Rates of the cells come from the prior of partial pooling, which fits them; targets are
weighted with sizes far from the rows, one cell has people and no rows. Quantities are ``all``, ``race=a``, ``sex=f`` with known
sizes, ``finite`` (the rate of all people of a population twice the size of the evaluation), and ``sampled``: shares from a flat
Dirichlet distribution that are known from a second sample, to which the same prior is given; and the ``difference`` and ``ratio``
of women and men at equal race, by `bayesgroups.contrasts`, whose probability beyond the truth tells its rank. The record has the
rank of each true value among `DRAWS` draws, one line per simulated table.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.files import write_text
from examples.records import rows_as_csv

QUANTITIES = ("all", "race=a", "sex=f", "finite", "sampled", "difference", "ratio")
WHO = pd.DataFrame({"race": np.repeat(["a", "b", "c"], 2), "sex": ["f", "m"] * 3})
ROWS = np.array([3, 20, 8, 60, 150, 0])
PEOPLE = np.array([400, 100, 300, 50, 100, 200])
SECOND_SAMPLE = 80
PRIOR_SCALES = (1.5, 0.5)
"""Scales of the priors of centre and spread, those of `bayesgroups.PartialPooling`."""
DRAWS = 999
REPLICATIONS = 500
SEED = 20_261_123


def replication(number: int, seed: int = SEED) -> dict[str, int]:
    """Rank of every quantity of one simulated table among its draws."""
    rng = np.random.default_rng([seed, number])
    centre, spread = PRIOR_SCALES[0] * rng.standard_normal(), PRIOR_SCALES[1] * abs(rng.standard_normal())
    rates = 1 / (1 + np.exp(-(centre + spread * rng.standard_normal(len(ROWS)))))
    successes = rng.binomial(ROWS, rates)
    report = bg.estimate(bg.tally_from_counts(successes, ROWS, WHO, metric="acc"), bg.PartialPooling(), seed=number)
    known = bg.poststratify(report, WHO.assign(count=PEOPLE), by=["race", "sex"], seed=number)
    twice = np.where(ROWS > 0, 2 * ROWS, 30)
    finite = bg.poststratify(report, WHO.assign(count=twice), finite=True, seed=number)
    shares = rng.dirichlet(np.ones(len(ROWS)))
    counts = rng.multinomial(SECOND_SAMPLE, shares)
    second = bg.PopulationSample(WHO.assign(count=counts), prior=float(len(ROWS)))
    sampled = bg.poststratify(report, second, seed=number)

    def mean(inside: NDArray[np.bool_]) -> float:
        return float(np.average(rates[inside], weights=PEOPLE[inside]))

    unseen = rng.binomial(twice - ROWS, rates)
    truth = {
        "all": mean(ROWS >= 0),
        "race=a": mean((WHO["race"] == "a").to_numpy()),
        "sex=f": mean((WHO["sex"] == "f").to_numpy()),
        "finite": float((successes + unseen).sum() / twice.sum()),
        "sampled": float(shares @ rates),
    }
    race = np.array([PEOPLE[WHO["race"] == level].sum() for level in "abc"])
    women, men = (float(np.average(rates[sex::2], weights=race)) for sex in (0, 1))
    draws = {name: _drawn(known, name) for name in QUANTITIES[:3]}
    draws |= {"finite": _drawn(finite, "all"), "sampled": _drawn(sampled, "all")}
    ranks = {name: _rank(draws[name], truth[name], rng) for name in draws}
    return {name: ranks[name] for name in QUANTITIES[:5]} | _contrasted(report, women - men, women / men)


def _contrasted(report: xr.DataTree, difference: float, ratio: float) -> dict[str, int]:
    """Ranks of contrasts, from the share of all draws beyond the truth: below it where it is below equality, else above it."""
    truth = {"difference": (difference, 0.0), "ratio": (ratio, 1.0)}
    answer = bg.contrasts(
        report, {"sex": "m"}, within="race", scale=("difference", "ratio"), population=WHO.assign(count=PEOPLE), imputed="include",
        thresholds={name: (value,) for name, (value, _) in truth.items()}, simultaneous=False, using="posterior",
    )  # fmt: skip
    line = answer.sel(approach="bayesian", metric="acc", contrast="sex=f against sex=m at equal race")
    number = report["posterior"].to_dataset()["mu"].isel(metric=0, subgroup=0).size
    ranks = {}
    for name, (value, equal) in truth.items():
        share = float(line["probability_beyond"].sel(scale=name, threshold=value).squeeze())
        below = round((share if value < equal else 1 - share) * number)
        ranks[name] = below * (DRAWS + 1) // (number + 1)
    return ranks


def _drawn(report: xr.DataTree, target: str) -> FloatArray:
    values = report["posterior"].to_dataset()["mu"].sel(subgroup=target).values.ravel()
    return np.asarray(values[:DRAWS], dtype=np.float64)


def _rank(draws: FloatArray, truth: float, rng: np.random.Generator) -> int:
    """Draws below the truth; those that equal it, but for rounding, count at random."""
    equal = int((np.abs(draws - truth) < 1e-12).sum())
    return int((draws < truth - 1e-12).sum()) + int(rng.integers(0, equal + 1))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    lines = [[number, *replication(number, given.seed).values()] for number in range(given.replications)]
    write_text(given.output, rows_as_csv([["replication", *QUANTITIES], *lines]))


def read(path: Path) -> dict[str, NDArray[np.int64]]:
    """Ranks (replication,) of a record by quantity."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {name: np.array([int(line[name]) for line in lines]) for name in QUANTITIES}


if __name__ == "__main__":
    main()
