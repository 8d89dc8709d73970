"""Lines of a record or of a page, made again and held to those that are kept."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

RECORDS = Path(__file__).parent / "records"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
LAST_DIGIT = 1.5e-6
"""One unit of the sixth decimal, to which records are rounded, and what linear algebra may add to it."""


def assert_remade(
    path: Path, lines: Sequence[Mapping[str, object]], keys: Sequence[str], *, tolerance: float = LAST_DIGIT
) -> None:
    """Every line stands in the record, with the same text and whole numbers, and the same numbers within the tolerance.

    Parameters
    ----------
    path : Path
        The record.
    lines : sequence of mapping
        Made again: all columns of the record, or some.
    keys : sequence of str
        Columns that tell one line from all others.
    tolerance : float
        Largest difference of a number.
    """
    with path.open(encoding="utf-8", newline="") as file:
        recorded = {tuple(line[key] for key in keys): line for line in csv.DictReader(file)}
    assert lines
    remade = {tuple(str(line[key]) for key in keys): line for line in lines}
    assert len(remade) == len(lines), "the keys tell lines apart"
    for key, line in remade.items():
        assert key in recorded, f"{path.name} has no line {key}"
        for column, value in line.items():
            kept = recorded[key][column]
            if isinstance(value, float) and math.isfinite(value):
                assert value == pytest.approx(float(kept), abs=tolerance), (path.name, key, column)
            else:
                assert str(value) == (kept or "nan"), (path.name, key, column)


def assert_same_page(remade: str, kept: str) -> None:
    """The text is the same but for numbers, and a number is off by one unit of its last printed digit at most.

    Linear algebra that rounds otherwise may carry a number over the end of its last digit, and no further.

    Parameters
    ----------
    remade, kept : str
        Pages, or parts of them.
    """
    assert NUMBER.sub("#", remade) == NUMBER.sub("#", kept)
    for again, before in zip(NUMBER.findall(remade), NUMBER.findall(kept), strict=True):
        digits = len(before.partition(".")[2])
        assert len(again.partition(".")[2]) == digits, (again, before)
        off = abs(float(again.replace(",", "")) - float(before.replace(",", "")))
        assert off < (1.5 * 10**-digits if digits else 0.5), (again, before)
