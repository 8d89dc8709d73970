"""Sufficient statistics of weighted means, and their sums over parts of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray


@dataclass(frozen=True)
class Moments:
    """Moments of the row values of each metric in each subgroup, arrays (metric, subgroup).

    ``weight`` is the sum of the weights of the rows that count (their number, when rows are not weighted), ``weight_squares``
    that of their squares, ``mean`` the weighted mean of the values (NaN where no row counts), and ``scatter`` the weighted sum of
    squared deviations from it.
    """

    weight: FloatArray
    weight_squares: FloatArray
    mean: FloatArray
    scatter: FloatArray

    @property
    def count(self) -> FloatArray:
        """Effective number of rows, (sum w)^2 / sum w^2 (Kish); the number of rows when all weigh the same."""
        with np.errstate(divide="ignore", invalid="ignore"):
            count = self.weight**2 / self.weight_squares
        return np.where(self.weight > 0, count, 0.0)

    @property
    def population_variance(self) -> FloatArray:
        """Variance of the row values with divisor n (v0 of the closed-form bootstrap), NaN where no row counts."""
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = self.scatter / self.weight
        return np.where(self.weight > 0, variance, np.nan)

    @property
    def row_variance(self) -> FloatArray:
        """Variance of the row values with divisor count - 1, NaN where fewer than two rows count."""
        count = self.count
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = self.population_variance * count / (count - 1)
        return np.where(count > 1 + 1e-9, variance, np.nan)


def add(first: Moments, second: Moments) -> Moments:
    """Moments of two parts of the data together (Chan, Golub and LeVeque 1983)."""
    weight = first.weight + second.weight
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(weight > 0, second.weight / weight, 0.0)
    mean_1, mean_2 = np.nan_to_num(first.mean), np.nan_to_num(second.mean)
    gap = mean_2 - mean_1
    return Moments(
        weight,
        first.weight_squares + second.weight_squares,
        np.where(weight > 0, mean_1 + gap * share, np.nan),
        first.scatter + second.scatter + gap**2 * first.weight * share,
    )
