"""Coverage of intervals when rows come in clusters, for each analysis of the clusters.

    python -m tests.recovery.studies.clusters --output tests/recovery/records/cluster_coverage.csv

takes about three minutes on one core. Ten subgroups have 1 to 40 clusters each, clusters have 1 to 16 rows whatever their
level, and two rows of a cluster are correlated by .3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist import no_pooling, partial_pooling
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.tallies.analyses import ClusterAnalysis
from bayesgroups.tallies.assembly import Description, assemble
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.subgroups import Subgroups
from bayesgroups.tallies.sums import Clusters, Sums
from examples.commands import parser, record
from examples.coverage_loop import covers, lines_of_designs, mean_and_error, require

PROGRAM = "tests.recovery.studies.clusters"
Law = Literal["mean", "rate"]

CLUSTERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 40)
"""Clusters of each subgroup."""
SIZES = (1, 2, 4, 8, 16)
"""Rows of a cluster, drawn with equal chances."""
CORRELATION = 0.3
FEW = 4
"""Most clusters of a subgroup that has few."""
REPLICATIONS = 2_000
SEED = 20_250_301


@dataclass(frozen=True)
class ClusterCoverage:
    """One line of the record.

    Attributes
    ----------
    law : {"mean", "rate"}
        Values of rows: normal with variance 1, or 0 and 1.
    analysis, interval : str
    clusters : {"all", "one", "few", "many"}
        Subgroups with 1, 2 to 4, or more clusters.
    level : float
        Nominal coverage.
    coverage, mc_error : float
        Share of (replication, subgroup) pairs whose truth is covered, and its Monte Carlo standard error.
    width : float
        Mean width of the intervals.
    replications, seed : int
    """

    law: str
    analysis: str
    interval: str
    clusters: str
    level: float
    coverage: float
    mc_error: float
    width: float
    replications: int
    seed: int


def study(replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE) -> list[ClusterCoverage]:
    """Measure the coverage of every interval under every analysis.

    Parameters
    ----------
    replications : int
        Simulated evaluation sets per law, at least 2.
    seed : int
        Source of randomness; every law has its own stream.
    executor : Executor
        Where laws are tried, each of them a piece, and their lines kept.

    Returns
    -------
    list of ClusterCoverage
        The same numbers for the same arguments.

    Raises
    ------
    InputError
        If there are fewer than two replications.

    Examples
    --------
    >>> from tests.recovery.studies.clusters import study
    >>> found = study(replications=2, seed=1)
    >>> sorted({(line.analysis, line.interval) for line in found if line.law == "rate"})[:3]
    [('ignore', 'morris'), ('ignore', 'wilson'), ('mean', 'cluster_robust')]
    """
    require(replications)
    measure, settings = partial(_measure, replications, seed), {"seed": seed, "replications": replications}
    name, number = "coverage of intervals under clusters", len(get_args(Law))
    return lines_of_designs(ClusterCoverage, name, measure, number, settings=settings, executor=executor)


def draw(law: Law, rng: np.random.Generator) -> tuple[FloatArray, Sums]:
    """True values of the subgroups and one evaluation set.

    Parameters
    ----------
    law : {"mean", "rate"}
        Normal values with variance 1, or beta-binomial counts; either way rows of a cluster correlate by `CORRELATION`.
    rng : np.random.Generator
        Source of randomness.

    Returns
    -------
    truth : array (subgroup,)
    sums : Sums
        Of one metric.

    Examples
    --------
    >>> truth, sums = draw("rate", np.random.default_rng(1))
    >>> truth.shape, sums.clusters.rows.shape
    ((10,), (116,))
    """
    groups = len(CLUSTERS)
    owner = np.repeat(np.arange(groups), CLUSTERS)
    size = rng.choice(SIZES, len(owner)).astype(np.float64)
    if law == "mean":
        truth = rng.normal(0.0, 0.3, groups)
        within = np.sqrt(1 - CORRELATION)
        level = truth[owner] + np.sqrt(CORRELATION) * rng.standard_normal(len(owner))
        mean = level + within / np.sqrt(size) * rng.standard_normal(len(owner))
        inside = within**2 * rng.chisquare(np.maximum(size - 1, 1)) * (size > 1)
    else:
        truth = rng.uniform(0.15, 0.35, groups)
        strength = 1 / CORRELATION - 1
        level = rng.beta(truth[owner] * strength, (1 - truth[owner]) * strength)
        mean = rng.binomial(size.astype(np.int64), level) / size
        inside = size * mean * (1 - mean)
    total = np.bincount(owner, weights=size * mean)
    rows = np.bincount(owner, weights=size)
    z = total / rows
    scatter = np.bincount(owner, weights=inside + size * (mean - z[owner]) ** 2)
    if law == "rate":
        scatter = rows * z * (1 - z)
    labels = np.arange(len(owner)).astype(str)
    cells = Clusters(owner, labels, size, size[None], (size * mean)[None], size[None])
    return truth, Sums(rows, Moments(rows[None], rows[None], z[None], scatter[None]), False, clusters=cells)


def _tally(law: Law, sums: Sums, analysis: ClusterAnalysis) -> xr.Dataset:
    limits = (0.0, 1.0) if law == "rate" else (-np.inf, np.inf)
    metric = Description(law, law, *limits, larger_is_better=False, undefined="no rows")
    subgroups = Subgroups(("group",), tuple((str(g),) for g in range(len(sums.rows))))
    return assemble(subgroups, [metric], sums, cluster_analysis=analysis, settings={})


def _tried(law: Law, analysis: ClusterAnalysis) -> dict[str, Callable[[xr.Dataset], xr.Dataset]]:
    """The intervals of one analysis: the default one, the one of clusters, and the one of empirical Bayes."""
    usual: Literal["wilson", "pooled_t"] = "wilson" if law == "rate" and analysis != "mean" else "pooled_t"
    tried: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
        usual: lambda tally: no_pooling.estimate(tally, interval=usual),
        "morris": lambda tally: partial_pooling.estimate(tally, interval="morris"),
    }
    if analysis != "ignore":
        tried["cluster_robust"] = lambda tally: no_pooling.estimate(tally, interval="cluster_robust")
    return tried


def _measure(replications: int, seed: int, position: int) -> list[ClusterCoverage]:
    law: Law = get_args(Law)[position]
    rng = np.random.default_rng([seed, 0 if law == "mean" else 1])
    number, shape = np.array(CLUSTERS), (replications, len(CLUSTERS), len(LEVELS))
    tried = {(analysis, name): ask for analysis in _analyses() for name, ask in _tried(law, analysis).items()}
    hits = {key: np.zeros(shape, dtype=bool) for key in tried}
    widths = {key: np.zeros(shape) for key in tried}
    for r in range(replications):
        truth, sums = draw(law, rng)
        tallies = {analysis: _tally(law, sums, analysis) for analysis in _analyses()}
        for key, ask in tried.items():
            found = ask(tallies[key[0]]).isel(metric=0)
            lower, upper = found["lower"].values, found["upper"].values
            hits[key][r] = covers(lower, upper, truth[:, None])
            widths[key][r] = upper - lower
    classes = {"all": number > 0, "one": number == 1, "few": (number > 1) & (number <= FEW), "many": number > FEW}
    lines = []
    for key in tried:
        for name, members in classes.items():
            for i, level in enumerate(LEVELS):
                share, error = mean_and_error(hits[key][:, members, i].mean(axis=1))
                width = float(widths[key][:, members, i].mean())
                lines.append(ClusterCoverage(law, *key, name, level, share, error, width, replications, seed))
    return lines


def _analyses() -> list[ClusterAnalysis]:
    order: list[ClusterAnalysis] = ["ignore", "robust", "mean"]
    assert set(order) == set(get_args(ClusterAnalysis)), "every analysis is tried"
    return order


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Coverage of intervals when rows come in clusters.", REPLICATIONS, SEED)
    record(asked.parse_args(arguments), study)


if __name__ == "__main__":
    main()
