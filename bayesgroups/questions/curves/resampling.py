"""Replicates of the counts between thresholds: the law of resampled rows, without the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.curves.histograms import Histogram

BORROWED = 1.0
"""Rows of the pooled distribution that are added to each subgroup's own, so that no curve is known where it is 0 or 1."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """Resampled counts of one subgroup, and the law they were drawn from.

    Attributes
    ----------
    positives, negatives : arrays (replicate, bin)
        Counts.
    positive_share, negative_share : arrays (bin,)
        Shares of all rows; together they sum to 1.
    """

    positives: FloatArray
    negatives: FloatArray
    positive_share: FloatArray
    negative_share: FloatArray


def resample(found: Histogram, subgroup: int, rng: np.random.Generator, draws: int) -> Replicates:
    """Resample the rows of one subgroup.

    Parameters
    ----------
    found : Histogram
        Of all subgroups.
    subgroup : int
        Which one; it must have a row.
    rng : numpy.random.Generator
        Source of randomness.
    draws : int
        Number of replicates.

    Returns
    -------
    Replicates
        Each of the subgroup's (effective, rounded) number of rows. They come from the subgroup's own distribution over
        class and bin with one row of all subgroups together added to it.

    References
    ----------
    Efron (1979), doi:10.1214/aos/1176344552.

    Examples
    --------
    >>> import numpy as np
    >>> found = Histogram(np.array([0.5]), np.array([[1.0, 3.0]]), np.array([[4.0, 0.0]]))
    >>> drawn = resample(found, 0, np.random.default_rng(1), 1000)
    >>> bool((drawn.positives.sum(axis=1) + drawn.negatives.sum(axis=1) == 8).all())
    True
    >>> drawn.positive_share.tolist(), drawn.negative_share.tolist()
    ([0.125, 0.375], [0.5, 0.0])
    """
    cells = np.stack([found.positives, found.negatives])
    everyone = cells.sum(axis=1)
    own = cells[:, subgroup] + BORROWED * everyone / everyone.sum()
    share = own / own.sum()
    rows = max(int(np.rint(cells[:, subgroup].sum())), 1)
    drawn = rng.multinomial(rows, share.ravel() / share.sum(), size=draws).reshape(draws, *share.shape)
    counts = drawn.astype(np.float64)
    return Replicates(counts[:, 0], counts[:, 1], share[0], share[1])
