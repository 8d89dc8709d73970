"""Parameters that no option of a command gives, and why."""

from __future__ import annotations

CURVES = ("threshold_curve", "roc_curve", "calibration_curve")
OF_ROWS = ("by", "y_true", "y_score", "positive", "weights")
WITHOUT_OPTION = {
    **{f"{curve}.{name}": "an option of the rows, which are tallied first" for curve in CURVES for name in OF_ROWS},
    "aggregate.scores": "computed from the file",
    "aggregate.count": "a coordinate of the scores",
    "aggregate.group_weights": "an array along subgroups",
    "aggregate.class_weights": "an array along classes",
    "confusion_scores.confusion": "the table of counts, in place of a tally or a report",
    "reporting_checklist.aggregated": "computed from the table of counts",
}
"""Reasons by ``function.parameter``; every other parameter of a question is an option of its command, or is read from a file."""
