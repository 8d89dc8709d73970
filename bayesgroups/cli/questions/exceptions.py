"""Parameters that no option of a command gives, and why."""

from __future__ import annotations

_ROWS = "an option of the rows, which are tallied before the function is asked"
_ARRAY = "an array along subgroups or classes"
_SCORES = "computed on the way"

WITHOUT_OPTION = {
    "threshold_curve.by": _ROWS,
    "threshold_curve.y_true": _ROWS,
    "threshold_curve.y_score": _ROWS,
    "threshold_curve.positive": _ROWS,
    "threshold_curve.weights": _ROWS,
    "roc_curve.by": _ROWS,
    "roc_curve.y_true": _ROWS,
    "roc_curve.y_score": _ROWS,
    "roc_curve.positive": _ROWS,
    "roc_curve.weights": _ROWS,
    "calibration_curve.by": _ROWS,
    "calibration_curve.y_true": _ROWS,
    "calibration_curve.y_score": _ROWS,
    "calibration_curve.positive": _ROWS,
    "calibration_curve.weights": _ROWS,
    "aggregate.scores": _SCORES,
    "aggregate.count": "a coordinate of the scores",
    "aggregate.group_weights": _ARRAY,
    "aggregate.class_weights": _ARRAY,
    "confusion_scores.confusion": _SCORES,
    "reporting_checklist.aggregated": _SCORES,
}
"""Reasons by ``function.parameter``; every other parameter of a question is an option of its command, or is read from a file."""
