"""Records of studies: frozen lines written as CSV, the same bytes for the same numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from bayesgroups.data.files import write_text

DIGITS = 6
"""Decimals that are kept."""


def as_csv(lines: Sequence[Any]) -> str:
    r"""Write the instances of one dataclass as text.

    Parameters
    ----------
    lines : sequence of instances of one dataclass
        At least one; its fields are the columns.

    Returns
    -------
    str
        A header, then one line each, with numbers rounded to six decimals; a rounded 0 has no sign, which would depend on the
        processor.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Line:
    ...     name: str
    ...     value: float
    >>> as_csv([Line("a", 1 / 3), Line("b", 2.0), Line("c", -1e-9)])
    'name,value\na,0.333333\nb,2.0\nc,0.0\n'
    """
    rows = [
        [round(value, DIGITS) + 0.0 if isinstance(value, float) else value for value in astuple(line)] for line in lines
    ]
    return rows_as_csv([[field.name for field in fields(lines[0])], *rows])


def rows_as_csv(rows: Sequence[Sequence[object]]) -> str:
    r"""Write rows as text, as they are.

    Examples
    --------
    >>> rows_as_csv([["a", "b"], [1, 2]])
    'a,b\n1,2\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write(path: Path, text: str) -> None:
    """Write a record whole or not at all, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
