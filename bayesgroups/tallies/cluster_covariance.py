"""Covariance of the means of subgroups whose rows come from the same clusters (items, templates, persons), of one metric.

Cluster c has rows of total weight W_ca and sum T_ca in subgroup a, with mean m_a and residual sums r_ca = T_ca - W_ca m_a. By the
clusters themselves, with f_a = sqrt(S_a / (S_a - 1)) for S_a clusters, and by two correlations of rows of one cluster, rho in one
subgroup and gamma in two,

    V_ab = f_a f_b sum_c r_ca r_cb / (n_a n_b)
    V_ab = s^2 gamma sum_c W_ca W_cb / (n_a n_b),     V_aa = s^2 [rho sum_c W_ca^2 + (1 - rho) q_a] / n_a^2

with q_a the sum of squared weights of rows. The first is a Gram matrix, and gamma is at most rho and no smaller than leaves the
second one without a negative variance of any contrast. The diagonal of the first is the cluster-robust variance. Of a balanced
matched design the variance of a difference is that of the paired t test, by the second one pooled over all pairs of subgroups.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies.clusters import ROUNDING, Cells


def residual_table(cells: Cells, cluster: NDArray[np.intp], mean: FloatArray) -> FloatArray:
    """Residual sums (cluster, subgroup), 0 where a cluster has no row of a subgroup."""
    table = np.zeros((int(cluster.max(initial=-1)) + 1, cells.subgroups))
    np.add.at(table, (cluster, cells.subgroup), cells.residuals(mean))
    return table


def weight_table(cells: Cells, cluster: NDArray[np.intp]) -> FloatArray:
    """Weights of rows (cluster, subgroup)."""
    table = np.zeros((int(cluster.max(initial=-1)) + 1, cells.subgroups))
    np.add.at(table, (cluster, cells.subgroup), cells.weight)
    return table


def robust_covariance(residuals: FloatArray, weights: FloatArray, *, corrected: bool = True) -> FloatArray:
    """Covariance (subgroup, subgroup) from residual sums and weights (cluster, subgroup); NaN where a subgroup has one cluster.

    ``corrected`` has the factors of the numbers of clusters; without them it is the one that two-way clusters add up.

    >>> sums, one = np.array([[0.5, 0.1], [0.2, 0.3], [0.8, 0.9]]), np.ones((3, 2))
    >>> V = robust_covariance(sums - sums.mean(axis=0), one)
    >>> paired = (sums[:, 1] - sums[:, 0]).std(ddof=1) / 3**0.5
    >>> bool(np.isclose(np.sqrt(V[0, 0] + V[1, 1] - 2 * V[0, 1]), paired))
    True
    """
    number, total = (weights > 0).sum(axis=0), weights.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.sqrt(number / (number - 1)) if corrected else np.ones(len(number))
        scaled = np.where((number > 1) & (total > 0), factor / total, np.nan) * residuals
    return np.asarray(scaled.T @ scaled, dtype=np.float64)


def correlation_between(residuals: FloatArray, weights: FloatArray, row_variance: float) -> float:
    """Correlation of two rows of one cluster in different subgroups, by moments pooled over all pairs of subgroups.

    Sums of products of residual sums over their expectation at a correlation of 1, which is the variance of a row times

    sum_c W_ca W_cb (1 - W_ca / n_a - W_cb / n_b) + (sum_c W_ca W_cb)^2 / (n_a n_b)

    and S - 1 where S clusters have a row each in both. Not bounded; 0 where no two subgroups share two clusters, or nothing varies.
    ``residuals`` and ``weights`` are (cluster, subgroup).

    >>> sums = np.array([[1.0, 1.0], [2.0, 2.0], [6.0, 6.0]])
    >>> round(correlation_between(sums - sums.mean(axis=0), np.ones((3, 2)), sums[:, 0].var(ddof=1)), 12)
    1.0
    """
    total = weights.sum(axis=0)
    shares = weights / np.where(total > 0, total, 1.0)
    together = weights.T @ weights
    expected = (
        together
        - weights.T @ (weights * shares)
        - (weights * shares).T @ weights
        + shares.T @ weights * (weights.T @ shares)
    )
    pairs = np.triu_indices(len(total), 1)
    if row_variance <= 0 or expected[pairs].sum() <= ROUNDING * together[pairs].sum():
        return 0.0
    return float((residuals.T @ residuals)[pairs].sum() / (row_variance * expected[pairs].sum()))


def pooled_covariance(
    weights: FloatArray, row_squares: FloatArray, row_variance: float, within: float, between: float
) -> FloatArray:
    """Covariance (subgroup, subgroup) by one variance of rows, and correlations of rows of a cluster within and between subgroups.

    ``weights`` (cluster, subgroup) and ``row_squares`` (subgroup,), sums of squared weights of rows; NaN where there are no rows.
    ``between`` is taken no larger than ``within``, and no smaller than leaves every contrast a variance.

    >>> pooled_covariance(np.ones((4, 2)), np.full(2, 4.0), 1.0, 0.5, 0.25).tolist()
    [[0.25, 0.0625], [0.0625, 0.25]]
    """
    total = weights.sum(axis=0)
    some = total > 0
    shares = weights / np.where(some, total, 1.0)
    alone = row_squares / np.where(some, total, 1.0) ** 2
    together = shares.T @ shares
    variances = within * np.diagonal(together) + (1 - within) * alone
    off = together - np.diag(np.diagonal(together))
    root = np.sqrt(np.where(variances > 0, variances, 1.0))
    lowest = -1 / max(float(np.linalg.eigvalsh(off / np.outer(root, root))[-1]), 1.0)
    covariance = row_variance * (np.clip(between, lowest, within) * off + np.diag(variances))
    return np.asarray(np.where(np.outer(some, some), covariance, np.nan))


def two_way_covariance(first: FloatArray, second: FloatArray, both: FloatArray) -> FloatArray:
    """Covariance by two kinds of clusters that cross (items and templates): first + second - both, negative eigenvalues at 0.

    Each is a covariance by clusters of one kind, ``both`` by the combinations of the two. Cameron, Gelbach, Miller (2011),
    doi:10.1198/jbes.2010.07136.

    >>> two_way_covariance(np.diag([2.0, 1.0]), np.diag([1.0, 0.5]), np.diag([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    whole = first + second - both
    values, vectors = np.linalg.eigh((whole + whole.T) / 2)
    if (values >= 0).all():
        return np.asarray(whole)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
