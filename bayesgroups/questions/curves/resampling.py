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
    """Resampled counts (replicate, bin) of one subgroup, and shares (bin,) of their law, which sum to 1 over both classes."""

    positives: FloatArray
    negatives: FloatArray
    positive_share: FloatArray
    negative_share: FloatArray


def resample(histogram: Histogram, subgroup: int, rng: np.random.Generator, draws: int) -> Replicates:
    """Replicates of the rows of one subgroup, which must have one (Efron 1979, doi:10.1214/aos/1176344552).

    Each has the subgroup's (effective, rounded) number of rows, from its own distribution over class and bin with one row
    of all subgroups together added to it.
    """
    cells = np.stack([histogram.positives, histogram.negatives])
    everyone = cells.sum(axis=1)
    mixed = cells[:, subgroup] + BORROWED * everyone / everyone.sum()
    share = mixed / mixed.sum()
    rows = max(int(np.rint(cells[:, subgroup].sum())), 1)
    drawn = rng.multinomial(rows, share.ravel() / share.sum(), size=draws).reshape(draws, *share.shape)
    counts = drawn.astype(np.float64)
    return Replicates(counts[:, 0], counts[:, 1], share[0], share[1])
