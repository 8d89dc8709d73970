"""Model-based metrics: a regression of the score on outcome and attributes, every metric a functional of it, bootstrapped.

The evaluation model has no effect of a subgroup beside those of its attributes: subgroups share what they can, and a subgroup
that departs from the sum of its attributes is not seen. So intervals are narrow, and too narrow where subgroups do depart.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist import score_covariate_regression, score_regression
from bayesgroups.frequentist.answer import assemble, without_estimates
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.score_regression import Kinds
from bayesgroups.report.levels import LEVELS
from bayesgroups.scores.inputs import NO_WARP, with_scores
from bayesgroups.scores.laws import ScoreLaw, metric_of
from bayesgroups.scores.shapes import BinnedScores, Residuals, binned, chosen
from bayesgroups.scores.warps import Warp, apply, apply_with_slope, undo, warp
from bayesgroups.tallies.folds import stream
from bayesgroups.tallies.score_covariates import packets_of
from bayesgroups.tallies.score_moments import CellMoments, Scale, cell_moments, kept, to_scale
from bayesgroups.tallies.subgroups import attributes_of

Method = Literal["fast", "full"]

_OF_POSITIVES = ("tpr", "fnr")
_OF_NEGATIVES = ("fpr", "tnr")


@checked_keywords
def estimate(
    tally: xr.Dataset,
    *,
    covariates: Sequence[str] = (),
    row_covariates: Sequence[str] = (),
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
        A tally that keeps scores, see `bayesgroups.scores.inputs.with_scores`.
    covariates : sequence of str
        Features of the tally whose subgroup means describe the scores, as attributes do.
    row_covariates : sequence of str
        Covariates of the rows, see `bayesgroups.tallies.score_covariates.keep_covariates`; scores are normal given them.
    residuals : {"auto", "normal", "skewed"}
        Normal scores; scores that are normal after a warp common to all rows, see `bayesgroups.scores.warps`; or
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
        likewise; a predictive value has an answer wherever there are rows, ``imputed`` if nothing was selected. A metric of an
        outcome whose rows are no more than the coefficients of their scores, or do not vary about these, is ``not estimable``.

    Raises
    ------
    InputError
        If a choice does not exist, a number is out of range, the scores cannot be used, or the tally has no such covariate.

    Notes
    -----
    Mean: outcome, attributes, and their products; log standard deviation: outcome. Rows are drawn from the bins of the tally,
    in proportion to their number: the bootstrap of all rows, up to the width of a bin. Intervals are percentiles. With
    covariates of the rows, these and their products with the outcome join the mean, and packets of rows are drawn, see
    `bayesgroups.frequentist.score_covariate_regression`.

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
    for name, value, choices in (("residuals", residuals, get_args(Residuals)), ("method", method, get_args(Method))):
        if value not in choices:
            raise InputError(f"model_based_metrics: {name}={value!r} is not one of {', '.join(map(repr, choices))}")
    if row_covariates and residuals == "skewed":
        raise InputError(NO_WARP)
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
    kinds = _kinds(source, covariates)
    rng = stream(seed, "scores", "model_based_metrics")
    if row_covariates:
        warped = warp(0.0, 0.0)
        point_law, laws = _with_covariates(source, row_covariates, kinds, centre, unit, method, replicates, rng)
    else:
        rows = binned(bins, size, centre, unit)
        warped = chosen(rows, residuals)
        point_law, laws = _without_covariates(rows, warped, kinds, method, replicates, rng)
    determined = _determined(kinds, moments, len(row_covariates), unit)
    cut = (_cut(source, bins.scale) - centre) / unit
    where = apply(warped, np.array([cut]))[0]

    def link(law_value: FloatArray) -> FloatArray:
        return np.asarray(expit(centre + unit * undo(warped, law_value)), dtype=np.float64)

    estimates, errors, quantiles, unknown = [], [], [], []
    probabilities = [(1 - level) / 2 for level in LEVELS] + [(1 + level) / 2 for level in LEVELS]
    for name in (str(metric) for metric in tally["metric"].values):
        whole = bool(determined[_outcomes_of(name)].all())
        answered = _answered(name, count) & whole
        unknown.append(_answered(name, count) & (not whole))
        point = np.where(answered, metric_of(name, point_law, where, link=link), np.nan)
        values = metric_of(name, laws, where, link=link)
        # A replicate without rows of a subgroup says nothing of its prevalence.
        values = np.where(np.isfinite(values), values, point)
        estimates.append(point)
        errors.append(np.where(answered, values.std(axis=0, ddof=1), np.nan))
        quantiles.append(np.where(answered, np.quantile(values, probabilities, axis=0), np.nan))
    table = np.stack(quantiles, axis=1)
    intervals = [Interval(table[i], table[i + len(LEVELS)]) for i in range(len(LEVELS))]
    answer = assemble(
        tally,
        estimate=np.stack(estimates),
        std_error=np.stack(errors),
        intervals=intervals,
        methods=[f"score_regression_{method}"] * len(estimates),
        imputed=~np.isfinite(tally["estimate"].values),
    )
    return without_estimates(answer, np.stack(unknown))


def _determined(kinds: Kinds, moments: CellMoments, covariates: int, unit: float) -> NDArray[np.bool_]:
    """Outcomes (outcome,) whose rows are more than the coefficients of their scores, and vary about the mean that these give.

    Nothing is asked of one that no row has.
    """
    determined = []
    for outcome, number in enumerate(moments.count):
        some = number > 0
        root, x = np.sqrt(number[some]), kinds.x[outcome::2][some]
        scores = root * moments.mean[outcome][some]
        fitted, _, rank, _ = np.linalg.lstsq(root[:, None] * x, scores, rcond=None)
        squares = ((scores - root * (x @ fitted)) ** 2).sum() + moments.scatter[outcome][some].sum()
        rows = number.sum()
        vary = squares > rows * (score_regression.SMALLEST_SD * unit) ** 2
        determined.append(rows == 0 or (rows > rank + covariates and vary))
    return np.array(determined, dtype=np.bool_)


def _without_covariates(
    rows: BinnedScores, warped: Warp, kinds: Kinds, method: Method, replicates: int, rng: np.random.Generator
) -> tuple[ScoreLaw, ScoreLaw]:
    """The law of the sample, and those of replicates."""
    score, slope = apply_with_slope(warped, rows.arcsinh)
    spread = slope**2 * rows.within
    sample = score_regression.sums(rows.cell, rows.cells, score, rows.weight, spread)
    fitted = score_regression.fit(kinds, sample)
    drawn = score_regression.resample(rows.cell, rows.cells, score, rows.weight, spread, replicates, rng)
    again = (
        score_regression.one_step(kinds, sample, fitted, drawn)
        if method == "fast"
        else score_regression.fit(kinds, drawn)
    )
    return (
        _law(sample.number, *score_regression.laws(kinds, fitted)),
        _law(drawn.number, *score_regression.laws(kinds, again)),
    )


def _with_covariates(
    tally: xr.Dataset, names: Sequence[str], kinds: Kinds, centre: float, unit: float, method: Method, replicates: int,
    rng: np.random.Generator,
) -> tuple[ScoreLaw, ScoreLaw]:  # fmt: skip
    """The law of the sample, and those of replicates, over the covariates of their rows."""
    packets = packets_of(tally, names)
    parts = score_covariate_regression.products(packets, centre, unit)
    kind, size, number = 2 * packets.subgroup + packets.outcome, len(names), len(kinds.x)
    sample = score_covariate_regression.add_up(parts, kind, number)
    fitted = score_covariate_regression.fit(kinds, size, sample)
    drawn = score_covariate_regression.resample(parts, kind, number, replicates, rng)
    again = (
        score_covariate_regression.one_step(kinds, size, sample, fitted, drawn)
        if method == "fast"
        else score_covariate_regression.fit(kinds, size, drawn)
    )
    return (
        _law(sample.number, *score_covariate_regression.laws(kinds, size, fitted, sample)),
        _law(drawn.number, *score_covariate_regression.laws(kinds, size, again, drawn)),
    )


def _kinds(tally: xr.Dataset, covariates: Sequence[str]) -> Kinds:
    """Features of every subgroup and outcome: outcome, attributes (but their first level), covariates, and products."""
    attributes = [np.unique(tally[name].values, return_inverse=True)[1] for name in attributes_of(tally)]
    indicators = [np.eye(int(level.max()) + 1)[level][:, 1:] for level in attributes]
    if covariates:
        indicators.append(_features(tally, covariates))
    plain = np.column_stack([np.ones(tally.sizes["subgroup"]), *indicators])
    x = np.zeros((2 * len(plain), 2 * plain.shape[1]))
    x[0::2, : plain.shape[1]] = x[1::2, : plain.shape[1]] = x[1::2, plain.shape[1] :] = plain
    z = np.column_stack([np.ones(len(x)), np.tile([0.0, 1.0], len(plain))])
    return Kinds(x, z)


def _features(tally: xr.Dataset, names: Sequence[str]) -> FloatArray:
    """Subgroup means of features, standardised over rows; a subgroup without rows has the mean."""
    feature_names = [str(name) for name in tally["feature"].values] if "feature_mean" in tally.data_vars else []
    for name in names:
        if name not in feature_names:
            raise InputError(
                f"model_based_metrics: covariate {name!r} is no feature of the tally, which has "
                f"{', '.join(feature_names) or 'none'}; name it in features= when tallying"
            )
    values = tally["feature_mean"].sel(feature=list(names)).transpose("subgroup", "feature").values
    some = np.isfinite(values)
    weight = np.where(some, tally["rows"].values[:, None], 0.0)
    deviation = np.where(some, values, 0.0) - np.average(np.where(some, values, 0.0), axis=0, weights=weight)
    deviation = np.where(some, deviation, 0.0)
    width = np.sqrt(np.average(deviation**2, axis=0, weights=weight))
    return np.asarray(deviation / np.where(width > 0, width, 1.0), dtype=np.float64)


def _law(number: FloatArray, mean: FloatArray, sd: FloatArray) -> ScoreLaw:
    """The law of every subgroup (..., subgroup) from those of kinds, outcomes as frequent as among its rows."""
    negative, positive = number[..., 0::2], number[..., 1::2]
    with np.errstate(invalid="ignore"):
        share = positive / (positive + negative)
    return ScoreLaw(share, mean[..., 0::2], mean[..., 1::2], sd[..., 0::2], sd[..., 1::2])


def _outcomes_of(name: str) -> list[int]:
    """Outcomes whose scores a metric is about."""
    return [1] if name in _OF_POSITIVES else [0] if name in _OF_NEGATIVES else [0, 1]


def _answered(name: str, count: FloatArray) -> NDArray[np.bool_]:
    """Subgroups with rows that the metric is about; counts are (outcome, subgroup)."""
    if name in _OF_POSITIVES:
        return np.asarray(count[1] > 0)
    if name in _OF_NEGATIVES:
        return np.asarray(count[0] > 0)
    return np.asarray((count > 0).all(axis=0) if name == "auc" else count.sum(axis=0) > 0)


def _cut(tally: xr.Dataset, scale: Scale) -> float:
    """The threshold on the modelling scale, NaN without one; infinite where it selects all probabilities or none."""
    threshold = json.loads(tally.attrs["settings"]).get("threshold")
    if threshold is None:
        return float("nan")
    if scale == "logit" and not 0 < threshold < 1:
        return float("-inf") if threshold <= 0 else float("inf")
    return float(to_scale(threshold, scale))
