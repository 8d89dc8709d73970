"""The command of target populations: what it writes, and one message for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.views.tables import report_schema
from tests.questions.populations.examples import BOTH, MARGINS, POPULATION, frequentist, schools, two_way

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report, tallies and populations."""
    place = tmp_path_factory.mktemp("targets")
    bg.save_report(bg.estimate(schools(), bg.NoPooling(), seed=1), place / "r.nc")
    bg.save_tally(schools(), place / "t.nc")
    bg.save_tally(two_way(), place / "two.nc")
    bg.save_tally(bg.tally_from_counts([0] * 3, POPULATION["count"], POPULATION[["type"]]), place / "people.nc")
    POPULATION.to_csv(place / "population.csv", index=False)
    for (name,), frame in MARGINS.items():
        frame.to_csv(place / f"{name}.csv", index=False)
    BOTH.to_csv(place / "without.csv", index=False)
    return place


def asked(line: str, folder: Path) -> int:
    """Exit code of a line whose files are in the folder."""
    words = [str(folder / word) if word.endswith((".nc", ".csv", ".html")) else word for word in line.split()]
    return run(["poststratify", *words])


@pytest.mark.usefixtures("no_pictures")
def test_a_report_of_targets_is_written(folder: Path, capsys: Captured) -> None:
    line = "r.nc --population population.csv --by type --benchmark acc=0.6 --output target.nc --html target.html"
    assert asked(line, folder) == 0
    shown = capsys.readouterr().out
    assert "type=E" in shown
    assert "moved by" in shown
    target = bg.open_report(folder / "target.nc")
    assert target.attrs["command"].startswith("bayesgroups poststratify")
    assert float(frequentist(target)["estimate"]) == pytest.approx(0.6)
    assert "target population" in (folder / "target.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("t.nc --population population.csv", 0.6212775),
        ("t.nc --population people.nc", 0.6212775),
        ("t.nc --population rows", 0.62),
        ("two.nc --margin type.csv --margin target.csv", 0.6806809),
        ("t.nc --population population.csv --sampled --prior 3", 0.6212775),
    ],
)
def test_populations_of_every_kind(line: str, expected: float, folder: Path, capsys: Captured) -> None:
    assert asked(f"{line} --json", folder) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, report_schema(), cls=jsonschema.Draft202012Validator)
    records = [record for table in document["tables"] for record in table["records"] if "estimate" in record]
    values = [record["estimate"] for record in records if record["approach"] == "frequentist"]
    assert values[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("r.nc", "name the population, as --population census.csv"),
        ("r.nc --population rows --margin type.csv", "name the population"),
        ("population.csv --population rows", "expected a report or a tally (.nc)"),
        ("r.nc --population rows --by tipe", "did you mean 'type'"),
        ("two.nc --margin without.csv", "has no column 'count'"),
        ("r.nc --population rows --benchmark acc", "--benchmark 'acc' is not of the form name=value"),
    ],
)
def test_bad_input_is_one_message(line: str, message: str, folder: Path, capsys: Captured) -> None:
    assert asked(line, folder) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_the_json_of_bounds_says_that_they_are_not_estimable(folder: Path, capsys: Captured) -> None:
    types = pd.DataFrame({"type": ["E", "H", "M"]})
    bg.save_tally(bg.tally_from_counts([5, 3, 0], [9, 9, 0], types, metric="acc"), folder / "empty.nc")
    assert asked("empty.nc --population population.csv --json", folder) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, report_schema(), cls=jsonschema.Draft202012Validator)
    assert '"not estimable"' in json.dumps(document)
