"""Clustered rows: intraclass correlation, effective counts, cluster-robust variances.

Within one subgroup cluster c has rows of total weight w_c (their number n_c, when rows are not weighted), weighted sum t_c
and mean m_c = t_c / w_c. All functions here handle one metric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.tallies.variances import mean_inverse_count

ROUNDING = 1e-12
"""Share of the scatter below which what is left within clusters is rounding."""


@dataclass(frozen=True)
class Cells:
    """Clusters of one metric within their subgroups.

    ``subgroup``, ``weight``, ``total`` and ``squares`` (sums of squared weights of rows) have shape (cluster_cell,);
    ``subgroups`` is the number of subgroups. Cells without a row that counts have weight 0.
    """

    subgroup: NDArray[np.intp]
    weight: FloatArray
    total: FloatArray
    squares: FloatArray
    subgroups: int

    def add_up(self, values: FloatArray) -> FloatArray:
        """Sums over the clusters of each subgroup, (subgroup,)."""
        return np.bincount(self.subgroup, weights=values, minlength=self.subgroups).astype(np.float64)

    @property
    def number(self) -> FloatArray:
        """Clusters with a row that counts, (subgroup,)."""
        return self.add_up((self.weight > 0).astype(np.float64))

    @property
    def mean(self) -> FloatArray:
        """Mean of each cluster, NaN where no row counts, (cluster_cell,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.weight > 0, self.total / self.weight, np.nan)

    def residuals(self, mean: FloatArray) -> FloatArray:
        """Residual sums t_c - w_c mean, (cluster_cell,), given the subgroup means (subgroup,)."""
        return np.asarray(self.total - self.weight * np.nan_to_num(mean)[self.subgroup], dtype=np.float64)


def intraclass_correlation(cells: Cells, mean: FloatArray, scatter: FloatArray) -> float:
    """Correlation of two rows of one cluster, by analysis of variance within subgroups, pooled over them, in [0, 1].

    With variances b between and s within clusters, the sums of squares between and within clusters have expectations
    ``b sum(w - sum_c w_c^2 / w) + s sum(sum_c q_c / w_c - q / w)`` and ``s sum(w - sum_c q_c / w_c)``, where w are weights of
    rows, q their squares and the outer sums run over subgroups; the correlation is b / (b + s). Negative estimates are set to 0;
    NaN where the rows cannot tell: no cluster has two rows, no subgroup two clusters, or nothing varies. Donner (1986),
    doi:10.2307/1403259, gives (MSB - MSW) / (MSB + (n0 - 1) MSW) for one group, which this is.
    """
    some = cells.weight > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        between = cells.add_up(np.where(some, cells.residuals(mean) ** 2 / cells.weight, 0.0)).sum()
        shares = cells.add_up(np.where(some, cells.squares / cells.weight, 0.0))
        weight, squares = cells.add_up(cells.weight), cells.add_up(cells.squares)
        used = weight > 0
        rows = np.where(used, squares / weight, 0.0)
        clusters = np.where(used, cells.add_up(cells.weight**2) / weight, 0.0)
    free_within, free_between = (weight - shares)[used].sum(), (weight - clusters)[used].sum()
    everything, total = weight.sum(), float(np.nansum(scatter))
    varies = total > ROUNDING**2 * float((weight * np.nan_to_num(mean) ** 2).sum())
    if not varies or free_within <= ROUNDING * everything or free_between <= ROUNDING * everything:
        return float("nan")
    between = np.minimum(between, total)
    left = total - between
    within = left / free_within if left > ROUNDING * total else 0.0
    across = max((between - within * (shares - rows)[used].sum()) / free_between, 0.0)
    return float(across / (across + within)) if across + within > 0 else float("nan")


def effective_squares(cells: Cells, correlation: float) -> FloatArray:
    """Sums of squared weights, (subgroup,), by which (sum w)^2 / them is the effective number of rows.

    Rows of one cluster correlated by rho make the variance of a mean sigma^2 (rho sum_c w_c^2 + (1 - rho) q) / w^2, so that the
    effective number of n rows is n / (1 + (sum_c n_c^2 / n - 1) rho); Kish (1965), Survey Sampling, chapter 5. Where the rows
    cannot tell rho, a cluster counts as one row.
    """
    rho = 1.0 if np.isnan(correlation) else correlation
    of_rows, of_clusters = cells.add_up(cells.squares), cells.add_up(cells.weight**2)
    return np.asarray(of_rows + rho * (of_clusters - of_rows), dtype=np.float64)


def robust_variance(cells: Cells, mean: FloatArray) -> FloatArray:
    """Variance of the mean of each subgroup from its own clusters, whatever their correlation; NaN below two clusters.

    S / (S - 1) sum_c (t_c - w_c mean)^2 / w^2 with S clusters: the linearised variance of a ratio of two sums over clusters.
    Liang and Zeger (1986), doi:10.1093/biomet/73.1.13; Cochran (1977), Sampling Techniques, section 9A.
    """
    number = cells.number
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(number > 1, number / (number - 1) * _spread(cells, mean), np.nan)


def bootstrap_variance(cells: Cells, mean: FloatArray) -> FloatArray:
    """Variance of the mean when the clusters of each subgroup are resampled, to first order, (subgroup,).

    Exact when all clusters that count have one weight; clusters without a row that counts make the number of the others
    random, which `mean_inverse_count` covers.
    """
    all_clusters = cells.add_up(np.ones(len(cells.subgroup)))
    inverse = mean_inverse_count(all_clusters, cells.number)
    return np.asarray(_spread(cells, mean) * cells.number * inverse, dtype=np.float64)


def _spread(cells: Cells, mean: FloatArray) -> FloatArray:
    """Sum of squared residual sums over squared weight, (subgroup,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(cells.add_up(cells.residuals(mean) ** 2) / cells.add_up(cells.weight) ** 2, dtype=np.float64)
