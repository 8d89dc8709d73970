"""The record of interval coverage, for the intervals of James-Stein; ``test_interval_coverage`` says how it is made."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bayesgroups.report.levels import LEVELS

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).parent / "records" / "interval_coverage.csv"
DESIGNS = ("normal_01", "normal_002", "two_point_01")


def lines() -> dict[tuple[str, str, str, float], tuple[float, float, float]]:
    with RECORD.open(encoding="utf-8") as file:
        return {
            (line["design"], line["interval"], line["size_class"], float(line["level"])): (
                float(line["coverage"]),
                float(line["mc_error"]),
                float(line["width_ratio"]),
            )
            for line in csv.DictReader(file)
        }


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("interval", ["james_stein_bootstrap", "bayesian_james_stein"])
def test_coverage_is_honest_on_average_over_subgroups(interval: str, level: float) -> None:
    found = lines()
    for design in DESIGNS:
        coverage, error, _ = found[design, interval, "all", level]
        assert coverage > level - 3 * error
        coverage, error, _ = found[design, interval, "large", level]
        assert coverage > level - 0.015 - 3 * error


def test_the_default_is_the_shortest_that_keeps_its_level() -> None:
    """The robust interval is shorter still, and falls short in the first design."""
    found = lines()
    for design in DESIGNS:
        coverage, error, width = found[design, "morris", "all", 0.95]
        assert coverage > 0.95 - 3 * error
        assert width < min(found[design, other, "all", 0.95][2] for other in ("fab", "james_stein_bootstrap"))
    coverage, error, _ = found["normal_01", "robust", "all", 0.95]
    assert coverage < 0.95 - 3 * error


def test_the_page_shows_the_record() -> None:
    """Coverage in percent, all and large subgroups, and width, design by design."""
    found = lines()
    page = (ROOT / "docs" / "estimators" / "james_stein.md").read_text(encoding="utf-8")
    for shown, interval in (
        ("`morris`", "morris"), ("`robust`", "robust"), ("`fab`", "fab"), ("`bootstrap`", "james_stein_bootstrap"),
        ("posterior", "bayesian_james_stein"),
    ):  # fmt: skip
        row = next(line for line in page.splitlines() if line.startswith(f"| {shown} |") and line.count("|") == 11)
        expected = []
        for design in DESIGNS:
            coverage, _, width = found[design, interval, "all", 0.95]
            expected += [100 * coverage, 100 * found[design, interval, "large", 0.95][0], width]
        values = [float(cell) for cell in row.split("|")[2:-1]]
        assert values == pytest.approx(expected, abs=0.0501)
        assert values[2::3] == pytest.approx(expected[2::3], abs=0.00501)
