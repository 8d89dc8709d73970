"""The people of a subgroup: those whose rows were evaluated, and those who were not. No PyMC here.

A metric is asked of the people of a subgroup, and they are not endless. If each of them was evaluated with probability f, and
nothing is known beforehand of how many there are, then beside the n[g] who were evaluated there are

    u[g] ~ NegativeBinomial(n[g] + 1, f)

others, (n[g] + 1) (1 - f) / f of them on average: C(n + u, n) f^n (1 - f)^u is the likelihood of n + u people. They are so many
draws from what the model describes, so that the value of all is

    rates               mu[g] = (k[g] + others) / (n[g] + u[g]),   others ~ Binomial(u[g], p[g]), p the model's rate
    all other metrics   mu[g] = (n[g] estimate[g] + u[g] others) / (n[g] + u[g]),   others ~ Normal(eta[g], s[g] / sqrt(u[g]))

with s the standard deviation of a row. A subgroup of a few people may thus lie far from what its attributes say, and nothing is in
doubt where everybody was evaluated (f = 1). With f = 0 populations are endless and mu is the model's value. The likelihood is
the same for every f.

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
"""Share of the people who are evaluated, where nobody says: one in twenty."""
FEW = 25
"""Rows from which on it hardly matters how many the others are exactly: their expected number is taken."""
MANY = 1e6
"""Rows that published estimates are taken to have, whose number is not known."""


@dataclass(frozen=True)
class People:
    """The people of the subgroups of one metric.

    Attributes
    ----------
    evaluated : array (subgroup,)
        Those whose rows are there, effective where rows count for more or less; 0 where there are none.
    estimate : array (subgroup,)
        Their value; 0 where there are none.
    row_variance : array (subgroup,)
        Variance of a row, in squared units of the metric.
    share : float
        Share of the people who are evaluated, from 0 to 1.
    """

    evaluated: FloatArray
    estimate: FloatArray
    row_variance: FloatArray
    share: float


def people(tally: xr.Dataset, share: float = SAMPLED_SHARE) -> People:
    """The people of the subgroups of a tally.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with one metric; read are ``count``, ``estimate`` and ``sampling_variance``.
    share : float
        Share of the people who are evaluated, from 0 to 1.

    Returns
    -------
    People
        Where there are no rows, the variance of a row is the mean of the others'. Published estimates are those of very many
        rows.

    Raises
    ------
    ValueError
        If the share is not within [0, 1].

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset({"count": (cells, [[10.0, 40.0, 0.0]]), "estimate": (cells, [[0.5, 0.3, np.nan]]),
    ...                     "sampling_variance": (cells, [[0.02, 0.005, np.nan]])})
    >>> found = people(tally, 0.2)
    >>> found.evaluated.tolist(), found.estimate.tolist(), found.row_variance.round(3).tolist()
    ([10.0, 40.0, 0.0], [0.5, 0.3, 0.0], [0.2, 0.2, 0.2])
    """
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise ValueError(f"sampled_share must be a share, from 0 to 1; got {share!r}")
    count, estimate, sampling = (
        np.asarray(tally[name].values[0], dtype=np.float64) for name in ("count", "estimate", "sampling_variance")
    )
    there = np.isfinite(estimate) & np.isfinite(sampling)
    evaluated = np.where(there, np.where(np.isfinite(count), count, MANY), 0.0)
    row = np.where(there, sampling, 0.0) * evaluated
    typical = row[there].mean() if there.any() and np.isfinite(count[there]).all() else 0.0
    return People(evaluated, np.where(there, estimate, 0.0), np.where(there, row, typical), float(share))


def values(drawn: FloatArray, of: People, rng: np.random.Generator, *, rates: bool) -> FloatArray:
    """Draw the values of all people, given those of endless populations.

    Parameters
    ----------
    drawn : array (draw, subgroup)
        What the model describes.
    of : People
        Who they are.
    rng : numpy Generator
        Source of randomness.
    rates : bool
        Whether the metric is a rate with a binomial likelihood.

    Returns
    -------
    array (draw, subgroup)

    Examples
    --------
    >>> asked = People(np.array([40.0, 40.0]), np.array([0.1, 0.2]), np.array([0.1, 0.2]), 0.5)
    >>> found = values(np.full((4000, 2), 0.3), asked, np.random.default_rng(1), rates=True)
    >>> found.mean(axis=0).round(2).tolist(), found.std(axis=0).round(2).tolist()
    ([0.2, 0.25], [0.04, 0.04])
    """
    if of.share == 0:
        return drawn
    n, few = of.evaluated, of.evaluated < FEW
    others = np.broadcast_to(np.rint((n + 1) * (1 - of.share) / of.share), drawn.shape).copy()
    others[:, few] = rng.negative_binomial(n[few] + 1, of.share, (len(drawn), int(few.sum())))
    np.maximum(others, n == 0, out=others)  # a subgroup is somebody
    total = n + others
    if rates:
        return np.asarray((n * of.estimate + rng.binomial(others.astype(np.int64), drawn)) / total)
    theirs = drawn + np.sqrt(of.row_variance / np.maximum(others, 1)) * rng.standard_normal(drawn.shape)
    return np.asarray((n * of.estimate + others * theirs) / total)
