"""Estimates of cells with their sampling errors, as contrasts of a tally take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.intervals.proportions import mid_p_limits, wilson_limits
from bayesgroups.questions.sampling_variances import clusters_in_common, covariance_of, read_estimates


@dataclass(frozen=True, eq=False)
class CellEstimates:
    """Estimates of one metric (cell,), NaN in cells that take no part.

    ``rate`` tells of a rate whose cells are independent, with ``successes`` of ``count``, both effective ones where rows have
    weights or come in clusters; ``variance`` is unbiased from the rows of the cell, and from the pooled row variance where those
    are one or all alike, which is no evidence of certainty.
    ``freedom_count`` are the rows behind a variance, infinite where it is known.
    """

    rate: bool
    value: FloatArray
    count: FloatArray
    successes: FloatArray
    variance: FloatArray
    freedom_count: FloatArray
    covariance: FloatArray | None = None
    """Covariance (cell, cell) of errors that are correlated, because subgroups share clusters; NaN in cells that take no part."""
    shared_clusters: FloatArray | None = None
    """Number of clusters (cell, cell) that two cells have in common, with a covariance; a cell's own on the diagonal."""

    def correlated_factor(self, gradient: FloatArray) -> FloatArray:
        """Factor (contrast, source) of contrasts with a gradient (contrast, cell), by the covariance of the cells."""
        assert self.covariance is not None, "asked for with a covariance only"
        some = np.isfinite(np.diagonal(self.covariance))
        values, vectors = np.linalg.eigh(np.where(some[:, None] & some, self.covariance, 0.0))
        parts = np.nan_to_num(gradient) @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        lost = ((gradient != 0) & ~(some & np.isfinite(gradient))).any(axis=1)
        return np.where(lost[:, None], np.nan, parts)

    def limits(self, z: float, *, exact: bool) -> tuple[Interval, str]:
        """Limits of the rates of the cells and the name of their method: Wilson's, or mid-p."""
        if exact:
            return mid_p_limits(self.value, self.count, z), "mid_p"
        return wilson_limits(self.value, self.count, z), "wilson"


def read_cells(table: xr.Dataset, position: int) -> CellEstimates:
    """Estimates of the cells of a tally in the metric at a position."""
    estimates = read_estimates(table, position)
    metric = table.isel(metric=position)

    def spread(values: FloatArray) -> FloatArray:
        along = np.full(estimates.used.shape, np.nan)
        along[estimates.used] = values
        return along

    variance, covariance = (
        np.where(estimates.v > 0, estimates.v, estimates.pooled),
        covariance_of(metric, estimates.used),
    )
    rows_known = estimates.kind in ("rate", "mean")
    return CellEstimates(
        estimates.kind == "rate" and covariance is None, spread(estimates.y), spread(estimates.count),
        np.where(estimates.used, metric["successes"].values, np.nan),
        spread(variance) if covariance is None else np.diagonal(covariance),
        np.where(estimates.used, metric["cluster_count"].values, np.nan) if covariance is not None
        else spread(estimates.count if rows_known else np.full(estimates.y.shape, np.inf)),
        covariance, None if covariance is None else clusters_in_common(metric),
    )  # fmt: skip
