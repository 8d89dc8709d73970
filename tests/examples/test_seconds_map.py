"""The map of seconds: every cell is there, and what the page says of them holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from examples.comparisons import seconds_map
from examples.comparisons.seconds_map import (
    ESTIMATORS,
    ROWS,
    SHAPES,
    SPREADS,
    Cell,
    Side,
    cells_of,
    main,
    measured,
    table,
)

DOCS = Path(__file__).parents[2] / "docs"
RECORDS = {"bayesian": DOCS / "seconds.csv", "frequentist": DOCS / "seconds_frequentist.csv"}
BAR = 5.0


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORDS["bayesian"])


@pytest.mark.parametrize("side", RECORDS)
def test_the_map_is_complete(side: str) -> None:
    record = pd.read_csv(RECORDS[side])
    cells = [(word, int(np.prod(shape)), rows, spread) for word, shape, rows, spread in cells_of(list(ESTIMATORS))]
    assert list(record[["word", "subgroups", "rows", "spread"]].itertuples(index=False, name=None)) == cells


def test_no_table_of_120_subgroups_takes_crossed_effects_long(record: pd.DataFrame) -> None:
    small = record[(record["word"] == "crossed_effects") & (record["subgroups"] <= 120)]
    assert small["seconds"].max() <= BAR


@pytest.mark.xfail(strict=True, reason="tables of 384 and 900 subgroups take longer, but for most of crossed effects")
def test_no_table_takes_long(record: pd.DataFrame) -> None:
    assert record["seconds"].max() <= BAR


def test_subgroups_differ_as_asked() -> None:
    """Among many rows the logits of shares have the standard deviation that was asked for, within what 120 draws tell."""
    frame = table((5, 4, 3, 2), rows=1000, spread=1.0)
    share = frame.groupby(["a0", "a1", "a2", "a3"])["y"].mean().clip(0.01, 0.99)
    assert np.log(share / (1 - share)).std() == pytest.approx(1.0, rel=0.4)


@pytest.mark.parametrize("side", RECORDS)
@pytest.mark.parametrize("word", ["crossed_effects", "confusion"])
def test_one_cell(word: str, side: Side) -> None:
    cell = measured(word, (2, 3), 20, 0.3, side)
    assert (cell.word, cell.subgroups, cell.components, cell.answer) == (word, 6, 3, "usable")
    assert 0 < cell.seconds < 60


def test_the_command_writes_the_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        seconds_map, "measured", lambda word, shape, rows, spread, side: Cell(word, 0, 0, rows, spread, 0.5, "usable")
    )
    main(["--output", str(tmp_path / "seconds.csv"), "--words", "crossed_effects"])
    lines = (tmp_path / "seconds.csv").read_text().splitlines()
    assert len(lines) == 1 + len(SHAPES) * len(ROWS) * len(SPREADS)
    assert lines[1] == "crossed_effects,12,3,5,0.01,0.5,usable"
