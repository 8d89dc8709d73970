"""Tables of subgroups are in the order of the answer, or in that of the labels; JSON and files always in that of the labels."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import app, run
from bayesgroups.cli.questions import QUESTIONS
from bayesgroups.tallies.files import save_tally

Captured = pytest.CaptureFixture[str]
LABELS = ["A", "B", "C", "D"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tally and a report of four subgroups, smaller is better; C is the worst, D has no rows."""
    place = tmp_path_factory.mktemp("sorting")
    tally = bg.tally_from_counts([12, 20, 90, 0], [100, 100, 150, 0], pd.DataFrame({"site": LABELS}), metric="fnr")
    save_tally(tally, place / "t.nc")
    bg.save_report(bg.estimate(tally, bg.PartialPooling(), seed=1), place / "r.nc")
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with both."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def order(printed: str) -> str:
    return "".join(re.findall(r"^([ABCD]) ", printed, re.MULTILINE))


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("ranks t.nc", "CBAD"),
        ("ranks r.nc", "CBAD"),
        ("discoveries r.nc", "CABD"),
        ("simultaneous-intervals t.nc", "CBAD"),
        ("rows-to-certify t.nc --standard 0.7", "CBAD"),
        ("prior-sensitivity r.nc", ""),
        ("margins t.nc", "ABCD"),
    ],
)
def test_an_answer_sorts_its_table(folder: Path, capsys: Captured, line: str, answer: str) -> None:
    assert run([*line.split()]) == 0
    printed = order(capsys.readouterr().out)
    assert sorted(printed) == LABELS
    assert not answer or printed == answer
    assert run([*line.split(), "--sort", "label"]) == 0
    assert order(capsys.readouterr().out) == "ABCD"


def test_a_limit_keeps_the_first_of_the_answer(folder: Path, capsys: Captured) -> None:
    assert run(["ranks", "r.nc", "--show", "1"]) == 0
    printed = capsys.readouterr().out
    assert order(printed) == "C"
    assert "1 of 4 rows are shown" in printed


@pytest.mark.parametrize("line", ["show t.nc", "show r.nc", "estimate t.nc --estimator no_pooling", "compare r.nc"])
def test_tables_of_estimates_can_be_sorted(folder: Path, capsys: Captured, line: str) -> None:
    assert run(line.split()) == 0
    assert order(capsys.readouterr().out) == "ABCD"
    assert run([*line.split(), "--sort", "answer"]) == 0
    assert order(capsys.readouterr().out)[0] == "C"
    assert run([*line.split(), "--sort", "answer", "--show", "2"]) == 0
    printed = capsys.readouterr().out
    assert order(printed)[0] == "C"
    assert "those with the largest estimates" in " ".join(printed.split())


@pytest.mark.parametrize("sort", ["answer", "label"])
def test_json_and_files_have_the_order_of_the_labels(folder: Path, capsys: Captured, sort: str) -> None:
    assert run(["ranks", "r.nc", "--sort", sort, "--json", "--output", "ranks.csv"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    records = next(table for table in tables if "rank" in table["values"])["records"]
    assert [record["subgroup"] for record in records] == LABELS
    assert pd.read_csv("ranks.csv")["subgroup"].tolist() == LABELS


def test_every_command_that_prints_subgroups_has_the_option() -> None:
    asked = [question.name for question in QUESTIONS.values() if question.table and "subgroup" in question.table.along]
    for name in [*asked, "tally", "estimate", "show", "compare"]:
        arguments = app[name.replace("_", "-")].assemble_argument_collection(parse_docstring=False)
        assert any("--sort" in argument.names for argument in arguments), name
    unsorted = {"margins", "prior_predictive"}
    assert all(QUESTIONS[name].table.order for name in set(asked) - unsorted)  # type: ignore[union-attr]
