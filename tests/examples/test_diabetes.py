"""The diabetes example runs from the file to the page, on made-up rows in the form of the public file."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from bayesgroups.datasets import diabetes


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "diabetes.py"
    spec = importlib.util.spec_from_file_location("diabetes_example", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _made_up(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    visits = rng.poisson(1, rows)
    table = {name: rng.integers(1, 10, rows).astype(str) for name in diabetes._COLUMNS}
    table |= {
        "race": rng.choice(["Caucasian", "AfricanAmerican", "Hispanic", "Asian"], rows, p=[0.7, 0.2, 0.08, 0.02]),
        "gender": rng.choice(["Female", "Male"], rows),
        "age": rng.choice([f"[{decade}-{decade + 10})" for decade in range(20, 100, 10)], rows),
        "number_inpatient": visits.astype(str),
        "readmitted": np.where(rng.random(rows) < 0.05 + 0.1 * visits, "<30", "NO"),
        "patient_nbr": np.arange(rows).astype(str),
    }
    return pd.DataFrame(table)


def test_example_writes_page_and_table(example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "diabetes").mkdir()
    _made_up(4_000).to_csv(tmp_path / "diabetes" / "diabetic_data.csv", index=False)
    page = tmp_path / "docs" / "page.md"
    example.main(["--data", str(tmp_path), "--rows", "600", "--draws", "2", "--output", str(page)])
    printed = capsys.readouterr().out
    assert "the other 3,000 are the" in printed
    text = page.read_text(encoding="utf-8")
    assert text.count("\n| fnr | partial_pooling | B |") == 1
    assert str(tmp_path) not in text
    table = pd.read_csv(page.with_suffix(".csv"))
    assert len(table) == 6 * 32
    assert list(table["metric"].unique()) == example.METRICS
    assert table["truth"].notna().to_numpy().mean() > 0.9
