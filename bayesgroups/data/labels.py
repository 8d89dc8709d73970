"""Outcome and decision of a row: which label is positive, and when two labels agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesgroups.data.roles import Roles
from bayesgroups.errors import InputError


def positive_label(values: Sequence[Any], roles: Roles) -> Any:
    """The label that counts as positive; an error where there are more than two, or nothing says which."""
    columns = " and ".join(repr(name) for name in (roles.y_true, roles.y_pred) if name is not None)
    shown = ", ".join(repr(value) for value in sorted(values, key=str)[:5])
    if len(values) > 2:
        first, fixes = min(values, key=str), []
        if roles.y_pred is not None:
            fixes.append(f"tpr and its like need two, so use metrics of one class such as 'tpr[{first}]'")
        if roles.y_score is not None:
            fixes.append(
                f"what comes from a score, such as auc, is about one class against all others: tally it apart, with a column "
                f"that is 1 for {first!r} and 0 for all others as y_true= and the score of {first!r} as y_score="
            )
        fixes = fixes or ["metrics of the positive class need two"]
        hint = "; decisions are 0 or 1: for a score use y_score= with threshold=" if _fractional(values) else ""
        raise InputError(
            f"labels in {columns} are not binary: {len(values)} values ({shown}{', ...' if len(values) > 5 else ''}); "
            f"{'; '.join(fixes)}{hint}"
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


def check_common(y_true: str, true: set[Any], y_pred: str, pred: set[Any]) -> None:
    """Refuse outcomes and decisions (columns and their labels) that have no label in common."""
    if not true & pred:
        raise InputError(
            f"columns {y_true!r} (y_true=) and {y_pred!r} (y_pred=) have no label in common: "
            f"{sorted(map(str, true))[:3]} and {sorted(map(str, pred))[:3]}; give both the same labels"
        )


def _fractional(values: Sequence[Any]) -> bool:
    return any(isinstance(value, float) and not value.is_integer() for value in values)
