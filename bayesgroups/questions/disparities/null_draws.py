"""Draws of estimates given true values, for the noise in a measure of disparity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesgroups.frequentist.intervals import moments
from bayesgroups.questions.sampling_variances import Estimates

FloatArray = NDArray[np.float64]


def if_equal(estimates: Estimates, rng: np.random.Generator, draws: int) -> FloatArray:
    """Estimates if all subgroups had one true value, (draw, subgroup).

    Parameters
    ----------
    estimates : Estimates
    rng : numpy Generator
    draws : int

    Returns
    -------
    array
        Of a rate, all rows dealt out again among the subgroups, denominators and the sum of successes kept: the exact
        permutation law. Of other metrics, normal draws about the precision-weighted mean.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.sampling_variances import read_estimates
    >>> estimates = read_estimates(bg.tally_from_counts([1, 1], [2, 2], pd.DataFrame({"site": ["a", "b"]})), 0)
    >>> sorted({tuple(row) for row in if_equal(estimates, np.random.default_rng(1), 200).tolist()})
    [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]
    """
    size = np.round(estimates.count)
    if estimates.binomial and size.sum() < 1e9:  # the limit of the generator
        successes = round(float((estimates.y * size).sum()))
        dealt = rng.multivariate_hypergeometric(size.astype(np.int64), successes, size=draws, method="marginals")
        return dealt / size
    precise = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    weight = np.ones_like(precise) if (precise == 0).any() else 1 / precise
    mean = float(np.average(estimates.y, weights=weight))
    if estimates.binomial:
        return rng.binomial(size.astype(np.int64), mean, size=(draws, len(size))) / size
    return mean + np.sqrt(precise) * rng.standard_normal((draws, len(precise)))


def shrunken_truth(estimates: Estimates) -> FloatArray:
    """True values that are about as unequal as those behind the estimates, (subgroup,).

    Returns
    -------
    array
        mean + sqrt(tau^2 / (tau^2 + v)) (y - mean), with DerSimonian and Laird's tau^2: unlike the estimates, which are too
        far apart, and their posterior means, which are too close, these have the variance tau^2.

    References
    ----------
    Louis (1984), doi:10.1080/01621459.1984.10478062.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.sampling_variances import read_estimates
    >>> tally = bg.tally_from_estimates([0.0, 1.0, 2.0], [0.1, 0.1, 0.1], pd.DataFrame({"site": list("abc")}))
    >>> shrunken_truth(read_estimates(tally, 0)).round(4).tolist()
    [0.0513, 1.0, 1.9487]
    """
    v = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    if not (v > 0).all():
        return estimates.y
    found = moments.between(estimates.y, v, np.ones(len(v), dtype=bool))
    return np.asarray(
        found.overall + np.sqrt(found.tau_squared / (found.tau_squared + v)) * (estimates.y - found.overall)
    )


def given_truth(truth: FloatArray, estimates: Estimates, rng: np.random.Generator, draws: int) -> FloatArray:
    """Estimates if these were the true values, (draw, subgroup): binomial for rates, else normal.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.sampling_variances import read_estimates
    >>> estimates = read_estimates(bg.tally_from_counts([1, 1], [2, 2], pd.DataFrame({"site": ["a", "b"]})), 0)
    >>> given_truth(np.array([0.0, 1.0]), estimates, np.random.default_rng(1), 2).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    if estimates.binomial:
        size = np.maximum(np.round(estimates.count), 1.0)
        return rng.binomial(size.astype(np.int64), np.clip(truth, 0.0, 1.0), size=(draws, len(size))) / size
    v = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    return truth + np.sqrt(v) * rng.standard_normal((draws, len(v)))
