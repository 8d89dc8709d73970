"""Shortest intervals for the variance between subgroups, on the published designs whose rates differ.

    python -m examples.published.debiasing.shortest_intervals --output tests/recovery/records/shortest_intervals.csv

takes about two minutes on one core.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from bayesgroups.frequentist.intervals import Interval
from bayesgroups.questions.disparities import finite_population
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import parser, record
from examples.coverage_loop import covers, lines_of_designs, require, share_and_error
from examples.published.debiasing.meta_metrics import VarianceDesign, bootstrapped, designs

PROGRAM = "examples.published.debiasing.shortest_intervals"

BOOTSTRAP = "double_corrected, percentile (published)"
LEVELS = (0.95, 0.94, 0.93)
REPLICATIONS = 4000
SEED = 20_220_623


@dataclass(frozen=True)
class Length:
    """One line of the record.

    Attributes
    ----------
    design, interval : str
        ``least`` is no interval but `least_length`; ``error known`` is `known_error` about the unbiased estimate.
    level : float
        What the interval aims at.
    coverage, mc_error : float
        Share of the intervals that hold the truth and its Monte Carlo standard error; ``level`` and 0 for ``least``.
    length : float
        Mean length.
    replications, seed : int
    """

    design: str
    interval: str
    level: float
    coverage: float
    mc_error: float
    length: float
    replications: int
    seed: int


def least_length(design: VarianceDesign, level: float) -> float:
    """The length that no interval can stay below at all rates near those of the design, to first order.

    Parameters
    ----------
    design : VarianceDesign
        Whose rates are not all the same.
    level : float
        Coverage that the interval keeps at all those rates.

    Returns
    -------
    float
        2 z sqrt(sum_a g_a^2 / I_a): g_a = 2 (mu_a - mean) / (K - 1) is the derivative of the variance by a rate and
        I_a = n_a / (mu_a (1 - mu_a)) the information of its rows, so that the sum is the Cramer-Rao bound.

    References
    ----------
    Hajek (1972), local asymptotic minimax and admissibility in estimation, sixth Berkeley symposium, volume 1, 175-194.

    Examples
    --------
    >>> [round(least_length(designs()[3], level), 5) for level in (0.93, 0.95)]
    [0.01207, 0.01306]
    """
    gradient = 2 * (design.rate - design.rate.mean()) / (len(design.rate) - 1)
    bound = float((gradient**2 * design.rate * (1 - design.rate) / design.size).sum())
    return 2 * NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(bound)


def known_error(design: VarianceDesign) -> float:
    """The standard error that the unbiased estimate has, from the true rates.

    Examples
    --------
    >>> round(known_error(designs()[3]), 5)
    0.00343
    """
    k, n = len(design.rate), design.size
    v = design.rate * (1 - design.rate) / n
    deviation = design.rate - design.rate.mean()
    grows = 4 * float((deviation**2 * v).sum()) / (k - 1) ** 2
    pairs = (float(v.sum()) ** 2 - float((v**2).sum())) / 2
    stays = 2 * float((v**2 * n / (n - 1)).sum()) / k**2 + 4 * pairs / (k * (k - 1)) ** 2
    return math.sqrt(grows + stays)


def study(replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE) -> list[Length]:
    """Coverage and length of the bootstrap, of the unified interval at three levels, and what is possible.

    Parameters
    ----------
    replications : int
        Simulated evaluation sets per design, at least 2.
    seed : int
        Source of randomness; every design has its own stream.
    executor : Executor
        Where designs are tried, each of them a piece, and their lines kept.

    Returns
    -------
    list of Length

    Raises
    ------
    InputError
        If there are fewer than two replications.

    Examples
    --------
    >>> lines = study(2, 1)
    >>> [line.interval for line in lines[:4]]
    ['double_corrected, percentile (published)', 'corrected, unified', 'error known', 'least']
    """
    require(replications)
    measure, settings = partial(_measure, replications, seed), {"seed": seed, "replications": replications}
    name, number = "length of intervals for a variance", len(_unequal())
    return lines_of_designs(Length, name, measure, number, settings=settings, executor=executor)


def _unequal() -> list[VarianceDesign]:
    return designs()[2:]


def _measure(replications: int, seed: int, position: int) -> list[Length]:
    design, rng = _unequal()[position], np.random.default_rng([seed, position])
    n = design.size
    successes = rng.binomial(n.astype(np.int64), design.rate, size=(replications, len(n))).astype(np.float64)
    y = successes / n
    pooled = (n * y * (1 - y)).sum(axis=1, keepdims=True) / (n - 1).sum() / n
    spread = finite_population.of_rates(successes, n, y * (1 - y) / (n - 1), pooled)
    interval = next(answers.interval for answers in bootstrapped(y, n, rng) if answers.name == BOOTSTRAP)
    lines = [_line(design, BOOTSTRAP, 0.95, interval, seed)]
    for level in LEVELS:
        unified = finite_population.interval(spread, level)
        lines.append(_line(design, "corrected, unified", level, unified, seed))
        half = NormalDist().inv_cdf((1 + level) / 2) * known_error(design)
        lines.append(_line(design, "error known", level, Interval(spread.raw - half, spread.raw + half), seed))
        least = least_length(design, level)
        lines.append(Length(design.name, "least", level, level, 0.0, least, replications, seed))
    return lines


def _line(design: VarianceDesign, name: str, level: float, interval: Interval, seed: int) -> Length:
    share, error = share_and_error(covers(interval.lower, interval.upper, design.truth))
    length = float((interval.upper - interval.lower).mean())
    return Length(design.name, name, level, share, error, length, len(interval.lower), seed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "How short intervals for a variance can be.", REPLICATIONS, SEED)
    record(asked.parse_args(arguments), study)


if __name__ == "__main__":
    main()
