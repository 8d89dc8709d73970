"""Rows of one metric in every cell of a tally, as arrays: values, variances that are unbiased, and limits of rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile
from bayesgroups.frequentist.intervals.proportions import wilson
from bayesgroups.questions.sampling_variances import clusters_in_common, covariance_of
from bayesgroups.tallies.denominators import denominators
from bayesgroups.tallies.shared_clusters import MIN_CLUSTERS
from bayesgroups.tallies.subgroups import attributes_of


@dataclass(frozen=True, eq=False)
class Cells:
    """One metric in the cells (cell,) of a tally; NaN where there are no rows.

    ``weight`` are sums of the weights of rows (their number without weights) and ``count`` effective rows. ``variance`` is
    the unbiased variance of ``estimate`` from the cell's own rows, or its own clusters where they are 20, and from the
    pooled row variance where a second row is lacking or clusters are fewer; ``freedom`` are its degrees of freedom,
    infinite where it is known. ``columns`` are levels of attributes.
    """

    metric: str
    kind: str
    labels: TextArray
    columns: Mapping[str, TextArray]
    rows: FloatArray
    weight: FloatArray
    count: FloatArray
    estimate: FloatArray
    variance: FloatArray
    freedom: FloatArray
    range: tuple[float, float]
    weighted: bool
    clustered: bool
    covariance: FloatArray | None = None
    """Covariance (cell, cell) of errors that are correlated, because cells share clusters; NaN in cells without rows."""
    shared_clusters: FloatArray | None = None
    """Number of clusters (cell, cell) that two cells have in common, with a covariance; a cell's own on the diagonal."""

    @property
    def with_rows(self) -> BoolArray:
        """True where the metric has a value."""
        return np.asarray(np.isfinite(self.estimate))

    @property
    def values(self) -> FloatArray:
        """Estimates with 0 where there is none, to be multiplied by a weight of 0."""
        return np.where(self.with_rows, self.estimate, 0.0)

    @property
    def scatter(self) -> FloatArray:
        """Sum of squared deviations of the rows of each cell from their mean."""
        return np.where(self.with_rows & (self.count > 1), self.variance * self.count * (self.count - 1), 0.0)

    @property
    def spread(self) -> FloatArray:
        """Variances, and of a rate without any those behind its Wilson limits, so that 0 of 3 is no certainty."""
        if self.kind != "rate":
            return self.variance
        limits, quantile = wilson_limits(self.estimate, self.count, 0.95), normal_quantile(0.95)
        return np.where(self.variance > 0, self.variance, ((limits.upper - limits.lower) / (2 * quantile)) ** 2)


def wilson_limits(estimate: FloatArray, count: FloatArray, level: float) -> Interval:
    """Wilson limits of rates; the rate itself where the count is infinite, for then it is known."""
    certain = np.isinf(count)
    finite = np.where(certain, 1.0, count)
    limits = wilson(estimate * finite, finite, level)
    return Interval(np.where(certain, estimate, limits.lower), np.where(certain, estimate, limits.upper))


def read_cells(tally: xr.Dataset, position: int) -> Cells:
    """Cells of the metric of a tally at a position."""
    table = tally.isel(metric=position)
    kind = str(table["kind"].values)
    count, estimate, row_variance, pooled = (
        np.asarray(table[name].values, dtype=np.float64)
        for name in ("count", "estimate", "row_variance", "sampling_variance")
    )
    freedom_pooled = float(table["pooled_df"])
    clustered = "cluster_analysis" in table.data_vars and str(table["cluster_analysis"].values) != "ignore"
    if kind == "estimate":
        variance, freedom = pooled, np.full(count.shape, np.inf)
    else:
        alone = ~np.isfinite(row_variance) | (count <= 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(alone, pooled, row_variance / count)
        freedom = np.where(alone, freedom_pooled if freedom_pooled > 0 else np.inf, count - 1)
        if clustered:
            robust, clusters = table["cluster_robust_variance"].values, table["cluster_count"].values
            many = np.isfinite(robust) & (clusters >= MIN_CLUSTERS)
            variance, freedom = np.where(many, robust, pooled), np.where(many, clusters - 1, freedom_pooled)
    covariance = covariance_of(table, np.isfinite(estimate))
    if covariance is not None:
        variance, freedom = np.diagonal(covariance), table["cluster_count"].values - 1.0
    return Cells(
        metric=str(table["metric"].values),
        kind=kind,
        labels=np.asarray(table["subgroup"].values).astype(str),
        columns={name: np.asarray(tally[name].values).astype(str) for name in attributes_of(tally)},
        rows=np.asarray(table["rows"].values, dtype=np.float64),
        weight=denominators(table),
        count=np.where(np.isfinite(count), count, 0.0),
        estimate=estimate,
        variance=variance,
        freedom=freedom,
        range=(float(table["range_lower"]), float(table["range_upper"])),
        weighted="weight" in table.data_vars,
        clustered=clustered,
        covariance=covariance,
        shared_clusters=None if covariance is None else clusters_in_common(table),
    )


def shares_clusters(tally: xr.Dataset) -> bool:
    """True if rows of one cluster are in several cells, so that cells err together and a tally does not hold by how much."""
    if "cluster_label" not in tally:
        return False
    labels = tally["cluster_label"].values
    return len(np.unique(labels)) < len(labels)
