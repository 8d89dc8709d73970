"""Values of finite populations, from draws of superpopulation values. No PyMC here.

If each member of a subgroup was evaluated with probability f, the sampling fraction, and nothing is known beforehand of how
many members there are, then beside the n[g] evaluated ones there are

    u[g] ~ NegativeBinomial(n[g] + 1, f)

others, (n[g] + 1) (1 - f) / f of them on average: C(n + u, n) f^n (1 - f)^u is the likelihood of n + u members. They are u[g]
draws from the superpopulation, so that the value of all members is

    rates               (k[g] + others) / (n[g] + u[g]),           others ~ Binomial(u[g], mu[g])
    all other metrics   (n[g] estimate[g] + u[g] others) / (n[g] + u[g]),   others ~ Normal(mu[g], s[g] / sqrt(u[g]))

with s the standard deviation of a row. A subgroup of few members may thus lie far from its superpopulation value, and nothing is
in doubt after a census (f = 1). With f = 0 populations are infinite and the value is mu. Where the number of members is known, the
others are so many. No report applies this by itself: every estimator answers for mu.

References
----------
Gelman et al. (2013), Bayesian Data Analysis, chapter 8: finite populations. Ericson (1969), doi:10.1111/j.2517-6161.1969.tb00782.x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

MIN_ROWS_FOR_EXPECTED_SIZE = 25
"""Rows from which on the number of members who were not evaluated is replaced by its expectation."""
ROWS_OF_PUBLISHED_ESTIMATES = 1e6
"""Rows that published estimates are taken to have, whose number is not known."""


@dataclass(frozen=True)
class FinitePopulation:
    """Evaluated members of the subgroups of one metric, and the sampling fraction.

    Attributes
    ----------
    evaluated : array (subgroup,)
        Number of evaluated members, effective where rows count for more or less; 0 where there are none.
    estimate : array (subgroup,)
        Their value; 0 where there are none.
    row_variance : array (subgroup,)
        Variance of a row, in squared units of the metric.
    sampling_fraction : float
        Share of the members who are evaluated, from 0 to 1.
    """

    evaluated: FloatArray
    estimate: FloatArray
    row_variance: FloatArray
    sampling_fraction: float


def finite_population(tally: xr.Dataset, sampling_fraction: float) -> FinitePopulation:
    """The finite population behind a tally.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with one metric; read are ``count``, ``estimate`` and ``sampling_variance``.
    sampling_fraction : float
        Share of the members who are evaluated, from 0 to 1.

    Returns
    -------
    FinitePopulation
        Where there are no rows, the variance of a row is the mean of the others'. Published estimates are those of very many
        rows.

    Raises
    ------
    ValueError
        If the sampling fraction is not within [0, 1].

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset({"count": (cells, [[10.0, 40.0, 0.0]]), "estimate": (cells, [[0.5, 0.3, np.nan]]),
    ...                     "sampling_variance": (cells, [[0.02, 0.005, np.nan]])})
    >>> population = finite_population(tally, 0.2)
    >>> population.evaluated.tolist(), population.estimate.tolist(), population.row_variance.round(3).tolist()
    ([10.0, 40.0, 0.0], [0.5, 0.3, 0.0], [0.2, 0.2, 0.2])
    """
    if not (math.isfinite(sampling_fraction) and 0 <= sampling_fraction <= 1):
        raise ValueError(f"sampling_fraction must be from 0 to 1; got {sampling_fraction!r}")
    count, estimate, sampling = (
        np.asarray(tally[name].values[0], dtype=np.float64) for name in ("count", "estimate", "sampling_variance")
    )
    observed = np.isfinite(estimate) & np.isfinite(sampling)
    evaluated = np.where(observed, np.where(np.isfinite(count), count, ROWS_OF_PUBLISHED_ESTIMATES), 0.0)
    row = np.where(observed, sampling, 0.0) * evaluated
    typical = row[observed].mean() if observed.any() and np.isfinite(count[observed]).all() else 0.0
    return FinitePopulation(
        evaluated, np.where(observed, estimate, 0.0), np.where(observed, row, typical), float(sampling_fraction)
    )


def finite_population_values(
    mu: FloatArray, population: FinitePopulation, rng: np.random.Generator, *, rates: bool
) -> FloatArray:
    """Draws of the values of all members, given superpopulation values.

    Parameters
    ----------
    mu : array (draw, subgroup)
        Superpopulation values.
    population : FinitePopulation
        The members.
    rng : numpy Generator
        Source of randomness.
    rates : bool
        Whether the metric is a rate with a binomial likelihood.

    Returns
    -------
    array (draw, subgroup)

    Examples
    --------
    >>> half = FinitePopulation(np.array([40.0, 40.0]), np.array([0.1, 0.2]), np.array([0.1, 0.2]), 0.5)
    >>> values = finite_population_values(np.full((4000, 2), 0.3), half, np.random.default_rng(1), rates=True)
    >>> values.mean(axis=0).round(2).tolist(), values.std(axis=0).round(2).tolist()
    ([0.2, 0.25], [0.04, 0.04])
    """
    if population.sampling_fraction == 0:
        return mu
    n, fraction = population.evaluated, population.sampling_fraction
    small = n < MIN_ROWS_FOR_EXPECTED_SIZE
    others = np.broadcast_to(np.rint((n + 1) * (1 - fraction) / fraction), mu.shape).copy()
    others[:, small] = rng.negative_binomial(n[small] + 1, fraction, (len(mu), int(small.sum())))
    np.maximum(others, n == 0, out=others)  # a subgroup has at least one member
    return values_with_others(mu, population, others, rng, rates=rates)


def values_with_others(
    mu: FloatArray, population: FinitePopulation, others: FloatArray, rng: np.random.Generator, *, rates: bool
) -> FloatArray:
    """Draws of the values of all members, given superpopulation values and the number of members beside the evaluated ones.

    Parameters
    ----------
    mu : array (draw, subgroup)
        Superpopulation values; those of rates from 0 to 1.
    population : FinitePopulation
        The evaluated members; its sampling fraction is not read.
    others : array (draw, subgroup) or (subgroup,)
        Whole numbers of members who were not evaluated, not negative; with 0 the value is the estimate.
    rng : numpy Generator
        Source of randomness.
    rates : bool
        Whether the metric is a rate with a binomial likelihood.

    Returns
    -------
    array (draw, subgroup)
        NaN for a subgroup without members.

    Raises
    ------
    ValueError
        If a number of others is negative or not whole.

    Examples
    --------
    >>> evaluated = FinitePopulation(np.array([10.0, 10.0]), np.array([0.3, 0.3]), np.array([0.21, 0.21]), 0.0)
    >>> drawn = np.random.default_rng(1).beta(3.5, 7.5, (40000, 2))
    >>> values = values_with_others(drawn, evaluated, np.array([0.0, 30.0]), np.random.default_rng(2), rates=True)
    >>> values.mean(axis=0).round(3).tolist(), values.std(axis=0).round(3).tolist()
    ([0.3, 0.314], [0.0, 0.117])
    """
    others = np.broadcast_to(np.asarray(others, dtype=np.float64), mu.shape)
    if not ((others >= 0) & (others == np.rint(others))).all():
        raise ValueError("others must be whole numbers, 0 or larger")
    n = population.evaluated
    total = n + others
    with np.errstate(divide="ignore", invalid="ignore"):
        if rates:
            return np.asarray((n * population.estimate + rng.binomial(others.astype(np.int64), mu)) / total)
        unseen = mu + np.sqrt(population.row_variance / np.maximum(others, 1)) * rng.standard_normal(mu.shape)
        return np.asarray((n * population.estimate + others * unseen) / total)
