"""Structured regression: estimates pulled towards what the features of a subgroup predict, by a weighted lasso.

    sum_a (t0 + t . x_a - z_a)^2 / v_a + penalty ||t||_1

Among the features x_a is an indicator of every subgroup, so that a subgroup can depart from the rest, at a price. The
penalty is chosen by cross-validation. Intervals come from a bootstrap of lasso + partial ridge.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.features import feature_matrix
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.answer import assemble, check_interval
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile, stack, t_quantile
from bayesgroups.frequentist.structured import cross_validation, lasso, left_out, rblpr
from bayesgroups.frequentist.structured.cross_validation import Rule, Split
from bayesgroups.frequentist.structured.partial_ridge import Scale
from bayesgroups.frequentist.structured.problems import MetricArrays, metrics_of, splits_of
from bayesgroups.frequentist.structured.rblpr import Errors
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.folds import stream

MIN_SUBGROUPS_FOR_BOOTSTRAP = 5
"""Subgroups with an estimate below which nothing is bootstrapped."""


@dataclass(frozen=True)
class _Answer:
    """One metric: arrays (subgroup,), one interval per level, and what was chosen."""

    estimate: FloatArray
    std_error: FloatArray
    intervals: list[Interval]
    method: str
    coefficient: FloatArray
    penalty: float = np.nan
    penalty_max: float = np.nan


@checked_keywords
def estimate(
    tally: xr.Dataset,
    *,
    formula: str | None = None,
    penalty: Literal["cv"] | float = "cv",
    folds: Sequence[xr.Dataset] | int = 10,
    rule: Rule = "minimum",
    errors: Errors = "known_variance",
    scale: Scale = "variance",
    replicates: int = 500,
    seed: int = 0,
) -> xr.Dataset:
    """Fit a sparse linear model across the subgroups of every metric.

    Estimand: the value of the metric in the population of each subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally, see `bayesgroups.tallies`.
    formula : str, optional
        Features of subgroups, see `bayesgroups.data.features.feature_matrix`; by default all attributes and all features of
        the tally. An indicator of each subgroup is always added.
    penalty : "cv" or float
        By cross-validation; or as a share of the penalty from which on all subgroups have the weighted mean, so that 1 pools
        completely and 0 not at all.
    folds : int or sequence of xr.Dataset
        Folds of the cross-validation: a number, dealt from the tally by `bayesgroups.tallies.folds.deal`, or the tallies of the
        parts of a split of the rows, one per fold, by `bayesgroups.tallies.folds.split_rows`.
    rule : {"minimum", "one_standard_error"}
        The penalty that predicts best, or the largest that is no more than a standard error worse.
    errors : {"known_variance", "residual"}
        What the bootstrap draws: normal errors with the sampling variances of the tally, or the residuals of least squares.
    scale : {"variance", "norm", "raw"}
        Of penalised columns, see `bayesgroups.frequentist.structured.partial_ridge.partial_ridge`.
    replicates : int
        Of the bootstrap, at least 2.
    seed : int
        Of the folds and the bootstrap. A metric has the same answer whichever other metrics are asked for.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`, with ``penalty(metric)`` and the smallest one that pools completely,
        ``penalty_max(metric)``; ``selected(metric)``, the number of coefficients that are not 0, and ``selected_share(metric)``,
        that number per subgroup; ``coefficient(metric, column)`` in units of the metric, the names of the features along
        ``column``.

    Raises
    ------
    InputError
        If a choice does not exist, a number is out of range, the formula cannot be read, or the folds do not add up to the
        tally.

    Warns
    -----
    UserWarning
        If so many columns are selected that there are no residuals to draw; then errors have the known variances.

    Notes
    -----
    The estimate is the fit of the lasso, clipped to the range of the metric. The interval is built around partial ridge, which
    shrinks less, and need not have the estimate in its middle; ``std_error`` is the standard deviation of the bootstrap. A
    subgroup without an estimate has the prediction from its features and is ``imputed``; its interval goes around the prediction
    and is as wide as the errors of predicting subgroups left out ask for, which are their departure from the line and the error
    of the line, see `bayesgroups.frequentist.structured.left_out`. With fewer than five subgroups nothing is bootstrapped:
    intervals are normal around the standard estimates, as the method ``pooled_normal`` says, and an imputed one is a t interval
    for one more subgroup, of the variance of the estimates or their mean sampling variance, whichever is larger. Where the pooled
    row variance is 0, counts are the weights. A published estimate whose variance is 0 is left alone.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), section 4; Liu, Xu, Li (2020), Statistica Sinica 30, 1333-1355. Folds, loss,
    weights in the bootstrap, and errors of known variance, are our choice.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import structured_regression
    >>> table = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m", "f", "m", "f", "m"]})
    >>> counts = bg.tally_from_counts([12, 5, 2, 3, 9, 0], [40, 20, 10, 5, 15, 0], table, metric="fnr")
    >>> answer = structured_regression.estimate(counts, penalty=0.5).sel(metric="fnr")
    >>> answer["estimate"].values.round(3).tolist(), str(answer["status"].values[-1])
    ([0.315, 0.315, 0.333, 0.333, 0.472, 0.472], 'imputed')
    >>> answer["column"].values[answer["coefficient"].values != 0].tolist()
    ['race[a]', 'race[c]']
    """
    _check(penalty, rule, errors, scale, replicates)
    features = feature_matrix(tally, formula)
    metrics = metrics_of(tally)
    splits: list[list[Split]] = [[] for _ in metrics]
    if penalty == "cv":
        splits = splits_of(tally, metrics, features, formula, folds, seed)
    low, high = tally["range_lower"].values, tally["range_upper"].values
    answers = []
    for i, metric in enumerate(metrics):
        answer = _fit(metric, features.values, splits[i], penalty, rule, errors, scale, replicates, seed)
        answers.append(dataclasses.replace(answer, estimate=np.clip(answer.estimate, low[i], high[i])))
    coefficient = np.stack([answer.coefficient for answer in answers])
    selected = np.where(np.isfinite(coefficient).all(axis=1), (coefficient != 0).sum(axis=1), np.nan)
    number = np.array([float((metric.w > 0).sum()) for metric in metrics])
    dataset = assemble(
        tally,
        estimate=np.stack([answer.estimate for answer in answers]),
        std_error=np.stack([answer.std_error for answer in answers]),
        intervals=[stack([answer.intervals[i] for answer in answers]) for i in range(len(LEVELS))],
        methods=[answer.method for answer in answers],
        imputed=np.stack([metric.w == 0 for metric in metrics]),
        extra={
            "penalty": (("metric",), np.array([answer.penalty for answer in answers])),
            "penalty_max": (("metric",), np.array([answer.penalty_max for answer in answers])),
            "selected": (("metric",), selected),
            "selected_share": (("metric",), selected / np.maximum(number, 1.0)),
            "coefficient": (("metric", "column"), coefficient),
        },
    )
    return dataset.assign_coords(column=np.array(features.names, dtype=str))


def _check(penalty: object, rule: str, errors: str, scale: str, replicates: object) -> None:
    for name, value, choices in (("rule", rule, Rule), ("errors", errors, Errors), ("scale", scale, Scale)):
        check_interval("structured_regression", value, get_args(choices), setting=name)
    number = isinstance(penalty, int | float) and not isinstance(penalty, bool)
    if penalty != "cv" and not (number and 0 <= float(str(penalty)) < np.inf):
        raise InputError(f"structured_regression: penalty={penalty!r} must be 'cv' or a number, 0 or larger")
    if isinstance(replicates, bool) or not isinstance(replicates, int | np.integer) or replicates < 2:
        raise InputError(f"structured_regression: replicates={replicates!r} must be a whole number, 2 or larger")


def _fit(
    metric: MetricArrays,
    features: FloatArray,
    splits: Sequence[Split],
    penalty: Literal["cv"] | float,
    rule: Rule,
    errors: Errors,
    scale: Scale,
    replicates: int,
    seed: int,
) -> _Answer:
    """Choose a penalty for one metric, fit, and bootstrap."""
    use = metric.w > 0
    x, z, w = features[use], metric.z[use], metric.w[use]
    if not use.any():
        empty, coefficient = np.full(len(use), np.nan), np.full(features.shape[1], np.nan)
        return _Answer(empty, empty, [Interval(empty, empty)] * len(LEVELS), "pooled_normal", coefficient)
    largest = lasso.penalty_max(x, z, w)
    if penalty == "cv":
        grid = cross_validation.grid(largest)
        chosen = float(grid[cross_validation.choose(cross_validation.losses(splits, grid, float(w.sum())), rule)])
    else:
        chosen = float(penalty) * largest
    line = lasso.fit(x, z, w, chosen)
    fitted = line.at(features)
    exact = use & (metric.v == 0)
    if use.sum() < MIN_SUBGROUPS_FOR_BOOTSTRAP or (exact[use]).all():
        std_error, intervals = _pooled_normal(metric, fitted)
        method = "pooled_normal"
    else:
        if errors == "residual" and rblpr.saturated(x, z, w, line.selected):
            warnings.warn(
                f"metric {metric.name!r}: {int(line.selected.sum())} columns selected for {len(z)} subgroups leave no residuals "
                "to draw; errors have the known variances",
                UserWarning,
                stacklevel=3,
            )
            errors = "known_variance"
        rng = stream(seed, metric.name, "bootstrap")
        drawn = rblpr.run(
            x, z, w, chosen, rng, selected=line.selected, at=features, errors=errors, scale=scale, replicates=replicates
        )
        std_error, intervals = drawn.std_error, [rblpr.interval(drawn, level) for level in LEVELS]
        if not use.all():
            rng = stream(seed, metric.name, "subgroups left out")
            predicted = left_out.predict(x, z, w, chosen, rng)
            unseen = left_out.unseen(z - predicted, metric.v[use])
            std_error = np.where(use, std_error, unseen.std_error)
            intervals = [
                observed.where(use, unseen.interval(fitted, level))
                for observed, level in zip(intervals, LEVELS, strict=True)
            ]
        method = f"rblpr_{errors}"
    fitted = np.where(exact, metric.z, fitted)
    std_error = np.where(exact, 0.0, std_error)
    intervals = [Interval(metric.z, metric.z).where(exact, limits) for limits in intervals]
    return _Answer(fitted, std_error, intervals, method, line.coefficient, chosen, largest)


def _pooled_normal(metric: MetricArrays, fitted: FloatArray) -> tuple[FloatArray, list[Interval]]:
    """Normal intervals around the standard estimates; for an imputed subgroup a t interval for one more of them."""
    use = metric.w > 0
    number = int(use.sum())
    scatter = np.nan
    if number > 1:
        # As in `bayesgroups.frequentist.intervals.morris`, a between-subgroup variance below 0 is cut off at 0.
        scatter = max(float(metric.z[use].var(ddof=1)), float(metric.v[use].mean())) * (1 + 1 / number)
    std_error = np.sqrt(np.where(use, metric.v, scatter))
    freedom = np.array([number - 1.0])
    return std_error, [
        around(
            np.where(use, metric.z, fitted),
            std_error * np.where(use, normal_quantile(level), t_quantile(level, freedom)),
        )
        for level in LEVELS
    ]
