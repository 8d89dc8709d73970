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


def test_crossed_effects_have_the_least_error_of_those_that_see_one_metric(by_key: Numbers) -> None:
    for size_class in ("all", "small", "large"):
        own = by_key["all cells", CROSSED, size_class]
        for name in (*REFERENCES, "no_pooling (bayesian)", "partial_pooling (bayesian)"):
            other = by_key["all cells", name, size_class]
            assert own.mae + 2 * own.mae_se < other.mae
            assert own.interval_score < other.interval_score
    assert by_key["all cells", CROSSED, "all"].mae < 0.56
    assert by_key["all cells", CROSSED, "small"].mae < 0.49
    assert by_key["all cells", CROSSED, "all"].interval_score < 0.67


def test_the_joint_model_has_less_error_still(by_key: Numbers) -> None:
    for size_class in ("all", "small", "large"):
        joint, single = (by_key["confusion cells", name, size_class] for name in (CONFUSION, CROSSED))
        assert joint.mae < 0.96 * single.mae
        assert joint.interval_score < single.interval_score


@pytest.mark.parametrize("name", [CROSSED, CONFUSION])
def test_nothing_is_a_tenth_worse_than_the_best_reference(record: list[Line], name: str) -> None:
    assert worst_against_references(record, name)[1] <= 1.1


@pytest.mark.parametrize("name", [CROSSED, CONFUSION])
def test_confusion_cells_are_covered_on_average(by_key: Numbers, name: str) -> None:
    assert 0.94 <= by_key["confusion cells", name, "all"].coverage <= 0.97
    assert by_key["confusion cells", name, "small"].coverage >= 0.93


def test_cells_that_are_clearly_below_ninety_percent_are_those_of_rare_repetitions(record: list[Line]) -> None:
    """By three standard errors; all others are within what a few dozen intervals say."""
    for name in (CROSSED, CONFUSION):
        clear = {line.cells for line in lowest(record, name) if line.coverage + 3 * line.coverage_se < LOWEST}
        assert clear <= {"speech_normalised 0.032", "speech_normalised 0.1"}


def test_limits_of_the_plug_in_cover(record: list[Line], by_key: Numbers) -> None:
    name = "confusion (frequentist)"
    for size_class in ("all", "small"):
        assert by_key["confusion cells", name, size_class].coverage >= 0.94
    assert all(line.coverage + 2 * line.coverage_se >= LOWEST for line in lowest(record, name))


@pytest.mark.xfail(strict=True, reason="62 to 72 % of normalised speech, 84 to 90 % in three other cells")
def test_no_cell_of_crossed_effects_is_below_ninety_percent(record: list[Line]) -> None:
    assert lowest(record, CROSSED)[0].coverage >= LOWEST


@pytest.mark.xfail(strict=True, reason="87.5 % in three cells: accuracy of the scored file, two of defendants")
def test_no_cell_of_the_joint_model_is_below_ninety_percent(record: list[Line]) -> None:
    assert lowest(record, CONFUSION)[0].coverage >= LOWEST


@pytest.mark.xfail(strict=True, reason=".27 and .26 of the standard estimate's errors")
@pytest.mark.parametrize(
    ("cells", "name"), [("no differences", CROSSED), ("no differences, confusion cells", CONFUSION)]
)
def test_errors_are_small_where_nothing_differs(by_key: Numbers, cells: str, name: str) -> None:
    assert by_key[cells, name, "all"].mae <= 0.12


def test_no_differences_are_found_and_covered(by_key: Numbers) -> None:
    for cells, name in (("no differences", CROSSED), ("no differences, confusion cells", CONFUSION)):
        assert by_key[cells, name, "all"].mae < 0.3
        assert by_key[cells, name, "all"].coverage >= 0.95


@pytest.mark.xfail(strict=True, reason=".91 of the errors of crossed effects")
def test_the_joint_model_has_errors_of_084_of_crossed_effects(by_key: Numbers) -> None:
    joint, single = (by_key["confusion cells", name, "all"] for name in (CONFUSION, CROSSED))
    assert joint.mae <= 0.84 * single.mae


@pytest.mark.xfail(strict=True, reason="93.3 % with normalised speech, 95.7 % without speech")
def test_all_cells_of_crossed_effects_are_covered_on_average(by_key: Numbers) -> None:
    assert 0.94 <= by_key["all cells", CROSSED, "all"].coverage <= 0.97


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
    assert shown["cells below 90 %"].count("| confusion (bayesian) |") == sum(
        line.coverage < LOWEST for line in lowest(made, "confusion (bayesian)")
    )
    assert "| js |" not in shown["cells below 90 %"]


def test_the_joint_model_answers_tables_of_confusion_cells() -> None:
    people = population()
    joint = JointPopulation(
        "joint", people.frame, people.by, ("fnr",), rows=60, design="independent", y_true="y", y_score="score", threshold=0.7
    )  # fmt: skip
    assert list(estimators_of(people, ["js", JOINT])) == ["standard", "js"]
    assert estimators_of(joint, ["js", JOINT])[JOINT] == ConfusionModel()
    assert [draws_of(each, 5, 1) for each in (joint, people)] == [5, 5 * SPEECH_TIMES]
    assert [draws_of(each.without_differences(), 5, 1) for each in (joint, people)] == [2, SPEECH_TIMES]


@pytest.mark.record
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
