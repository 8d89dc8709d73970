"""Numbers of levels and of subgroups: columns that are no attributes, and more combinations than a table can have."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from bayesgroups.errors import InputError

IDENTIFIER_LEVELS = 200
"""Levels above which a column may be an identifier or a measurement."""
ROWS_PER_LEVEL = 2.0
"""Rows per level below which it is one."""
SUBGROUPS = 1_000_000
"""Highest number of combinations that a tally is made of."""


def check_levels(
    observed: Mapping[str, Collection[object]], declared: Mapping[str, Sequence[object] | None], rows: int
) -> None:
    """Refuse a column of so many levels that it tells rows apart rather than groups; declared levels are meant.

    >>> check_levels({"id": range(8000)}, {"id": None}, 8000)
    Traceback (most recent call last):
    bayesgroups.errors.InputError: attribute 'id' has 8000 levels in 8000 rows, so that it tells rows apart and not groups; ...
    """
    for name, levels in observed.items():
        if declared.get(name) is None and len(levels) > max(IDENTIFIER_LEVELS, rows / ROWS_PER_LEVEL):
            raise InputError(
                f"attribute {name!r} has {len(levels)} levels in {rows} rows, so that it tells rows apart and not groups; "
                f"leave it out of by=, cut numbers into classes, as with pandas.cut(frame[{name!r}], 5), or, where rows of one "
                f"{name} belong together, give cluster={name!r}"
            )


def check_number(levels: Mapping[str, Collection[object]]) -> None:
    """Refuse more combinations of levels than `SUBGROUPS`, before any of them is made.

    >>> check_number({"race": range(5), "sex": range(2)})
    """
    number = math.prod(len(choices) for choices in levels.values())
    if number > SUBGROUPS:
        each = ", ".join(f"{name!r} has {len(choices)}" for name, choices in levels.items())
        raise InputError(
            f"levels of by= have {number} combinations, and a tally has at most {SUBGROUPS}: {each}; leave an attribute out, or "
            "merge its levels"
        )
