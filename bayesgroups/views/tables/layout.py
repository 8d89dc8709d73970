"""The form all terminal tables share: frame, intervals, footnotes, and what is left out of a long one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.errors import InputError
from bayesgroups.report.view import number, plain


def interval_text(estimate: float, lower: float, upper: float, decimals: int) -> str:
    """Estimate and interval; nothing where there is no estimate.

    >>> interval_text(0.4123, 0.28, 0.5531, 3)
    '0.412 [0.280, 0.553]'
    """
    if np.isnan(estimate):
        return ""
    if np.isnan(lower) or np.isnan(upper):
        return number(estimate, decimals)
    return f"{number(estimate, decimals)} [{number(lower, decimals)}, {number(upper, decimals)}]"


class Footnotes:
    """Letters for the remarks of a table: one per distinct remark, in the order they come."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def mark(self, remark: str) -> Text:
        """The letter of a remark; nothing for an empty one."""
        if not remark:
            return Text("")
        position = len(self._letters)
        letter = "abcdefghijklmnopqrstuvwxyz"[position] if position < 26 else str(position)
        return Text(self._letters.setdefault(remark, letter), style="dim")

    def lines(self) -> list[str]:
        """Legend of the letters, one line each."""
        return [f"{letter} {plain(remark)}" for remark, letter in self._letters.items()]


def largest(count: FloatArray, limit: int | None, order: IndexArray, *, answers: bool = False) -> IndexArray:
    """Positions of the rows of a table: all in their order, or the largest where a limit, 0 or more, is exceeded.

    Rows that are in the order of their ``answers`` stay in it, and the first are shown.
    """
    if limit is not None and limit < 0:
        raise InputError(f"limit must be 0 or larger, or None for all subgroups; got {limit}")
    if limit is None or len(order) <= limit:
        return order
    if answers:
        return order[:limit]
    return np.argsort(-np.nan_to_num(count, nan=-np.inf), kind="stable")[:limit]


def captioned(
    table: Table, lines: Sequence[str], shown: int, total: int, which: str = "those with the largest n"
) -> Table:
    """Footnotes below the table, and how much of it is not shown."""
    more = [f"{shown} of {total} subgroups are shown, {which}"] if shown < total else []
    caption = [*lines, *more]
    table.caption = Text("\n".join(caption), style="not italic dim") if caption else None
    return table


def empty_table(title: str) -> Table:
    """A table without columns: title on the left, one line under the head, narrow gaps."""
    heading = Text(title, style="bold")
    return Table(
        title=heading, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD,
        show_edge=False, pad_edge=False, padding=(0, 1, 0, 0),
    )  # fmt: skip
