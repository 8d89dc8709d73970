"""Coverage of the interaction share among 36 sparse strata, where the adjusted model of likelihood often has no variance left.

    python -m tests.recovery.studies.maihda_coverage --output tests/recovery/records/maihda_coverage.csv

takes about 20 minutes of one core. A table has 4 by 3 by 3 strata of 1 to 20 people. Logits are a centre, main effects with a
standard deviation of 0.5 and interactions whose standard deviation is 0.2, 0.5 or 1, one after the other, so that the share is of
these strata, by projection with equal weights.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit

import bayesgroups as bg
from bayesgroups.estimators import Estimator
from bayesgroups.questions.maihda import likelihood, posterior
from bayesgroups.questions.maihda.shares import project
from bayesgroups.questions.maihda.strata import strata_of
from examples.coverage_loop import require
from examples.records import as_csv, write

TABLES = 500
SEED = 20_261_123
SPREADS = (0.2, 0.5, 1.0)
MAIN = 0.5
CENTRE = -1.0
LEVEL = 0.95
WHO = pd.DataFrame(itertools.product("abcd", "fmx", "123"), columns=["race", "sex", "age"])
MODELS: dict[str, Estimator] = {
    "crossed": bg.CrossedEffects(own_effects="learned"),
    "main_effects": bg.CrossedEffects(order=1, own_effects="learned"),
    "regression": bg.PartialPooling(covariates=("race", "sex", "age")),
}


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    model : str
        Posterior that the share comes from, as in ``bg.maihda(model=...)``.
    coverage, mc_error, width : float
        Share of tables whose true share is within the 95 % limits, its Monte Carlo standard error, and the mean width.
    bias : float
        Mean of the estimate less the true share.
    usable : float
        Share of the tables whose exact fit passed its diagnostics; all of them are counted.
    boundary : float
        Share of the tables where maximum likelihood estimates the variance of the adjusted model as 0.
    tables, seed : int
    """

    model: str
    coverage: float
    mc_error: float
    width: float
    bias: float
    usable: float
    boundary: float
    tables: int
    seed: int


def table(seed: int, number: int) -> tuple[xr.Dataset, float]:
    """One table of counts and its true interaction share."""
    rng = np.random.default_rng([seed, number])
    eta = np.full(len(WHO), CENTRE) + SPREADS[number % len(SPREADS)] * rng.standard_normal(len(WHO))
    for name in WHO:
        levels = {level: MAIN * rng.standard_normal() for level in dict.fromkeys(WHO[name])}
        eta = eta + WHO[name].map(levels).to_numpy()
    count = rng.integers(1, 21, len(WHO))
    tally = bg.tally_from_counts(rng.binomial(count, expit(eta)), count, WHO, metric="fnr")
    truth = project(eta, strata_of(tally, None, "strata").columns(tuple(WHO)), np.ones(len(WHO)))
    return tally, float(truth.interaction_share)


def study(tables: int = TABLES, seed: int = SEED, *, models: Sequence[str] = tuple(MODELS)) -> list[Line]:
    """Measure the coverage of each model on the same tables.

    Parameters
    ----------
    tables : int
        Number of tables, 2 or more.
    seed : int
        Source of randomness; every table has its own stream.
    models : sequence of str
        Names of `MODELS`.

    Returns
    -------
    list of Line
        The same numbers for the same arguments, whichever other models are measured.
    """
    require(tables, 2)
    made = [table(seed, number) for number in range(tables)]
    strata = [strata_of(tally, None, "strata") for tally, _ in made]
    boundary = np.mean([likelihood.fit_one(each, each.adjust, "reml").boundary for each in strata])
    lines = []
    for name in models:
        rows = []
        for number, ((tally, truth), each) in enumerate(zip(made, strata, strict=True)):
            # A seed for every table: with one for all, Monte Carlo errors would not average out.
            report = bg.estimate(tally, MODELS[name], seed=seed + number, inference="collapsed")
            mu = report["posterior"].to_dataset()["mu"].values[:, :, 0].reshape(-1, len(WHO))
            share = posterior.of_shares(each, mu, LEVEL)[0]
            low, high = share["interaction_share_lower"], share["interaction_share_upper"]
            rows.append([low <= truth <= high, high - low, share["interaction_share"] - truth, report.attrs["usable"]])
        covered, width, bias, usable = np.array(rows, dtype=np.float64).T
        error = float(covered.std(ddof=1) / np.sqrt(tables))
        lines.append(
            Line(
                name, float(covered.mean()), error, float(width.mean()), float(bias.mean()), float(usable.mean()),
                float(boundary), tables, seed,
            )
        )  # fmt: skip
    return lines


def read(path: Path) -> list[Line]:
    """Lines of a record."""
    kinds = {field.name: {"str": str, "float": float, "int": int}[str(field.type)] for field in fields(Line)}
    with path.open(encoding="utf-8", newline="") as file:
        return [Line(**{name: kinds[name](text) for name, text in row.items()}) for row in csv.DictReader(file)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    write(given.output, as_csv(study(given.tables, given.seed)))


if __name__ == "__main__":
    main()
