"""Measures of disparity under the names of the field: demographic parity, equal opportunity, equalised odds.

Conventions of fairlearn 0.15 (https://fairlearn.org): ``between_groups`` compares the largest with the smallest rate,
``to_overall`` every rate with that of all rows. A subgroup in which a rate is undefined is left out; fairlearn counts it as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.disparities.sampling_bias import Equality, if_equal
from bayesgroups.questions.sampling_variances import read_estimates
from bayesgroups.questions.subgroup_values import Values

if TYPE_CHECKING:
    from typing_extensions import TypeIs

FieldMeasure = Literal[
    "demographic_parity_difference", "demographic_parity_ratio", "equal_opportunity_difference",
    "equal_opportunity_ratio", "equalized_odds_difference", "equalized_odds_ratio",
]  # fmt: skip
FIELD_MEASURES: tuple[FieldMeasure, ...] = get_args(FieldMeasure)
Method = Literal["between_groups", "to_overall"]
Aggregation = Literal["worst_case", "mean"]
JOINT = (
    "draws of both rates are joint only if the estimator models decisions and outcomes together, as bg.ConfusionModel"
)


def is_field_measure(name: str) -> TypeIs[FieldMeasure]:
    """True for the measures of this module."""
    return name in FIELD_MEASURES


def is_ratio(name: FieldMeasure) -> bool:
    """True for ratios, of which 1 is equality and smaller values are more unequal."""
    return name.endswith("_ratio")


def metrics_of(name: FieldMeasure) -> tuple[str, ...]:
    """Metrics that a measure is of.

    >>> metrics_of("equalized_odds_ratio"), metrics_of("demographic_parity_difference")
    (('tpr', 'fpr'), ('sel',))
    """
    match name.rpartition("_")[0]:
        case "demographic_parity":
            return ("sel",)
        case "equal_opportunity":
            return ("tpr",)
    return ("tpr", "fpr")


def positions_of(name: FieldMeasure, metrics: Sequence[str]) -> list[int]:
    """Positions of the metrics that a measure is of, or an InputError that names one that the source lacks."""
    for metric in metrics_of(name):
        if metric not in metrics:
            raise InputError(
                f"measure {name!r} is of {' and '.join(map(repr, metrics_of(name)))}, and the source has no metric {metric!r}; "
                f"it has {', '.join(map(repr, metrics))}"
            )
    return [list(metrics).index(metric) for metric in metrics_of(name)]


def rate_disparity(y: FloatArray, shares: FloatArray, *, ratio: bool, method: Method) -> FloatArray:
    """Disparity (...) of one rate y (..., subgroup); ``shares`` (subgroup,) of the rows give the rate of all.

    >>> y, shares = np.array([0.2, 0.3, 0.45]), np.array([0.5, 0.25, 0.25])
    >>> [round(float(rate_disparity(y, shares, ratio=r, method="to_overall")), 4) for r in (False, True)]
    [0.1625, 0.6389]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if method == "between_groups":
            low, high = y.min(axis=-1), y.max(axis=-1)
            return np.asarray(low / high if ratio else high - low, dtype=np.float64)
        overall = (y @ shares)[..., None]
        if not ratio:
            return np.asarray(np.abs(y - overall).max(axis=-1), dtype=np.float64)
        relative = y / overall
        return np.asarray(np.minimum(relative, 1 / relative).min(axis=-1), dtype=np.float64)


def combine(parts: Sequence[FloatArray], *, ratio: bool, agg: Aggregation) -> FloatArray:
    """Disparity of several rates: that of the more unequal one, or their mean; NaN where one of them is."""
    stacked = np.stack(parts)
    if agg == "mean":
        return np.asarray(stacked.mean(axis=0))
    return np.asarray(stacked.min(axis=0) if ratio else stacked.max(axis=0))


def field_draws(name: FieldMeasure, rates: Sequence[Values], method: Method, agg: Aggregation) -> FloatArray:
    """Measure of every draw (draw,), NaN where a draw lacks a value; of a tally of its estimates."""
    parts = []
    for values in rates:
        part = np.full(len(values.complete), np.nan)
        if values.included.any():
            weight = values.weights()
            summary: Callable[[FloatArray], FloatArray] = partial(
                rate_disparity, shares=weight / weight.sum(), ratio=is_ratio(name), method=method
            )
            part[values.complete] = values.by_draw(summary)
        parts.append(part)
    return combine(parts, ratio=is_ratio(name), agg=agg)


def field_under_equality(
    name: FieldMeasure, tally: xr.Dataset, positions: Sequence[int], method: Method, agg: Aggregation,
    rng: np.random.Generator, draws: int,
) -> Equality:  # fmt: skip
    """Mean of a measure if each rate were the same in all subgroups, and the probability of so unequal a value."""
    seen: list[FloatArray] = []
    drawn: list[FloatArray] = []
    for position in positions:
        estimates = read_estimates(tally, position)
        if not len(estimates.y):
            return Equality(float("nan"), float("nan"))
        shares = estimates.denominators / estimates.denominators.sum()
        for y, parts in ((estimates.y, seen), (if_equal(estimates, rng, draws), drawn)):
            parts.append(rate_disparity(y, shares, ratio=is_ratio(name), method=method))
    value = float(combine(seen, ratio=is_ratio(name), agg=agg))
    law = combine(drawn, ratio=is_ratio(name), agg=agg)
    law = law[~np.isnan(law)]
    if np.isnan(value) or not len(law):
        return Equality(float("nan"), float("nan"))
    unequal = law <= value + 1e-12 if is_ratio(name) else law >= value - 1e-12
    return Equality(float(law.mean()), float((unequal.sum() + 1) / (len(law) + 1)))
