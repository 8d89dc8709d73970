"""Contrasts of a report whose subgroups overlap, such as target populations: pairs of them, from its schema alone.

Draws carry every correlation. The frequentist side has an estimate and limits of every target: two of them are put together only
where they share no cell, which the report's weights tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile
from bayesgroups.frequentist.intervals.rate_differences import mover_difference
from bayesgroups.frequentist.intervals.rate_ratios import mover_ratio
from bayesgroups.questions.certification.multiplicity import adjust
from bayesgroups.questions.contrasts.answers import Answer, Asked, blank_numbers, from_draws, p_values
from bayesgroups.questions.contrasts.cells import Cells
from bayesgroups.questions.contrasts.comparisons import Comparison, Reference, plan
from bayesgroups.questions.contrasts.draws import contrast_draws
from bayesgroups.questions.contrasts.scales import Scale, is_log
from bayesgroups.questions.contrasts.weighing import Weighted, weigh
from bayesgroups.questions.values import Using
from bayesgroups.report.schema import check

EVERYONE = "all"
"""Label of the target that is everyone."""
SHARED = "the two share people, and the report has no covariance of their estimates"
NO_LEVEL = "the report has no limits at level {:g}"
REFUSED = (
    "a report of overlapping subgroups compares them as they are; leave {}= out, or ask the report that it is made from"
)


def is_overlapping(source: object) -> TypeGuard[xr.DataTree]:
    """True for a report whose subgroups overlap."""
    return isinstance(source, xr.DataTree) and int(source.attrs.get("overlapping", 0)) == 1


def target_answers(
    report: xr.DataTree, reference: Reference, of: Sequence[str] | str | None, within: Sequence[str] | str | None,
    vectors: Mapping[str, Mapping[str, float]] | None, scales: Sequence[Scale],
    asked: Callable[[Scale, int, tuple[float, float]], Asked], *, using: Using, larger_is_better: bool | None,
    refused: Mapping[str, bool],
) -> tuple[list[Comparison], object, dict[str, dict[tuple[int, int], Answer]], dict[str, list[object]]]:  # fmt: skip
    """Comparisons, metrics, answers by approach, and what is said of every metric."""
    check(report)
    for name in [name for name, given in refused.items() if given] + (["within"] if within else []):
        raise InputError(REFUSED.format(name))
    if using in ("tally", "bootstrap"):
        raise InputError(f"using={using!r} is not in a report of overlapping subgroups; use 'auto' or 'posterior'")
    estimates, constant = report["estimates"].to_dataset(), report["constant_data"].to_dataset()
    labels = estimates["subgroup"].values.astype(str)
    comparisons = _plan(Cells(labels, {}), reference, of, vectors)
    members = constant["weight"].transpose("metric", "subgroup", "cell").values if "weight" in constant else None
    answers: dict[str, dict[tuple[int, int], Answer]] = {}
    about: dict[str, list[object]] = {"estimand": [], "left_out": [], "usable": [], "sign": []}
    for j, metric in enumerate(estimates["metric"].values):
        sides = estimates.sel(metric=metric)
        low, high = (
            float(constant[name].sel(metric=metric)) if name in constant else end
            for name, end in (("range_lower", 0.0), ("range_upper", np.inf))
        )
        absent = sides["reason"].values.astype(str) if "reason" in sides else np.full(len(labels), "undefined")
        larger = bool(constant["larger_is_better"].sel(metric=metric)) if larger_is_better is None else larger_is_better
        about["sign"].append(1 if larger else -1)
        about["usable"].append(int(report.attrs["usable"]))
        about["left_out"].append("")
        about["estimand"].append(str(sides["estimand"].values.ravel()[0]) if "estimand" in sides else "")
        if low < 0 and any(map(is_log, scales)):
            raise InputError(
                f"metric {str(metric)!r} can be below 0, so ratios have no meaning; give scale='difference'"
            )
        for i, scale in enumerate(scales):
            settings = asked(scale, 1 if larger else -1, (low, high))
            if "posterior" in report.children:
                mu = report["posterior"].to_dataset()["mu"].transpose("chain", "draw", "metric", "subgroup")
                draws = mu.sel(metric=metric).values.reshape(-1, len(labels))
                weighted = _weighted(comparisons, np.isfinite(draws).any(axis=0), absent)
                answers.setdefault("bayesian", {})[i, j] = from_draws(draws, weighted, settings)
            if using == "auto" and "frequentist" in sides["approach"].values:
                side = sides.sel(approach="frequentist")
                weighted = _weighted(comparisons, np.isfinite(side["estimate"].values), absent)
                shares = None if members is None else members[j] > 0
                answers.setdefault("frequentist", {})[i, j] = _frequentist(side, weighted, settings, shares)
    if not answers:
        raise InputError(
            "the report has no group 'posterior', which using='posterior' needs; save the report with its draws"
        )
    return comparisons, estimates["metric"].values, answers, about


def _plan(
    cells: Cells,
    reference: Reference,
    of: Sequence[str] | str | None,
    vectors: Mapping[str, Mapping[str, float]] | None,
) -> list[Comparison]:
    """Comparisons of targets; everyone is the target of all people, and nobody else is a target."""
    if vectors is None and isinstance(reference, Mapping):
        raise InputError(REFUSED.format("reference by levels in reference"))
    if vectors is None and isinstance(reference, str) and reference == "rest":
        raise InputError(
            "reference='rest' needs subgroups that share no rows, and those of this report overlap; name a target"
        )
    if vectors is None and isinstance(reference, str) and reference == "overall":
        if EVERYONE not in cells.labels:
            raise InputError(
                f"reference='overall' needs the target {EVERYONE!r}, which the report lacks; it has {cells.labels.tolist()}"
            )
        reference = EVERYONE
    return plan(cells, reference, of, None, vectors, margins=False, order=None)


def _weighted(comparisons: Sequence[Comparison], included: np.ndarray, absent: np.ndarray) -> Weighted:
    """Weights of targets, which may have rows and yet no estimate; ``absent`` (target,) has reasons why."""
    everyone = np.ones(len(included))
    return weigh(comparisons, everyone, everyone, included, additive=True, absent=absent)


def _frequentist(side: xr.Dataset, weighted: Weighted, asked: Asked, shares: np.ndarray | None) -> Answer:
    """Contrasts of estimates with limits of their own, where both sides share no cell."""
    many = len(weighted.over)
    numbers = blank_numbers(weighted, asked)
    reason = weighted.reason.astype(object)
    values = side["estimate"].values
    first, second = weighted.over.argmax(axis=1), weighted.under.argmax(axis=1)
    pair = weighted.single | weighted.number
    apart = np.zeros(many, dtype=bool) if shares is None else ~(shares[first] & shares[second]).any(axis=1)
    disjoint = weighted.number | apart
    levels = side["level"].values
    stored = np.isclose(levels, asked.level)
    reason[weighted.estimable & ~(pair & disjoint)] = SHARED
    if asked.best:
        reason[weighted.estimable] = SHARED
    numbers["estimate"] = contrast_draws(values[None], weighted, asked.scale, best=asked.sign if asked.best else 0)[0]
    some = weighted.estimable & (reason == "")
    if not stored.any() or asked.scale == "odds_ratio":
        reason[some] = NO_LEVEL.format(asked.level) if not stored.any() else "a report has no limits of odds"
    else:
        lower, upper = (side[name].isel(level=int(stored.argmax())).values for name in ("lower", "upper"))
        limits = _limits(values, lower, upper, first, second, weighted, asked.scale)
        numbers |= {"lower": np.where(some, limits.lower, np.nan), "upper": np.where(some, limits.upper, np.nan)}
        numbers |= _tests(numbers, asked)
        numbers["p_value_adjusted"] = adjust(numbers["p_value"], "holm")
    status = np.where(reason == "", "ok", "not estimable")
    return Answer(numbers, status, reason.astype(str), np.full(many, "mover"), np.nan, "confidence")


def _limits(
    values: FloatArray, lower: FloatArray, upper: FloatArray, first: np.ndarray, second: np.ndarray, weighted: Weighted,
    scale: Scale,
) -> Interval:  # fmt: skip
    """MOVER of two targets, or of a target and a number, from the limits of each."""
    mine = Interval(lower[first], upper[first])
    b, low, high = (np.where(weighted.number, weighted.value, part[second]) for part in (values, lower, upper))
    compared = mover_difference if scale == "difference" else mover_ratio
    return compared(values[first], mine, b, Interval(low, high))


def _tests(numbers: Mapping[str, FloatArray], asked: Asked) -> dict[str, FloatArray]:
    """P-values with the standard error that the facing limit implies."""
    z, endless = normal_quantile(asked.level), np.full(len(numbers["estimate"]), np.inf)

    def statistic(at: float) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (numbers["estimate"], numbers["lower"], numbers["upper"], np.asarray(at))
            estimate, lower, upper, null = (np.log(end) if is_log(asked.scale) else end for end in ends)
            error = np.where(estimate > null, estimate - lower, upper - estimate) / z
            return np.where((estimate == null) & np.isfinite(error), 0.0, (estimate - null) / error), endless

    return p_values(asked, len(endless), statistic)
