"""Means of a gold score that few rows have, from a judge that has a say on all rows: a score of its own, or a class.

References
----------
Cochran (1977), "Sampling Techniques", chapters 5A and 7 (regression estimator, double sampling).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray

OWN_SLOPE = 30
"""Labelled rows from which on a subgroup has a slope of its own."""


@dataclass(frozen=True)
class ScoreMoments:
    """Gold scores y and judge's scores F of a subgroup, (subgroup,) each.

    Of labelled rows ``labelled``, means of both, and sums of squared deviations and of their products; of all rows ``rows``, the
    mean of F and its sum of squared deviations.
    """

    labelled: FloatArray
    gold_mean: FloatArray
    judge_mean: FloatArray
    gold_scatter: FloatArray
    judge_scatter: FloatArray
    cross_scatter: FloatArray
    rows: FloatArray
    all_mean: FloatArray
    all_scatter: FloatArray


def regression_means(given: ScoreMoments) -> tuple[FloatArray, FloatArray]:
    """Regression estimates of the mean gold score, and their variances, (subgroup,) each.

    Mean gold score of labelled rows, moved by a slope times the difference between the judge's means of all and of labelled rows.
    Slope and residual variance are pooled over subgroups with fewer than `OWN_SLOPE` labels, for slopes tuned to few rows make
    variances too small. NaN without a label, and where no residual has a degree of freedom.

    Gold scores 0, 1, 1, 3 of rows with judge's scores 0, 1, 2, 3, and two rows more with judge's scores 2 and 4:

    >>> moments = ScoreMoments(*np.array([[4], [1.25], [1.5], [4.75], [5.0], [4.5], [6], [2.0], [10.0]]))
    >>> [value.round(4).tolist() for value in regression_means(moments)]
    [[1.7], [0.3575]]
    """
    few = (given.labelled < OWN_SLOPE) & (given.labelled > 0)
    slope, residual = _fit(given, np.ones(len(few), dtype=bool))
    alone, left = _fit_each(given)
    if few.any():
        slope, residual = _fit(given, few)
    slopes, variances = np.where(few, slope, alone), np.where(few, residual, left)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = given.gold_mean + slopes * (given.all_mean - given.judge_mean)
        spread = given.all_scatter / (given.rows - 1)
        variance = variances / given.labelled + slopes**2 * spread / given.rows
    defined = (given.labelled > 0) & np.isfinite(variance)
    return np.where(defined, estimate, np.nan), np.where(defined, variance, np.nan)


def _fit(given: ScoreMoments, some: BoolArray) -> tuple[float, float]:
    """Slope and residual variance within subgroups, pooled over some of them."""
    y, f, cross = (
        float(values[some].sum()) for values in (given.gold_scatter, given.judge_scatter, given.cross_scatter)
    )
    slope = cross / f if f > 0 else 0.0
    freedom = float(np.maximum(given.labelled[some] - 1, 0.0).sum()) - (f > 0)
    return slope, (max(y - slope * cross, 0.0) / freedom if freedom > 0 else float("nan"))


def _fit_each(given: ScoreMoments) -> tuple[FloatArray, FloatArray]:
    """The same in every subgroup by itself."""
    each = [_fit(given, np.arange(len(given.labelled)) == g) for g in range(len(given.labelled))]
    return np.array([slope for slope, _ in each]), np.array([residual for _, residual in each])


def post_stratified_means(
    rows: FloatArray, labelled: FloatArray, total: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Post-stratified means of gold scores and their variances (subgroup,), by class of the judge (subgroup, class).

    ``rows`` judged, ``labelled`` rows among them, ``total`` and ``squares`` sums of their gold scores. A class with one label takes
    the variance within classes of all rows. NaN where a class with rows has no label.

    >>> columns = [[50.0, 30.0, 20.0]], [[6.0, 5.0, 4.0]], [[1.2, 2.5, 3.2]], [[0.5, 1.45, 2.62]]
    >>> mean, variance = post_stratified_means(*(np.array(column) for column in columns))
    >>> mean.round(8).tolist(), np.sqrt(variance).round(8).tolist()
    ([0.41], [0.06177108])
    """
    number = rows.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = rows / number[:, None]
        mean = np.where(rows > 0, total / labelled, 0.0)
        scatter = np.maximum(squares - labelled * np.nan_to_num(total / labelled) ** 2, 0.0)
        freedom = np.maximum(labelled - 1, 0.0)
        pooled = np.where(freedom > 0, scatter, 0.0).sum() / freedom.sum()
        within = np.where(labelled > 1, scatter / freedom, pooled)
        estimate = (share * mean).sum(axis=1)
        parts = np.where(rows > 0, share**2 * within / labelled, 0.0)
        variance = parts.sum(axis=1) + (share * (mean - estimate[:, None]) ** 2).sum(axis=1) / number
    defined = np.isfinite(estimate) & np.isfinite(variance)
    return np.where(defined, estimate, np.nan), np.where(defined, variance, np.nan)
