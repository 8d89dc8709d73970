"""Metrics as functions of the threshold, per subgroup, with pointwise limits and simultaneous bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.texts import as_json
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.curves import bands, hierarchy, net_benefits, rates, trees
from bayesgroups.questions.curves.histograms import Histogram, at_least, choose_thresholds, histogram, resample
from bayesgroups.questions.curves.scores import Scores, check_draws, scores_of
from bayesgroups.report.posterior import generator
from bayesgroups.report.schema import KINDS

APPROACHES = ("bayesian", "frequentist")
LIMITS = ("estimate", "lower", "upper", "band_lower", "band_upper")
METRICS = (*rates.METRICS, *net_benefits.METRICS)
"""The metrics that have a threshold curve."""
ESTIMAND = "value of the metric at each threshold in the population of each subgroup"
DIMS = ("approach", "metric", "threshold", "subgroup")


class Side(NamedTuple):
    """One approach: `LIMITS` (limit, metric, threshold, subgroup), levels of bands (metric, subgroup), and for net benefits.

    ``beside`` are the variables of `net_benefits.BESIDE` (variable, threshold, subgroup), ``useful`` is a probability.
    """

    limits: FloatArray
    levels: FloatArray
    beside: FloatArray
    useful: FloatArray


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
        Any of ``sel acc tpr fnr fpr tnr ppv fdr npv for f1 net_benefit standardised_net_benefit``. For the last two
        scores are probabilities: the odds of a threshold are the true positives that a false positive costs.
    thresholds : array-like, optional
        Thresholds; by default 51 from 0 to 1, or at evenly spaced ranks where scores lie elsewhere;
        without 1 for net benefit.
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
        lacks, and ``interval_kind(approach)`` and ``interval_method(approach, metric)`` of the pointwise limits.
        A band holds the whole curve of one metric in one subgroup with the probability ``level``.
        With a net benefit also, along approach, threshold and subgroup, ``treat_all``, that of selecting everyone (of no one: 0),
        and ``minus_treat_all`` with ``_lower`` and ``_upper``, the net benefit beyond it; and ``probability_useful(threshold,
        subgroup)``, the posterior probability that it is above both. The attribute ``note`` says so
        where rows come in clusters, which limits do not count.

    Raises
    ------
    InputError
        If the source, the columns, a metric, the thresholds, level, draws or seed cannot be used; if a
        threshold of a net benefit is outside [0, 1).

    Notes
    -----
    Frequentist: Jeffreys' intervals from the counts at each threshold (F1 through the rate it is a function of); NaN where a
    denominator is empty. Bands are Clopper and Pearson's intervals at the level at which Jeffreys' hold whole curves in a
    bootstrap of the subgroup's rows. Net benefit has normal limits, with half a row added to every cell for their width,
    clipped to its range [-odds, 1], and bands calibrated likewise; subgroups of unlike prevalence are to be compared by
    ``minus_treat_all`` or the standardised one.

    Bayesian: prevalence and the distribution of scores within each class are shrunk towards
    those that subgroups share, by as much as the subgroups agree (`bayesgroups.questions.curves.trees`); defined also in
    subgroups without rows, and NaN only where no subgroup at all has a row in the denominator. Cost grows with thresholds and
    subgroups and not with rows. Clusters of rows are not taken into account.

    References
    ----------
    Brown, Cai, DasGupta (2001), doi:10.1214/ss/1009213286; Besag, Green, Higdon, Mengersen (1995),
    doi:10.1214/ss/1177010123; Montiel Olea, Plagborg-Moller (2019), doi:10.1002/jae.2656; Vickers, Elkin (2006),
    doi:10.1177/0272989X06295361.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": list("aaabbb"), "y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.6, 0.9, 0.3, 0.5, 0.6]})
    >>> found = bg.threshold_curve(rows, ["s"], y_true="y", y_score="p", metrics="tpr", thresholds=[0.55, 0.7], seed=1)
    >>> found["estimate"].sel(approach="frequentist", metric="tpr", subgroup="a").values.tolist()
    [1.0, 0.5]
    """
    names, size = rates.check_metrics(metrics, METRICS), check_draws(draws)
    tail(level)  # refuses a level outside (0, 1) before any work is done
    scores = scores_of(source, by, y_true=y_true, y_score=y_score, positive=positive, weights=weights)
    cuts = choose_thresholds(scores, thresholds)
    beneficial = any(name in net_benefits.METRICS for name in names)
    binned = histogram(scores, net_benefits.below_one(thresholds, cuts) if beneficial else cuts)
    if beneficial:
        net_benefits.odds(binned.thresholds)  # refuses thresholds that are no probabilities
    sides = [posterior(scores, binned, names, level, size, seed), bootstrap(scores, binned, names, level, size, seed)]
    data: dict[str, Any] = {
        name: (DIMS, np.stack([side.limits[i] for side in sides])) for i, name in enumerate(LIMITS)
    }  # fmt: skip
    data["band_level"] = (("approach", "metric", "subgroup"), np.stack([side.levels for side in sides]))
    data["count"] = (DIMS[1:], np.stack([_denominator(name, confusion(binned)).T for name in names]))
    data["status"] = ("subgroup", scores.status())
    frequentist = ["normal" if name in net_benefits.METRICS else "jeffreys" for name in names]
    data["interval_kind"] = ("approach", np.array(list(KINDS.values())))
    data["interval_method"] = (DIMS[:2], np.array([["equal_tailed"] * len(names), frequentist]))
    if beneficial:
        data |= net_benefits.variables([side.beside for side in sides], sides[0].useful)
    coordinates = {
        "approach": list(APPROACHES),
        "metric": names,
        "threshold": binned.thresholds,
        "level": float(level),
        **scores.labels(),
    }
    settings = as_json({"draws": size, "seed": int(seed)})
    attributes = {"curve": "threshold", "estimand": ESTIMAND, "settings": settings, "note": scores.note}
    return xr.Dataset(data, coordinates, attributes)


def confusion(binned: Histogram) -> rates.Confusion:
    """Confusion counts at each threshold, (subgroup, threshold)."""
    return _cells(binned.positives, binned.negatives)


def bootstrap(scores: Scores, binned: Histogram, metrics: Sequence[str], level: float, draws: int, seed: int) -> Side:
    """The frequentist side."""
    limits, levels, beside, useful = _nothing(scores, binned, metrics)
    cost = _odds(binned, metrics)
    seen = confusion(binned)
    for g in np.flatnonzero(binned.positives.sum(axis=1) + binned.negatives.sum(axis=1)):
        drawn = resample(binned, int(g), generator(seed, str(scores.names[g]), "threshold bootstrap"), draws // 2)
        replicates = _cells(drawn.positives, drawn.negatives)
        law = _cells(drawn.positive_share, drawn.negative_share)
        counted = rates.Confusion(seen.tp[g], seen.fn[g], seen.fp[g], seen.tn[g])
        if cost is not None:
            beside[:, :, g] = net_benefits.beside_counts(counted, cost, level)
        for i, name in enumerate(metrics):
            if cost is not None and name in net_benefits.METRICS:
                around = net_benefits.resampled(name, counted, law, replicates, cost, level)
                limits[:, i, :, g] = around.beside(net_benefits.value(name, counted, cost))
                levels[i, g] = around.level
                continue
            k, n = rates.counts(name, seen)
            hits, rows = np.maximum(k[g], 0.0), n[g]
            part, whole = rates.counts(name, law)
            truth = np.clip(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0), 0.0, 1.0)
            around = bands.rate_limits(hits, rows, truth, rates.counts(name, replicates), level)
            rate = np.divide(hits, rows, out=np.full_like(hits, np.nan), where=rows > 0)
            limits[:, i, :, g] = [rates.value(name, curve) for curve in around.beside(rate)]
            levels[i, g] = around.level
    return Side(limits, levels, beside, useful)


def posterior(scores: Scores, binned: Histogram, metrics: Sequence[str], level: float, draws: int, seed: int) -> Side:
    """The Bayesian side, in the shape of `bootstrap`."""
    limits, levels, beside, useful = _nothing(scores, binned, metrics)
    cost = _odds(binned, metrics)
    totals = np.stack([binned.positives.sum(axis=1), binned.negatives.sum(axis=1)], axis=-1)
    rng = generator(seed, "prevalence", "threshold posterior")
    prevalence = hierarchy.shared(totals[None], rng, draws)
    classes = [trees.fit(counts, rng, draws) for counts in (binned.positives, binned.negatives)]
    defined = {name: _denominator(name, confusion(binned)).sum(axis=0) > 0 for name in metrics}
    for g, label in enumerate(scores.names):
        subgroup_rng = generator(seed, str(label), "threshold posterior")
        share = np.maximum(hierarchy.members(prevalence, totals[None, g], subgroup_rng)[:, 0], trees.MIN_SHARE)
        ones, zeros = (
            trees.members(base, counts, g, subgroup_rng) * share[:, [side]]
            for side, (base, counts) in enumerate(zip(classes, (binned.positives, binned.negatives), strict=True))
        )
        cells = _cells(ones, zeros)
        if cost is not None:
            beside[:, :, g] = net_benefits.beside_draws(cells, cost, level)
            useful[:, g] = net_benefits.useful(cells, cost).mean(axis=0)
        for i, name in enumerate(metrics):
            if not defined[name].any():
                continue
            if cost is not None and name in net_benefits.METRICS:
                curves = net_benefits.value(name, cells, cost)[:, defined[name]]
            else:
                part, whole = (each[:, defined[name]] for each in rates.counts(name, cells))
                curves = rates.value(name, np.clip(part / whole, 0.0, 1.0))
            around = bands.draw_limits(curves, level)
            limits[:, i, defined[name], g] = around.beside(curves.mean(axis=0))
            levels[i, g] = around.level
    return Side(limits, levels, beside, useful)


def _cells(positives: FloatArray, negatives: FloatArray) -> rates.Confusion:
    """Confusion cells at each threshold from counts per bin along the last axis."""
    tp, fp = at_least(positives), at_least(negatives)
    # Summed from below, so that a cell with nothing in it is 0 and not a rounding error.
    return rates.Confusion(tp, np.cumsum(positives, axis=-1)[..., :-1], fp, np.cumsum(negatives, axis=-1)[..., :-1])


def _nothing(scores: Scores, binned: Histogram, metrics: Sequence[str]) -> Side:
    points = (len(binned.thresholds), scores.size)
    shapes = (
        (len(LIMITS), len(metrics), *points),
        (len(metrics), scores.size),
        (len(net_benefits.BESIDE), *points),
        points,
    )
    return Side(*(np.full(shape, np.nan) for shape in shapes))


def _denominator(name: str, cells: rates.Confusion) -> FloatArray:
    """Rows that count, (subgroup, threshold)."""
    return net_benefits.denominator(name, cells) if name in net_benefits.METRICS else rates.counts(name, cells)[1]


def _odds(binned: Histogram, metrics: Sequence[str]) -> FloatArray | None:
    """Odds of the thresholds where a net benefit is asked."""
    return net_benefits.odds(binned.thresholds) if any(name in net_benefits.METRICS for name in metrics) else None
