"""Questions of a judge that decides on all rows where few have a gold label."""

from __future__ import annotations

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

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
            "subgroup", {"corrected": ("estimate", "lower", "upper"), "labelled rows alone": ("gold_estimate", "gold_lower",
            "gold_upper")}, remark="reason", order=("estimate",),
        ),
    ),
    Question(
        "questions.judges.labelling.rows_to_label",
        "rows-to-label judged.tally.nc --number 500\n"
        "rows-to-label report.nc --width 0.1",
        {"source": readers.source},
        table=Table(
            "subgroup", {"judged": "judged", "labelled": "labelled", "labels": "labels", "more": "more", "assumed": "assumed",
            "width": "expected_width"}, remark="reason", order=("expected_width",),
        ),
    ),
)  # fmt: skip
