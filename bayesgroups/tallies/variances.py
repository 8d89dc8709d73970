"""Sampling variances in closed form: the exact bootstrap, and one row variance pooled over subgroups."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bayesgroups.data.arrays import FloatArray

Pooling = Literal["corrected", "published", "published_rows"]
NULL_AUC_VARIANCE = 1 / 12
"""Row variance of an AUC of one half without ties."""


def mean_inverse_count(rows: FloatArray, count: FloatArray) -> FloatArray:
    """E[1/M given M > 0] for M ~ Binomial(rows, count / rows), count <= rows: what a bootstrap of the rows divides by.

    A conditional rate (FNR among positives) has a random denominator when rows are resampled. With ``count == rows`` the
    denominator is fixed and the value is 1 / rows; a count of 0 gives NaN. Exact sums up to an expected denominator of 100;
    beyond that a series in its inverse with error below 1e-9.
    """
    rows, count = np.broadcast_arrays(np.asarray(rows, dtype=np.float64), np.asarray(count, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        q = 1 - count / rows
        # Eulerian polynomials in q: the inverse-moment series of the binomial.
        series = (1 / count) * (
            1
            + q / count
            + q * (1 + q) / count**2
            + q * (1 + 4 * q + q**2) / count**3
            + q * (1 + 11 * q + 11 * q**2 + q**3) / count**4
        )
    value = np.where(count > 0, series, np.nan)
    small = (count > 0) & (count < rows) & (count <= 100)
    pairs, where = np.unique(np.stack([rows[small], count[small]]), axis=1, return_inverse=True)
    exact = np.array([_inverse_moment(int(n), d / n) for n, d in pairs.T])
    value[small] = exact[where] if len(exact) else []
    return value


def _inverse_moment(n: int, p: float) -> float:
    top = min(n, int(n * p + 12 * np.sqrt(n * p) + 60))
    m = np.arange(1, top + 1)
    log_ratio = np.log((n - m + 1) / m) + np.log(p) - np.log1p(-p)
    log_mass = n * np.log1p(-p) + np.cumsum(log_ratio)
    mass = np.exp(log_mass)
    return float((mass / m).sum() / -np.expm1(n * np.log1p(-p)))


def pooled(
    row_variance: FloatArray,
    count: FloatArray,
    bootstrap_variance: FloatArray,
    rows: FloatArray,
    total_variance: float,
    *,
    pooling: Pooling = "corrected",
) -> float:
    """One row variance for all subgroups of a metric, sigma^2 in Var(estimate_a) = sigma^2 / count_a, from arrays (subgroup,).

    ``row_variance`` has divisor count - 1, ``count`` is effective, ``bootstrap_variance`` exact; ``total_variance``, of all rows
    ignoring subgroups, is taken when no subgroup has two rows or none has any spread. NaN when no subgroup has a row that counts.
    ``corrected`` is the within-subgroup mean square, sum (d - 1) s^2 / sum (d - 1); ``published`` sum d (d b) / sum d with b the
    bootstrap variance, low by about K/n; ``published_rows`` the same with rows for denominators. Herlihy, Truong, Chouldechova,
    Dudik (2024), Eq 6, with its bias corrected.
    """
    if not (count > 0).any():
        return float("nan")
    if pooling == "corrected":
        use = np.isfinite(row_variance)
        freedom = np.where(use, count - 1, 0.0)
        variance = _ratio(float((freedom[use] * row_variance[use]).sum()), float(freedom.sum()))
    else:
        size = rows if pooling == "published_rows" else count
        use = (size > 0) & np.isfinite(bootstrap_variance)
        variance = _ratio(float((size[use] ** 2 * bootstrap_variance[use]).sum()), float(size[use].sum()))
    return variance if variance > 0 else float(total_variance)


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else 0.0
