"""Metrics as functions of the threshold, per subgroup, with pointwise limits and simultaneous bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.texts import as_json
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.curves import bands, hierarchy, rates, trees
from bayesgroups.questions.curves.histograms import Histogram, at_least, choose_thresholds, histogram, resample
from bayesgroups.questions.curves.scores import Scores, check_draws, check_seed, scores_of
from bayesgroups.report.posterior import generator

APPROACHES = ("bayesian", "frequentist")
LIMITS = ("estimate", "lower", "upper", "band_lower", "band_upper")
DIMS = ("approach", "metric", "threshold", "subgroup")


@checked_keywords
def threshold_curve(
    source: object,
    by: Sequence[str] | Mapping[str, Sequence[object] | None] | None = None,
    *,
    y_true: str | None = None,
    y_score: str | None = None,
    positive: object = None,
    weights: str | None = None,
    metrics: Sequence[str] | str = ("sel", "tpr", "fpr"),
    thresholds: ArrayLike | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int,
) -> xr.Dataset:
    """Every metric as a function of the threshold, in every subgroup, the Bayesian and the frequentist way.

    Estimand: the value of the metric in the population of each subgroup if the decision were ``score >= threshold``.

    Parameters
    ----------
    source : xr.Dataset, dataframe, str or Path
        A tally with an ``auc``, whose score cells are all that is needed; or rows, with the columns below.
    by, y_true, y_score, positive, weights
        As in `bayesgroups.tally`; only with rows.
    metrics : sequence of str
        Any of ``sel acc tpr fnr fpr tnr ppv fdr npv for f1``.
    thresholds : array-like, optional
        Thresholds; by default 51 from 0 to 1, or at evenly spaced ranks where scores lie elsewhere.
    level : float
        Of limits and bands.
    draws : int
        Posterior draws, at least 100; the bootstrap has half as many replicates.
    seed : int
        Source of randomness.

    Returns
    -------
    xr.Dataset
        ``estimate``, the pointwise limits ``lower`` and ``upper`` and the simultaneous ``band_lower`` and ``band_upper``
        (approach, metric, threshold, subgroup), ``count(metric, threshold, subgroup)`` the denominator,
        ``band_level(approach, metric, subgroup)`` the pointwise level of the bands and ``status(subgroup)``, what a subgroup
        lacks. A band holds the whole curve of one metric in one subgroup with the probability ``level``.

    Raises
    ------
    InputError
        If the source, the columns, a metric, the thresholds, level, draws or seed cannot be used.

    Notes
    -----
    Frequentist: Jeffreys' intervals from the counts at each threshold (F1 through the rate it is a function of); NaN where a
    denominator is empty. Bands are Clopper and Pearson's intervals at the level at which Jeffreys' hold whole curves in a
    bootstrap of the subgroup's rows. Bayesian: prevalence and the distribution of scores within each class are shrunk towards
    those that subgroups share, by as much as the subgroups agree (`bayesgroups.questions.curves.trees`); defined also in
    subgroups without rows, and NaN only where no subgroup at all has a row in the denominator. Cost grows with thresholds and
    subgroups and not with rows. Clusters of rows are not taken into account.

    References
    ----------
    Brown, Cai, DasGupta (2001), doi:10.1214/ss/1009213286; Besag, Green, Higdon, Mengersen (1995),
    doi:10.1214/ss/1177010123; Montiel Olea, Plagborg-Moller (2019), doi:10.1002/jae.2656.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": list("aaabbb"), "y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.6, 0.9, 0.3, 0.5, 0.6]})
    >>> found = bg.threshold_curve(rows, ["s"], y_true="y", y_score="p", metrics="tpr", thresholds=[0.55, 0.7], seed=1)
    >>> found["estimate"].sel(approach="frequentist", metric="tpr", subgroup="a").values.tolist()
    [1.0, 0.5]
    """
    names, size, seed = rates.check_metrics(metrics), check_draws(draws), check_seed(seed)
    tail(level)  # refuses a level outside (0, 1) before any work is done
    scores = scores_of(source, by, y_true=y_true, y_score=y_score, positive=positive, weights=weights)
    binned = histogram(scores, choose_thresholds(scores, thresholds))
    sides = [posterior(scores, binned, names, level, size, seed), bootstrap(scores, binned, names, level, size, seed)]
    data: dict[str, Any] = {
        name: (DIMS, np.stack([side[0][i] for side in sides])) for i, name in enumerate(LIMITS)
    }  # fmt: skip
    data["band_level"] = (("approach", "metric", "subgroup"), np.stack([side[1] for side in sides]))
    data["count"] = (DIMS[1:], np.stack([rates.counts(name, confusion(binned))[1].T for name in names]))
    data["status"] = ("subgroup", scores.status())
    coordinates = {
        "approach": list(APPROACHES),
        "metric": names,
        "threshold": binned.thresholds,
        "level": float(level),
        **scores.labels(),
    }
    return xr.Dataset(data, coordinates, {"curve": "threshold", "settings": as_json({"draws": size, "seed": seed})})


def confusion(binned: Histogram) -> rates.Confusion:
    """Confusion counts at each threshold, (subgroup, threshold)."""
    return _cells(binned.positives, binned.negatives)


def bootstrap(
    scores: Scores, binned: Histogram, metrics: Sequence[str], level: float, draws: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """The frequentist side: ``LIMITS`` (limit, metric, threshold, subgroup) and the levels of the bands."""
    limits, levels = _nothing(scores, binned, metrics)
    seen = confusion(binned)
    for g in np.flatnonzero(binned.positives.sum(axis=1) + binned.negatives.sum(axis=1)):
        drawn = resample(binned, int(g), generator(seed, str(scores.names[g]), "threshold bootstrap"), draws // 2)
        replicates = _cells(drawn.positives, drawn.negatives)
        law = _cells(drawn.positive_share, drawn.negative_share)
        for i, name in enumerate(metrics):
            k, n = rates.counts(name, seen)
            hits, rows = np.maximum(k[g], 0.0), n[g]
            part, whole = rates.counts(name, law)
            truth = np.clip(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0), 0.0, 1.0)
            around = bands.rate_limits(hits, rows, truth, rates.counts(name, replicates), level)
            rate = np.divide(hits, rows, out=np.full_like(hits, np.nan), where=rows > 0)
            limits[:, i, :, g] = [rates.value(name, curve) for curve in around.beside(rate)]
            levels[i, g] = around.level
    return limits, levels


def posterior(
    scores: Scores, binned: Histogram, metrics: Sequence[str], level: float, draws: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """The Bayesian side, in the shape of `bootstrap`."""
    limits, levels = _nothing(scores, binned, metrics)
    totals = np.stack([binned.positives.sum(axis=1), binned.negatives.sum(axis=1)], axis=-1)
    rng = generator(seed, "prevalence", "threshold posterior")
    prevalence = hierarchy.shared(totals[None], rng, draws)
    classes = [trees.fit(counts, rng, draws) for counts in (binned.positives, binned.negatives)]
    defined = {name: rates.counts(name, confusion(binned))[1].sum(axis=0) > 0 for name in metrics}
    for g, label in enumerate(scores.names):
        subgroup_rng = generator(seed, str(label), "threshold posterior")
        share = np.maximum(hierarchy.members(prevalence, totals[None, g], subgroup_rng)[:, 0], trees.MIN_SHARE)
        ones, zeros = (
            trees.members(base, counts, g, subgroup_rng) * share[:, [side]]
            for side, (base, counts) in enumerate(zip(classes, (binned.positives, binned.negatives), strict=True))
        )
        cells = _cells(ones, zeros)
        for i, name in enumerate(metrics):
            if not defined[name].any():
                continue
            part, whole = (each[:, defined[name]] for each in rates.counts(name, cells))
            curves = rates.value(name, np.clip(part / whole, 0.0, 1.0))
            around = bands.draw_limits(curves, level)
            limits[:, i, defined[name], g] = around.beside(curves.mean(axis=0))
            levels[i, g] = around.level
    return limits, levels


def _cells(positives: FloatArray, negatives: FloatArray) -> rates.Confusion:
    """Confusion cells at each threshold from counts per bin along the last axis."""
    tp, fp = at_least(positives), at_least(negatives)
    # Summed from below, so that a cell with nothing in it is 0 and not a rounding error.
    return rates.Confusion(tp, np.cumsum(positives, axis=-1)[..., :-1], fp, np.cumsum(negatives, axis=-1)[..., :-1])


def _nothing(scores: Scores, binned: Histogram, metrics: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    shape = (len(metrics), len(binned.thresholds), scores.size)
    return np.full((len(LIMITS), *shape), np.nan), np.full((len(metrics), scores.size), np.nan)
