"""The published goodness-of-fit tables: the study runs on made-up admissions, and the committed page says what it found."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.datasets import diabetes, load_diabetes
from bayesgroups.errors import InputError
from examples.comparisons.readmission import score_held_back
from examples.published.structured_regression.goodness import Line, main, numbers, study
from examples.published.structured_regression.published_goodness import MODELS, ORDER, PUBLISHED
from tests.public_data import public_data
from tests.recovery.remade import assert_same_page
from tests.studies.prose import prose

PAGE = Path(__file__).parents[2] / "docs" / "examples" / "goodness_of_fit.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up admissions in the form of the public file, in all 32 subgroups."""
    rng, rows = np.random.default_rng(1), 6_000
    visits = rng.poisson(1, rows)
    table = {name: rng.integers(1, 10, rows).astype(str) for name in diabetes._COLUMNS}
    table |= {
        "race": rng.choice(["Caucasian", "AfricanAmerican", "Hispanic", "Asian"], rows),
        "gender": rng.choice(["Female", "Male"], rows),
        "age": rng.choice([f"[{decade}-{decade + 10})" for decade in range(20, 100, 10)], rows),
        "number_inpatient": visits.astype(str),
        "diag_1": rng.choice(["428", "250"], rows),
        "readmitted": np.where(rng.random(rows) < 0.1 + 0.1 * visits, "<30", "NO"),
        "patient_nbr": np.arange(rows).astype(str),
    }
    path = tmp_path_factory.mktemp("data")
    pd.DataFrame(table).to_csv(path / "diabetic_data.csv", index=False)
    return path


def test_the_study_has_every_published_value(folder: Path) -> None:
    lines = study(load_diabetes(folder), rows=2000, draws=2)
    assert len(lines) == 6 * 4 + 4 * 7
    assert [line.published for line in lines if line.table == "real"][:4] == [0.281, 0.438, 0.726, 0.543]
    assert [line.comparison for line in lines[-7:]] == list(ORDER["synthetic"])
    assert all(0 <= line.p_value <= line.holm <= 1 for line in lines)
    assert all(line.low <= line.median <= line.high for line in lines)
    age = next(line for line in lines if line.metric == "age" and line.comparison == "null -> age")
    assert age.p_value < 1e-4


def test_tables_are_complete() -> None:
    assert list(PUBLISHED["synthetic"]) == list(MODELS)
    for table, published in PUBLISHED.items():
        assert {len(values) for values in published.values()} == {len(ORDER[table])}


def test_main_writes_the_page(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "docs" / "page.md"
    main(["--data", str(folder), "--rows", "1500", "--draws", "1", "--output", str(output)])
    text = output.read_text(encoding="utf-8")
    assert text.count("\n| ") == 2 * 2 + 24 + 28
    assert str(folder) not in text
    assert prose(text) == prose(PAGE.read_text(encoding="utf-8"))


def test_a_line_knows_whether_the_published_value_is_usual() -> None:
    one = Line("real", "fnr", "null -> expl", 0.093, 0.1, 0.4, 0.2, 0.0934, 0.3, 0.8, 0.0)
    odd = Line("real", "fnr", "null -> expl", 0.093, 0.1, 0.4, 0.2, 0.0936, 0.3, 0.8, 0.0)
    assert one.usual
    assert not odd.usual
    made = numbers([one, odd])
    assert made["within range 1"] == "1 of 2 published values lie within the range."
    assert "| 0.093 \\* |" in made["table 1"]


def test_comparisons_without_an_answer_stay_nan(folder: Path) -> None:
    """In so small an evaluation set some metric has fewer subgroups than the largest model has directions."""
    lines = study(load_diabetes(folder), rows=45, draws=1)
    nothing = [line for line in lines if np.isnan(line.p_value)]
    assert nothing
    assert all(np.isnan(line.median) and np.isnan(line.rejected) and not line.usual for line in nothing)


def test_the_split_is_a_quarter_and_scores_are_risks(folder: Path) -> None:
    admissions = load_diabetes(folder)
    population = score_held_back(admissions, seed=1)
    assert len(population) == len(admissions) - len(admissions) // 4
    assert population["score"].between(0, 1).to_numpy().all()
    pd.testing.assert_frame_equal(population, score_held_back(admissions, seed=1))


def test_there_must_be_a_draw(folder: Path) -> None:
    with pytest.raises(InputError, match="draws=0 must be 1 or more"):
        study(load_diabetes(folder), draws=0)


def test_the_committed_page_says_what_its_sentences_say() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if " -> " in line and line.startswith("| ")]
    assert len(rows) == 52
    assert sum("*" in row[2] for row in rows) <= 10
    expl = {row[1]: row for row in rows if row[0] == "expl"}
    assert "*" in expl["expl+age+rc -> expl+age+rc+age.rc"][2]
    share = {name: int(re.sub(r"\D", "", row[-1])) for name, row in expl.items()}
    assert share["expl+age -> expl+age+rc"] > 15
    assert share["expl+rc -> expl+age+rc"] > 15
    assert share["expl+age+rc -> expl+age+rc+age.rc"] <= 15


@pytest.mark.record
def test_the_command_makes_the_columns_of_the_first_draw() -> None:
    """Three columns of p-values in all 52 lines; the quantiles are of 50 draws."""

    def first_draw(text: str) -> str:
        rows = [line.split(" | ") for line in text.splitlines() if " -> " in line and line.startswith("| ")]
        return "\n".join(" | ".join([*row[:2], row[2].rstrip(" \\*"), *row[3:6]]) for row in rows)

    lines = study(load_diabetes(public_data("diabetes") / "diabetes"), draws=1)
    kept = first_draw(PAGE.read_text(encoding="utf-8"))
    assert len(kept.splitlines()) == 52
    assert_same_page(first_draw("\n".join(numbers(lines).values())), kept)
