"""How often the frequentist intervals cover: simulated designs, every interval, every level.

    python -m bayesgroups.studies.coverage --output tests/recovery/records/interval_coverage.csv

Designs:

``rates``
    32 subgroups of 2 to 956 rows, the sizes of a published evaluation set; rates uniform on (.15, .35), drawn
    anew.
``normal_01``, ``normal_002``
    12 subgroups of 4 to 80 rows, row variance .2 known; true means Normal(0, .01) or Normal(0, .002).
``two_point_01``
    The same with two values, the upper one in a tenth of the subgroups, variance .01.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import Interval, fab, means, moments, morris, proportions, robust
from bayesgroups.levels import LEVELS

FloatArray = NDArray[np.float64]

SIZES = (2, 3, 3, 5, 5, 6, 6, 9, 15, 18, 19, 20, 21, 23, 27, 28, 31, 34, 58, 66, 80, 94, 153, 157, 202, 244,
         330, 432, 482, 525, 946, 956)  # fmt: skip
"""Rows per subgroup of the design ``rates``."""
SMALL = 25
"""Most rows of a small subgroup."""
RATES = (0.15, 0.35)
ROW_VARIANCE = 0.2
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
    mean_width_ratio : float
        Mean of the widths relative to those of the reference, the pooled or unshrunk normal interval.
    replications, seed : int
    """

    design: str
    interval: str
    size_class: str
    level: float
    coverage: float
    mc_error: float
    mean_width_ratio: float
    replications: int
    seed: int


@dataclass(frozen=True)
class Design:
    """A design: its sizes, how truth and data are drawn, and the intervals that are tried.

    ``draw(rng, replications)`` gives truth and estimates, both (replication, subgroup);
    ``intervals(estimates, level)`` yields names and intervals, the first of which is the reference for
    widths.
    """

    name: str
    sizes: FloatArray
    draw: Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]
    intervals: Callable[[FloatArray, float], Iterator[tuple[str, Interval]]]


def rates() -> Design:
    """Rates of 32 subgroups, and every interval of `bayesgroups.frequentist.no_pooling`."""
    sizes = np.array(SIZES, dtype=np.float64)

    def draw(rng: np.random.Generator, replications: int) -> tuple[FloatArray, FloatArray]:
        truth = rng.uniform(*RATES, size=(replications, len(sizes)))
        return truth, rng.binomial(sizes.astype(np.int64), truth) / sizes

    def intervals(z: FloatArray, level: float) -> Iterator[tuple[str, Interval]]:
        n = np.broadcast_to(sizes, z.shape)
        k, plain = np.round(z * n), z * (1 - z)
        scatter, freedom = (n * plain).sum(axis=-1, keepdims=True), float((sizes - 1).sum())
        corrected = scatter / freedom / n
        yield "pooled_normal", means.pooled_normal(z, corrected, level)
        yield "pooled_normal_published", means.pooled_normal(z, scatter / sizes.sum() / n, level)
        yield "pooled_t", means.pooled_t(z, corrected, freedom, level)
        yield "separate_normal", means.separate_normal(z, plain / n, level)
        yield "t", means.t(z, plain * n / (n - 1), n, level)
        yield "wilson", proportions.wilson(k, n, level)
        yield "jeffreys", proportions.jeffreys(k, n, level)
        yield "clopper_pearson", proportions.clopper_pearson(k, n, level)
        yield "wald", proportions.wald(k, n, level)
        yield "percentile", proportions.percentile(k, n, level)

    return Design("rates", sizes, draw, intervals)


def exchangeable(name: str, truth: Callable[[np.random.Generator, tuple[int, int]], FloatArray]) -> Design:
    """Twelve means with known sampling variances, and every interval of partial pooling.

    Parameters
    ----------
    name : str
        Name of the design.
    truth : callable
        ``truth(rng, shape)`` draws the true means.
    """
    sizes = np.geomspace(4, 80, 12)
    variance = ROW_VARIANCE / sizes

    def draw(rng: np.random.Generator, replications: int) -> tuple[FloatArray, FloatArray]:
        mu = truth(rng, (replications, len(sizes)))
        return mu, mu + np.sqrt(variance) * rng.standard_normal(mu.shape)

    def intervals(z: FloatArray, level: float) -> Iterator[tuple[str, Interval]]:
        v = np.broadcast_to(variance, z.shape)
        yield "unshrunk", means.pooled_normal(z, v, level)
        yield "plug_in", moments.interval(moments.fit(z, v), level)
        yield "morris", morris.interval(morris.fit(z, v), level)
        linear = robust.fit(z, v)
        yield "robust", robust.interval(linear, level)
        unbounded = dataclasses.replace(linear, kurtosis=np.full_like(linear.kurtosis, np.inf))
        yield "robust_any_kurtosis", robust.interval(unbounded, level)
        yield "fab", fab.interval(fab.fit(z, v), level)

    return Design(name, sizes, draw, intervals)


def designs() -> tuple[Design, ...]:
    """The designs of the record."""

    def normal(variance: float) -> Callable[[np.random.Generator, tuple[int, int]], FloatArray]:
        return lambda rng, shape: rng.normal(0.0, np.sqrt(variance), shape)

    def two_point(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        share = 0.1
        upper = rng.random(shape) < share
        mean: FloatArray = 0.1 * (upper - share) / np.sqrt(share * (1 - share))
        return mean

    return (
        rates(),
        exchangeable("normal_01", normal(0.01)),
        exchangeable("normal_002", normal(0.002)),
        exchangeable("two_point_01", two_point),
    )


def study(replications: int = REPLICATIONS, seed: int = SEED) -> list[Coverage]:
    """Measure coverage and width of every interval in every design.

    Parameters
    ----------
    replications : int
        Simulated evaluation sets per design, at least 2.
    seed : int
        Source of randomness; every design has its own stream.

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
    >>> from bayesgroups.studies.coverage import study
    >>> found = study(replications=20, seed=1)
    >>> sorted({line.design for line in found})
    ['normal_002', 'normal_01', 'rates', 'two_point_01']
    """
    if replications < 2:
        raise InputError(f"replications={replications} must be 2 or more, to have a Monte Carlo error")
    lines: list[Coverage] = []
    for position, design in enumerate(designs()):
        truth, z = design.draw(np.random.default_rng([seed, position]), replications)
        for level in LEVELS:
            lines += _measure(design, truth, z, level, seed)
    return lines


def _measure(design: Design, truth: FloatArray, z: FloatArray, level: float, seed: int) -> list[Coverage]:
    covered: dict[str, list[NDArray[np.bool_]]] = {}
    ratio: dict[str, list[FloatArray]] = {}
    for start in range(0, len(z), CHUNK):
        block = slice(start, start + CHUNK)
        reference: FloatArray | None = None
        for name, interval in design.intervals(z[block], level):
            width = interval.upper - interval.lower
            reference = width if reference is None else reference
            hit = (interval.lower <= truth[block]) & (truth[block] <= interval.upper)
            covered.setdefault(name, []).append(hit)
            ratio.setdefault(name, []).append(width / reference)
    small = design.sizes <= SMALL
    classes = {"all": np.ones(len(small), dtype=bool), "small": small, "large": ~small}
    lines = []
    for name, blocks in covered.items():
        hit, relative = np.concatenate(blocks), np.concatenate(ratio[name])
        for size_class, members in classes.items():
            share = hit[:, members].mean(axis=1)
            error = share.std(ddof=1) / np.sqrt(len(share))
            lines.append(
                Coverage(
                    design.name, name, size_class, level, float(share.mean()), float(error),
                    float(relative[:, members].mean()), len(z), seed,
                )
            )  # fmt: skip
    return lines


def as_csv(lines: Sequence[Coverage]) -> str:
    """The record as text: one header, one line each, six decimals.

    Parameters
    ----------
    lines : sequence of Coverage
        From `study`.

    Returns
    -------
    str

    Examples
    --------
    >>> print(as_csv([Coverage("rates", "wilson", "all", 0.9, 0.91, 0.002, 1.5, 100, 1)]).splitlines()[1])
    rates,wilson,all,0.9,0.910000,0.002000,1.500000,100,1
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in dataclasses.fields(Coverage)])
    measured = ("coverage", "mc_error", "mean_width_ratio")
    for line in lines:
        values = dataclasses.asdict(line)
        writer.writerow([f"{value:.6f}" if name in measured else value for name, value in values.items()])
    return text.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    program = "python -m bayesgroups.studies.coverage"
    parser = argparse.ArgumentParser(prog=program, description="Coverage of the frequentist intervals.")
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    text = as_csv(study(given.replications, given.seed))
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
