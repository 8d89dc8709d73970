"""The diabetes example runs from the file to the page, on made-up rows in the form of the public file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.datasets import diabetes, load_diabetes
from examples import diabetes as diabetes_example
from examples.pages import blocks
from tests.public_data import public_data

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "examples" / "diabetes.md"
SEED, ROWS, DRAWS = 1, 5000, 20
"""Of the command that the page names."""


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


@pytest.mark.record
def test_example_writes_page_and_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "diabetes").mkdir()
    _made_up(4_000).to_csv(tmp_path / "diabetes" / "diabetic_data.csv", index=False)
    page = tmp_path / "docs" / "page.md"
    diabetes_example.main(["--data", str(tmp_path), "--rows", "600", "--draws", "2", "--output", str(page)])
    printed = capsys.readouterr().out
    assert "the other 3,000 are the" in printed
    text = page.read_text(encoding="utf-8")
    assert text.count("\n| fnr | partial_pooling | B |") == 1
    assert str(tmp_path) not in text
    table = pd.read_csv(page.with_suffix(".csv"))
    assert len(table) == 6 * 32
    assert list(table["metric"].unique()) == diabetes_example.METRICS
    assert table["truth"].notna().to_numpy().mean() > 0.9


@pytest.fixture(scope="module")
def population() -> pd.DataFrame:
    """The admissions that the risk model has not seen, with their scores."""
    scored: pd.DataFrame = diabetes_example.score_held_back(load_diabetes(public_data("diabetes") / "diabetes"), SEED)
    return scored


def accuracy_rows(text: str) -> dict[tuple[str, str, str], str]:
    """Lines of the table of errors, by metric, estimator and approach."""
    rows = text.splitlines()[2:]
    cells = [[cell.strip() for cell in row.split("|")[1:4]] for row in rows]
    return {(metric, word, approach): row for (metric, word, approach), row in zip(cells, rows, strict=True)}


@pytest.mark.record
def test_the_command_of_the_page_makes_its_file_of_the_first_draw(population: pd.DataFrame) -> None:
    """All 192 lines; half a unit of their fourth decimal is left to the linear algebra."""
    _, groups, _ = diabetes_example.study(population, ROWS, 1, SEED)
    record = pd.read_csv(PAGE.with_suffix(".csv"), index_col=["metric", "subgroup"])
    pd.testing.assert_frame_equal(record, groups, check_exact=False, rtol=0, atol=1.5e-4, check_dtype=False)


@pytest.mark.record
def test_the_command_of_the_page_makes_the_rows_of_no_pooling(
    population: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve of 36 rows, from all draws; those of no pooling say where every estimator has an answer."""
    monkeypatch.setattr(diabetes_example, "ESTIMATORS", {"no_pooling": diabetes_example.ESTIMATORS["no_pooling"]})
    monkeypatch.setattr(diabetes_example, "group_by_group", lambda *_: None)
    scores, _, _ = diabetes_example.study(population, ROWS, DRAWS, SEED)
    remade = accuracy_rows(diabetes_example.accuracy_table(scores))
    text = PAGE.read_text(encoding="utf-8")
    assert f"--rows {ROWS} --draws {DRAWS} --seed {SEED}" in text
    recorded = accuracy_rows(blocks(text)["accuracy"])
    assert len(remade) == 12
    assert remade == {key: row for key, row in recorded.items() if key[1] == "no_pooling"}
    assert len(recorded) == 36


def test_the_page_shows_the_file() -> None:
    """The second table of the page is written from the CSV file beside it."""
    groups = pd.read_csv(PAGE.with_suffix(".csv"), index_col=["metric", "subgroup"])
    assert blocks(PAGE.read_text(encoding="utf-8"))["groups"] == diabetes_example.groups_table(groups)


def test_a_single_draw_has_no_monte_carlo_error() -> None:
    scores = pd.DataFrame({"mae_all_se": [np.nan]})
    assert diabetes_example.monte_carlo_errors(scores) == "A single draw has no Monte Carlo standard errors."
