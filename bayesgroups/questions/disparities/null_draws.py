"""Draws of estimates given true values, for the noise in a measure of disparity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesgroups.frequentist.intervals import moments
from bayesgroups.questions.disparities.cells import Cells

FloatArray = NDArray[np.float64]


def if_equal(cells: Cells, rng: np.random.Generator, draws: int) -> FloatArray:
    """Estimates if all subgroups had one true value, (draw, subgroup).

    Parameters
    ----------
    cells : Cells
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
    >>> from bayesgroups.questions.disparities.cells import gather
    >>> cells = gather(bg.tally_from_counts([1, 1], [2, 2], pd.DataFrame({"site": ["a", "b"]})), 0)
    >>> sorted({tuple(row) for row in if_equal(cells, np.random.default_rng(1), 200).tolist()})
    [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]
    """
    size = np.round(cells.count)
    if cells.binomial and size.sum() < 1e9:  # the limit of the generator
        successes = round(float((cells.y * size).sum()))
        dealt = rng.multivariate_hypergeometric(size.astype(np.int64), successes, size=draws, method="marginals")
        return dealt / size
    precise = np.where(cells.v > 0, cells.v, cells.pooled)
    weight = np.ones_like(precise) if (precise == 0).any() else 1 / precise
    mean = float(np.average(cells.y, weights=weight))
    if cells.binomial:
        return rng.binomial(size.astype(np.int64), mean, size=(draws, len(size))) / size
    return mean + np.sqrt(precise) * rng.standard_normal((draws, len(precise)))


def shrunken_truth(cells: Cells) -> FloatArray:
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
    >>> from bayesgroups.questions.disparities.cells import gather
    >>> tally = bg.tally_from_estimates([0.0, 1.0, 2.0], [0.1, 0.1, 0.1], pd.DataFrame({"site": list("abc")}))
    >>> shrunken_truth(gather(tally, 0)).round(4).tolist()
    [0.0513, 1.0, 1.9487]
    """
    v = np.where(cells.v > 0, cells.v, cells.pooled)
    if not (v > 0).all():
        return cells.y
    found = moments.between(cells.y, v, np.ones(len(v), dtype=bool))
    return np.asarray(found.overall + np.sqrt(found.tau_squared / (found.tau_squared + v)) * (cells.y - found.overall))


def given_truth(truth: FloatArray, cells: Cells, rng: np.random.Generator, draws: int) -> FloatArray:
    """Estimates if these were the true values, (draw, subgroup): binomial for rates, else normal.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.disparities.cells import gather
    >>> cells = gather(bg.tally_from_counts([1, 1], [2, 2], pd.DataFrame({"site": ["a", "b"]})), 0)
    >>> given_truth(np.array([0.0, 1.0]), cells, np.random.default_rng(1), 2).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    if cells.binomial:
        size = np.maximum(np.round(cells.count), 1.0)
        return rng.binomial(size.astype(np.int64), np.clip(truth, 0.0, 1.0), size=(draws, len(size))) / size
    v = np.where(cells.v > 0, cells.v, cells.pooled)
    return truth + np.sqrt(v) * rng.standard_normal((draws, len(v)))
