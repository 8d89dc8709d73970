"""The statistical study: its record held to the bars, its page to the record, and its command on small files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from bayesgroups.errors import InputError
from bayesgroups.estimators import ConfusionModel
from bayesgroups.studies.resampling import study
from examples.comparisons import statistical_study
from examples.comparisons.joint_populations import JointPopulation
from examples.comparisons.shared_cells import SEED
from examples.comparisons.shared_study import run
from examples.comparisons.statistical_study import (
    DRAWS,
    JOINT,
    LOWEST,
    REFERENCES,
    SETS,
    SPEECH_TIMES,
    Line,
    draws_of,
    estimators_of,
    lines,
    lowest,
    read,
    tables,
    worst_against_references,
)
from examples.pages import PAGES, blocks
from tests.public_data import public_data
from tests.recovery.remade import assert_remade
from tests.studies.small_population import halved, population, standard

RECORD = PAGES / "statistical_study.csv"
CROSSED, CONFUSION = "crossed_effects (bayesian)", "confusion (bayesian)"
Numbers = dict[tuple[str, str, str], Line]


@pytest.fixture(scope="module")
def record() -> list[Line]:
    return read(RECORD)


@pytest.fixture(scope="module")
def by_key(record: list[Line]) -> Numbers:
    return {(line.cells, line.estimator, line.size_class): line for line in record}


def test_the_record_is_whole(record: list[Line]) -> None:
    cells = list(dict.fromkeys(line.cells for line in record if line.cells not in SETS))
    assert len(cells) == 8 * 5 + 6
    assert {line.cells for line in record} >= set(SETS)
    assert {line.estimator for line in record} == {
        "standard", "js", "eb_ml", *(f"{word} ({side})" for side in ("bayesian", "frequentist") for word in
        ("no_pooling", "partial_pooling", "crossed_effects", JOINT)),
    }  # fmt: skip


def test_the_page_shows_the_record(record: list[Line]) -> None:
    assert blocks((PAGES / "statistical_study.md").read_text(encoding="utf-8")) == tables(record)


@pytest.mark.record
def test_cells_of_speakers_are_made_again() -> None:
    """Two cells in all draws by the estimators that take milliseconds."""
    speakers = [
        each
        for each in statistical_study.all_populations(public_data("diabetes", "adult", "compas", "asr_commonvoice"))
        if each.name in ("speech_raw 0.1", "speech_normalised 0.1")
    ]
    made: list[Line] = []
    for each in speakers:
        names = ("standard", "js", "eb_ml", "no_pooling", "partial_pooling")
        answers = run([each], estimators_of(each, names), draws=draws_of(each, DRAWS, 2), seed=SEED)
        made += [line for line in lines(answers) if line.cells == each.name]
    assert_remade(RECORD, [asdict(line) for line in made], ("cells", "estimator", "size_class"), tolerance=1e-4)


def test_lines_of_a_small_study_and_their_tables() -> None:
    entries = {"standard": standard, "js": halved, "confusion (bayesian)": halved}
    people = population()
    found = {
        "people": study(people, entries, draws=3, seed=1),
        "others": study(population(name="others"), {"standard": standard, "js": halved}, draws=3, seed=1),
        "people, no differences": study(people.without_differences(), entries, draws=2, seed=1),
    }
    made = lines(found)
    keys = {(line.cells, line.estimator): line for line in made if line.size_class == "all"}
    assert ("all cells", "confusion (bayesian)") not in keys
    assert keys["confusion cells", "confusion (bayesian)"].mae == keys["confusion cells", "js"].mae
    assert keys["people fnr", "standard"].mae == 1
    assert 0 < keys["no differences", "js"].pairs <= 2 * 6 * 3
    cells = {f"{name} {metric}" for name in ("people", "others") for metric in ("fnr", "wrong", "loss")}
    assert {line.cells for line in made} == {*SETS, *cells}
    assert [line.coverage for line in lowest(made, "js")] == sorted(line.coverage for line in lowest(made, "js"))
    cell, ratio = worst_against_references(made, "js")
    assert ratio == keys[cell, "js"].mae / min(keys[cell, name].mae for name in REFERENCES if (cell, name) in keys)
    shown = tables(made)
    assert list(shown) == [*SETS, "cells below 90 %"]
    below = [line for line in made if line.cells in ("people fnr", "others fnr") and line.coverage < LOWEST]
    assert all(f"| {line.estimator} | {line.cells} |" in shown["cells below 90 %"] for line in below)


def test_the_joint_model_answers_tables_of_confusion_cells() -> None:
    people = population()
    joint = JointPopulation(
        "joint", people.frame, people.by, ("fnr",), rows=60, design="independent", y_true="y", y_score="score", threshold=0.7
    )  # fmt: skip
    assert list(estimators_of(people, ["js", JOINT])) == ["standard", "js"]
    assert estimators_of(joint, ["js", JOINT])[JOINT] == ConfusionModel()
    assert [draws_of(each, 5, 1) for each in (joint, people)] == [5, 5 * SPEECH_TIMES]
    assert [draws_of(each.without_differences(), 5, 1) for each in (joint, people)] == [2, SPEECH_TIMES]


def test_the_command_writes_record_and_page_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [population(), population().without_differences()]
    monkeypatch.setattr(statistical_study, "all_populations", lambda folder: both)
    page, path = tmp_path / "page.md", tmp_path / "record.csv"
    page.write_text((PAGES / "statistical_study.md").read_text(encoding="utf-8"), encoding="utf-8")
    arguments = ["--data", "nowhere", "--output", str(tmp_path / "kept"), "--record", str(path), "--draws", "1"]
    arguments += ["--null-draws", "1", "--estimators", "js,eb_ml"]
    statistical_study.main([*arguments, "--page", str(page)])
    first = capsys.readouterr().out
    assert first.startswith("**all cells**")
    assert blocks(page.read_text(encoding="utf-8")) == tables(read(path))
    statistical_study.main(arguments)
    assert capsys.readouterr().out == first
    with pytest.raises(InputError, match="estimator 'nobody' is not one of standard, js"):
        statistical_study.main([*arguments[:-1], "nobody"])
