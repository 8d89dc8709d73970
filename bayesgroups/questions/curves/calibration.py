"""Calibration curves per subgroup: the share of positives among rows with about the same score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.argument_types import shown
from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import proportions
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.questions.curves import bands, recalibration
from bayesgroups.questions.curves.histograms import ranked
from bayesgroups.questions.curves.scores import Scores, check_draws, scores_of
from bayesgroups.questions.curves.thresholds import APPROACHES, LIMITS
from bayesgroups.report.posterior import generator
from bayesgroups.report.schema import KINDS

Edges = Literal["uniform", "quantile"]
Shape = Literal["free", "isotonic"]
OfBins = Literal["wilson", "jeffreys"]
ESTIMAND = "share of positives among those with a score in the bin, in the population of each subgroup"
MAX_BINS = 100_000
"""Largest number of bins."""


@checked_keywords
def calibration_curve(
    source: object,
    by: Sequence[str] | Mapping[str, Sequence[object] | None] | None = None,
    *,
    y_true: str | None = None,
    y_score: str | None = None,
    positive: object = None,
    weights: str | None = None,
    bins: int = 10,
    edges: Edges = "uniform",
    shape: Shape = "free",
    interval: OfBins = "wilson",
    level: float = 0.95,
    draws: int = 2000,
    seed: int,
) -> xr.Dataset:
    """The share of positives per bin of the score, in every subgroup, the Bayesian and the frequentist way.

    Estimand: P(outcome = 1) among those whose score lies in the bin, in the population of each subgroup.

    Parameters
    ----------
    source : xr.Dataset, dataframe, str or Path
        A tally with an ``auc``, whose score cells are all that is needed; or rows, with the columns below.
    by, y_true, y_score, positive, weights
        As in `bayesgroups.tally`; only with rows. Scores must lie in [0, 1].
    bins : int
        Number of bins.
    edges : {"uniform", "quantile"}
        Bins of equal width, or of about as many rows of all subgroups together. All subgroups have the same.
    shape : {"free", "isotonic"}
        Bins by themselves, or a curve that never falls, by isotonic regression (scikit-learn).
    interval : {"wilson", "jeffreys"}
        Of the pointwise limits of the frequentist side.
    level : float
        Of limits and bands.
    draws : int
        Posterior draws, at least 100.
    seed : int
        Source of randomness.

    Returns
    -------
    xr.Dataset
        ``estimate``, the pointwise limits ``lower`` and ``upper`` and the simultaneous ``band_lower`` and ``band_upper``
        (approach, bin, subgroup), ``band_level(approach, subgroup)``, ``mean_score`` and ``count`` (bin, subgroup),
        ``bin_lower`` and ``bin_upper`` (bin), ``status(subgroup)``, and
        ``interval_kind`` and ``interval_method(approach)`` of the pointwise limits. A bin holds its upper edge, the first both
        edges. The attribute ``note`` says so where rows come in clusters, which limits do not count.

    Raises
    ------
    InputError
        If source, columns, a choice, the number of bins, level, draws or seed cannot be used, or a score is outside [0, 1].

    Notes
    -----
    Frequentist: an interval for every bin from its counts, NaN where it is empty; bins are independent, so a band is
    made of Clopper and Pearson's intervals, which cover at any level, at the level to the power 1 / bins. If
    isotonic, the estimate is the isotonic regression of the bins with their counts for weights (between bins with
    rows a straight line), and the band is narrowed to the curves that never fall, which costs no coverage where the
    truth never falls; pointwise limits are those of the bin, as far as they lie in the band and hold the estimate.
    Bayesian: shift and slope of the logits, and then every bin, are shrunk towards the curve that subgroups share
    (`bayesgroups.questions.curves.recalibration`); if isotonic, every draw is made so.

    References
    ----------
    Brown, Cai, DasGupta (2001), doi:10.1214/ss/1009213286; Cox (1958), doi:10.1093/biomet/45.3-4.562; Barlow, Bartholomew,
    Bremner, Brunk (1972), Statistical Inference under Order Restrictions; Sidak (1967), doi:10.1080/01621459.1967.10482935.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": list("aaabbb"), "y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.6, 0.9, 0.3, 0.5, 0.6]})
    >>> found = bg.calibration_curve(rows, ["s"], y_true="y", y_score="p", bins=2, seed=1)
    >>> found["estimate"].sel(approach="frequentist").transpose("subgroup", "bin").values.tolist()
    [[0.0, 1.0], [0.5, 0.0]]
    """
    size = check_draws(draws)
    tail(level)
    scores = scores_of(source, by, y_true=y_true, y_score=y_score, positive=positive, weights=weights)
    _check_scores(scores)
    bounds = _bounds(scores, bins, edges)
    place = np.searchsorted(bounds[1:-1], scores.score)
    sums = [
        _count(scores, place, len(bounds) - 1, weight)
        for weight in (scores.negatives, scores.positives, (scores.positives + scores.negatives) * scores.score)
    ]
    counts = np.stack(sums[:2], axis=-1)  # (bin, subgroup, class)
    rows = counts.sum(axis=-1)
    mean_score = np.divide(sums[2], rows, out=np.full_like(rows, np.nan), where=rows > 0)
    status = np.where(rows.sum(axis=0) > 0, "ok", "no rows")
    middle = (bounds[1:] + bounds[:-1]) / 2
    everyone = np.divide(sums[2].sum(axis=1), rows.sum(axis=1), out=middle.copy(), where=rows.sum(axis=1) > 0)
    increasing = shape == "isotonic"
    sides = [
        _posterior(counts, everyone, level, increasing, generator(seed, "bins", "calibration posterior"), size),
        _confidence(counts, everyone, level, increasing, interval),
    ]
    dims = ("approach", "bin", "subgroup")
    data: dict[str, Any] = {name: (dims, np.stack([side[0][i] for side in sides])) for i, name in enumerate(LIMITS)}
    data["band_level"] = (("approach", "subgroup"), np.stack([side[1] for side in sides]))
    data |= {"mean_score": (dims[1:], mean_score), "count": (dims[1:], rows)}
    data |= {"bin_lower": ("bin", bounds[:-1]), "bin_upper": ("bin", bounds[1:]), "status": ("subgroup", status)}
    data["interval_kind"] = ("approach", np.array(list(KINDS.values())))
    data["interval_method"] = ("approach", np.array(["equal_tailed", interval]))
    coordinates = {
        "approach": list(APPROACHES),
        "bin": np.arange(len(middle)),
        "level": float(level),
        **scores.labels(),
    }
    settings = {"edges": edges, "shape": shape, "interval": interval, "draws": size, "seed": int(seed)}
    attributes = {"curve": "calibration", "estimand": ESTIMAND, "settings": as_json(settings), "note": scores.note}
    return xr.Dataset(data, coordinates, attributes)


def _check_scores(scores: Scores) -> None:
    bad = (scores.score < 0) | (scores.score > 1)
    if bad.any():
        worst = int(np.argmax(bad))
        raise InputError(
            f"subgroup {str(scores.names[scores.subgroup[worst]])!r} has the score {scores.score[worst]}; calibration is "
            "about probabilities, so scores must lie in [0, 1]"
        )


def _bounds(scores: Scores, bins: int, edges: Edges) -> FloatArray:
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 1 <= bins <= MAX_BINS:
        raise InputError(f"bins must be a whole number, 1 or larger and at most {MAX_BINS:,}; got {shown(bins)}")
    if edges == "uniform":
        return np.linspace(0.0, 1.0, int(bins) + 1)
    inner = ranked(scores.score, scores.positives + scores.negatives, int(bins) + 1)[1:-1]
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))


def _count(scores: Scores, place: NDArray[np.intp], bins: int, weight: FloatArray) -> FloatArray:
    sums = np.bincount(scores.subgroup * bins + place, weights=weight, minlength=scores.size * bins)
    return sums.reshape(scores.size, bins).T.astype(np.float64)


def _confidence(
    counts: FloatArray, score: FloatArray, level: float, increasing: bool, interval: OfBins
) -> tuple[FloatArray, FloatArray]:
    """The frequentist side: ``LIMITS`` (limit, bin, subgroup) and the levels of the bands."""
    k, n = counts[..., 1], counts.sum(axis=-1)
    method = proportions.wilson if interval == "wilson" else proportions.jeffreys
    filled = (n > 0).sum(axis=0)
    levels = np.where(filled > 0, level ** (1 / np.maximum(filled, 1)), np.nan)
    point = method(k, n, level)
    limits = np.stack([np.divide(k, n, out=np.full_like(k, np.nan), where=n > 0), point.lower, point.upper, k, k])
    for g in range(counts.shape[1]):
        if not filled[g]:
            limits[:, :, g] = np.nan
            continue
        band = proportions.clopper_pearson(k[:, g], n[:, g], float(levels[g]))
        limits[3, :, g], limits[4, :, g] = band.lower, band.upper
        if increasing:
            limits[:, :, g] = _rising(limits[:, :, g], n[:, g], score)
    return limits, levels


def _rising(limits: FloatArray, weight: FloatArray, score: FloatArray) -> FloatArray:
    """A curve that never falls through the bins with rows, and the part of its band where such curves lie."""
    some = weight > 0
    estimate = np.interp(score, score[some], isotonic(limits[0, some], weight[some]))
    lower, upper = bands.rising(Interval(np.where(some, limits[3], 0.0), np.where(some, limits[4], 1.0)))
    # A band that no rising curve fits says that the truth falls; then it is closed around the estimate.
    lower, upper = np.minimum(lower, estimate), np.maximum(upper, estimate)
    raw = np.where(some, limits[1], 0.0), np.where(some, limits[2], 1.0)
    point = np.clip(raw[0], lower, estimate), np.clip(raw[1], estimate, upper)
    return np.stack([estimate, *point, lower, upper])


def _posterior(
    counts: FloatArray, score: FloatArray, level: float, increasing: bool, rng: np.random.Generator, draws: int
) -> tuple[FloatArray, FloatArray]:
    """The Bayesian side, in the shape of `_confidence`."""
    bins, subgroups = counts.shape[:2]
    limits, levels = np.empty((len(LIMITS), bins, subgroups)), np.empty(subgroups)
    weight = counts.sum(axis=(1, 2)) + 1
    for g, drawn in enumerate(recalibration.members(counts, score, rng, draws)):
        curves = np.stack([isotonic(each, weight) for each in drawn]) if increasing else drawn
        around = bands.draw_limits(curves, level)
        limits[:, :, g], levels[g] = around.beside(curves.mean(axis=0)), around.level
    return limits, levels


def isotonic(share: FloatArray, weight: FloatArray) -> FloatArray:
    """Curve that never falls and is nearest to the shares, in weighted squares."""
    from sklearn.isotonic import isotonic_regression

    return np.asarray(isotonic_regression(share, sample_weight=weight), dtype=np.float64)
