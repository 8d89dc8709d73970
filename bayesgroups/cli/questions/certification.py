"""Questions of what can be promised to all subgroups, and of how many rows that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr

DIRECTED = {"source": readers.directed_source, "larger_is_better": readers.direction}


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
    return [
        f"{metric}: {total} more rows in all" for metric, total in zip(answer["metric"].values, totals, strict=True)
    ]


NEEDED = Table(along=("subgroup",), columns={"assumed": "assumed", "needed": "needed", "more": "more"}, notes=_totals)
DEFINITIONS = (
    Question(
        function="questions.certification.published.fairness_definitions",
        example="fairness-definitions acc.nc --tolerance 0.1",
        reads={"source": readers.source},
        table=Table(along=("definition",), columns={"value": ("value", "lower", "upper")}),
    ),
    Question(
        function="questions.certification.requirements.desiderata",
        example="desiderata acc.tally.nc --definition equality_gap",
        reads={"definition": readers.definition, "tally": readers.tally},
        table=Table(along=("check",), columns={"satisfied": "satisfied", "": "sentence"}),
    ),
)
EVERYONE = (
    Question(
        function="questions.certification.optimism.certify",
        example="certify acc.nc --standard 0.8\ncertify acc.tally.nc --interval wald --critical-value 1.64",
        reads=DIRECTED,
        table=Table(
            along=("metric",),
            columns={
                "optimist": "optimist", "decided by": "optimist_subgroup", "pessimist": "pessimist",
                "and by": "pessimist_subgroup", "worst estimate": "worst", "of": "worst_subgroup",
            },
            notes=_standards,
        ),
    ),
    Question(
        function="questions.certification.bands.simultaneous_intervals",
        example="simultaneous-intervals fnr.nc --level 0.9",
        reads={"source": readers.source},
        table=Table(along=("subgroup",), columns={"estimate": ("estimate", "lower", "upper")}),
    ),
    Question(
        function="questions.certification.rank_intervals.ranks",
        example="ranks fnr.nc",
        reads=DIRECTED,
        table=Table(
            along=("subgroup",),
            columns={
                "rank": ("rank", "lower", "upper"), "expected": "expected_rank", "estimate": "estimate",
                "P(best)": "probability_best", "P(worst)": "probability_worst",
            },
        ),
    ),
    Question(
        function="questions.certification.false_discoveries.discoveries",
        example="discoveries fnr.nc --tolerance 0.05",
        reads=DIRECTED,
        table=Table(
            along=("subgroup",),
            columns={
                "gap": "gap", "std. error": "std_error", "P(beyond)": "probability", "p": "p_value", "listed": "discovered",
            },
        ),
    ),
    Question(
        function="questions.certification.overlapping.margins",
        example="margins fnr.tally.nc --order 1",
        reads={"tally": readers.tally},
        table=Table(
            along=("subgroup",),
            columns={"n": "count", "estimate": "estimate", "attributes": "attributes_crossed"},
            remark="reason",
        ),
    ),
)  # fmt: skip
SAMPLE_SIZES = (
    Question(
        function="questions.certification.sample_sizes.rows_to_certify",
        example="rows-to-certify acc.tally.nc --standard 0.8 --assume acc.nc",
        reads={"tally": readers.tally, "truth": readers.truth},
        table=NEEDED,
    ),
    Question(
        function="questions.certification.sample_sizes.rows_to_narrow",
        example="rows-to-narrow acc.tally.nc --factor 0.5",
        reads={"tally": readers.tally, "truth": readers.truth},
        table=NEEDED,
    ),
    Question(
        function="questions.certification.sample_sizes.minimum_detectable_gap",
        example="minimum-detectable-gap acc.tally.nc",
        reads={"tally": readers.tally},
        table=Table(along=("subgroup",), columns={"gap": "gap"}),
    ),
    Question(
        function="questions.certification.sample_sizes.probability_of_finding_worst",
        example="probability-of-finding-worst acc.tally.nc --factor 1 --factor 10",
        reads={"tally": readers.tally, "truth": readers.truth},
        table=Table(along=("factor",), columns={"P(found)": "probability", "the worst": "worst_subgroup"}),
    ),
)
