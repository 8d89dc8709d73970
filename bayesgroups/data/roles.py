"""Column specification: the column of each part, and the arguments that go together."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bayesgroups.errors import InputError


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
