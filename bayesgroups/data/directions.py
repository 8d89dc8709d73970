"""The direction of a metric: larger values are better, or smaller ones, by its name or as said where it is tallied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses

LargerIsBetter = bool | Mapping[str, bool] | None
"""One direction for all metrics of a tally, one per metric, or ``None`` for those known by name."""

KNOWN: dict[str, bool] = {
    "sel": True, "acc": True, "correct": True, "tpr": True, "fnr": False, "fpr": False, "tnr": True, "ppv": True,
    "fdr": False, "npv": True, "for": False, "f1": True, "auc": True,
}  # fmt: skip
"""Metrics whose name says whether larger values are better; the same holds per class, as in ``tpr[label]``."""

SIGNED = frozenset({"judge_bias"})
"""Metrics of which 0 is the fair value, so that neither larger nor smaller values are better."""

_PER_CLASS = re.compile(r"(?P<rate>[a-z0-9]+)\[.+\]", re.DOTALL)


@dataclass(frozen=True)
class Direction:
    """The direction of one metric; ``assumed`` where neither its name nor an argument gives it."""

    larger_is_better: bool
    assumed: bool = False


@checked_keywords
def direction_of(name: str) -> bool | None:
    """Direction of a metric by its name alone: true if larger values are better, ``None`` where the name does not say.

    Examples
    --------
    >>> direction_of("acc"), direction_of("fnr"), direction_of("tpr[cat]"), direction_of("mean")
    (True, False, True, None)
    """
    match = _PER_CLASS.fullmatch(name)
    return KNOWN.get(match["rate"] if match else name)


def choose_directions(
    names: Sequence[str], given: LargerIsBetter, defined: Mapping[str, bool | None] | None = None
) -> list[Direction]:
    """The direction of every metric of a tally, one per name.

    What the caller says (``given``) wins over the definitions that metrics carry (``defined``), and these over names; where nothing
    gives a direction, smaller values are taken to be better, as of a loss. An error where ``given`` is neither a truth value
    nor a mapping to such, names a metric that is not tallied, or is said of several metrics of which one is known otherwise.

    >>> choose_directions(["mean"], True), choose_directions(["wer"], None)
    ([Direction(larger_is_better=True, assumed=False)], [Direction(larger_is_better=False, assumed=True)])
    """
    given_by_name = _as_mapping(names, given)
    by_definition = defined or {}
    directions = []
    for name in names:
        direction = next(
            (
                choice
                for choice in (given_by_name.get(name), by_definition.get(name), direction_of(name))
                if choice is not None
            ),
            None,
        )
        directions.append(Direction(bool(direction), assumed=direction is None))
    return directions


def _as_mapping(names: Sequence[str], given: LargerIsBetter) -> Mapping[str, bool]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for name, direction in given.items():
            if name not in names:
                raise InputError(
                    f"larger_is_better= has metric {name!r}, which is not tallied; {near_misses(name, names)}"
                )
            _check(direction, f"larger_is_better= of metric {name!r}")
        return given
    _check(given, "larger_is_better=")
    contrary = next((name for name in names if direction_of(name) not in (None, given)), None)
    if len(names) > 1 and contrary is not None:
        better = "smaller" if given else "larger"
        raise InputError(
            f"larger_is_better={given} is said of {len(names)} metrics, but of {contrary!r} {better} values are better; "
            f"say it per metric, as larger_is_better={{{next(name for name in names if name != contrary)!r}: {given}}}"
        )
    return dict.fromkeys(names, given)


def _check(value: object, argument: str) -> None:
    if not isinstance(value, bool):
        raise InputError(f"{argument} must be True or False, or a mapping from metrics to these; got {value!r}")
