"""Exact densities of subgroups that stand alone, and of subgroups with one value in common."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.special import betaln, gammaln

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.left_out.answer import ESTIMATES, SUCCESSES, LeftOut, spread_out
from bayesgroups.inference.observed_nodes import HALF_LOG_TWO_PI
from bayesgroups.models.shared.cells import binomial_cells, normal_cells
from bayesgroups.models.shared.scales import JEFFREYS, WEAK, natural_scale


def alone(tally: xr.Dataset, *, binomial: bool) -> LeftOut:
    """Prior predictive densities of one metric: the other subgroups say nothing of a subgroup that stands alone."""
    return _answer(tally, binomial=binomial, shared=False)


def in_common(tally: xr.Dataset, *, binomial: bool) -> LeftOut:
    """Densities of one metric given the other subgroups, which have the same value."""
    return _answer(tally, binomial=binomial, shared=True)


def beta_binomial(k: FloatArray, n: FloatArray, successes: FloatArray, failures: FloatArray) -> FloatArray:
    """Log probability of k among n where the rate is Beta(successes, failures); counts need not be whole.

    >>> beta_binomial(np.array([0.0, 1.0]), np.array([2.0, 2.0]), np.ones(2), np.ones(2)).round(4).tolist()
    [-1.0986, -1.0986]
    """
    choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(choose + betaln(successes + k, failures + n - k) - betaln(successes, failures))


def normal_density(y: FloatArray, mean: FloatArray | float, variance: FloatArray | float) -> FloatArray:
    """Log density of a normal variable.

    >>> normal_density(np.array([1.0]), 0.0, 4.0).round(4).tolist()
    [-1.7371]
    """
    return np.asarray(-0.5 * (y - mean) ** 2 / variance - 0.5 * np.log(variance) - HALF_LOG_TWO_PI)


def weighted_mean(
    y: FloatArray, precision: FloatArray, centre: float, centre_precision: float, *, without: bool
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of a value that all cells (..., cell) have in common, given all of them or, of each, the others.

    The value is Normal before the data, with ``centre_precision`` the inverse of its variance, 0 where it is flat.

    >>> y, precision = np.array([1.0, 3.0]), np.ones(2)
    >>> [part.tolist() for part in weighted_mean(y, precision, 0.0, 0.0, without=True)]
    [[3.0, 1.0], [1.0, 1.0]]
    """
    total = centre_precision + precision.sum(axis=-1, keepdims=True) - without * precision
    pulled = (precision * (y - centre)).sum(axis=-1, keepdims=True) - without * precision * (y - centre)
    return np.asarray(centre + pulled / total), np.asarray(np.broadcast_to(1 / total, np.shape(precision)))


def _answer(tally: xr.Dataset, *, binomial: bool, shared: bool) -> LeftOut:
    shape, metric = (1, tally.sizes["subgroup"]), np.array([True])
    if binomial:
        counts = binomial_cells(tally, metric)
        k, n = counts.successes, counts.count
        both = []
        for without in (True, False):
            successes = (k.sum() - without * k if shared else k * (not without)) + JEFFREYS
            failures = ((n - k).sum() - without * (n - k) if shared else (n - k) * (not without)) + JEFFREYS
            both.append(beta_binomial(k, n, successes, failures))
        # Without others the data of a subgroup are predicted by the prior, before and after it is left out.
        elpd, lpd = both if shared else (both[0], both[0])
        return _exact(SUCCESSES, elpd, lpd, counts.subgroup, shape)
    natural = natural_scale(tally)
    cells = normal_cells(tally, metric, natural["scale"].values)
    centre, prior_variance = float(natural["centre"][0]), (WEAK * float(natural["scale"][0])) ** 2
    y, variance = cells.estimate, cells.std_error**2
    if not shared:
        density = normal_density(y, centre, prior_variance + variance)
        return _exact(ESTIMATES, density, density, cells.subgroup, shape)
    elpd, lpd = (
        normal_density(y, mean, spread + variance)
        for mean, spread in (
            weighted_mean(y, 1 / variance, centre, 1 / prior_variance, without=without) for without in (True, False)
        )
    )
    return _exact(ESTIMATES, elpd, lpd, cells.subgroup, shape)


def _exact(observed: str, elpd: FloatArray, lpd: FloatArray, subgroup: IntArray, shape: tuple[int, int]) -> LeftOut:
    tables = [spread_out(values, subgroup, shape) for values in (elpd, lpd)]
    return LeftOut("exact", observed, elpd=tables[0], lpd=tables[1])
