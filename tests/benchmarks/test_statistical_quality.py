"""The statistical row of the table: where it is measured, and what the recorded study says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.table import Row, Table

pytestmark = pytest.mark.benchmark

PAGE = Path(__file__).parents[2] / "docs" / "examples" / "shared_study.md"
WORD = "crossed_effects (bayesian)"
BARS = {"MAE all": 0.50, "MAE small": 0.47, "interval score all": 0.55, "interval score small": 0.51}


def test_the_recorded_study(table: Table) -> None:
    line = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {WORD} |"))
    cells = [cell.strip() for cell in line.split("|")[2:]]
    for (name, bar), cell in zip(BARS.items(), cells, strict=False):
        value = float(cell.split()[0])
        note = "recorded; see docs/examples/shared_study.md"
        table.add(Row(f"shared study, {WORD}: {name}", "standard estimate", (value,), "x", bar, False, note))
        assert 0 < value < 1
