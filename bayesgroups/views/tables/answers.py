"""The answer to a question for the terminal: one row per label of a dim, intervals behind their estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from rich.table import Table
from rich.text import Text

from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.view import error_headline, headline, number, plain
from bayesgroups.tallies.labels import shown_labels
from bayesgroups.views.tables import descriptions
from bayesgroups.views.tables.layout import Footnotes, captioned, empty_table, interval_text

Column = Sequence[str]
"""A variable, or an estimate with its lower and upper limit, as a tuple of three variables."""

QUANTITIES = {
    "certify": "worst subgroup", "ranks": "rank of each subgroup", "disparity": "disparity between subgroups",
    "simultaneous_intervals": "", "discoveries": "gap of each subgroup",
    "fairness_definitions": "published definitions of unfairness", "contrasts": "contrast with the reference",
    "impact_ratios": "ratio to the largest rate",
}  # fmt: skip
"""Functions of all subgroups that questions with a named estimand ask for; empty for the value of every subgroup."""

MIXED = frozenset({"measure", "definition", "estimand", "metric"})
"""Dims along which rows have units of their own, so that each row has decimals of its own."""


def answer_table(
    answer: xr.Dataset,
    rows: str | None,
    columns: Mapping[str, Column],
    *,
    title: str = "",
    remark: str | None = None,
    limit: int | None = None,
    decimals: int | None = None,
    order: Sequence[str] = (),
    shown: Mapping[str, str] | None = None,
) -> Table:
    """A table of variables along one dim, or of one row where ``rows`` is ``None``.

    Whatever else the answer varies along has been selected. ``columns`` has headings, and the variable (or estimate, lower and
    upper limit) below each; columns that are empty are left out. ``remark`` is a variable of texts that become footnotes, ``limit``
    the number of rows at most, and ``decimals`` by default three figures of the largest of a column. ``order`` names variables that
    sort the rows, smallest first, or largest first behind a minus, the first before the next; rows without a value come last, and
    variables that the answer lacks are passed over. ``shown`` has the labels of subgroups as people read them.
    """
    if limit is not None and limit < 0:
        raise InputError(f"limit must be 0 or larger, or None for all rows; got {limit}")
    table = empty_table(plain(title))
    total = 1 if rows is None else answer.sizes[rows]
    places_shown = _sorted(answer, rows, total, order)[:limit]
    read = {**(shown_labels(answer) if "subgroup" in answer.dims else {}), **(shown or {})}
    cells = {head: _cells(answer, rows, column, decimals, read) for head, column in columns.items()}
    cells = {head: texts for head, texts in cells.items() if any(texts)}
    if rows is not None:
        table.add_column(rows.replace("_", " "), overflow="fold", min_width=min(12, 80 // (len(cells) + 1)))
    for head, column in columns.items():
        if head in cells:
            text = isinstance(column, str) and answer[column].dtype.kind not in "fiub"
            table.add_column(head, justify="left" if text else "right", overflow="fold")
    notes = Footnotes()
    remarks = [""] * total if remark is None else [str(value) for value in _values(answer, rows, remark)]
    if any(remarks):
        table.add_column("")
    for i in places_shown:
        label = [] if rows is None else [Text(plain(_label(str(answer[rows].values[i]), rows, read)))]
        line = [*label, *(Text(texts[i]) for texts in cells.values())]
        table.add_row(*line, *([notes.mark(remarks[i])] if any(remarks) else []))
    count = len(places_shown)
    more = [f"{count} of {total} rows are shown"] if count < total else []
    return captioned(table, [*notes.lines(), *more], total, total)


def answer_headlines(answer: xr.Dataset, question: str) -> list[str]:
    """The estimand and the intervals of an answer, a sentence per metric or one of all, or none if it names none.

    Questions of `QUANTITIES` are of a function of all subgroups; `bayesgroups.views.tables.descriptions` tells the others.
    """
    if question not in QUANTITIES or "metric" not in answer.dims:
        return descriptions.sentences(answer)
    sentences = []
    for metric in answer["metric"].values:
        metric_answer = answer.sel(metric=metric)
        estimand = str(metric_answer["estimand"].values)
        if question == "discoveries":
            error, method = float(answer.attrs["error"]), str(metric_answer["method"].values)
            quantity = f"{QUANTITIES[question]} to {_reference_words(answer.attrs['reference'])}"
            sentences.append(error_headline(plain(str(metric)), estimand, quantity, error, method))
            continue
        kinds = np.ravel(metric_answer["interval_kind"].values.astype(str))
        if "contrast" in answer.dims:  # an interval of its own for every contrast
            answers = [_of_approach(estimand, metric_answer.sel(approach=name)) for name in answer["approach"].values]
            sentences.append(headline(plain(str(metric)), float(answer.attrs["level"]), answers, QUANTITIES[question]))
            continue
        methods = (
            np.ravel(metric_answer["interval_method"].values.astype(str))
            if "interval_method" in metric_answer
            else [""] * len(kinds)
        )
        answers = [(estimand, str(kind), [str(method)]) for kind, method in zip(kinds, methods, strict=True)]
        sentences.append(headline(plain(str(metric)), float(answer.attrs["level"]), answers, QUANTITIES[question]))
    return sentences


def _of_approach(estimand: str, part: xr.Dataset) -> tuple[str, str, list[str]]:
    """Estimand, kind of the intervals and their methods, in one approach to all contrasts of a metric."""
    methods = dict.fromkeys(str(method) for method in np.ravel(part["interval_method"].values) if method)
    return estimand, str(np.ravel(part["interval_kind"].values)[0]), list(methods)


def _reference_words(reference: str | float) -> str:
    """Reference of gaps, in words."""
    return {"overall": "everyone", "rest": "everyone else"}.get(str(reference), f"{reference}")


def places(values: Sequence[float] | np.ndarray) -> int:
    """Decimals that show three figures of the largest number, and of one below 1 three decimals.

    >>> places([0.25, 0.5]), places([12.5]), places([2000.0]), places([0.0004])
    (3, 1, 0, 6)
    """
    finite = [abs(float(value)) for value in np.ravel(values) if math.isfinite(value)]
    largest = max(finite, default=0.0)
    if all(value == int(value) for value in finite):
        return 0
    return min(max(2 - math.floor(math.log10(largest)), 0), 12)


def _cells(
    answer: xr.Dataset, rows: str | None, column: Column, decimals: int | None, shown: Mapping[str, str]
) -> list[str]:
    if isinstance(column, str):
        values = _values(answer, rows, column)
        if values.dtype.kind not in "fiub":
            named = shown if column.endswith("_subgroup") else {}
            return [plain(named.get(str(value), str(value))) for value in values]
        digits = places(values.astype(float)) if values.dtype.kind in "iub" or decimals is None else decimals
        varying = decimals is None and rows in MIXED and values.dtype.kind == "f"
        return [_number(float(value), places([value]) if varying else digits) for value in values]
    triple = [_values(answer, rows, name).astype(float) for name in column]
    together = places(np.concatenate(triple)) if decimals is None else decimals
    varying = decimals is None and rows in MIXED
    texts = []
    for estimate, lower, upper in zip(*triple, strict=True):
        digits = places([estimate, lower, upper]) if varying else together
        texts.append(interval_text(float(estimate), float(lower), float(upper), digits))
    return texts


def _label(label: str, rows: str, shown: Mapping[str, str]) -> str:
    return shown.get(label, label) if rows == "subgroup" else label


def _sorted(answer: xr.Dataset, rows: str | None, total: int, order: Sequence[str]) -> list[int]:
    """Positions of the rows in order; as they are where nothing sorts them."""
    names = [name for name in order if name.removeprefix("-") in answer] if rows is not None else []
    keys = []
    for name in names:
        values = _values(answer, rows, name.removeprefix("-")).astype(float)
        keys.append(np.nan_to_num(-values if name.startswith("-") else values, nan=np.inf))
    return np.lexsort(keys[::-1]).tolist() if keys else list(range(total))


def _number(value: float, digits: int) -> str:
    return ("infinite" if value > 0 else "-infinite") if math.isinf(value) else number(value, digits)


def _values(answer: xr.Dataset, rows: str | None, name: str) -> np.ndarray[Any, Any]:
    if name not in answer:
        raise InputError(f"the answer has no variable {name!r}; {near_misses(name, map(str, answer.data_vars))}")
    values = answer[name]
    if rows is None:
        return np.asarray(values.values).reshape(1)
    return np.asarray(np.broadcast_to(values.values, (answer.sizes[rows],)))
