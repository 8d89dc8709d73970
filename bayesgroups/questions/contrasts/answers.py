"""Contrasts of one approach, one scale and one metric: named arrays that every approach fills alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayesgroups.data.arrays import FloatArray, TextArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import normal_quantile
from bayesgroups.questions.certification.multiplicity import adjust
from bayesgroups.questions.contrasts import limits as of_tally
from bayesgroups.questions.contrasts.best import best_limits, candidates
from bayesgroups.questions.contrasts.draws import contrast_draws, summarise
from bayesgroups.questions.contrasts.errors_of_contrasts import factor
from bayesgroups.questions.contrasts.estimates import CellEstimates
from bayesgroups.questions.contrasts.scales import Scale, equality
from bayesgroups.questions.contrasts.simultaneous import simultaneous_critical_value
from bayesgroups.questions.contrasts.weighing import Weighted

NUMBERS = (
    "estimate", "median", "std_error", "lower", "upper", "lower_simultaneous", "upper_simultaneous", "probability_worse",
    "probability_best", "p_value", "p_value_adjusted", "may_be_best", "overlap_share", "imputed_share",
)  # fmt: skip
"""Variables along the contrasts."""
LIMITS = ("lower", "upper", "lower_simultaneous", "upper_simultaneous")
OF_THRESHOLDS = ("probability_beyond", "p_value_threshold")
"""Variables along the contrasts and the thresholds."""
NO_VALUE = "the contrast has no value: both sides are 0, or a side is at an end of the range"
NO_DRAWS = "no draw has a value"


@dataclass(frozen=True, eq=False)
class Asked:
    """Settings of a question that every answer needs; ``best`` is true where the best subgroup is the reference.

    ``thresholds`` (threshold,) are those of the scale, NaN where one belongs to another scale; ``ends`` are the smallest and the
    largest value that the metric can have.
    """

    scale: Scale
    level: float
    sign: int
    thresholds: FloatArray
    together: bool
    best: bool
    choice: str = "auto"
    ends: tuple[float, float] = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Answer:
    """Variables by name, statuses with reasons, and what is said once: critical value, kind and method of the intervals."""

    numbers: dict[str, FloatArray]
    status: TextArray
    reason: TextArray
    method: TextArray
    critical_value: float
    kind: str


def from_draws(draws: FloatArray, weighted: Weighted, asked: Asked) -> Answer:
    """Posterior contrasts of draws (draw, cell)."""
    used = np.where(np.isnan(asked.thresholds), equality(asked.scale), asked.thresholds)
    best = asked.sign if asked.best else 0
    summary = summarise(draws, weighted, asked.scale, asked.level, asked.sign, used, best=best, together=asked.together)
    answer = blank_numbers(weighted, asked)
    answer |= {
        "estimate": summary.mean if asked.scale == "difference" else summary.median,
        "median": summary.median, "std_error": summary.std_error, "lower": summary.lower, "upper": summary.upper,
        "lower_simultaneous": summary.lower_together, "upper_simultaneous": summary.upper_together,
        "probability_beyond": np.where(np.isnan(asked.thresholds), np.nan, summary.beyond),
    }  # fmt: skip
    if asked.best:  # no draw lies on the good side of its own best value
        side = "upper_simultaneous" if asked.sign > 0 else "lower_simultaneous"
        clip = np.minimum if asked.sign > 0 else np.maximum
        answer[side] = clip(answer[side], equality(asked.scale))
    answer["probability_best" if asked.best else "probability_worse"] = summary.equal if asked.best else summary.worse
    answer |= in_range(answer, weighted, asked)
    reason = np.where(weighted.estimable & np.isnan(summary.median), NO_DRAWS, weighted.reason)
    status = np.where(reason != "", "not estimable", np.where(weighted.imputed_share > 0, "imputed", "ok"))
    return Answer(answer, status, reason, np.full(status.shape, "equal_tailed"), summary.critical_value, "credible")


def from_replicates(draws: FloatArray, estimates: FloatArray, weighted: Weighted, asked: Asked) -> Answer:
    """Contrasts of the replicates (draw, cell) of a bootstrap: percentile intervals about the estimates (cell,)."""
    if asked.best:
        raise InputError(
            "reference='best' has no bootstrap: replicates of the best estimate are no replicates of the best; "
            "give using='tally'"
        )
    from_all = from_draws(draws, weighted, asked)
    answer = from_all.numbers
    answer["estimate"] = contrast_draws(estimates[None], weighted, asked.scale)[0]
    worse = answer["probability_worse"]
    answer["p_value"] = np.minimum(2 * np.minimum(worse, 1 - worse), 1.0)
    answer["p_value_threshold"] = 1 - answer["probability_beyond"]
    blank = np.full(worse.shape, np.nan)
    answer |= {"median": blank, "probability_worse": blank, "probability_beyond": answer["p_value_threshold"] * np.nan}
    if asked.together:
        answer["p_value_adjusted"] = adjust(answer["p_value"], "holm")
    method = np.full(blank.shape, "bootstrap_percentile")
    return Answer(answer, from_all.status, from_all.reason, method, from_all.critical_value, "confidence")


def from_tally(weighted: Weighted, cells: CellEstimates, asked: Asked, rng: np.random.Generator) -> Answer:
    """Contrasts of estimates with sampling errors."""
    answer = blank_numbers(weighted, asked)
    z, together = normal_quantile(asked.level), np.nan
    if asked.best:
        single, comparison = best_limits(weighted, cells, asked.scale, asked.level, asked.sign)
        if comparison is not None:
            together = float(comparison.critical_values.max())
            answer["may_be_best"] = candidates(comparison, weighted, cells)
        answer |= {"lower_simultaneous": single.interval.lower, "upper_simultaneous": single.interval.upper}
    else:
        parts = factor(weighted, cells, asked.scale)
        single = of_tally.limits(weighted, cells, asked.scale, z, asked.choice, parts)
        about = (single, weighted, cells, asked.scale, z, asked.choice, parts)
        answer |= p_values(asked, len(weighted.over), partial(of_tally.statistics, *about))
        with np.errstate(invalid="ignore"):
            error = np.sqrt((parts**2).sum(axis=1))
        answer["std_error"] = np.where(weighted.estimable & np.isfinite(error), error, np.nan)
        if asked.together:
            together = simultaneous_critical_value(weighted, parts, single.interval, asked.level, rng)
            band = of_tally.limits(weighted, cells, asked.scale, together, asked.choice, parts).interval
            answer |= {"lower_simultaneous": band.lower, "upper_simultaneous": band.upper}
            answer["p_value_adjusted"] = adjust(answer["p_value"], "holm")
    answer |= {"estimate": single.estimate, "lower": single.interval.lower, "upper": single.interval.upper}
    answer |= in_range(answer, weighted, asked)
    reason = np.where(weighted.estimable & np.isnan(single.estimate), NO_VALUE, weighted.reason)
    status = np.where(reason != "", "not estimable", "ok")
    kind = "simultaneous" if asked.best else "confidence"
    return Answer(answer, status, reason, single.method, together, kind)


def in_range(numbers: Mapping[str, FloatArray], weighted: Weighted, asked: Asked) -> dict[str, FloatArray]:
    """Limits of differences, none beyond what values of the metric allow: rates differ by 1 at most."""
    if asked.scale != "difference":
        return {}
    weights = np.where(weighted.vector[:, None], weighted.coefficients, weighted.over - weighted.under)
    up, down = (np.maximum(side, 0.0).sum(axis=1) for side in (weights, -weights))
    if asked.best:  # of the others, one that has the weight of no cell here
        up, down = np.ones_like(up), np.ones_like(down)
    low, high = asked.ends
    shift = np.where(weighted.number, weighted.value, 0.0)
    with np.errstate(invalid="ignore"):  # no weight times no end
        lowest = np.where(up > 0, up * low, 0.0) - np.where(down > 0, down * high, 0.0) - shift
        highest = np.where(up > 0, up * high, 0.0) - np.where(down > 0, down * low, 0.0) - shift
    return {name: np.clip(numbers[name], lowest, highest) for name in LIMITS}


def blank_numbers(weighted: Weighted, asked: Asked) -> dict[str, FloatArray]:
    """All numbers of an answer, NaN where they are to be computed."""
    many = len(weighted.over)
    blank = {name: np.full(many, np.nan) for name in NUMBERS}
    blank |= {name: np.full((many, len(asked.thresholds)), np.nan) for name in OF_THRESHOLDS}
    return blank | {"overlap_share": weighted.overlap_share, "imputed_share": weighted.imputed_share}


def p_values(
    asked: Asked, contrasts: int, statistic: Callable[[float], tuple[FloatArray, FloatArray]]
) -> dict[str, FloatArray]:
    """Two-sided p-values of equality, and one-sided ones (contrast, threshold) of contrasts that are not beyond a threshold.

    ``statistic`` gives statistics (contrast,) of a null value with their degrees of freedom.
    """
    p = np.full((contrasts, len(asked.thresholds)), np.nan)
    for j, threshold in enumerate(asked.thresholds):
        if np.isfinite(threshold):
            distance, degrees = statistic(float(threshold))
            p[:, j] = of_tally.lower_tail(distance if threshold < equality(asked.scale) else -distance, degrees)
    return {"p_value": of_tally.two_sided(*statistic(equality(asked.scale))), "p_value_threshold": p}
