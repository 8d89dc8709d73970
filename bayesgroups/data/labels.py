"""Outcome and decision of a row: which label is positive, and when two labels agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from bayesgroups.data.columns import refuse_missing
from bayesgroups.data.roles import Roles
from bayesgroups.data.texts import level_text
from bayesgroups.data.thresholds import selection_threshold
from bayesgroups.errors import InputError


def add_labels(
    frame: nw.DataFrame[Any], roles: Roles, score: nw.Series[Any] | None, columns: list[Any],
    notes: dict[str, Any], decides: bool,
) -> tuple[str, ...]:  # fmt: skip
    """Add outcome and decision to ``columns`` and return the classes there are."""
    values: list[Any] = []
    for argument in ("y_true", "y_pred"):
        name = getattr(roles, argument)
        if name is not None:
            refuse_missing(frame, name, argument)
            values += [value for value in frame[name].unique().to_list() if value not in values]
    thresholded = roles.threshold is not None or roles.selection_rate is not None
    positive = positive_label(values, roles) if (decides or thresholded) and values else None
    truth = decision = None
    if roles.y_true is not None:
        label = frame[roles.y_true]
        columns.append(label.cast(nw.String).alias("__label_true__"))
        if positive is not None:
            truth = (label == positive).cast(nw.Float64)
            columns.append(truth.alias("__y_true__"))
    if roles.y_pred is not None:
        label = frame[roles.y_pred]
        columns.append(label.cast(nw.String).alias("__label_pred__"))
        if positive is not None:
            decision = (label == positive).cast(nw.Float64)
            columns.append(decision.alias("__y_pred__"))
    elif thresholded and score is not None:
        threshold = roles.threshold
        if roles.selection_rate is not None:
            found = selection_threshold(score.to_numpy(), roles.selection_rate)
            threshold, notes["selection_rate_attained"] = found.threshold, found.attained
        notes["threshold"] = threshold
        decision = (score >= threshold).cast(nw.Float64)
        columns.append(decision.alias("__y_pred__"))
    if truth is not None and decision is not None:
        columns.append((truth == decision).cast(nw.Float64).alias("__agrees__"))
    elif roles.y_true is not None and roles.y_pred is not None:
        columns.append(_agreement(frame, roles.y_true, roles.y_pred).alias("__agrees__"))
    if positive is not None:
        notes["positive"] = level_text(positive)
    return tuple(sorted({str(value) for value in values}))


def positive_label(values: Sequence[Any], roles: Roles) -> Any:
    """The label that counts as positive.

    Raises
    ------
    InputError
        If there are more than two labels, or nothing says which of them is positive.
    """
    columns = " and ".join(repr(name) for name in (roles.y_true, roles.y_pred) if name is not None)
    shown = ", ".join(repr(value) for value in sorted(values, key=str)[:5])
    if len(values) > 2:
        one, mends = min(values, key=str), []
        if roles.y_pred is not None:
            mends.append(f"tpr and its like need two, so use metrics of one class such as 'tpr[{one}]'")
        if roles.y_score is not None:
            mends.append(
                f"what comes from a score, such as auc, is about one class against all others: tally it apart, with a column "
                f"that is 1 for {one!r} and 0 for all others as y_true= and the score of {one!r} as y_score="
            )
        mends = mends or ["metrics of the positive class need two"]
        hint = "; decisions are 0 or 1: for a score use y_score= with threshold=" if _fractional(values) else ""
        raise InputError(
            f"labels in {columns} are not binary: {len(values)} values ({shown}{', ...' if len(values) > 5 else ''}); "
            f"{'; '.join(mends)}{hint}"
        )
    if roles.positive is not None:
        if roles.positive not in values and len(values) == 2:
            raise InputError(f"positive={roles.positive!r} is not a label in {columns}; the labels are {shown}")
        return roles.positive
    if all(value in (0, 1) for value in values):
        return True if all(isinstance(value, bool) for value in values) else 1
    raise InputError(
        f"labels in {columns} are {shown}; say which one is positive, as positive={max(values, key=str)!r}"
    )


def _agreement(frame: nw.DataFrame[Any], y_true: str, y_pred: str) -> nw.Series[Any]:
    """Agreement of outcome and decision, for any number of classes."""
    check_common(y_true, set(frame[y_true].unique().to_list()), y_pred, set(frame[y_pred].unique().to_list()))
    return (frame[y_true] == frame[y_pred]).cast(nw.Float64)


def check_common(y_true: str, true: set[Any], y_pred: str, pred: set[Any]) -> None:
    """Refuse outcomes and decisions (columns and their labels) that have no label in common.

    Raises
    ------
    InputError
        If they have none.
    """
    if not true & pred:
        raise InputError(
            f"columns {y_true!r} (y_true=) and {y_pred!r} (y_pred=) have no label in common: "
            f"{sorted(map(str, true))[:3]} and {sorted(map(str, pred))[:3]}; give both the same labels"
        )


def _fractional(values: Sequence[Any]) -> bool:
    return any(isinstance(value, float) and not value.is_integer() for value in values)
