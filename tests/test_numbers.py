"""Numbers in the prose of the docs stand in a doctest or a generated table of the page.

A number counts if it has a decimal part, a per cent sign or three digits. Code, mathematics, addresses, years, numbers of sections
and the conventional levels do not. That a page shows a number is no proof that it means the same: a wrong digit is found as far as
no other number of the page rounds to it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "generated", "gallery"} & set(page.parts))
SHOWN = re.compile(r"^ *```.*?^ *```|<!-- numbers: .*?<!-- end -->", re.MULTILINE | re.DOTALL)
ADDRESSES = r"\]\([^)]*\)|https?://\S+|doi:\S+|10\.\d{4,}/\S+"
MATHEMATICS = r"`[^`\n]*`|\$\$.*?\$\$|\$[^$]*\$"
PARTS = (
    r"\b(?:[Ss]ections?|[Tt]ables?|[Ff]igures?|[Ee]quations?|[Tt]heorem|[Aa]lgorithm|[Ll]emma|[Cc]orollary|pages?|"
    r"Python|ArviZ|Bambi|Aequitas|version|arXiv) [0-9.]+(?:(?:,| and| to|,? ?-) [0-9.]+)*"
)
YEARS = r"\b(?:19|20)\d\d\b"
SKIPPED = re.compile("|".join((ADDRESSES, MATHEMATICS, PARTS, YEARS)), re.DOTALL)
NUMBER = re.compile(r"(?<![\w.,/:-])-?(?:\d{1,3}(?:,\d{3})+|\d*\.\d+|\d+)(?: ?%)?(?!\w)")
LEVELS = {
    "95 %",
    "90 %",
    "80 %",
    "99 %",
    "50 %",
    "5 %",
    "2.5 %",
    "97.5 %",
    "0 %",
    "100 %",
    ".95",
    ".9",
    ".5",
    "0.5",
    ".05",
}
"""Conventional levels of intervals and tests, and the two ends of a share."""
Number = tuple[float, int]


def value(text: str) -> Number:
    """A number as written, per cents as shares, and its decimals."""
    digits = text.replace(",", "").rstrip("% ")
    percent = text.endswith("%")
    decimals = len(digits.partition(".")[2])
    return float(digits) / (100 if percent else 1), decimals + (2 if percent else 0)


def typed(page: str) -> list[str]:
    """Numbers of the prose that no code, output or generated table of the page shows."""
    shown = {abs(value(text)[0]) for part in SHOWN.findall(page) for text in NUMBER.findall(part)}
    shown |= {abs(value(text)[0]) for part in SHOWN.findall(page) for text in re.findall(r"\d*\.\d+|\d+", part)}
    prose = SKIPPED.sub(" ", SHOWN.sub("", page))
    numbers = [text for text in NUMBER.findall(prose) if re.search(r"[.%]|\d{3}|,", text) and text not in LEVELS]
    return [text for text in numbers if not _among(value(text), shown)]


def _among(number: Number, shown: set[float]) -> bool:
    wanted, decimals = abs(number[0]), number[1]
    reach = 0.5001 * 10.0**-decimals
    return any(abs(each * scale - wanted) <= reach for each in shown for scale in (1.0, 0.01))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_no_number_is_typed_that_nothing_shows(page: Path) -> None:
    assert typed(page.read_text(encoding="utf-8")) == [], "show what computes them"


def test_typed_numbers_are_found_and_shown_ones_are_not() -> None:
    page = "A share of 12.3 % in section 5.3 (2024), .25 of 4,100 rows; $x > 0.33$, 95 % limits.\n"
    assert typed(page) == ["12.3 %", ".25", "4,100"]
    shown = page + "\n<!-- numbers: a -->\n\n| 0.1234 | 4100 |\n\n<!-- end -->\n\n```python\n>>> 0.25\n0.25\n```\n"
    assert typed(shown) == []
    assert typed(shown.replace("12.3 %", "12.4 %")) == ["12.4 %"]
