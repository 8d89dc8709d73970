"""The level at which rows are analysed: every row by itself, rows within clusters, or clusters.

``ignore``
    Rows are independent, whatever cluster they come from.
``robust``
    The same estimates with honest widths: counts become effective numbers of rows, n / (1 + (sum_c n_c^2 / n - 1) rho) with the
    intraclass correlation rho of the metric, pooled over subgroups, so that every formula that divides by a count inherits
    them, and subgroups with a single cluster have a width too.
``mean``
    Every cluster counts once: the estimate is the mean of the cluster means, and counts are numbers of clusters. Another
    estimand than that of rows, unless cluster means have nothing to do with cluster sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.tallies import clusters, variances
from bayesgroups.tallies.clusters import ROUNDING, Cells
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.sums import Sums

ClusterAnalysis = Literal["robust", "mean", "ignore"]


@dataclass(frozen=True)
class Analysed:
    """Sums as an analysis sees them, arrays (metric, subgroup); what it does not change is as in `Sums`.

    ``kinds`` are those of the metrics, ``moments`` those of what is taken for independent, ``bootstrap`` the exact variance of
    the mean under the bootstrap, ``size`` the number of rows or clusters, whether they count or not, ``whole`` true if counts
    are whole numbers, ``freedom`` the degrees of freedom that a subgroup adds to the pooled variance, ``unit`` what the
    estimate averages, and ``alone`` the reason why a subgroup has no spread of its own.
    """

    kinds: tuple[str, ...]
    moments: Moments
    bootstrap: FloatArray
    size: FloatArray
    whole: bool
    freedom: FloatArray
    unit: Literal["row", "cluster"] = "row"
    alone: str = "one row"


@dataclass(frozen=True)
class ClusterFacts:
    """Facts about the clusters of one metric.

    ``number`` of clusters that count and ``robust_variance`` of the estimate of the analysis, both (subgroup,), and the
    intraclass ``correlation`` of rows.
    """

    number: FloatArray
    robust_variance: FloatArray
    correlation: float


def choose(analysis: ClusterAnalysis | None, cluster: str | None, pooling: str) -> ClusterAnalysis:
    """The analysis asked for, ``robust`` by default; an error where clusters or the pooling of variances do not fit it."""
    if cluster is None:
        if analysis is not None:
            raise InputError(f"cluster_analysis={analysis!r} needs cluster=, the column of the clusters")
        return "ignore"
    chosen: ClusterAnalysis = "robust" if analysis is None else analysis
    if chosen == "robust" and pooling != "corrected":
        raise InputError(
            f"pooled_variance={pooling!r} knows no clusters; use 'corrected', or cluster_analysis='mean' or 'ignore'"
        )
    return chosen


def analyse(sums: Sums, kinds: Sequence[str], analysis: ClusterAnalysis) -> Analysed:
    """Sums at the level asked for; without clusters there is but one."""
    if sums.clusters is None or analysis == "ignore":
        return _rows(sums, kinds)
    return _means(sums, kinds) if analysis == "mean" else _robust(sums, kinds)


def describe_clusters(sums: Sums, seen: Analysed, i: int, kind: str) -> ClusterFacts:
    """Facts about the clusters of metric i, of this kind by rows; not for an AUC, whose sums are scores."""
    cells, moments = cells_of(sums, i), sums.moments
    correlation = clusters.intraclass_correlation(cells, moments.mean[i], moments.scatter[i])
    mean, scatter = seen.moments.mean[i], seen.moments.scatter[i]
    asked = _once(cells, kind) if seen.unit == "cluster" else cells
    slope = 2 / (1 + mean) ** 2 if seen.kinds[i] == "f1" else 1.0
    robust = np.where((scatter == 0) & (asked.number > 1), 0.0, clusters.robust_variance(asked, mean))
    return ClusterFacts(cells.number, slope**2 * robust, correlation)


def cells_of(sums: Sums, i: int) -> Cells:
    """The clusters of one metric; all of weight 0 for an AUC, whose sums are scores."""
    assert sums.clusters is not None, "asked for with clusters only"
    clusters = sums.clusters
    return Cells(
        clusters.subgroup,
        np.nan_to_num(clusters.weight[i]),
        np.nan_to_num(clusters.total[i]),
        np.nan_to_num(clusters.squares[i]),
        len(sums.rows),
    )


def _rows(sums: Sums, kinds: Sequence[str]) -> Analysed:
    count = sums.moments.count
    if sums.weighted:
        with np.errstate(divide="ignore"):
            inverse = np.where(count > 0, 1 / count, np.nan)
    else:
        inverse = np.stack([variances.mean_inverse_count(sums.rows, counts) for counts in count])
    size = np.broadcast_to(sums.rows, count.shape)
    bootstrap = sums.moments.population_variance * inverse
    return Analysed(tuple(kinds), sums.moments, bootstrap, size, not sums.weighted, _freedom(sums.moments))


def _freedom(moments: Moments) -> FloatArray:
    return np.where(np.isfinite(moments.row_variance), moments.count - 1, 0.0)


def _robust(sums: Sums, kinds: Sequence[str]) -> Analysed:
    plain = _rows(sums, kinds)
    moments = sums.moments
    squares, bootstrap, freedom = moments.weight_squares.copy(), plain.bootstrap.copy(), plain.freedom.copy()
    for i, kind in enumerate(kinds):
        if kind == "auc":
            continue
        cells = cells_of(sums, i)
        rho = clusters.intraclass_correlation(cells, moments.mean[i], moments.scatter[i])
        squares[i] = clusters.effective_squares(cells, rho)
        flat = moments.scatter[i] == 0
        bootstrap[i] = np.where(flat, plain.bootstrap[i], clusters.bootstrap_variance(cells, moments.mean[i]))
        # Many rows of few clusters tell little of the variance between clusters, which matters most.
        freedom[i] = np.minimum(np.maximum(cells.number - 1, 0.0), np.maximum(moments.count[i] - 1, 0.0))
    seen = Moments(moments.weight, squares, moments.mean, moments.scatter)
    whole = plain.whole and np.array_equal(seen.count, moments.count)
    return Analysed(plain.kinds, seen, bootstrap, plain.size, whole, freedom, alone="one cluster")


def _means(sums: Sums, kinds: Sequence[str]) -> Analysed:
    """Moments of the cluster means, one row per cluster."""
    plain = _rows(sums, kinds)
    before = plain.moments
    moments = Moments(*(part.copy() for part in (before.weight, before.weight_squares, before.mean, before.scatter)))
    bootstrap, size = plain.bootstrap.copy(), plain.size.copy()
    for i, kind in enumerate(kinds):
        if kind == "auc":
            continue
        cells = _once(cells_of(sums, i), kind)
        value, counts, number = cells.total, cells.weight > 0, cells.number
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(number > 0, cells.add_up(value) / number, np.nan)
            deviation = np.where(counts, value - np.nan_to_num(mean)[cells.subgroup], 0.0)
            deviation[np.abs(deviation) <= ROUNDING * np.abs(value)] = 0.0
            scatter = cells.add_up(deviation**2)
            size[i] = cells.add_up(np.ones(len(value)))
            bootstrap[i] = scatter / number * variances.mean_inverse_count(size[i], number)
        moments.weight[i], moments.weight_squares[i] = number, number
        moments.mean[i], moments.scatter[i] = mean, scatter
    changed = tuple(kind if kind == "auc" else "mean" for kind in kinds)
    return Analysed(changed, moments, bootstrap, size, True, _freedom(moments), "cluster", "one cluster")


def _once(cells: Cells, kind: str) -> Cells:
    """The same clusters, each with one row: its mean, or its F1."""
    value, counts = np.nan_to_num(cells.mean), (cells.weight > 0).astype(np.float64)
    value = 2 * value / (1 + value) if kind == "f1" else value
    return Cells(cells.subgroup, counts, value, counts, cells.subgroups)
