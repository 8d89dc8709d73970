"""ROC curves per subgroup: every point, and bands around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayesgroups.data.arrays import FloatArray, numbers
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import areas
from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.questions.curves import bands, trees
from bayesgroups.questions.curves.bands import CurveLimits
from bayesgroups.questions.curves.histograms import Histogram, Replicates, at_least, histogram, ranked, resample
from bayesgroups.questions.curves.scores import Scores, check_draws, scores_of
from bayesgroups.questions.curves.thresholds import APPROACHES, LIMITS
from bayesgroups.report.posterior import generator
from bayesgroups.report.schema import KINDS
from bayesgroups.tallies.auc import ScoreCells, statistics

STEPS = 64
"""Thresholds at ranks of each class, between which the bands see no more of the scores."""
GRID = 101
"""False positive rates when none are given."""

ESTIMAND = "true positive rate at each false positive rate in the population of each subgroup"


@checked_keywords
def roc_curve(
    source: object,
    by: Sequence[str] | Mapping[str, Sequence[object] | None] | None = None,
    *,
    y_true: str | None = None,
    y_score: str | None = None,
    positive: object = None,
    weights: str | None = None,
    fpr: ArrayLike | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int,
) -> xr.Dataset:
    """The ROC curve of every subgroup, the Bayesian and the frequentist way.

    Estimand: the true positive rate of ``score >= threshold`` at the threshold that has a given false positive rate, in the
    population of each subgroup; and the area under it.

    Parameters
    ----------
    source : xr.Dataset, dataframe, str or Path
        A tally with an ``auc``, whose score cells are all that is needed; or rows, with the columns below.
    by, y_true, y_score, positive, weights
        As in `bayesgroups.tally`; only with rows.
    fpr : array-like, optional
        False positive rates in [0, 1]; by default 0, .01, ..., 1.
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
        (approach, fpr, subgroup), true positive rates; ``band_level(approach, subgroup)``; ``auc``, ``auc_lower`` and
        ``auc_upper`` (approach, subgroup); ``positives``, ``negatives`` and ``status`` (subgroup); ``interval_kind`` and
        ``interval_method(approach)`` of the pointwise limits. The points of the empirical curve, one per distinct score of a
        subgroup and one at (0, 0), are ``point_subgroup`` (its position), ``point_fpr``, ``point_tpr`` and ``point_threshold``
        (point); NaN where a class is empty. The attribute ``note`` says so where rows come in clusters, which limits do not
        count.

    Raises
    ------
    InputError
        If source, columns, false positive rates, level, draws or seed cannot be used, or a class is empty in all subgroups.

    Notes
    -----
    Between points the curve is a straight line, so that its area is the AUC with ties one half; where it rises upright the
    largest value is taken. An increasing map of the scores changes nothing. Frequentist: Jeffreys' limits for as many trials
    as give the variance of the curve under the bootstrap (it counts the error of the threshold too), at the level at which
    they hold whole curves for the bands; Newcombe's interval for the AUC. Bayesian: as in `bayesgroups.threshold_curve`,
    shrunk towards the distributions that subgroups share. Both see the scores between 64 ranks of either class, so that cost
    does not grow with rows; points and the frequentist estimates are exact.

    References
    ----------
    Fawcett (2006), doi:10.1016/j.patrec.2005.10.010; Macskassy, Provost, Rosset (2005), bands of ROC curves,
    doi:10.1145/1102351.1102419; Newcombe (2006), doi:10.1002/sim.2324.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": list("aaabbb"), "y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.6, 0.9, 0.3, 0.5, 0.6]})
    >>> found = bg.roc_curve(rows, ["s"], y_true="y", y_score="p", fpr=[0.0, 0.5, 1.0], seed=1)
    >>> found["estimate"].sel(approach="frequentist", subgroup="b").values.tolist()
    [0.0, 1.0, 1.0]
    >>> found["auc"].sel(approach="frequentist").values.tolist()
    [1.0, 0.5]
    """
    size = check_draws(draws)
    tail(level)
    grid = _check_rates(fpr)
    scores = scores_of(source, by, y_true=y_true, y_score=y_score, positive=positive, weights=weights)
    for word, counts in (("positive", scores.positives), ("negative", scores.negatives)):
        if not counts.sum() > 0:
            raise InputError(f"no subgroup has a {word}; a ROC curve needs both classes")
    classes = (scores.positives, scores.negatives)
    binned = histogram(scores, np.unique(np.concatenate([ranked(scores.score, each, STEPS) for each in classes])))
    sides = [_posterior(scores, binned, grid, level, size, seed), _bootstrap(scores, binned, grid, level, size, seed)]
    shape = ("approach", "fpr", "subgroup")
    data: dict[str, Any] = {name: (shape, np.stack([side[0][i] for side in sides])) for i, name in enumerate(LIMITS)}
    data["band_level"] = (("approach", "subgroup"), np.stack([side[1] for side in sides]))
    for i, name in enumerate(("auc", "auc_lower", "auc_upper")):
        data[name] = (("approach", "subgroup"), np.stack([side[2][i] for side in sides]))
    data["status"] = ("subgroup", scores.status())
    data |= {name: ("subgroup", total) for name, total in zip(("positives", "negatives"), scores.totals(), strict=True)}
    data["interval_kind"] = ("approach", np.array(list(KINDS.values())))
    data["interval_method"] = ("approach", np.array(["equal_tailed", "jeffreys (effective trials)"]))
    data |= {f"point_{name}": ("point", values) for name, values in _points(scores).items()}
    coordinates = {"approach": list(APPROACHES), "fpr": grid, "level": float(level), **scores.labels()}
    settings = as_json({"draws": size, "seed": int(seed)})
    return xr.Dataset(
        data, coordinates, {"curve": "roc", "estimand": ESTIMAND, "settings": settings, "note": scores.note}
    )


Side = tuple[FloatArray, FloatArray, FloatArray]
"""`LIMITS` (limit, fpr, subgroup), levels of the bands (subgroup,), AUC and its limits (3, subgroup)."""


def _check_rates(fpr: ArrayLike | None) -> FloatArray:
    grid = np.linspace(0.0, 1.0, GRID) if fpr is None else np.unique(numbers(fpr)) + 0.0
    if len(grid) == 0 or not ((grid >= 0) & (grid <= 1)).all():
        raise InputError("fpr= must hold numbers from 0 to 1, at least one, such as np.linspace(0, 1, 101)")
    return grid


def _points(scores: Scores) -> dict[str, NDArray[Any]]:
    """The corners of every empirical curve, from its highest score down."""
    order = np.lexsort((-scores.score, scores.subgroup))
    g, score = scores.subgroup[order], scores.score[order]
    first = np.flatnonzero(np.r_[True, g[1:] != g[:-1]])  # where a curve starts, at (0, 0) above all scores
    corners: dict[str, NDArray[Any]] = {
        "subgroup": np.insert(g, first, g[first]),
        "threshold": np.insert(score, first, np.inf),
    }
    for name, counts, total in zip(
        ("tpr", "fpr"), (scores.positives[order], scores.negatives[order]), scores.totals(), strict=True
    ):
        running = np.cumsum(counts)
        reached = running - (running - counts)[first][np.searchsorted(first, np.arange(len(g)), side="right") - 1]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.minimum(reached / total[g], 1.0)
            corners[name] = np.insert(share, first, np.where(total[g[first]] > 0, 0.0, np.nan))
    return corners


def _at_rates(grid: FloatArray, tpr: FloatArray, fpr: FloatArray) -> FloatArray:
    """True positive rates at the false positive rates of the grid; curves (..., threshold), highest threshold last."""
    rows = np.reshape(tpr[..., ::-1], (-1, tpr.shape[-1])), np.reshape(fpr[..., ::-1], (-1, fpr.shape[-1]))
    ends = [np.pad(each, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))) for each in rows]
    heights = np.stack([np.interp(grid, x, y) for y, x in zip(*ends, strict=True)])
    return heights.reshape(*tpr.shape[:-1], len(grid))


def _shares(counts: FloatArray) -> FloatArray:
    """Shares at or above each threshold from counts per bin."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.clip(np.divide(at_least(counts), total, out=np.zeros_like(counts[..., 1:]), where=total > 0), 0.0, 1.0)


def _bootstrap(scores: Scores, binned: Histogram, grid: FloatArray, level: float, draws: int, seed: int) -> Side:
    limits, levels, area = _nothing(scores, grid)
    cells = ScoreCells(
        scores.subgroup, scores.score, scores.positives, scores.negatives, scores.positives, scores.negatives
    )
    ones, zeros = scores.totals()
    area[0] = statistics(cells, scores.size).estimate
    interval = areas.newcombe(area[0], ones, zeros, level)
    area[1], area[2] = interval.lower, interval.upper
    points = _points(scores)
    for g in np.flatnonzero((ones > 0) & (zeros > 0)):
        mine = points["subgroup"] == g
        curve = _at_rates(grid, points["tpr"][mine][::-1], points["fpr"][mine][::-1])
        drawn = resample(binned, int(g), generator(seed, str(scores.names[g]), "roc bootstrap"), draws // 2)
        around = _limits(curve, float(ones[g]), drawn, grid, level)
        limits[:, :, g], levels[g] = around.beside(curve), around.level
    return limits, levels, area


def _limits(curve: FloatArray, positives: float, drawn: Replicates, grid: FloatArray, level: float) -> CurveLimits:
    """Limits of a curve from the trials that vary as it does."""
    both = (drawn.positives.sum(axis=1) > 0) & (drawn.negatives.sum(axis=1) > 0)
    replicates = _at_rates(grid, _shares(drawn.positives[both]), _shares(drawn.negatives[both]))
    truth = _at_rates(grid, _shares(drawn.positive_share), _shares(drawn.negative_share))
    # Around the law they were drawn from: with few rows the median of replicates can lie elsewhere.
    variance = ((replicates - truth) ** 2).mean(axis=0)
    # Near 0 and 1 replicates hardly vary, and by jumps; half a row of either kind keeps the ratio steady.
    steady = (truth * positives + 0.5) / (positives + 1)
    trials = np.divide(steady * (1 - steady), variance, out=np.full_like(truth, positives), where=variance > 0)
    trials = np.clip(trials, min(1.0, positives), positives)
    rates = bands.rate_limits(curve * trials, trials, truth, (replicates * trials, trials), level, exact=False)
    # No curve in the band is lost: a ROC curve never falls.
    lower, upper = bands.rising(rates.band)
    point = Interval(np.maximum(rates.point.lower, lower), np.minimum(rates.point.upper, upper))
    return CurveLimits(point, Interval(lower, upper), rates.level)


def _posterior(scores: Scores, binned: Histogram, grid: FloatArray, level: float, draws: int, seed: int) -> Side:
    limits, levels, area = _nothing(scores, grid)
    rng = generator(seed, "classes", "roc posterior")
    classes = [trees.fit(counts, rng, draws) for counts in (binned.positives, binned.negatives)]
    for g, label in enumerate(scores.names):
        subgroup_rng = generator(seed, str(label), "roc posterior")
        ones, zeros = (
            trees.members(tree, counts, g, subgroup_rng)
            for tree, counts in zip(classes, (binned.positives, binned.negatives), strict=True)
        )
        curves = _at_rates(grid, _shares(ones), _shares(zeros))
        around = bands.draw_limits(curves, level)
        limits[:, :, g], levels[g] = around.beside(curves.mean(axis=0)), around.level
        below = np.cumsum(zeros, axis=1) - zeros
        aucs = np.clip((ones * (below + zeros / 2)).sum(axis=1), 0.0, 1.0)
        area[:, g] = (aucs.mean(), *np.quantile(aucs, [(1 - level) / 2, (1 + level) / 2]))
    return limits, levels, area


def _nothing(scores: Scores, grid: FloatArray) -> Side:
    limits = np.full((len(LIMITS), len(grid), scores.size), np.nan)
    return limits, np.full(scores.size, np.nan), np.full((3, scores.size), np.nan)
