"""Log likelihood of every subgroup at draws of its value, up to a constant; 0 where nothing was observed."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.prior_conflict import inside

MIN_STD_ERROR_SHARE = 1e-6
"""Floor of a standard error as a share of the largest one: estimates known exactly have no density."""


def value_likelihood(draws: xr.Dataset, tally: xr.Dataset, *, binomial: bool) -> FloatArray:
    """Log likelihood (draw, subgroup) of one metric: binomial, or normal with known sampling variances.

    Of the draws ``mu`` (sample, subgroup) is read; the tally has that metric alone.
    """
    mu = np.asarray(draws["mu"].transpose("sample", "subgroup").values, dtype=np.float64)
    if binomial:
        return binomial_likelihood(mu, _row(tally["successes"]), _row(tally["count"]))
    return _normal(mu, _row(tally["estimate"]), _row(tally["sampling_variance"]))


def binomial_likelihood(p: FloatArray, successes: FloatArray, count: FloatArray) -> FloatArray:
    """Log likelihood (draw, subgroup) of successes among a count, at rates ``p`` (draw, subgroup).

    >>> density = binomial_likelihood(np.array([[0.5, 0.3, 0.0]]), np.array([1.0, np.nan, 0.0]), np.array([2.0, 0.0, 4.0]))
    >>> (density.round(3) + 0.0).tolist()
    [[-1.386, 0.0, 0.0]]
    """
    observed = (count > 0) & np.isfinite(successes)
    k, n = np.where(observed, successes, 0.0), np.where(observed, count, 0.0)
    rate = inside(np.where(np.isfinite(p), p, 0.5))
    return np.asarray(k * np.log(rate) + (n - k) * np.log1p(-rate))


def cell_likelihood(draws: xr.Dataset, tally: xr.Dataset) -> FloatArray:
    """Multinomial log likelihood (draw, subgroup) of confusion cells, at draws of ``cell_share``, which all metrics share.

    Of rows without an outcome it is that of their decisions.
    """
    cells = ("outcome", "decision")
    share = np.asarray(draws["cell_share"].transpose("sample", "subgroup", *cells).values, dtype=np.float64)
    count = np.asarray(tally["cell_count"].transpose("subgroup", *cells).values, dtype=np.float64)
    log_share = np.log(np.maximum(share, np.finfo(np.float64).tiny))
    density = np.asarray((count * log_share).sum(axis=(2, 3)))
    if "decision_count" not in tally.data_vars:
        return density
    # Rows without an outcome: those of a decision beyond the labelled ones say what its share is.
    decided = np.asarray(tally["decision_count"].transpose("subgroup", "decision").values, dtype=np.float64)
    log_decided = np.log(np.maximum(share.sum(axis=2), np.finfo(np.float64).tiny))
    return density + np.asarray(((decided - count.sum(axis=1)) * log_decided).sum(axis=2))


def _normal(mu: FloatArray, estimate: FloatArray, variance: FloatArray) -> FloatArray:
    observed = np.isfinite(estimate) & np.isfinite(variance)
    spread = float(np.nanmax(np.where(observed, variance, np.nan), initial=0.0)) or 1.0
    precision = np.where(
        observed, 1 / np.maximum(np.where(observed, variance, 1.0), MIN_STD_ERROR_SHARE**2 * spread), 0.0
    )
    deviation = np.where(observed, mu - np.where(observed, estimate, 0.0), 0.0)
    return np.asarray(-0.5 * precision * deviation**2)


def _row(values: xr.DataArray) -> FloatArray:
    return np.asarray(values.values[0], dtype=np.float64)
