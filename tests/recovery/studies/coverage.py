"""How often intervals cover: every interval of the package, every level, on the designs of `designs`.

    python -m tests.recovery.studies.coverage --output tests/recovery/records/interval_coverage.csv

takes about three minutes on one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import Interval
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import parser, record
from tests.recovery.studies.designs import Design, designs

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
    if replications < 2:
        raise InputError(f"replications={replications} must be 2 or more, to have a Monte Carlo error")
    work, settings = partial(_of_one, replications, seed), {"seed": seed, "replications": replications}
    found = executor.run("coverage of intervals", work, len(list(designs())), settings=settings)
    return [Coverage(**line) for lines in found for line in lines]


def _of_one(replications: int, seed: int, position: int) -> list[dict[str, Any]]:
    design, rng = list(designs())[position], np.random.default_rng([seed, position])
    return [asdict(line) for line in _measure(design, max(replications // design.thinning, 2), rng, seed)]


def _measure(design: Design, replications: int, rng: np.random.Generator, seed: int) -> list[Coverage]:
    truth, z = design.draw(rng, replications)
    hits: dict[tuple[str, float], list[NDArray[np.bool_]]] = {}
    ratios: dict[tuple[str, float], list[FloatArray]] = {}
    for start in range(0, replications, CHUNK):
        block = slice(start, start + CHUNK)
        usual = {level: _width(design.reference(z[block], level)) for level in LEVELS}
        for name, intervals in design.intervals(z[block], rng):
            for level, interval in zip(LEVELS, intervals, strict=True):
                hit = (interval.lower <= truth[block]) & (truth[block] <= interval.upper)
                hits.setdefault((name, level), []).append(hit)
                ratios.setdefault((name, level), []).append(_width(interval) / usual[level])
    small = design.sizes <= SMALL
    classes = {"all": np.ones(len(small), dtype=bool), "small": small, "large": ~small}
    lines = []
    for (name, level), blocks in hits.items():
        covered, ratio = np.concatenate(blocks), np.concatenate(ratios[name, level])
        for size_class, members in classes.items():
            share = covered[:, members].mean(axis=1)
            error = share.std(ddof=1) / np.sqrt(replications)
            lines.append(
                Coverage(
                    design.name, name, size_class, level, float(share.mean()), float(error),
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
