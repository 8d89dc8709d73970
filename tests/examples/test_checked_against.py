"""The page of comparisons: its tests exist and name their program, and its differences are no larger than it says."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bayesgroups.frequentist.crossed import sure
from examples.evidence import against_python, checked_against
from examples.evidence.comparison import GOLDEN, ROOT, Comparison, difference
from examples.evidence.comparisons import COMPARISONS
from examples.pages import blocks, filled

PAGE = ROOT / "docs" / "evidence" / "checked_against.md"
NOISE = 1e-8
"""Difference of two differences that another processor may make."""
IMPORTED = {
    "scikit-learn": "sklearn",
    "ppi-python": "ppi_python",
    "lm-evaluation-harness": "lm_eval",
    "Inspect": "inspect",
}
"""Programs that Python calls otherwise."""
TABLE = blocks(PAGE.read_text(encoding="utf-8"))["comparisons"]


def label(comparison: Comparison) -> str:
    return f"{comparison.oracle}, {comparison.quantity}"


@pytest.mark.parametrize("comparison", COMPARISONS, ids=label)
def test_both_sides_agree(comparison: Comparison) -> None:
    ours, theirs = comparison.values()
    assert np.shape(ours) == np.shape(theirs)
    assert np.isfinite(ours).all()
    assert difference(comparison) <= comparison.bound


@pytest.mark.parametrize("comparison", COMPARISONS, ids=label)
def test_a_line_names_a_test_that_names_the_program(comparison: Comparison) -> None:
    text = (ROOT / comparison.test).read_text(encoding="utf-8")
    assert "def test_" in text
    if comparison.test != Comparison.test:
        name = re.split(r"[ ,]", comparison.oracle)[0]
        assert re.search(IMPORTED.get(name, name), text, re.IGNORECASE)


@pytest.mark.parametrize("task", [0, 1])
def test_the_variances_that_we_find_have_no_higher_risk_than_those_of_suremap(task: int) -> None:
    stored, cells, agreement, _ = against_python.suremap_cells()
    answer, n = stored["tasks"][task], cells["n"].to_numpy(dtype=float)
    z, u = (cells[("old", "new")[task]] / n).to_numpy(), n / answer["row_variance"]
    ratios = np.array([*answer["tuned_ratios"][1:], answer["tuned_ratios"][0]])
    theirs = sure.risk(z, u, agreement, ratios * answer["row_variance"])[0]
    np.testing.assert_allclose(theirs, answer["tuned_risk"], rtol=1e-9)
    assert sure.fit(z, u, agreement).risk <= answer["tuned_risk"]


def test_the_page_has_the_lines() -> None:
    """Digits of rounding errors are those of a processor: the page may say less than its bound and no more."""
    rows = [row.strip("| ").split(" | ") for row in TABLE.splitlines()[2:]]
    assert len(rows) == len(COMPARISONS)
    for row, each in zip(rows, COMPARISONS, strict=True):
        assert row[:4] == [each.oracle, each.version, each.quantity, each.data]
        assert row[5] == f"`{each.test}`"
        assert float(row[4].removeprefix("below ")) <= each.bound
        here = difference(each)
        assert float(row[4].removeprefix("below ")) == pytest.approx(
            max(here, checked_against.ROUNDING), rel=0.5, abs=NOISE
        )


def test_stored_versions_are_those_of_the_golden_values() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in GOLDEN.glob("*/README.md"))
    for each in COMPARISONS:
        for version in re.findall(r"\d[\w.-]+", each.version):
            assert version in text, each.oracle


def test_the_command_fills_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(checked_against, "COMPARISONS", COMPARISONS[:1])
    page = filled(PAGE.read_text(encoding="utf-8"), {"comparisons": ""})
    output = ROOT.__class__(str(tmp_path)) / "page.md"
    output.write_text(page, encoding="utf-8")
    checked_against.main(["--output", str(output)])
    assert "Wilson limits" in output.read_text(encoding="utf-8")
