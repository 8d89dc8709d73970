"""The bootstrap from sufficient statistics: the law of resampling rows, without the rows.

Resampling the n rows of a subgroup makes its counts multinomial over (not in the denominator, failure, success), which
two binomials draw at once; cost does not grow with rows. The AUC resamples the counts per score within each class.
Where the tally analyses rows by cluster, clusters are resampled, see `bayesgroups.inference.cluster_bootstrap`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.inference import cluster_bootstrap
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.auc import ScoreCells, statistics

Scheme = Literal["subgroup", "rows"]
CHUNK = 2_000_000
"""Numbers held at once when scores are resampled."""
BLOCK = 500
"""Replicates that one thread draws at a time."""


def replicates(tally: xr.Dataset, *, seed: int, draws: int = 2000, scheme: Scheme = "subgroup") -> xr.Dataset:
    """Bootstrap replicates of every metric in every subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally of rows or counts.
    seed : int
        Source of randomness.
    draws : int
        Number of replicates.
    scheme : {"subgroup", "rows"}
        Resample the rows (or clusters) of each subgroup, whose number stays, or those of the whole table.

    Returns
    -------
    xr.Dataset
        ``mu(chain, draw, metric, subgroup)`` with one chain, NaN where a replicate has an empty denominator, and
        ``undefined_share(metric, subgroup)``, the share of such replicates. Metrics are replicated one by one, so
        correlations between them are not kept.

    Raises
    ------
    InputError
        If the tally holds published estimates, which have no rows to resample.

    Notes
    -----
    Rates and F1 follow the law of resampled rows exactly, the AUC that of rows resampled within class. A mean is drawn
    from the normal law with the bootstrap's exact variance, because a tally keeps no more of its rows than mean and
    variance. With weights the effective counts, rounded, stand for the rows. Clusters are resampled from their sums,
    exactly for every metric but the AUC, which stays with rows.

    References
    ----------
    Efron (1979), doi:10.1214/aos/1176344552; Herlihy, Truong, Chouldechova, Dudik (2024), Appendix A.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.inference.bootstrap import replicates
    >>> counts = bg.tally_from_counts([1], [2], pd.DataFrame({"site": ["a"]}))
    >>> answer = replicates(counts, seed=1, draws=1000)["mu"].values.ravel()
    >>> sorted({float(value) for value in answer})
    [0.0, 0.5, 1.0]
    """
    kinds = [str(kind) for kind in tally["kind"].values]
    if "estimate" in kinds:
        raise InputError("published estimates have no rows to resample; use the intervals of an estimator instead")
    values = np.full((draws, len(kinds), tally.sizes["subgroup"]), np.nan)
    for i, kind in enumerate(kinds):
        rng = generator(seed, str(tally["metric"].values[i]), "bootstrap")
        if kind == "auc":
            values[:, i] = _auc(tally, float(tally["ties"].values[i]), rng, draws)
            continue
        if "cluster_analysis" in tally.data_vars and str(tally["cluster_analysis"].values[i]) != "ignore":
            values[:, i] = cluster_bootstrap.resample(tally.isel(metric=i), rng, draws, scheme)
            continue
        values[:, i] = _means(tally.isel(metric=i), rng, draws, scheme)
    coordinates = {
        "chain": [0],
        "draw": np.arange(draws),
        "metric": tally["metric"].variable,
        "subgroup": tally["subgroup"].variable,
    }
    return xr.Dataset(
        {
            "mu": (("chain", "draw", "metric", "subgroup"), values[None]),
            "undefined_share": (("metric", "subgroup"), np.isnan(values).mean(axis=0)),
        },
        coords=coordinates,
        attrs={"scheme": scheme},
    )


def _means(tally: xr.Dataset, rng: np.random.Generator, draws: int, scheme: Scheme) -> FloatArray:
    """Replicates (draw, subgroup) of one rate, F1 or mean."""
    kind = str(tally["kind"].values)
    rows, count, estimate = tally["rows"].values, tally["count"].values, tally["estimate"].values
    row_variance = tally["row_variance"].values
    if "weight" in tally.data_vars:
        rows, count = np.round(count), np.round(count)
    share = np.nan_to_num(estimate)
    share = share / (2 - share) if kind == "f1" else share
    value = np.full((draws, len(rows)), np.nan)

    def fill(block: FloatArray, source: np.random.Generator) -> None:
        resampled = _denominators(rows, count, source, len(block), scheme)
        if kind == "mean":
            block[:] = _mean(estimate, row_variance, count, resampled, source)
            return
        # Subgroup by subgroup where numbers stay: NumPy prepares anew whenever number or share change.
        fixed = scheme == "subgroup"
        hits = source.binomial(resampled.T, share[:, None]).T if fixed else source.binomial(resampled, share)
        np.divide(hits, resampled, out=block, where=resampled > 0)
        if kind == "f1":
            np.divide(2 * block, 1 + block, out=block)

    # Side by side, as NumPy draws without the interpreter's lock; each block has a source of its own, so the
    # replicates do not depend on the number of threads.
    blocks = [value[start : start + BLOCK] for start in range(0, draws, BLOCK)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(fill, blocks, rng.spawn(len(blocks))))
    return value


def _denominators(
    rows: FloatArray, count: FloatArray, rng: np.random.Generator, draws: int, scheme: Scheme
) -> NDArray[np.int64]:
    """Denominators after resampling, (draw, subgroup)."""
    size = np.broadcast_to(rows.astype(np.int64), (draws, len(rows)))
    if scheme == "rows":
        size = rng.multinomial(int(rows.sum()), rows / rows.sum(), size=draws)
    if (count == rows).all():
        return size
    with np.errstate(invalid="ignore"):
        share = np.where(rows > 0, np.minimum(count / rows, 1.0), 0.0)
    return rng.binomial(size, share)


def _mean(
    estimate: FloatArray, row_variance: FloatArray, count: FloatArray, resampled: NDArray[np.int64],
    rng: np.random.Generator,
) -> FloatArray:  # fmt: skip
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = np.where(count > 1, row_variance * (count - 1) / count, 0.0)
        noise = rng.standard_normal(resampled.shape) * np.sqrt(variance / resampled)
    return np.where(resampled > 0, estimate + noise, np.nan)


def _auc(tally: xr.Dataset, ties: float, rng: np.random.Generator, draws: int) -> FloatArray:
    subgroup = tally["score_subgroup"].values
    positives, negatives = np.round(tally["score_positives"].values), np.round(tally["score_negatives"].values)
    value = np.full((draws, tally.sizes["subgroup"]), np.nan)
    for g in np.unique(subgroup):
        p, n = positives[subgroup == g], negatives[subgroup == g]
        if p.sum() == 0 or n.sum() == 0:
            continue
        size = max(CHUNK // len(p), 1)
        for start in range(0, draws, size):
            number = min(size, draws - start)
            new_p = rng.multinomial(int(p.sum()), p / p.sum(), size=number).astype(np.float64)
            new_n = rng.multinomial(int(n.sum()), n / n.sum(), size=number).astype(np.float64)
            # Each replicate is a subgroup of its own to the routine that computes the AUC.
            owner = np.repeat(np.arange(number), len(p))
            score = np.tile(np.arange(len(p), dtype=np.float64), number)
            cells = ScoreCells(owner, score, new_p.ravel(), new_n.ravel(), new_p.ravel(), new_n.ravel())
            value[start : start + number, g] = statistics(cells, number, ties=ties).estimate
    return value
