"""Questions of a judge that decides on all rows where few have a gold label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr


def _alone(answer: xr.Dataset) -> list[str]:
    """The method of the second pair of limits."""
    from bayesgroups.report.view import interval_methods

    method = answer.attrs.get("gold_interval_method")
    return [f"labelled rows alone: {interval_methods([method])} limits of the same level"] if method else []


def _widths(plan: xr.Dataset) -> list[str]:
    """Of which intervals the widths are."""
    from bayesgroups.report.view import percent

    return [f"width: expected of {percent(float(plan.attrs['level']))} confidence intervals"]


JUDGES = (
    Question(
        "tallies.gold_scores.gold_score_tally",
        "gold-score-tally answers.csv --by dialect --gold rating --judge score --output gold.tally.nc",
        {"frame": readers.answers},
    ),
    Question(
        "questions.judges.corrections.judge_corrected",
        "judge-corrected answers.csv --by dialect --metric prev --metric tpr --metric tnr --y-true gold --y-pred judge "
        "--unlabelled keep\n"
        "judge-corrected judged.tally.nc --method ppi_tuned",
        {"tally": readers.tally, "calibration": readers.calibration},
        table=Table(
            "subgroup", {"judged": "judged", "labelled": "labelled", "corrected": ("estimate", "lower", "upper"),
            "labelled rows alone": ("gold_estimate", "gold_lower", "gold_upper")},
            order=("estimate",), notes=_alone,
        ),
    ),
    Question(
        "questions.judges.labelling.rows_to_label",
        "rows-to-label judged.tally.nc --number 500\n"
        "rows-to-label report.nc --width 0.1",
        {"source": readers.source},
        table=Table(
            "subgroup", {"judged": "judged", "labelled": "labelled", "labels": "labels", "more": "more", "assumed": "assumed",
            "width": "expected_width"}, order=("expected_width",), notes=_widths,
        ),
    ),
)  # fmt: skip
