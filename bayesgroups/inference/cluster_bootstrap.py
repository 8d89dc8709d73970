"""The bootstrap of clusters from their sums: each replicate weighs every cluster by how often it was drawn.

Drawing S of the S clusters of a subgroup with replacement makes the numbers of times that each is drawn multinomial, and
a ratio of sums over rows is a ratio of sums over clusters so weighted. Clusters with the same sums are one cell of the
multinomial, so that rates of many small clusters cost little.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray

CHUNK = 2_000_000
"""Numbers held at once."""


def resample(
    metric: xr.Dataset, rng: np.random.Generator, draws: int, scheme: Literal["subgroup", "rows"] = "subgroup"
) -> FloatArray:
    """Replicates (draw, subgroup) of one metric, not an AUC, clusters resampled; NaN where no row of a replicate counts.

    Resampled are the clusters of each subgroup, whose number stays, or with the scheme ``rows`` those of the whole table,
    which then take their rows in all subgroups with them. The estimand is that of the tally: rows, or clusters where its
    analysis is ``mean``. Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8,
    doi:10.1017/CBO9780511802843.
    """
    subgroup, weight = metric["cluster_subgroup"].values, metric["cluster_weight"].values
    total, kind = metric["cluster_sum"].values, str(metric["row_kind"].values)
    if str(metric["cluster_analysis"].values) == "mean":
        counts = weight > 0
        total = np.divide(total, weight, out=np.zeros(len(total)), where=counts)
        total, weight = (2 * total / (1 + total) if kind == "f1" else total), counts.astype(np.float64)
        kind = "mean"
    replicates = np.full((draws, metric.sizes["subgroup"]), np.nan)
    for block, position, sums in _blocks(metric, subgroup, np.stack([weight, total], axis=1), rng, draws, scheme):
        some = sums[:, 0] > 0
        np.divide(sums[:, 1], sums[:, 0], out=replicates[block, position], where=some)
    return 2 * replicates / (1 + replicates) if kind == "f1" else replicates


def _blocks(
    metric: xr.Dataset, subgroup: NDArray[np.intp], sums: FloatArray, rng: np.random.Generator, draws: int,
    scheme: Literal["subgroup", "rows"],
) -> Iterator[tuple[slice, int, FloatArray]]:  # fmt: skip
    """Resampled weights and totals (draw, 2), for blocks of draws of each subgroup."""
    if scheme == "rows":
        names, code = np.unique(metric["cluster_label"].values, return_inverse=True)
        share = np.full(len(names), 1 / len(names))
        for block in _chunks(draws, len(names)):
            times = rng.multinomial(len(names), share, size=block.stop - block.start)
            for position in np.unique(subgroup):
                inside = subgroup == position
                yield block, int(position), times[:, code[inside]] @ sums[inside]
        return
    for position in np.unique(subgroup):
        inside = sums[subgroup == position]
        alike, times_seen = np.unique(inside, axis=0, return_counts=True)
        number = len(inside)
        if len(alike) > number / 4:  # then a draw of positions costs less than a multinomial
            for block in _chunks(draws, number):
                drawn = rng.integers(0, number, (block.stop - block.start, number), dtype=np.int32)
                yield block, int(position), np.stack([column[drawn].sum(axis=1) for column in inside.T], axis=1)
            continue
        for block in _chunks(draws, len(alike)):
            times = rng.multinomial(number, times_seen / number, size=block.stop - block.start)
            yield block, int(position), times @ alike


def _chunks(draws: int, width: int) -> Iterator[slice]:
    size = max(CHUNK // width, 1)
    for start in range(0, draws, size):
        yield slice(start, min(start + size, draws))
