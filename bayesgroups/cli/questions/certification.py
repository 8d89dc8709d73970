"""Questions of what can be promised to all subgroups, and of how many rows that takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr

DIRECTED: dict[str, Callable[..., Any]] = {"source": readers.directed_source, "larger_is_better": readers.direction}


def _standards(answer: xr.Dataset) -> list[str]:
    lines = []
    for metric in answer["metric"].values if "standard" in answer.dims else ():
        for standard in answer["standard"].values:
            verdict = answer.sel(metric=metric, standard=standard)
            reached = "shown to be reached by all" if int(verdict["reaches"]) else "not shown to be reached by all"
            missed = ", and shown to be missed by one" if int(verdict["misses"]) else ""
            lines.append(f"{metric}, standard {float(standard):g}: {reached}{missed}")
    return lines


def _totals(answer: xr.Dataset) -> list[str]:
    values = [float(value) for value in answer["total"].values]
    totals = [f"{value:,.0f}" if value < float("inf") else "no number of" for value in values]
    lines = [
        f"{metric}: {total} more rows in all" for metric, total in zip(answer["metric"].values, totals, strict=True)
    ]
    return [*lines, _aim(answer.attrs)]


def _aim(settings: dict[str, Any]) -> str:
    """The intervals that a plan is made for, in a sentence."""
    from bayesgroups.report.view import percent

    if "factor" in settings:
        return f"needed: every interval is at most {settings['factor']:g} times as wide as the widest is now"
    return (
        f"needed: with probability {settings['power']:g} all one-sided {percent(settings['level'])} limits are beyond the standard "
        f"{settings['standard']:g}"
    )


def _gaps(answer: xr.Dataset) -> list[str]:
    from bayesgroups.report.view import percent

    settings = answer.attrs
    correction = settings["correction"]
    which = "without correction" if correction == "none" else f"corrected for all subgroups ({correction})"
    test = f"a one-sided test at {percent(settings['level'])} confidence, {which},"
    return [f"gap: {test} shows it with probability {settings['power']:g}"]


NEEDED = Table(
    "subgroup", {"assumed": "assumed", "needed": "needed", "more": "more"}, notes=_totals, order=("-more", "-needed")
)
DEFINITIONS = (
    Question(
        "questions.certification.published.fairness_definitions", "fairness-definitions acc.nc --tolerance 0.1",
        {"source": readers.source},
        table=Table("definition", {"value": ("value", "lower", "upper")}),
    ),
    Question(
        "questions.certification.requirements.desiderata", "desiderata acc.tally.nc --definition equality_gap",
        {"definition": readers.definition, "tally": readers.tally},
        table=Table("check", {"satisfied": "satisfied", "": "sentence"}),
    ),
)  # fmt: skip
EVERYONE = (
    Question(
        "questions.certification.optimism.certify",
        "certify acc.nc --standard 0.8\ncertify acc.tally.nc --interval wald --critical-value 1.64", DIRECTED,
        table=Table(
            "metric", {"optimist": "optimist", "decided by": "optimist_subgroup", "pessimist": "pessimist",
            "and by": "pessimist_subgroup", "worst estimate": "worst", "of": "worst_subgroup"},
            notes=_standards,
        ),
    ),
    Question(
        "questions.certification.bands.simultaneous_intervals", "simultaneous-intervals fnr.nc --level 0.9",
        {"source": readers.source},
        table=Table("subgroup", {"estimate": ("estimate", "lower", "upper")}, order=("-estimate",)),
    ),
    Question(
        "questions.certification.rank_intervals.ranks", "ranks fnr.nc", DIRECTED,
        table=Table(
            "subgroup", {"rank": ("rank", "lower", "upper"), "expected": "expected_rank", "estimate": "estimate",
            "P(best)": "probability_best", "P(worst)": "probability_worst"},
            order=("-rank", "-probability_worst"),
        ),
    ),
    Question(
        "questions.certification.false_discoveries.discoveries", "discoveries fnr.nc --tolerance 0.05", DIRECTED,
        table=Table(
            "subgroup", {"gap": "gap", "std. error": "std_error", "P(beyond)": "probability", "p": "p_value",
            "listed": "discovered"},
            order=("-discovered", "-probability", "p_value"),
        ),
    ),
    Question(
        "questions.certification.overlapping.margins", "margins fnr.tally.nc --order 1", {"tally": readers.tally},
        table=Table(
            "subgroup", {"n": "count", "estimate": "estimate", "attributes": "attributes_crossed"},
        ),
    ),
)  # fmt: skip
SAMPLE_SIZES = (
    Question(
        "questions.certification.sample_sizes.rows_to_certify",
        "rows-to-certify acc.tally.nc --standard 0.8 --assume acc.nc", {"tally": readers.tally, "truth": readers.truth},
        table=NEEDED,
    ),
    Question(
        "questions.certification.sample_sizes.rows_to_narrow", "rows-to-narrow acc.tally.nc --factor 0.5",
        {"tally": readers.tally, "truth": readers.truth},
        table=NEEDED,
    ),
    Question(
        "questions.certification.sample_sizes.minimum_detectable_gap", "minimum-detectable-gap acc.tally.nc",
        {"tally": readers.tally},
        table=Table("subgroup", {"gap": "gap"}, notes=_gaps, order=("-gap",)),
    ),
    Question(
        "questions.certification.sample_sizes.probability_of_finding_worst",
        "probability-of-finding-worst acc.tally.nc --factor 1 --factor 10",
        {"tally": readers.tally, "truth": readers.truth},
        table=Table("factor", {"P(found)": "probability", "the worst": "worst_subgroup"}),
    ),
)  # fmt: skip
