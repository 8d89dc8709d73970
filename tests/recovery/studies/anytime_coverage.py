"""Share of sequences in which an interval of 95 % ever misses, when it is looked at after every row.

    python -m tests.recovery.studies.anytime_coverage --output tests/recovery/records/anytime_coverage.csv

takes five seconds of one core. Sequences of 3,000 rows: rates of .02, .1 and .5 by the prior-posterior ratio with the priors of
Jeffreys and the uniform one, and by Wilson; means of exponential losses by the normal mixture with the variance of the rows so
far and by Student's t, both from row 30 on.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.data.files import write_text
from bayesgroups.frequentist.anytime import MIN_ROWS
from bayesgroups.frequentist.intervals import anytime, means, proportions
from examples.records import as_csv

LEVEL = 0.95
LOOKS = 3_000
REPLICATIONS = 2_000
SEED = 20_261_123
PRIORS = {"anytime_beta": anytime.JEFFREYS, "anytime_beta_uniform": (1.0, 1.0)}
DESIGNS = [(f"rate {rate}", name) for rate in (0.02, 0.1, 0.5) for name in (*PRIORS, "wilson")]
DESIGNS += [("mean of exponential losses", name) for name in ("anytime_normal", "t")]


@dataclass(frozen=True)
class Line:
    """Share of sequences that an interval misses at any look, its Monte Carlo error, and the share it misses at the last one."""

    rows: str
    interval: str
    ever_missed: float
    mc_error: float
    missed_last: float
    looks: int
    replications: int
    seed: int


def rate_misses(successes: FloatArray, trials: FloatArray, truth: float, interval: str) -> BoolArray:
    """Looks at which the limits of a rate leave out the truth."""
    if interval == "wilson":
        limits = proportions.wilson(successes, trials, LEVEL)
        return (truth < limits.lower) | (truth > limits.upper)
    ratio = anytime.log_ratio(np.array(truth), successes, trials, PRIORS[interval])
    return np.asarray(ratio < np.log(1 - LEVEL))


def mean_misses(losses: FloatArray, truth: float, interval: str) -> BoolArray:
    """Looks from row 30 on at which the limits of a mean, with the variance of the rows so far, leave out the truth."""
    n = np.arange(1.0, losses.shape[-1] + 1)[MIN_ROWS - 1 :]
    total, squares = (part.cumsum(axis=-1)[..., MIN_ROWS - 1 :] for part in (losses, losses**2))
    estimate, variance = total / n, (squares - total**2 / n) / (n - 1)
    limits = (means.t if interval == "t" else anytime.mean)(estimate, variance, np.broadcast_to(n, total.shape), LEVEL)
    return (truth < limits.lower) | (truth > limits.upper)


def line(rows: str, interval: str, replications: int = REPLICATIONS, seed: int = SEED) -> Line:
    """One line of the record; intervals see the same sequences."""
    word, _, value = rows.partition(" ")
    missed = np.empty((replications, 2), dtype=bool)
    n = np.arange(1.0, LOOKS + 1)
    for i in range(replications):
        rng = np.random.default_rng([seed, i])
        if word == "rate":
            misses = rate_misses(
                (rng.random(LOOKS) < float(value)).cumsum().astype(np.float64), n, float(value), interval
            )
        else:
            misses = mean_misses(rng.exponential(size=LOOKS), 1.0, interval)
        missed[i] = misses.any(), misses[-1]
    share, last = missed.mean(axis=0).tolist()
    return Line(
        rows, interval, share, float(np.sqrt(share * (1 - share) / replications)), last, LOOKS, replications, seed
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    write_text(given.output, as_csv([line(*design, given.replications, given.seed) for design in DESIGNS]))


if __name__ == "__main__":
    main()
