"""Coverage and error of the direction of two systems, pooled over subgroups with priors of several scales, and not pooled.

    python -m tests.recovery.studies.paired_direction --output tests/recovery/records/paired_direction.csv

takes ten minutes of one core. The direction of a subgroup is 2 T - 1, T the share of the discordant items that the first system
has right: the difference of the systems is the direction times the share of discordant items, which is a rate like any other.
Truths: logit T is a centre, Normal(0, .5), and effects of two attributes and of the subgroup itself with equal variances, whose
sum has the spread of the design as its standard deviation. Six subgroups are 2 x 3 levels, thirty are 5 x 6. The prior of
`bayesgroups.compare_systems` has scale .25.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.files import write_text
from bayesgroups.inference.collapsed import crossed_effects
from bayesgroups.inference.collapsed.conjugate import beta
from bayesgroups.inference.collapsed.paired_answers import FACTORS
from bayesgroups.models.shared.scales import JEFFREYS, LOGIT_OVERALL_SCALE
from examples.records import as_csv

LEVELS = {6: (2, 3), 30: (5, 6)}
REPLICATIONS = {6: 60, 30: 16}
DISCORDANT = (3, 10, 50)
SPREADS = (0.0, 0.25, 0.5, 1.0, 1.5)
PRIORS = ("none", "0.25", "0.5", "1.0")
CENTRE = 0.5
DRAWS = 1_000
SEED = 20_261_201
DESIGNS = [*itertools.product(LEVELS, DISCORDANT, SPREADS)]


@dataclass(frozen=True)
class Line:
    """Share of subgroups whose direction the limits of 95 % hold, its Monte Carlo error, their width, and mean absolute errors.

    ``farthest_coverage`` is that of the subgroup farthest from the centre in each data set, which pooling hurts the most;
    ``failed`` are data sets whose draws did not pass their checks.
    """

    subgroups: int
    discordant: int
    spread: float
    prior: str
    coverage: float
    mc_error: float
    farthest_coverage: float
    width: float
    error: float
    failed: int
    replications: int
    seed: int


def truths(subgroups: int, spread: float, rng: np.random.Generator) -> FloatArray:
    """Shares T of the subgroups of one data set."""
    first, second = LEVELS[subgroups]
    own = rng.normal(size=(first, second)) + rng.normal(size=(first, 1)) + rng.normal(size=(1, second))
    return np.asarray(expit(CENTRE * rng.normal() + spread / np.sqrt(3) * own).ravel(), dtype=np.float64)


def drawn(counts: FloatArray, trials: int, subgroups: int, prior: str, seed: int) -> tuple[FloatArray, bool]:
    """Draws (draw, subgroup) of T, and whether they passed their checks."""
    if prior == "none":
        n = np.full(subgroups, float(trials))
        return beta(counts, n, np.random.default_rng(seed), draws=4 * DRAWS, prior=JEFFREYS), True
    levels = list(itertools.product(*(map(str, range(size)) for size in LEVELS[subgroups])))
    table = pd.DataFrame(levels, columns=["x", "y"])
    tally = bg.tally_from_counts(counts, [trials] * subgroups, table, metric=FACTORS[1])
    fit = crossed_effects.sample(
        tally, seed=seed, draws=DRAWS, tau_scale=float(prior), overall_logit_sd=LOGIT_OVERALL_SCALE
    )
    passed = all(check.passed for check in fit.checks)
    return fit.draws["mu"].values.reshape(DRAWS, -1), passed


def lines(
    subgroups: int, discordant: int, spread: float, priors: Sequence[str] = PRIORS, replications: int | None = None,
    seed: int = SEED,
) -> list[Line]:  # fmt: skip
    """Lines of the record of one design; priors see the same data."""
    number = REPLICATIONS[subgroups] if replications is None else replications
    covered = np.empty((len(priors), number, subgroups))
    width, error, failed = np.empty_like(covered), np.empty_like(covered), np.zeros(len(priors), dtype=int)
    farthest = np.empty((len(priors), number))
    for i in range(number):
        rng = np.random.default_rng([seed, subgroups, discordant, round(100 * spread), i])
        share = truths(subgroups, spread, rng)
        counts, truth = rng.binomial(discordant, share).astype(np.float64), 2 * share - 1
        for p, prior in enumerate(priors):
            values, passed = drawn(counts, discordant, subgroups, prior, i)
            direction = 2 * values - 1
            lower, upper = np.quantile(direction, [0.025, 0.975], axis=0)
            covered[p, i] = (lower <= truth) & (truth <= upper)
            width[p, i], error[p, i] = upper - lower, np.abs(direction.mean(axis=0) - truth)
            farthest[p, i] = covered[p, i, np.argmax(np.abs(truth - truth.mean()))]
            failed[p] += not passed
    by_data_set = covered.mean(axis=2)
    spread_of_means = by_data_set.std(axis=1, ddof=1) if number > 1 else np.full(len(priors), np.nan)
    return [
        Line(
            subgroups, discordant, spread, prior, float(by_data_set[p].mean()), float(spread_of_means[p] / np.sqrt(number)),
            float(farthest[p].mean()), float(width[p].mean()), float(error[p].mean()), int(failed[p]), number, seed,
        )
        for p, prior in enumerate(priors)
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--replications", type=int)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    record = [line for design in DESIGNS for line in lines(*design, replications=given.replications, seed=given.seed)]
    write_text(given.output, as_csv(record))


if __name__ == "__main__":
    main()
