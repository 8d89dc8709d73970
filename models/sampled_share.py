"""The people of a subgroup: those whose rows were evaluated, and those who were not. No PyMC here.

A metric is asked of the people of a subgroup, and they are not endless. If the rows are a share f of them, their value is

    mu[g] = f estimate[g] + (1 - f) unseen[g]

and the others, u[g] = n[g] (1 - f) / f of them, are so many draws from what the model describes,

    rates               unseen[g] ~ Binomial(u, p) / u,                  p the model's rate
    all other metrics   unseen[g] ~ Normal(eta, sqrt(v f / (1 - f))),    eta the model's value, v the sampling variance

so that a subgroup of a few people may lie far from what its attributes say, and a value that nobody else shares is not
doubted where everybody was asked (f = 1). With f = 0 populations are endless and mu is the model's value. The likelihood is the
same for every f. A subgroup without rows is one of people who are as few as those of the smallest subgroup that has some.

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

SAMPLED_SHARE = 0.05
"""Share of a population whose rows are evaluated, where nobody says: one in twenty."""
FEWEST, MOST = 1.0, 1e15
"""Least and largest number of people that were not seen; so many are as good as endless."""


@dataclass(frozen=True)
class People:
    """Who the people of the subgroups are.

    Attributes
    ----------
    seen : array (..., subgroup)
        Share of them whose rows were evaluated; 0 where a subgroup has no rows.
    unseen : array (..., subgroup)
        How many the others are, whole numbers; infinite for a sampled share of 0.
    variance : array (..., subgroup)
        Variance of their part of the value of a mean, in squared units of the metric; 0 for a sampled share of 0.
    """

    seen: FloatArray
    unseen: FloatArray
    variance: FloatArray


def people(tally: xr.Dataset, share: float = SAMPLED_SHARE) -> People:
    """Who was seen, and how many were not.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are ``count`` and ``sampling_variance``.
    share : float
        Share of the population that was sampled, from 0 to 1.

    Returns
    -------
    People
        Arrays (metric, subgroup).

    Raises
    ------
    ValueError
        If the share is not within [0, 1].

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset({"count": (cells, [[10.0, 40.0, 0.0]]), "sampling_variance": (cells, [[0.02, 0.005, np.nan]])})
    >>> found = people(tally, 0.2)
    >>> found.seen.tolist(), found.unseen.tolist(), found.variance.round(5).tolist()
    ([[0.2, 0.2, 0.0]], [[40.0, 160.0, 50.0]], [[0.0032, 0.0008, 0.004]])
    """
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise ValueError(f"sampled_share must be a share, from 0 to 1; got {share!r}")
    count, sampling = (
        np.asarray(tally[name].transpose("metric", "subgroup").values, dtype=np.float64)
        for name in ("count", "sampling_variance")
    )
    known = np.isfinite(sampling)
    if share == 0:
        return People(np.zeros(count.shape), np.full(count.shape, np.inf), np.zeros(count.shape))
    rows = np.where(known & (count > 0), count, np.inf).min(axis=1, keepdims=True)
    rows = np.where(known & (count > 0), count, np.where(np.isfinite(rows), rows, FEWEST))
    seen = np.where(known, share, 0.0)
    largest = np.where(known, sampling, 0.0).max(axis=1, keepdims=True, initial=0.0)
    variance = share * (1 - seen) * np.where(known, sampling, largest)
    return People(seen, np.clip(np.rint(rows / share * (1 - seen)), FEWEST, MOST), variance)


def values(drawn: FloatArray, estimate: FloatArray, of: People, rng: np.random.Generator, *, rates: bool) -> FloatArray:
    """Draw the values of the people of all subgroups, given those of endless populations.

    Parameters
    ----------
    drawn : array (draw, subgroup)
        What the model describes.
    estimate : array (subgroup,)
        Values of those seen; anything where there are none.
    of : People
        Arrays (subgroup,).
    rng : numpy Generator
        Source of randomness.
    rates : bool
        Whether the metric is a rate with a binomial likelihood.

    Returns
    -------
    array (draw, subgroup)

    Examples
    --------
    >>> half = People(np.array([0.5, 1.0]), np.array([10.0, 1.0]), np.zeros(2))
    >>> found = values(np.full((4000, 2), 0.3), np.array([0.1, 0.2]), half, np.random.default_rng(1), rates=True)
    >>> found.mean(axis=0).round(2).tolist(), found.std(axis=0).round(2).tolist()
    ([0.2, 0.2], [0.07, 0.0])
    """
    if np.isinf(of.unseen).all():
        return drawn
    theirs = np.where(of.seen > 0, of.seen * estimate, 0.0)
    if rates:
        others = rng.binomial(of.unseen.astype(np.int64), drawn) / of.unseen
        return np.asarray(theirs + (1 - of.seen) * others)
    return np.asarray(theirs + (1 - of.seen) * drawn + np.sqrt(of.variance) * rng.standard_normal(drawn.shape))
