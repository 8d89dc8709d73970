"""Coverage of every interval of the package at every level, on the designs of `designs`.

    python -m tests.recovery.studies.coverage --output tests/recovery/records/interval_coverage.csv

takes about three minutes on one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayesgroups.frequentist.intervals import Interval
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import parser, record
from examples.coverage_loop import covers, lines_of_designs, mean_and_error, require, size_classes
from tests.recovery.studies.designs import designs

PROGRAM = "tests.recovery.studies.coverage"
FloatArray = NDArray[np.float64]

SMALL = 25
"""Most rows of a small subgroup."""
REPLICATIONS = 24_000
SEED = 20_240_711
CHUNK = 1_000
"""Replications handled at once."""


@dataclass(frozen=True)
class Coverage:
    """One line of the record.

    Attributes
    ----------
    design, interval, size_class : str
        ``size_class`` is ``all``, ``small`` (at most 25 rows) or ``large``.
    level : float
        Nominal coverage.
    coverage, mc_error : float
        Share of (replication, subgroup) pairs whose truth is covered, and its Monte Carlo standard error.
    width_ratio : float
        Mean of the widths relative to those of the reference, the pooled or unshrunk normal interval.
    replications, seed : int
    """

    design: str
    interval: str
    size_class: str
    level: float
    coverage: float
    mc_error: float
    width_ratio: float
    replications: int
    seed: int


def study(replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE) -> list[Coverage]:
    """Measure coverage and width of every interval in every design.

    Parameters
    ----------
    replications : int
        Simulated evaluation sets per design, at least 2; Bayesian intervals are tried in one for every
        `designs.BAYESIAN_THINNING`, but in no fewer than 2.
    seed : int
        Source of randomness; every design has its own stream.
    executor : Executor
        Where designs are tried, each of them a piece, and their lines kept.

    Returns
    -------
    list of Coverage
        The same numbers for the same arguments.

    Raises
    ------
    InputError
        If there are fewer than two replications.

    Examples
    --------
    >>> from tests.recovery.studies.coverage import study
    >>> found = study(replications=2, seed=1)
    >>> sorted({line.design for line in found})
    ['normal_002', 'normal_01', 'rates', 'two_point_01']
    """
    require(replications)
    measure, settings = partial(_measure, replications, seed), {"seed": seed, "replications": replications}
    name, number = "coverage of intervals", len(list(designs()))
    return lines_of_designs(Coverage, name, measure, number, settings=settings, executor=executor)


def _measure(most: int, seed: int, position: int) -> list[Coverage]:
    design, rng = list(designs())[position], np.random.default_rng([seed, position])
    replications = max(most // design.thinning, 2)
    truth, z = design.draw(rng, replications)
    hits: dict[tuple[str, float], list[NDArray[np.bool_]]] = {}
    ratios: dict[tuple[str, float], list[FloatArray]] = {}
    for start in range(0, replications, CHUNK):
        block = slice(start, start + CHUNK)
        usual = {level: _width(design.reference(z[block], level)) for level in LEVELS}
        for name, intervals in design.intervals(z[block], rng):
            for level, interval in zip(LEVELS, intervals, strict=True):
                hits.setdefault((name, level), []).append(covers(interval.lower, interval.upper, truth[block]))
                ratios.setdefault((name, level), []).append(_width(interval) / usual[level])
    lines = []
    for (name, level), blocks in hits.items():
        covered, ratio = np.concatenate(blocks), np.concatenate(ratios[name, level])
        for size_class, members in size_classes(design.sizes <= SMALL).items():
            share, error = mean_and_error(covered[:, members].mean(axis=1))
            lines.append(
                Coverage(
                    design.name, name, size_class, level, share, error,
                    float(ratio[:, members].mean()), replications, seed,
                )
            )  # fmt: skip
    return lines


def _width(interval: Interval) -> FloatArray:
    return interval.upper - interval.lower


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Coverage of all intervals on simulated designs.", REPLICATIONS, SEED)
    record(asked.parse_args(arguments), study)


if __name__ == "__main__":
    main()
