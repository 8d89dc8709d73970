"""Column specification: the column of each part, labels that count as positive, and errors of columns that cannot be summed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesgroups.errors import InputError, near_misses

MAX_MAGNITUDE = 1e150
"""Largest absolute value of numbers whose squares are added up."""


@dataclass(frozen=True)
class Roles:
    """Column of each part; the arguments of `bayesgroups.tally` in one place."""

    by: tuple[str, ...]
    y_true: str | None = None
    y_pred: str | None = None
    y_score: str | None = None
    loss: str | None = None
    correct: str | None = None
    threshold: float | None = None
    selection_rate: float | None = None
    positive: object = None
    features: tuple[str, ...] = ()
    cluster: str | None = None
    weights: str | None = None

    @property
    def attributes(self) -> list[str]:
        """The common names of the columns of attributes."""
        return [f"__by_{i}__" for i in range(len(self.by))]

    def columns(self) -> dict[str, str]:
        """Every column named, by the argument that names it."""
        named = {role: getattr(self, role) for role in ("y_true", "y_pred", "y_score", "loss", "correct")}
        named |= {f"by[{i}]": column for i, column in enumerate(self.by)}
        named |= {f"features[{i}]": column for i, column in enumerate(self.features)}
        named |= {"cluster": self.cluster, "weights": self.weights}
        return {role: column for role, column in named.items() if column is not None}


def check_columns(roles: Roles, columns: Sequence[str]) -> None:
    """Refuse a column that rows with these columns do not have."""
    for argument, name in roles.columns().items():
        if name not in columns:
            raise InputError(f"column {name!r} ({argument}=) is not in the frame; {near_misses(name, columns)}")


def check_arguments(roles: Roles) -> None:
    """Refuse arguments without an attribute, or with two rules for a decision or none to apply one to."""
    if not roles.by:
        raise InputError("by= names no column; name at least one attribute, as by=['sex', 'age']")
    if len(set(roles.by)) < len(roles.by):
        raise InputError(f"by= names a column twice: {list(roles.by)}")
    given = [name for name in ("threshold", "selection_rate") if getattr(roles, name) is not None]
    if len(given) == 2:
        raise InputError("threshold= and selection_rate= are both given; a decision has one rule, so leave one out")
    if given and roles.y_pred is not None:
        raise InputError(f"y_pred= and {given[0]}= are both given; a decision comes from one of them, so leave one out")
    if given and roles.y_score is None:
        raise InputError(f"{given[0]}= turns a score into a decision, but y_score= is not given")
    if roles.threshold is not None and not math.isfinite(roles.threshold):
        raise InputError(f"threshold= must be a finite number; got {roles.threshold}")


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
        if not _is_label(roles.positive):
            kind = type(roles.positive).__name__
            raise InputError(f"positive= must be one label of {columns}, such as {shown}; got a value of type {kind}")
        if roles.positive not in values and len(values) == 2:
            raise InputError(f"positive={roles.positive!r} is not a label in {columns}; the labels are {shown}")
        return roles.positive
    if all(value in (0, 1) for value in values):
        return True if all(isinstance(value, bool) for value in values) else 1
    raise InputError(
        f"labels in {columns} are {shown}; say which one is positive, as positive={max(values, key=str)!r}"
    )


def _is_label(value: object) -> bool:
    """True if a value may be a label of a row: dataframes, arrays and lists have no hash."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def check_common(roles: Roles, true: set[Any], pred: set[Any]) -> None:
    """Refuse labels of outcomes and decisions that have none in common, but for two classes of which all decisions are wrong."""
    labels = true | pred
    two_classes = labels <= {0, 1} or (len(labels) == 2 and roles.positive in labels)
    if not true & pred and not two_classes:
        raise InputError(
            f"columns {roles.y_true!r} (y_true=) and {roles.y_pred!r} (y_pred=) have no label in common: "
            f"{sorted(map(str, true))[:3]} and {sorted(map(str, pred))[:3]}; give both the same labels"
        )


def _fractional(values: Sequence[Any]) -> bool:
    return any(isinstance(value, float) and not value.is_integer() for value in values)


def absence(name: str, argument: str, number: int, row: int | None = None) -> InputError:
    """A column has missing values."""
    first = "" if row is None else f", the first in row {row}"
    return InputError(
        f"column {name!r} ({argument}=) has {number} missing value{'s' if number > 1 else ''}{first}; "
        "fill or drop these rows before the tally"
    )


def no_label(name: str, argument: str = "y_true") -> InputError:
    """No row has an outcome."""
    return InputError(
        f"no row has a value in {name!r} ({argument}=); nothing to learn the judge's errors from, so label some rows first"
    )


def absent_attribute(name: str, number: int, rows: int) -> InputError:
    """An attribute has missing values, and nobody said what to do with them."""
    return InputError(
        f"attribute {name!r} is missing in {number} of {rows} rows; "
        "say missing='level' to make them a subgroup of their own, or missing='drop' to leave them out"
    )


def no_number(name: str, argument: str, dtype: object, value: object) -> InputError:
    """A column of numbers holds something else."""
    return InputError(f"column {name!r} ({argument}=) must hold numbers; got {dtype} such as {value!r}")


def infinity(name: str, argument: str, value: float, row: int | None = None) -> InputError:
    """A column of finite numbers has one that is not."""
    where = "a row" if row is None else f"row {row}"
    return InputError(f"column {name!r} ({argument}=) must be finite; {where} has {value}")


def partial_credit(name: str, value: float, row: int | None = None) -> InputError:
    """A grade is neither 0 nor 1."""
    where = "a row" if row is None else f"row {row}"
    return InputError(
        f"column {name!r} (correct=) must hold 0 and 1 or booleans; {where} has {value:g}. For scores with partial credit take "
        f"their mean: metrics=['mean'], loss={name!r}, larger_is_better=True"
    )


def negative_weight(name: str, value: float, row: int | None = None) -> InputError:
    """A weight is negative."""
    where = "a row" if row is None else f"row {row}"
    return InputError(f"column {name!r} (weights=) must not be negative; {where} has {value}")


def extreme_weight(name: str, value: float) -> InputError:
    """Weights are so small or large that their squares are 0 or infinite."""
    return InputError(
        f"column {name!r} (weights=) has weights near {value:g}, whose squares no number can hold; only their ratios count, so "
        "divide all by their mean"
    )


def no_weight(name: str) -> InputError:
    """All weights are 0."""
    return InputError(f"column {name!r} (weights=) is 0 in every row")
