"""Statements about targets beside the numbers: statuses, estimands, shares of people without rows, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, TextArray
from bayesgroups.questions.populations.answers import NOT_ESTIMABLE, Answer
from bayesgroups.questions.populations.cells import shares_clusters
from bayesgroups.questions.populations.frequentist_side import Side
from bayesgroups.questions.populations.plan import Plan
from bayesgroups.questions.populations.sizes import Declared
from bayesgroups.report.diagnostics import Check
from bayesgroups.tallies.estimands import reported_estimands, superpopulation_values

WITHOUT_ROWS = {
    "bounds": "the frequentist side has bounds alone", "drop": "the frequentist side leaves them out",
    "collapse": "the frequentist side gives them the mean of a margin",
}  # fmt: skip
"""What becomes of people in cells without rows on the frequentist side."""
WARNED_SHARE = 0.05
"""Share of people in cells without rows from which on a note says so."""
CELL = ("metric", "subgroup")


@dataclass(frozen=True, eq=False)
class Targeted:
    """Both answers of one metric: of the frequentist side an answer per target, of the Bayesian one draws (draw, target).

    ``shift`` (draw,) is that of the benchmark, where there is one; ``checks`` are those of raking.
    """

    side: Side
    answers: list[Answer]
    draws: FloatArray | None
    shift: FloatArray | None
    checks: tuple[Check, ...]


def with_facts(
    answered: xr.Dataset, targeted: Sequence[Targeted], report: xr.DataTree | None, plan: Plan, tally: xr.Dataset
) -> xr.Dataset:
    """Statuses that are about targets, their estimands, and the shares behind them."""
    reference = _reference_facts(targeted)
    share = np.stack([each.side.imputed_share for each in targeted])
    frequentist = answered["status"].values[1].astype("<U13")
    mean = answered["estimate"].values[0]
    bayesian = answered["status"].values[0].astype("<U13")
    flat = bayesian == "degenerate"
    bayesian = np.where(share > 0, "imputed", np.where(frequentist == "saturated", "saturated", "ok")).astype("<U13")
    bayesian = np.where(flat & (not plan.finite) & np.isfinite(mean), "degenerate", bayesian)
    bayesian = np.where(np.isfinite(mean), bayesian, np.where(np.isnan(share), "undefined", NOT_ESTIMABLE))
    estimands = _estimands(tally, report, plan, bool((share > 0).any()))
    kind = answered["interval_kind"].values.astype("<U10")
    if report is None or "posterior" not in report.children:
        kind[0] = "none"
    reason = answered["reason"].values.astype(object)
    lost = (reason == "") & ~np.isfinite(mean)
    why = "no draws: the source is a tally" if report is None else "the estimator has no answer for a cell with people"
    reason[lost] = why
    return answered.assign(
        status=(("approach", *CELL), np.stack([bayesian, frequentist])),
        interval_kind=(("approach", "metric"), kind),
        reason=(CELL, reason.astype(str)),
        estimand=(("approach", "metric"), estimands),
        imputed_share=(CELL, share),
        covered_share=(CELL, 1 - share),
        **reference,
    )


def _reference_facts(targeted: Sequence[Targeted]) -> dict[str, Any]:
    answers = [each.answers for each in targeted]
    members = [each.side.targets.members @ each.side.sizes.size for each in targeted]
    return {
        "bound_lower": (CELL, np.array([[answer.bounds[0] for answer in row] for row in answers])),
        "bound_upper": (CELL, np.array([[answer.bounds[1] for answer in row] for row in answers])),
        "population": (CELL, np.stack(members)),
        "sample_estimate": (CELL, np.stack([sample_estimate(each.side) for each in targeted])),
    }


def sample_estimate(side: Side) -> FloatArray:
    """Mean (target,) of the rows in the cells of each target, by their own weights and not those of the population."""
    inside = np.nan_to_num(side.weights) > 0
    rows = np.nan_to_num(side.cells.weight) * side.cells.with_rows
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((inside @ (rows * side.cells.values)) / (inside @ rows))


def _estimands(tally: xr.Dataset, report: xr.DataTree | None, plan: Plan, gaps: bool) -> TextArray:
    """Estimands (approach, metric) in words."""
    plain = superpopulation_values(tally)
    sides = [plain, plain]
    if report is not None:
        table = report["estimates"].to_dataset()
        sides[0] = reported_estimands(table.sel(approach="bayesian"))
    covered = " of the covered population" if plan.empty == "drop" and gaps else " of the target population"
    words = [
        [f"{text}{of}" for text in side] for side, of in zip(sides, (" of the target population", covered), strict=True)
    ]
    if plan.finite:
        words = [
            [text.replace("superpopulation ", "").replace("of the", "of all people of the") for text in row]
            for row in words
        ]
    return np.array(words, dtype=str)


def notes_of(
    tally: xr.Dataset, targeted: Sequence[Targeted], plan: Plan, declared: Declared, report: xr.DataTree | None
) -> list[str]:
    """Sentences that a reader must know: people without rows, moved values, absent levels, margins, shared clusters."""
    notes = []
    if report is None:
        notes.append("the source is a tally, so there are no Bayesian values")
    for each in targeted:
        side, metric = each.side, each.side.cells.metric
        share = float(side.imputed_share[0])
        if share >= WARNED_SHARE:
            model = "" if each.draws is None else "the model alone answers on the Bayesian side, "
            notes.append(
                f"{metric}: {100 * share:.3g}% of the population is in cells without rows; {model}{WITHOUT_ROWS[plan.empty]}"
            )
        if each.shift is not None:
            unit = "in log odds" if plan.benchmark_scale == "logit" else "in units of the metric"
            notes.append(
                f"{metric}: values of cells were moved by {float(np.nanmean(each.shift)):.3g} {unit} to meet the benchmark; "
                "frequentist standard errors are those before"
            )
    first = targeted[0].side
    held = np.bincount(first.sizes.cell, weights=first.sizes.size, minlength=len(first.cells.labels))
    for name, levels in declared.columns.items():
        absent = [level for level in dict.fromkeys(levels.tolist()) if not held[levels == level].sum() > 0]
        if absent:
            notes.append(f"the population has nobody with {name} {', '.join(map(repr, absent))}")
    if declared.prevalence is not None:
        notes.append(
            "people were turned into positives and negatives by the prevalences given, which are taken for known"
        )
    if declared.margins:
        notes.append(
            "the composition inside the margins is that of the evaluated rows; raking gives no people to cells without rows"
        )
    if shares_clusters(tally) and "sampling_covariance" not in tally:
        notes.append(
            "clusters are in several cells, whose errors are taken for independent, so intervals can be too short"
        )
    return notes
