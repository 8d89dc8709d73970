"""Everything that is added up over the rows, and nothing that is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies import auc, moments
from bayesgroups.tallies.auc import ScoreCells
from bayesgroups.tallies.moments import Moments


@dataclass(frozen=True)
class Features:
    """Weighted sums ``total`` (subgroup, feature) of numeric columns and the sum of the weights (subgroup,)."""

    names: tuple[str, ...]
    total: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class Clusters:
    """Sums per subgroup and cluster, sorted by both.

    ``subgroup``, ``label`` and ``rows`` have shape (cluster_cell,); ``weight`` of the rows that count, ``total`` of their
    weighted values and ``squares`` of their weights have shape (metric, cluster_cell).
    """

    subgroup: NDArray[np.intp]
    label: NDArray[np.str_]
    rows: FloatArray
    weight: FloatArray
    total: FloatArray
    squares: FloatArray


@dataclass(frozen=True)
class Sums:
    """Sums of a table of rows: ``rows`` (subgroup,), ``moments`` (metric, subgroup), and the rest where asked for.

    The moments of an AUC are empty; its sufficient statistics are the score cells.
    """

    rows: FloatArray
    moments: Moments
    weighted: bool
    scores: ScoreCells | None = None
    features: Features | None = None
    clusters: Clusters | None = None


def add(first: Sums, second: Sums) -> Sums:
    """Sums of two parts of the data together, laid out over the same subgroups and metrics."""
    return Sums(
        rows=first.rows + second.rows,
        moments=moments.add(first.moments, second.moments),
        weighted=first.weighted,
        scores=_add_scores(first.scores, second.scores),
        features=_add_features(first.features, second.features),
        clusters=add_clusters(first.clusters, second.clusters),
    )


def _add_scores(first: ScoreCells | None, second: ScoreCells | None) -> ScoreCells | None:
    if first is None or second is None:
        return None
    names = ("subgroup", "score", "positives", "negatives", "positive_squares", "negative_squares")
    return auc.sort_cells(ScoreCells(*(np.concatenate([getattr(first, n), getattr(second, n)]) for n in names)))


def _add_features(first: Features | None, second: Features | None) -> Features | None:
    if first is None or second is None:
        return None
    return Features(first.names, first.total + second.total, first.weight + second.weight)


def add_clusters(first: Clusters | None, second: Clusters | None) -> Clusters | None:
    """Add the sums of clusters that occur in both parts."""
    if first is None or second is None:
        return None
    subgroup = np.concatenate([first.subgroup, second.subgroup])
    label = np.concatenate([first.label, second.label])
    order = np.lexsort((label, subgroup))
    subgroup, label = subgroup[order], label[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (subgroup[1:] != subgroup[:-1]) | (label[1:] != label[:-1])
    start = np.flatnonzero(new)

    def total(mine: FloatArray, other: FloatArray) -> FloatArray:
        joined = np.concatenate([mine, other], axis=-1)[..., order]
        return np.asarray(np.add.reduceat(joined, start, axis=-1), dtype=np.float64)

    return Clusters(
        subgroup[start],
        label[start],
        total(first.rows, second.rows),
        total(first.weight, second.weight),
        total(first.total, second.total),
        total(first.squares, second.squares),
    )
