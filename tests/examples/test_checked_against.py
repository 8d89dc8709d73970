"""The page of comparisons: its tests exist and name their program, and its differences are no larger than it says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from examples.evidence import checked_against
from examples.evidence.comparisons import COMPARISONS, ROOT, Comparison, difference
from examples.pages import blocks, filled

PAGE = ROOT / "docs" / "evidence" / "checked_against.md"
TABLE = blocks(PAGE.read_text(encoding="utf-8"))["comparisons"]


def label(comparison: Comparison) -> str:
    return f"{comparison.oracle}, {comparison.quantity}"


@pytest.mark.parametrize("comparison", COMPARISONS, ids=label)
def test_a_line_names_a_test_that_names_the_program(comparison: Comparison) -> None:
    text = (ROOT / comparison.test).read_text(encoding="utf-8")
    assert "def test_" in text
    assert comparison.mention in text


@pytest.mark.parametrize("comparison", [each for each in COMPARISONS if each.values is not None], ids=label)
def test_both_sides_agree(comparison: Comparison) -> None:
    assert comparison.values is not None
    ours, theirs = comparison.values()
    assert np.shape(ours) == np.shape(theirs)
    assert np.isfinite(ours).all()
    assert difference(comparison) <= comparison.bound


def test_the_page_has_the_lines() -> None:
    """Digits of rounding errors are those of a processor: the page may say less than its bound and no more."""
    rows = [row.strip("| ").split(" | ") for row in TABLE.splitlines()[2:]]
    assert len(rows) == len(COMPARISONS)
    for row, each in zip(rows, COMPARISONS, strict=True):
        assert row[:4] == [each.oracle, each.version, each.quantity, each.data]
        assert row[5] == f"`{each.test}`"
        assert (row[4] == "by its test") == (each.values is None)
        if each.values is not None:
            assert float(row[4].removeprefix("below ")) <= each.bound


def test_stored_versions_are_those_of_the_golden_values() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "golden").glob("*/README.md"))
    for each in COMPARISONS:
        for version in re.findall(r"\d[\d.-]+", each.version):
            assert version in text, each.oracle


def test_the_command_fills_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(checked_against, "COMPARISONS", COMPARISONS[:1])
    page = filled(PAGE.read_text(encoding="utf-8"), {"comparisons": ""})
    output = ROOT.__class__(str(tmp_path)) / "page.md"
    output.write_text(page, encoding="utf-8")
    checked_against.main(["--output", str(output)])
    assert "Wilson limits" in output.read_text(encoding="utf-8")
