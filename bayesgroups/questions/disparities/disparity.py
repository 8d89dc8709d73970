"""Disparity of subgroups in every metric: one number per measure, with an estimate of its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.disparities import sampling_bias
from bayesgroups.questions.disparities.field_measures import (
    FIELD_MEASURES,
    JOINT,
    Aggregation,
    FieldMeasure,
    Method,
    field_draws,
    field_under_equality,
    is_field_measure,
    is_ratio,
    metrics_of,
    positions_of,
)
from bayesgroups.questions.disparities.named_measures import MEASURES, RELATIVE, MeasureName, Settings, measure
from bayesgroups.questions.sampling_variances import read_estimates
from bayesgroups.questions.values import Source, Using, open_source
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.notes import assumed_directions, shared_clusters_note
from bayesgroups.tallies.participation import Imputed

Weights = Literal["group", "population"]

ALL_MEASURES: tuple[MeasureName | FieldMeasure, ...] = (*MEASURES, *FIELD_MEASURES)

SMALLEST_SHARE = 0.95
"""Share of the draws in which a measure must be defined; what fewer say is conditional on where they lie."""
_SIGNED = (
    "not defined: metric {!r} can be below 0 (its range starts at {:g}), so a measure that divides has no meaning; ask "
    "max_min_difference or variance"
)
_TALLY_NUMBERS = ("expected_if_equal", "p_value_if_equal")
_INTERVALS = {
    "posterior": ("credible", "equal_tailed"),
    "bootstrap": ("confidence", "percentile"),
    "plug_in": ("none", ""),
    "corrected": ("none", ""),
}
_SAID = {
    "posterior": "",
    "bootstrap": "biased upward twice: estimates vary about the true values, replicates about the estimates",
    "plug_in": "biased upward: sampling noise counts as disparity; compare with expected_if_equal",
    "corrected": "",
}


@renamed_keyword("approach", "using", bayesian="auto", frequentist="bootstrap")
@checked_keywords
def disparity(
    source: xr.Dataset | xr.DataTree, measures: Sequence[MeasureName | FieldMeasure] | MeasureName | FieldMeasure | None = None,
    *, level: float = 0.95,
    weights: Weights = "group", using: Using = "auto", corrected: bool = False, alpha: float = 2.0,
    smoothing: float = 0.0, tolerance: Mapping[str, float] | None = None, imputed: Imputed = "leave_out", seed: int = 0,
    draws: int = 2000, method: Method = "between_groups", agg: Aggregation = "worst_case",
) -> xr.Dataset:  # fmt: skip
    """Measure how unequal subgroups are.

    Estimand: a function of the true values of a metric in the subgroups that have rows for it (and, with
    ``imputed="include"``, in those that only the model answers for), see
    `bayesgroups.questions.disparities.measures`. 0 means equality, 1 for ``max_min_ratio``.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally, whose estimates are put in for the true values, or a report, whose draws are.
    measures : sequence of str, optional
        Some of ``max_min_difference``, ``max_min_ratio``, ``max_absolute_difference``, ``mean_absolute_deviation``,
        ``variance``, ``generalised_entropy``, ``gini``, ``worst_group_gap``; all when left out. The last is the distance of
        the worst subgroup from the mean, in the direction in which the metric is bad. On request also those of the field,
        ``demographic_parity_difference`` and ``_ratio`` (of ``sel``), ``equal_opportunity_difference`` and ``_ratio`` (of
        ``tpr``), ``equalized_odds_difference`` and ``_ratio`` (of ``tpr`` and ``fpr``, in the rows of both).
    level : float
        Of the intervals.
    weights : {"group", "population"}
        Equal weights of subgroups, or their denominators; maxima have none but that of the mean they refer to.
    using : {"auto", "tally", "posterior", "bootstrap"}
        Where the values come from: of a report its posterior (``auto``), its bootstrap where it has one, or its tally.
    corrected : bool
        Of a tally: take off the bias that sampling noise makes. That of the variance is known, so ``variance`` is
        unbiased and has an interval; the others are corrected by a parametric bootstrap from true values shrunk to their
        estimated variance, and have none.
    alpha : float
        Of ``generalised_entropy``: 0 mean log deviation, 1 Theil, 2 half the squared coefficient of variation.
    smoothing : float
        Added to both ends of ``max_min_ratio``; 0.05 in published simulations.
    tolerance : mapping from measures to numbers, optional
        Of a report: also give the probability that a measure is at most this (a ratio of the field: at least),
        ``probability_within``.
    imputed : {"leave_out", "include"}
        Treatment of subgroups without rows that count for the metric, for which a report's answer comes from the model alone.
    seed : int
        Source of randomness where draws are made, for a tally.
    draws : int
        How many.
    method : {"between_groups", "to_overall"}
        Of measures of the field: the largest rate against the smallest, or every rate against that of all rows.
    agg : {"worst_case", "mean"}
        Of equalised odds: the more unequal of the two rates, or their mean.

    Returns
    -------
    xr.Dataset
        Along ``measure`` and ``metric``: ``value`` (the posterior or bootstrap median where there are draws), ``mean`` of
        the draws, ``lower``, ``upper``, ``note``; of a tally also ``expected_if_equal``, the mean of the measure if all
        true values were the same, and ``p_value_if_equal``, the probability of so large a value then. Along ``measure``
        ``correction`` (``plug_in``, ``corrected``, ``posterior``, ``bootstrap``), ``interval_kind`` and
        ``interval_method``; along ``metric`` ``estimand`` (what is compared, in words), ``subgroups`` that are used,
        ``left_out`` (labels and reasons, joined by "; ") and ``usable``, 0 of a report that failed its diagnostics. NaN, with a
        ``note``, where a measure is not defined: ratios, entropy and Gini coefficient of a metric that can be below 0, and what
        has a value in less than 95 % of the draws.

    Raises
    ------
    InputError
        If a measure or setting does not exist, the report lacks the draws, or there are no denominators to weigh by.
    SchemaError
        If the source is neither a tally nor a report.

    Notes
    -----
    A posterior needs no correction and is never exactly 0; to state that there is no disparity of note, say what you
    would note (``tolerance``). ``corrected`` values can be below 0 (or 1): they are not truncated, limits are. Intervals for
    extremes and deviations come from a posterior; no interval around their corrected values was found to hold its level.
    Measures of the field are those of fairlearn 0.15, but for subgroups in which a rate is undefined: here they are left
    out, by name, where fairlearn counts 0.

    References
    ----------
    Lum, Zhang, Bower (2022), doi:10.1145/3531146.3533105, Table 1 (six of the measures, and their bias).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> sites = pd.DataFrame({"site": list("abcd")})
    >>> tally = bg.tally_from_counts([36, 16, 7, 3], [40, 20, 10, 5], sites)
    >>> naive = bg.disparity(tally, ["max_min_difference", "variance"]).isel(metric=0)
    >>> naive["value"].values.round(4).tolist(), naive["expected_if_equal"].values.round(1).tolist()
    ([0.3, 0.0167], [0.2, 0.0])
    >>> known = bg.disparity(bg.estimate(tally, bg.PartialPooling(), seed=1), tolerance={"max_min_difference": 0.5})
    >>> bool((known["value"] < bg.disparity(tally)["value"]).sel(measure="max_min_difference").all())
    True
    """
    chosen = _chosen(measures)
    opened = open_source(source, using, imputed=imputed)
    _check(corrected, opened.using, alpha, smoothing, tolerance, draws)
    _check_field(chosen, corrected)
    error = tail(level)
    kind = "corrected" if corrected else "plug_in" if opened.using == "tally" else opened.using
    shape = (len(chosen), opened.tally.sizes["metric"])
    names = ("value", "mean", "lower", "upper")
    numbers = {name: np.full(shape, np.nan) for name in (*names, "probability_within", *_TALLY_NUMBERS)}
    notes = np.full(shape, "", dtype=object)
    metrics, assumed = opened.tally["metric"].values.astype(str), assumed_directions(opened.tally)
    positions: dict[str, list[int]] = {
        name: positions_of(name, metrics.tolist()) for name in chosen if is_field_measure(name)
    }
    rates = {place: opened.read(place, unanswered="keep") for places in positions.values() for place in places}
    left_out, used = [], []
    for j in range(shape[1]):
        values = opened.read(j, unanswered="keep")
        left_out.append(values.left_out)
        used.append(int(values.included.sum()))
        if not used[-1] or not values.complete.any():
            notes[:, j] = "no subgroup has an estimate" if not used[-1] else "no draw has a value in all subgroups"
            continue
        weight = _weight(values.denominators[values.included], weights)
        settings = Settings(weight, values.sign > 0, alpha, smoothing)
        incomplete = int((~values.complete).sum())
        lowest = values.range[0]
        meant = [name for name in chosen if name not in RELATIVE or lowest >= 0]
        for i, name in enumerate(chosen):
            if name not in meant:
                notes[i, j] = _SIGNED.format(values.metric, lowest)
                continue
            if is_field_measure(name):
                if j not in positions[name]:
                    notes[i, j] = f"is of {' and '.join(metrics_of(name))}"
                    continue
                draw = field_draws(name, [rates[place] for place in positions[name]], method, agg)
                draw = draw if opened.using == "tally" else draw[values.complete]
            else:
                draw = values.by_draw(partial(measure, name, settings=settings))
            notes[i, j] = _note(draw, kind, incomplete, assumed=name == "worst_group_gap" and metrics[j] in assumed)
            if len(positions.get(name, ())) > 1 and kind == "posterior":
                notes[i, j] = "; ".join(filter(None, (notes[i, j], JOINT)))
            defined = ~np.isnan(draw)
            if defined.mean() < SMALLEST_SHARE:
                continue
            draw = draw[defined]
            if opened.using == "tally":
                numbers["value"][i, j] = draw[0]
            else:
                quantiles = _quantiles(draw, [0.5, error / 2, 1 - error / 2])
                numbers["value"][i, j], numbers["lower"][i, j], numbers["upper"][i, j] = quantiles
                numbers["mean"][i, j] = draw.mean()
                if tolerance and name in tolerance:
                    within = draw >= tolerance[name] if _is_field_ratio(name) else draw <= tolerance[name]
                    numbers["probability_within"][i, j] = within.mean()
        if opened.using == "tally":
            _compare(opened, j, chosen, meant, weights, settings, level if corrected else None, numbers, seed, draws)
            for i, name in enumerate(chosen):
                if is_field_measure(name) and j in positions[name]:
                    rng = generator(seed, name, "disparity if equal")
                    equal = field_under_equality(name, opened.tally, positions[name], method, agg, rng, draws)
                    numbers["expected_if_equal"][i, j] = equal.expected
                    numbers["p_value_if_equal"][i, j] = equal.p_value
    every = ("measure", "metric")
    data: dict[str, Any] = {name: (every, numbers[name]) for name in names}
    data |= {name: (every, numbers[name]) for name in _TALLY_NUMBERS if opened.using == "tally"}
    data |= {"probability_within": (every, numbers["probability_within"])} if tolerance else {}
    data |= {"note": (every, notes.astype(str)), "left_out": ("metric", np.array(left_out, dtype=str))}
    labels = {"correction": kind, "interval_kind": _INTERVALS[kind][0], "interval_method": _INTERVALS[kind][1]}
    data |= {name: ("measure", np.array([label] * shape[0], dtype="<U12")) for name, label in labels.items()}
    if corrected and weights == "group":
        exact = np.array(chosen) == "variance"
        data["interval_kind"][1][exact], data["interval_method"][1][exact] = "confidence", "unified"
    return xr.Dataset(
        {
            **data,
            "subgroups": ("metric", np.array(used)),
            "estimand": ("metric", opened.estimands),
            "usable": ("metric", np.full(len(used), opened.usable, dtype=np.int8)),
        },
        coords={"measure": np.array(chosen), "metric": opened.tally["metric"].values},
        attrs={"level": level, "weighting": weights, "alpha": alpha, "smoothing": smoothing, "imputed": imputed}
        | ({"note": about} if (about := shared_clusters_note(opened.tally)) and opened.using == "tally" else {}),
    )


def _chosen(
    measures: Sequence[MeasureName | FieldMeasure] | MeasureName | FieldMeasure | None,
) -> tuple[MeasureName | FieldMeasure, ...]:
    if measures is None:
        return MEASURES
    asked = [measures] if isinstance(measures, str) else list(measures)
    unknown = [name for name in asked if name not in ALL_MEASURES]
    if unknown:
        raise InputError(f"there is no measure {unknown[0]!r}; {near_misses(str(unknown[0]), ALL_MEASURES)}")
    if not asked or len(set(asked)) < len(asked):
        raise InputError("measures= must name at least one measure, and none twice")
    return tuple(name for wanted in asked for name in ALL_MEASURES if name == wanted)


def _check_field(chosen: Sequence[str], corrected: bool) -> None:
    of_field = [name for name in chosen if is_field_measure(name)]
    if corrected and of_field:
        raise InputError(f"corrected=True has no {of_field[0]!r}; ask max_min_difference, or the posterior of a report")


def _is_field_ratio(name: str) -> bool:
    return is_field_measure(name) and is_ratio(name)


def _check(
    corrected: bool, using: str, alpha: float, smoothing: float, tolerance: Mapping[str, float] | None, draws: int
) -> None:
    if corrected and using != "tally":
        raise InputError("corrected=True is for a tally; a posterior needs no correction")
    if tolerance and using == "tally":
        raise InputError("tolerance= needs draws; give a report, as bg.estimate(tally, bg.PartialPooling(), seed=1)")
    for name in tolerance or {}:
        if name not in ALL_MEASURES:
            raise InputError(f"tolerance= has no measure {name!r}; {near_misses(name, ALL_MEASURES)}")
    if not np.isfinite(alpha):
        raise InputError(f"alpha={alpha} must be a number")
    if not 0 <= smoothing < np.inf:
        raise InputError(f"smoothing={smoothing} must be 0 or larger")
    if draws < 1:
        raise InputError(f"draws={draws} must be 1 or more")


def _weight(count: FloatArray, weights: Weights) -> FloatArray | None:
    if weights == "group":
        return None
    if not np.isfinite(count).all():
        raise InputError("weights='population' needs denominators, which published estimates lack; use 'group'")
    return count


def _compare(
    opened: Source, position: int, chosen: Sequence[MeasureName | FieldMeasure], meant: Sequence[str], weights: Weights,
    settings: Settings, level: float | None, numbers: dict[str, FloatArray], seed: int, draws: int,
) -> None:  # fmt: skip
    """Fill in what is known of the sampling noise of a tally's measures, and take it off if a level is given.

    Of the ``chosen`` measures those that are ``meant``, which have a meaning for the metric.
    """
    estimates = read_estimates(opened.tally, position)
    if not len(estimates.y):
        return
    settings = replace(settings, weights=_weight(estimates.denominators, weights))
    for i, name in enumerate(chosen):
        if is_field_measure(name) or name not in meant:
            continue
        # Each measure has the same draws, whichever others are asked.
        rng = generator(seed, estimates.metric, "disparity if equal")
        equal = sampling_bias.under_equality(name, estimates, settings, rng, draws)
        numbers["expected_if_equal"][i, position] = equal.expected
        numbers["p_value_if_equal"][i, position] = equal.p_value
        if level is not None:
            rng = generator(seed, estimates.metric, "disparity corrected")
            answer = sampling_bias.corrected(name, estimates, settings, level, rng, draws)
            for key in ("value", "lower", "upper"):
                numbers[key][i, position] = getattr(answer, key)


def _quantiles(draws: FloatArray, at: Sequence[float]) -> FloatArray:
    """Quantiles by linear interpolation; of the draws themselves where some are infinite."""
    method: Literal["linear", "inverted_cdf"] = "linear" if np.isfinite(draws).all() else "inverted_cdf"
    return np.asarray(np.quantile(draws, at, method=method), dtype=np.float64)


def _note(draw: FloatArray, kind: str, dropped: int, *, assumed: bool) -> str:
    notes = [_SAID[kind]] if _SAID[kind] else []
    defined = float((~np.isnan(draw)).mean())
    if defined == 0:
        notes.append("not defined for these values")
    elif defined < SMALLEST_SHARE:
        notes.append(
            f"not defined: {100 * defined:.3g} % of the draws have a value, and {100 * SMALLEST_SHARE:g} % are needed"
        )
    elif defined < 1:
        notes.append(f"not defined in {100 * (1 - defined):.2g} % of the draws, left out")
    if np.isinf(draw).any():
        notes.append("infinite, for the smallest value is 0" if len(draw) == 1 else "infinite in some draws")
    if dropped:
        notes.append(f"{dropped} draws have no value in some subgroup, left out")
    if assumed:
        notes.append("no direction was given, so smaller values are taken to be better")
    return "; ".join(notes)
