"""Frequentist reference of systems on the same items: values, differences, their errors and limits, from sums of a tally.

Differences of right and wrong answers have the limits and tests of paired counts; differences of means, and of items in
clusters, are means of differences, with t limits of one degree of freedom less than items or clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import paired_rates
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile
from bayesgroups.frequentist.intervals.proportions import wilson_limits

PairedInterval = Literal["newcombe", "tango", "wald"]


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences of pairs, arrays (pair, subgroup): estimates, standard errors and p-values.

    ``cells`` (2, 2, pair, subgroup) are counts by whether the first and the second are right, where there are any.
    """

    estimate: FloatArray
    std_error: FloatArray
    p_value: FloatArray
    items: FloatArray
    units: FloatArray
    unmatched: FloatArray
    cells: FloatArray | None

    @property
    def discordant(self) -> FloatArray:
        """Items that one system of the pair has right and the other one wrong; NaN of means."""
        return np.full(self.estimate.shape, np.nan) if self.cells is None else self.cells[1, 0] + self.cells[0, 1]

    def limits(self, z: FloatArray | float, interval: PairedInterval) -> Interval:
        """Limits with a critical value of the normal distribution, or that of t with the same probability."""
        if self.cells is None:
            return around(self.estimate, _t_value(z, self.units - 1) * self.std_error)
        first, second = self.cells[1, 0], self.cells[0, 1]
        if interval == "newcombe":
            return paired_rates.paired_newcombe(self.cells[1, 1], first, second, self.cells[0, 0], z)
        limits = paired_rates.paired_tango if interval == "tango" else paired_rates.paired_wald
        return limits(first, second, self.items, z)


def differences(tally: xr.Dataset, prefix: str = "") -> Differences:
    """Differences of the pairs of a tally of systems; ``prefix`` is ``overall_`` for those of all subgroups together."""
    units, items, total, squares, products, item_squares = np.moveaxis(_array(tally, f"{prefix}pair_sums"), 1, 0)
    unmatched = _array(tally, f"{prefix}unmatched")
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = total / items
        if f"{prefix}pair_count" in tally:
            cells = np.moveaxis(_array(tally, f"{prefix}pair_count"), 0, 2)
            first, second = cells[1, 0], cells[0, 1]
            error = paired_rates.wald_error(first, second, items)
            p = np.where(items > 0, paired_rates.mcnemar(first, second), np.nan)
            return Differences(estimate, error, p, items, units, unmatched, cells)
        scatter = np.maximum(squares - 2 * estimate * products + estimate**2 * item_squares, 0.0)
        error = np.where(units > 1, np.sqrt(units / (units - 1) * scatter) / items, np.nan)
    return Differences(estimate, error, _t_test(estimate, error, units - 1), items, units, unmatched, None)


@dataclass(frozen=True, eq=False)
class SystemValues:
    """Values of systems over items that all of them have: ``estimate`` (system, subgroup), ``covariance`` of the estimates.

    ``covariance`` is (subgroup, system, system), NaN below two items or clusters; ``units`` and ``items`` are (subgroup,).
    """

    estimate: FloatArray
    covariance: FloatArray
    units: FloatArray
    items: FloatArray
    rates: bool

    def limits(self, level: float) -> Interval:
        """Wilson limits of rates, t limits of means."""
        z = normal_quantile(level)
        if self.rates:
            return wilson_limits(self.estimate, np.broadcast_to(self.items, self.estimate.shape), z)
        error = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2)).T
        return around(self.estimate, _t_value(z, self.units - 1) * error)


def system_values(tally: xr.Dataset, prefix: str = "") -> SystemValues:
    """Values of the systems of a tally and their covariance, by cells; ``prefix`` as in `differences`."""
    units, items, item_squares = _array(tally, f"{prefix}complete")
    total, products = _array(tally, f"{prefix}system_sum"), _array(tally, f"{prefix}system_product")
    cross = _array(tally, f"{prefix}system_cross")
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / items
        scatter = (
            cross
            - mean[:, None] * products[None]
            - products[:, None] * mean[None]
            + mean[:, None] * mean[None] * item_squares
        )
        covariance = np.where(units > 1, units / (units - 1) * scatter / items**2, np.nan)
    return SystemValues(mean, np.moveaxis(covariance, 2, 0), units, items, f"{prefix}pair_count" in tally)


def _array(tally: xr.Dataset, name: str) -> FloatArray:
    """A variable with the subgroup last, or one place where it is of all subgroups."""
    values = np.asarray(tally[name].values, dtype=np.float64)
    return values if "subgroup" in tally[name].dims else values[..., None]


def _t_value(z: FloatArray | float, freedom: FloatArray) -> FloatArray:
    from scipy.special import ndtr, stdtrit

    some = freedom > 0
    return np.where(some, -stdtrit(np.where(some, freedom, 1.0), ndtr(-np.asarray(z))), np.nan)


def _t_test(estimate: FloatArray, error: FloatArray, freedom: FloatArray) -> FloatArray:
    """Two-sided p-values; 1 where no item differs, NaN where there is no error."""
    from scipy.special import stdtr

    some = (freedom > 0) & (error > 0)
    p = 2 * stdtr(np.where(some, freedom, 1.0), -np.abs(np.where(some, estimate / np.where(some, error, 1.0), 0.0)))
    return np.where(some, p, np.where((error == 0) & (estimate == 0), 1.0, np.nan))
