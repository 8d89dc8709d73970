"""Coverage of intervals for differences, ratios and odds ratios of two rates, by enumerating every outcome: nothing is drawn.

    python -m tests.recovery.studies.contrast_coverage --output tests/recovery/records/contrast_coverage.csv

For every pair of sizes and of rates each outcome (k1, k2) has its binomial probability, and the coverage is the sum over outcomes
whose limits hold the true contrast. Outcomes less likely than 1e-12 are left out. Katz's and Woolf's limits do not exist where a
cell is empty: such outcomes count as not covered, and their probability is recorded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile
from bayesgroups.frequentist.intervals.odds_ratios import mover_odds_ratio, score_odds_ratio, woolf
from bayesgroups.frequentist.intervals.proportions import mid_p_limits, wilson_limits
from bayesgroups.frequentist.intervals.rate_differences import newcombe, score_difference
from bayesgroups.frequentist.intervals.rate_ratios import katz, mover_ratio, score_ratio
from bayesgroups.frequentist.intervals.weighted_rates import mover_sum
from examples.records import as_csv, write

PROGRAM = "tests.recovery.studies.contrast_coverage"
LEVEL = 0.95
SIZES = (
    (5, 5), (10, 10), (20, 20), (50, 50), (100, 100), (200, 200), (500, 500), (5, 50), (10, 100), (20, 500), (50, 500),
    (50, 5), (500, 20),
)  # fmt: skip
"""Rows of both sides."""
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
EXPECTED = 5
"""Successes and failures that a side expects where methods for large samples are commonly used."""
TIE = 1e-9
"""Coverages that differ by less are equal: processors round them differently."""
NEGLIGIBLE = 1e-12
Limits = Callable[[FloatArray, FloatArray, FloatArray, FloatArray, float], Interval]


def _mover(k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: float) -> Interval:
    return mover_ratio(k1 / n1, wilson_limits(k1 / n1, n1, z), k2 / n2, wilson_limits(k2 / n2, n2, z))


def _mid_p(k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: float) -> tuple[Any, ...]:
    """Both rates, each with its mid-p limits."""
    a, b = k1 / n1, k2 / n2
    return a, mid_p_limits(a, n1, z), b, mid_p_limits(b, n2, z)


def _mid_p_difference(*table: Any) -> Interval:
    a, of_a, b, of_b = _mid_p(*table)
    lower, upper = (np.stack(pair, axis=-1) for pair in ((of_a.lower, of_b.lower), (of_a.upper, of_b.upper)))
    return Interval(*mover_sum(np.stack((a, b), axis=-1), lower, upper, np.array([1.0, -1.0])))


METHODS: dict[str, tuple[str, Limits]] = {
    "newcombe": ("difference", newcombe),
    "miettinen_nurminen": ("difference", score_difference),
    "mee": ("difference", lambda *table: score_difference(*table, corrected=False)),
    "koopman": ("ratio", score_ratio),
    "mover_ratio": ("ratio", _mover),
    "katz": ("ratio", katz),
    "mid_p_difference": ("difference", _mid_p_difference),
    "mid_p_ratio": ("ratio", lambda *table: mover_ratio(*_mid_p(*table))),
    "mid_p_odds_ratio": ("odds_ratio", lambda *table: mover_odds_ratio(*_mid_p(*table))),
    "score_odds_ratio": ("odds_ratio", score_odds_ratio),
    "woolf": ("odds_ratio", woolf),
}


@dataclass(frozen=True)
class Line:
    """Coverage of a method with these sizes, over pairs of rates: mean, smallest (and where), and smallest of equal rates.

    ``smallest_at`` is the first of the pairs where it is smallest; pairs turned round cover alike where sizes are equal.
    ``smallest_of_five`` is the smallest where both sides expect five successes and five failures; NaN where no pair does.
    ``below_93`` is the share of pairs of rates with a coverage below .93; ``undefined`` the largest probability of an outcome
    that has no limits.
    """

    method: str
    rows: int
    rows_of_reference: int
    coverage: float
    smallest: float
    smallest_at: str
    smallest_if_equal: float
    smallest_of_five: float
    below_93: float
    undefined: float


def coverages(method: str, n1: int, n2: int) -> tuple[FloatArray, FloatArray]:
    """Coverage, and probability of outcomes without limits, of a method for every pair of rates (rate, rate of reference)."""
    scale, limits = METHODS[method]
    laws = [_binomial(n) for n in (n1, n2)]
    shape = len(laws[0][0]), len(laws[1][0])
    k1, k2 = (part.ravel().astype(np.float64) for part in np.meshgrid(laws[0][0], laws[1][0], indexing="ij"))
    answer = limits(k1, np.full_like(k1, n1), k2, np.full_like(k2, n2), normal_quantile(LEVEL))
    lower, upper = answer.lower.reshape(shape), answer.upper.reshape(shape)
    covered, undefined = np.empty((len(RATES), len(RATES))), np.empty((len(RATES), len(RATES)))
    for i, a in enumerate(RATES):
        for j, b in enumerate(RATES):
            truth = {"difference": a - b, "ratio": a / b, "odds_ratio": a / (1 - a) / (b / (1 - b))}[scale]
            slack = 1e-9 * max(abs(truth), 1.0)  # a limit at the truth itself holds it
            holds = (lower <= truth + slack) & (upper >= truth - slack)
            covered[i, j] = laws[0][1][i] @ holds @ laws[1][1][j]
            undefined[i, j] = laws[0][1][i] @ np.isnan(lower) @ laws[1][1][j]
    return covered, undefined


def line(method: str, n1: int, n2: int) -> Line:
    """Line of the record."""
    covered, undefined = coverages(method, n1, n2)
    tied = covered <= covered.min() + TIE
    at = np.unravel_index(int(tied.argmax()), covered.shape)
    rates = f"{RATES[int(at[0])]:g} {RATES[int(at[1])]:g}"
    return Line(
        method, n1, n2, float(covered.mean()), float(covered.min()), rates, float(np.diag(covered).min()),
        _of_five(covered, n1, n2),
        float((covered < 0.93).mean()), float(undefined.max()),
    )  # fmt: skip


def _of_five(covered: FloatArray, n1: int, n2: int) -> float:
    enough = [np.array([min(n * rate, n * (1 - rate)) >= EXPECTED for rate in RATES]) for n in (n1, n2)]
    both = enough[0][:, None] & enough[1][None, :]
    return float(covered[both].min()) if both.any() else float("nan")


def study() -> list[Line]:
    """All lines."""
    return [line(method, *sizes) for method in METHODS for sizes in SIZES]


def _binomial(n: int) -> tuple[FloatArray, list[FloatArray]]:
    """Counts that matter, and their probabilities under every rate."""
    from scipy.stats import binom

    k = np.arange(n + 1)
    laws = [np.asarray(binom.pmf(k, n, rate), dtype=np.float64) for rate in RATES]
    kept = np.max(laws, axis=0) > NEGLIGIBLE
    return k[kept].astype(np.float64), [law[kept] for law in laws]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    command = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", description="Coverage of contrasts of two rates.")
    command.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    write(command.parse_args(arguments).output, as_csv(study()))


if __name__ == "__main__":
    main()
