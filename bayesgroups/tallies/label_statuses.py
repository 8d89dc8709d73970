"""Statuses of metrics of which only some rows have an outcome, and their reasons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, TextArray

UNEVEN = 2.0
"""Ratio of the labelled shares of two decisions above which rates among labelled rows alone are named as biased."""


def label_statuses(
    judged: FloatArray,
    cells: FloatArray,
    labelled: FloatArray,
    used: BoolArray,
    estimate: FloatArray,
    undefined: str,
    decisions: Sequence[str],
) -> tuple[TextArray, TextArray]:
    """Status and reason of one metric in every subgroup, (subgroup,) each.

    ``judged`` and ``labelled`` (subgroup, decision) are rows, ``cells`` (subgroup, outcome, decision) labelled ones; ``used``
    (decision,) are the decisions whose outcomes the metric reads, ``undefined`` its reason where no row counts.

    >>> judged, labelled = np.array([[31.0, 9.0]]), np.array([[5.0, 0.0]])
    >>> cells = np.array([[[2.0, 0.0], [3.0, 0.0]]])
    >>> label_statuses(judged, cells, labelled, np.array([True, True]), np.array([np.nan]), "no rows", ["0", "1"])[1].tolist()
    ['no label among 9 rows judged 1']
    """
    each = [
        _status(judged[g], cells[g], labelled[g], used, bool(np.isfinite(estimate[g])), undefined, decisions)
        for g in range(len(judged))
    ]
    return np.array([status for status, _ in each], dtype="<U9"), np.array([why for _, why in each], dtype="<U200")


def _status(
    judged: FloatArray,
    cells: FloatArray,
    labelled: FloatArray,
    used: BoolArray,
    defined: bool,
    undefined: str,
    decisions: Sequence[str],
) -> tuple[str, str]:
    rows = judged.sum()
    if rows == 0:
        return "undefined", "no rows"
    if not used.any():
        return _of_decisions(judged, rows) if defined else ("undefined", undefined)
    if labelled.sum() == 0:
        return "undefined", f"0 of {rows:g} rows labelled"
    arms = np.flatnonzero(used & (judged > 0)).tolist()
    for arm in arms:
        if labelled[arm] == 0:
            return "undefined", f"no label among {judged[arm]:g} rows judged {decisions[arm]}"
    if not defined:
        return "undefined", undefined
    for arm in arms:
        if labelled[arm] == 1:
            return "single", f"one label among {judged[arm]:g} rows judged {decisions[arm]}"
    for arm in arms:
        if cells[:, arm].max() == cells[:, arm].sum():
            return "saturated", f"all {labelled[arm]:g} labels of rows judged {decisions[arm]} agree"
    return "ok", _shares(judged, labelled, arms, decisions)


def _of_decisions(judged: FloatArray, rows: float) -> tuple[str, str]:
    if rows == 1:
        return "single", "one row"
    return ("saturated", "all rows agree") if judged.max() == rows else ("ok", "")


def _shares(judged: FloatArray, labelled: FloatArray, arms: list[int], decisions: Sequence[str]) -> str:
    """Numbers of labelled rows, and the bias of rates among these alone where decisions are labelled unevenly."""
    some = labelled[arms].sum(), judged[arms].sum()
    if some[0] == some[1]:
        return ""
    words = f"{some[0]:g} of {some[1]:g} rows labelled"
    share = labelled[arms] / judged[arms]
    least, most = int(np.argmin(share)), int(np.argmax(share))
    if share[most] <= UNEVEN * share[least]:
        return words
    high, low = (f"{100 * share[k]:.0f} % of those judged {decisions[arms[k]]}" for k in (most, least))
    return f"{words}, {high} and {low}: rates among labelled rows alone can be biased"
