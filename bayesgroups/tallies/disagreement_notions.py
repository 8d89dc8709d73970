"""The five notions of fairness that disagreement feedback speaks of, and the rate that each compares.

y is the label that the system gave and z the label that the critic has in mind. Only s = 1{z != y} is observed.

==============================  =================  ===========  ==========================================
notion                          rate               metric       known from disagreement alone
==============================  =================  ===========  ==========================================
``accuracy_equality``           P(y = z)           ``acc``      exactly
``calibration``                 P(z = k | y = k)   ``ppv[k]``   exactly (it is predictive parity)
``equal_opportunity``           P(y = k | z = k)   ``tpr[k]``   exactly with two labels, else within bounds
``predictive_equality``         P(y = k | z != k)  ``fpr[k]``   exactly with two labels, else within bounds
``overall_misclassification``   P(y != k | z = k)  ``fnr[k]``   exactly with two labels, else within bounds
==============================  =================  ===========  ==========================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

Notion = Literal[
    "accuracy_equality", "calibration", "equal_opportunity", "predictive_equality", "overall_misclassification"
]
Form = Literal["sharp", "published"]

NOTIONS: tuple[Notion, ...] = get_args(Notion)
METRIC: Mapping[Notion, str] = {
    "accuracy_equality": "acc",
    "calibration": "ppv",
    "equal_opportunity": "tpr",
    "predictive_equality": "fpr",
    "overall_misclassification": "fnr",
}
"""The metric of the package that each notion compares between subgroups."""
DEFINITE: frozenset[Notion] = frozenset({"accuracy_equality", "calibration"})
"""Notions whose rate is known exactly, however many labels there are."""
ALL_LABELS = "all"
"""The one label of a rate that is about no label."""

ERRATA: Mapping[Notion, str] = {
    "accuracy_equality": "Eqs 10-13: differences between subgroups are printed with the sign reversed, so the pair that "
    "attains the maximum is swapped",
    "calibration": "Eqs 14-15: differences between subgroups are printed with the sign reversed, so the pair that attains "
    "the maximum is swapped; the rate is predictive parity",
    "equal_opportunity": "Prop 3, Eq 19: valid but not sharp, and the upper bound 1 is needlessly loose with two labels",
    "predictive_equality": "Prop 4, Eq 26: valid, but the upper bound 1 is looser than it need be",
    "overall_misclassification": "Prop 5, Eqs 31-35: the inequality is reversed, so the printed lower bound is an upper "
    "bound and the printed upper bound 1 is void",
}
"""What is wrong with the published bounds of each notion."""


def labels_of(notion: Notion, labels: Sequence[str]) -> list[str]:
    """Labels that a notion has a rate for: all of them, or `ALL_LABELS` for accuracy."""
    return [ALL_LABELS] if notion == "accuracy_equality" else list(labels)


def metric_names(notion: Notion, labels: Sequence[str]) -> list[str]:
    """Names of the metrics of a notion.

    >>> metric_names("equal_opportunity", ["low", "high"]), metric_names("accuracy_equality", ["low", "high"])
    (['tpr[low]', 'tpr[high]'], ['acc'])
    """
    return (
        ["acc"]
        if notion == "accuracy_equality"
        else [f"{METRIC[notion]}[{label}]" for label in labels_of(notion, labels)]
    )
