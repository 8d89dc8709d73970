"""Model-based metrics: a regression of the score on outcome and attributes, every metric a functional of it, bootstrapped.

The evaluation model has no effect of a subgroup beside those of its attributes: subgroups share what they can, and a subgroup
that departs from the sum of its attributes is not seen. So intervals are narrow, and too narrow where subgroups do depart.
"""

from __future__ import annotations

import json
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from bayesgroups.errors import InputError
from bayesgroups.frequentist import score_regression
from bayesgroups.frequentist.answer import assemble
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.score_inputs import with_scores
from bayesgroups.frequentist.score_laws import ScoreLaw, metric_of
from bayesgroups.frequentist.score_regression import Coefficients, Kinds
from bayesgroups.frequentist.score_shapes import Residuals, binned, chosen
from bayesgroups.frequentist.score_warps import apply, apply_with_slope, undo
from bayesgroups.levels import LEVELS
from bayesgroups.tallies.folds import stream
from bayesgroups.tallies.score_moments import cell_moments, kept, to_scale
from bayesgroups.tallies.subgroups import attributes_of

FloatArray = NDArray[np.float64]

Method = Literal["fast", "full"]

_OF_POSITIVES = ("tpr", "fnr")
_OF_NEGATIVES = ("fpr", "tnr")


def estimate(
    tally: xr.Dataset,
    *,
    residuals: Residuals = "auto",
    method: Method = "fast",
    replicates: int = 500,
    seed: int = 0,
) -> xr.Dataset:
    """Fit the score regression and take every metric from it.

    Estimand: the value of the metric among the rows of each subgroup, on average over scores given outcomes.

    Parameters
    ----------
    tally : xr.Dataset
        A tally that keeps scores, see `bayesgroups.frequentist.score_inputs.with_scores`.
    residuals : {"auto", "normal", "skewed"}
        Normal scores; scores that are normal after a warp common to all rows, see `bayesgroups.frequentist.score_warps`; or
        whichever of the two the information criterion prefers. The warp is not bootstrapped.
    method : {"fast", "full"}
        One Newton step per replicate, or a fit of every replicate.
    replicates : int
        Of the bootstrap, at least 2.
    seed : int
        Of the bootstrap. A metric has the same answer whichever others are asked for.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`. Rates among positives are NaN in subgroups without positives, others
        likewise; a predictive value has an answer wherever there are rows, ``imputed`` if nothing was selected.

    Raises
    ------
    InputError
        If a choice does not exist, a number is out of range, or the scores cannot be used.

    Notes
    -----
    Mean: outcome, attributes, and their products; log standard deviation: outcome. Rows are drawn from the bins of the tally,
    in proportion to their number: the bootstrap of all rows, up to the width of a bin. Intervals are percentiles.

    References
    ----------
    Miller, Gatys, Futoma, Fox (2021), model-based metrics; Herlihy, Truong, Chouldechova, Dudik (2024), section 5. The
    configuration is our choice where these leave it open.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import model_based_metrics
    >>> rng = np.random.default_rng(1)
    >>> rows = pd.DataFrame({"site": rng.choice(["a", "b"], 2000), "y": rng.integers(0, 2, 2000)})
    >>> rows["p"] = 1 / (1 + np.exp(0.5 - rows["y"] - rng.standard_normal(2000)))
    >>> counts = bg.tally(rows, ["site"], ["fnr", "auc"], y_true="y", y_score="p", threshold=0.5)
    >>> model_based_metrics.estimate(counts)["estimate"].values.round(1).tolist()
    [[0.3, 0.3], [0.8, 0.7]]
    """
    for name, value, choices in (
        ("residuals", residuals, get_args(Residuals)),
        ("method", method, get_args(Method)),
    ):
        if value not in choices:
            raise InputError(f"model_based_metrics: {name}={value!r} is not one of {', '.join(map(repr, choices))}")
    if replicates < 2:
        raise InputError(f"model_based_metrics: replicates={replicates} must be 2 or larger")
    source = with_scores(tally)
    bins = kept(source)
    assert bins is not None, "with_scores() attaches them"
    size = source.sizes["subgroup"]
    moments = cell_moments(bins, size)
    count = moments.count
    filled = np.nan_to_num(moments.mean)
    unit = float(np.sqrt(moments.scatter.sum() / np.maximum(count - 1, 0).sum()))
    centre = float((count * filled).sum() / count.sum())
    rows = binned(bins, size, centre, unit)
    warped = chosen(rows, residuals)
    score, slope = apply_with_slope(warped, rows.arcsinh)
    spread = np.exp(2 * slope) * rows.within
    kinds = _kinds(source)
    sample = score_regression.sums(rows.cell, rows.cells, score, rows.weight, spread)
    found = score_regression.fit(kinds, sample)
    rng = stream(seed, "scores", "model_based_metrics")
    drawn = score_regression.resample(rows.cell, rows.cells, score, rows.weight, spread, replicates, rng)
    again = (
        score_regression.one_step(kinds, sample, found, drawn)
        if method == "fast"
        else score_regression.fit(kinds, drawn)
    )
    threshold = _threshold(source)
    cut = float("nan") if threshold is None else (to_scale(threshold, bins.scale) - centre) / unit
    where = apply(warped, np.array([cut]))[0]

    def link(law_value: FloatArray) -> FloatArray:
        return np.asarray(expit(centre + unit * undo(warped, law_value)), dtype=np.float64)

    point_law, laws = _law(kinds, found, sample.number), _law(kinds, again, drawn.number)
    estimates, errors, quantiles = [], [], []
    probabilities = [(1 - level) / 2 for level in LEVELS] + [(1 + level) / 2 for level in LEVELS]
    for name in (str(metric) for metric in tally["metric"].values):
        answered = _answered(name, count)
        point = np.where(answered, metric_of(name, point_law, where, link=link), np.nan)
        values = metric_of(name, laws, where, link=link)
        # A replicate without rows of a subgroup says nothing of its prevalence.
        values = np.where(np.isfinite(values), values, point)
        estimates.append(point)
        errors.append(np.where(answered, values.std(axis=0, ddof=1), np.nan))
        quantiles.append(np.where(answered, np.quantile(values, probabilities, axis=0), np.nan))
    table = np.stack(quantiles, axis=1)
    intervals = [Interval(table[i], table[i + len(LEVELS)]) for i in range(len(LEVELS))]
    estimate_ = np.stack(estimates)
    return assemble(
        tally,
        estimate=estimate_,
        std_error=np.stack(errors),
        intervals=intervals,
        methods=[f"score_regression_{method}"] * len(estimates),
        imputed=~np.isfinite(tally["estimate"].values),
    )


def _kinds(tally: xr.Dataset) -> Kinds:
    """Features of every subgroup and outcome: outcome, attributes (but their first level) and products."""
    attributes = [np.unique(tally[name].values, return_inverse=True)[1] for name in attributes_of(tally)]
    own = [np.eye(int(level.max()) + 1)[level][:, 1:] for level in attributes]
    plain = np.column_stack([np.ones(tally.sizes["subgroup"]), *own])
    x = np.zeros((2 * len(plain), 2 * plain.shape[1]))
    x[0::2, : plain.shape[1]] = x[1::2, : plain.shape[1]] = x[1::2, plain.shape[1] :] = plain
    z = np.column_stack([np.ones(len(x)), np.tile([0.0, 1.0], len(plain))])
    return Kinds(x, z)


def _law(kinds: Kinds, found: Coefficients, number: FloatArray) -> ScoreLaw:
    """The law of every subgroup (..., subgroup), outcomes as frequent as among its rows."""
    mean, sd = found.beta @ kinds.x.T, np.exp(found.gamma @ kinds.z.T)
    negative, positive = number[..., 0::2], number[..., 1::2]
    with np.errstate(invalid="ignore"):
        share = positive / (positive + negative)
    return ScoreLaw(share, mean[..., 0::2], mean[..., 1::2], sd[..., 0::2], sd[..., 1::2])


def _answered(name: str, count: FloatArray) -> NDArray[np.bool_]:
    """Subgroups with rows that the metric is about; counts are (outcome, subgroup)."""
    if name in _OF_POSITIVES:
        return np.asarray(count[1] > 0)
    if name in _OF_NEGATIVES:
        return np.asarray(count[0] > 0)
    return np.asarray((count > 0).all(axis=0) if name == "auc" else count.sum(axis=0) > 0)


def _threshold(tally: xr.Dataset) -> float | None:
    found = json.loads(tally.attrs["settings"]).get("threshold")
    return None if found is None else float(found)
