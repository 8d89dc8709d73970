"""Estimates of cells with their sampling errors, as contrasts of a tally take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.intervals.proportions import wilson_limits
from bayesgroups.questions.sampling_variances import read_estimates


@dataclass(frozen=True, eq=False)
class CellEstimates:
    """Estimates of one metric (cell,), NaN in cells that take no part.

    ``rate`` tells of a rate of independent rows, with ``successes`` of ``count``; ``variance`` is unbiased from the rows of the
    cell, and from the pooled row variance where those are one or all alike, which is no evidence of certainty.
    ``freedom_count`` are the rows behind a variance, infinite where it is known.
    """

    rate: bool
    value: FloatArray
    count: FloatArray
    successes: FloatArray
    variance: FloatArray
    freedom_count: FloatArray

    def wilson(self, z: float) -> Interval:
        """Wilson limits of the cells."""
        return wilson_limits(self.value, self.count, z)


def read_cells(table: xr.Dataset, position: int) -> CellEstimates:
    """Estimates of the cells of a tally in the metric at a position."""
    estimates = read_estimates(table, position)
    metric = table.isel(metric=position)

    def spread(values: FloatArray) -> FloatArray:
        along = np.full(estimates.used.shape, np.nan)
        along[estimates.used] = values
        return along

    variance = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    rows_known = estimates.kind in ("rate", "mean")
    return CellEstimates(
        estimates.binomial, spread(estimates.y), spread(estimates.count),
        np.where(estimates.used, metric["successes"].values, np.nan), spread(variance),
        spread(estimates.count if rows_known else np.full(estimates.y.shape, np.inf)),
    )  # fmt: skip
