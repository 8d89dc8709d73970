"""Method map: the study of estimators by number of subgroups and rows runs, its record and its figure agree."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from examples.comparisons import choice, choice_figure
from examples.comparisons.choice import WORDS, Setting, of_one, settings, study, summarise, truth
from examples.comparisons.choice_figure import choices, figure, main
from tests.recovery.remade import assert_remade

DOCS = Path(__file__).parents[2] / "docs"
Lines = list[dict[str, str]]


@pytest.fixture(scope="module")
def record() -> Lines:
    with (DOCS / "choice.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.record
def test_the_study_gives_a_line_per_setting_and_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "SHAPES", ((2,), (2, 2)))
    monkeypatch.setattr(choice, "ROWS", (20,))
    monkeypatch.setattr(choice, "PAIRS", 1)
    monkeypatch.setattr(choice, "MIN_REPLICATIONS", 3)
    lines = study(seed=1)
    assert len(lines) == len(settings()) * (1 + len(WORDS)) == 12
    alone = [line for line in lines if line.word == "alone"]
    assert all((line.error, line.error_se) == (1.0, 0.0) for line in alone)
    assert {line.pairs for line in lines} == {6, 12}
    assert all(line.error > 0 and 0 <= line.coverage <= 1 for line in lines)
    monkeypatch.setattr(choice, "SHAPES", ((2, 2),))
    number = 1 + len(WORDS)  # lines of the first setting, which has the same seed in either study
    assert study(seed=1)[:number] == lines[:number]


def test_worlds_differ_in_what_attributes_explain() -> None:
    logits = {
        world: np.array(
            [
                np.log(rate / (1 - rate)).reshape(4, 4, 8)
                for i in range(60)
                for rate in [truth(Setting(world, (4, 4, 8), 3), np.random.default_rng(i))[1]]
            ]
        )
        for world in ("shared", "apart")
    }
    for values in logits.values():
        assert values.std() == pytest.approx(0.5, abs=0.04)
    of_the_last = {world: values.mean(axis=(1, 2)).var() for world, values in logits.items()}
    assert of_the_last["shared"] > 2 * of_the_last["apart"]


def test_the_record_is_that_of_the_study(record: Lines) -> None:
    cells = {(line["world"], int(line["subgroups"]), int(line["rows"])) for line in record}
    assert cells == {(one.world, int(np.prod(one.shape)), one.rows) for one in settings()}
    assert len(record) == len(cells) * (1 + len(WORDS))
    assert all(float(line["error"]) == 1 for line in record if line["word"] == "alone")


def test_the_record_says_what_the_page_says(record: Lines) -> None:
    found = {(line["world"], int(line["subgroups"]), int(line["rows"]), line["word"]): line for line in record}

    def mean(column: str, world: str, word: str, subgroups: tuple[int, ...], rows: tuple[int, ...]) -> float:
        return float(np.mean([float(found[world, g, n, word][column]) for g in subgroups for n in rows]))

    every = (3, 10, 30, 100, 300)
    # Pooling gains most where rows are few, and never loses much.
    assert mean("error", "apart", "partial_pooling", (32, 128), (3,)) < 0.5
    assert mean("error", "apart", "partial_pooling", (2,), (300,)) > 0.85
    assert max(float(line["error"]) for line in record if line["word"] == "partial_pooling") < 1.1
    # Attributes that explain make crossed effects better at few rows.
    few = ((32,), (10, 30))
    assert mean("error", "shared", "crossed_effects", *few) < 0.95 * mean("error", "shared", "partial_pooling", *few)
    # What is a subgroup's own is learned: nowhere does it lose to the subgroup's own rate by more than chance.
    crossed = [line for line in record if line["word"] == "crossed_effects"]
    assert max(float(line["error"]) for line in crossed) < 1.025
    assert all(float(line["error"]) - 0.5 * float(line["error_se"]) < 1 for line in crossed)
    covered = np.array([float(line["coverage"]) for line in crossed])
    assert 0.94 < covered.mean() < 0.96
    assert covered.max() < 0.995
    assert mean("coverage", "apart", "partial_pooling", (2, 4, 8, 32, 128), every) > 0.92


def test_crossed_effects_cover_in_every_setting(record: Lines) -> None:
    covered = [float(line["coverage"]) for line in record if line["word"] == "crossed_effects"]
    assert min(covered) >= 0.885


def test_a_word_that_covers_too_little_is_not_taken() -> None:
    line = {"world": "apart", "subgroups": "8", "rows": "10", "pairs": "400"}
    lines = [
        line | {"word": "alone", "error": "1", "coverage": "0.95"},
        line | {"word": "complete_pooling", "error": "0.4", "coverage": "0.5"},
        line | {"word": "partial_pooling", "error": "0.5", "coverage": "0.94"},
        line | {"word": "crossed_effects", "error": "0.49", "coverage": "0.95"},
    ]
    assert choices(lines, "apart")[8, 10] == ("partial_pooling", 0.5)
    assert choices(lines, "shared") == choices(lines, "apart")  # what only one world has belongs to both


@pytest.mark.record
def test_the_figure_is_that_of_the_record(record: Lines, tmp_path: Path) -> None:
    main(["--record", str(DOCS / "choice.csv"), "--output", str(tmp_path)])
    assert (tmp_path / "choice.svg").read_bytes() == (DOCS / "choice.svg").read_bytes()
    texts = {text.get_text() for axes in figure(record).axes for text in axes.texts}
    assert {f"{one.error:.2f}" for world in choice_figure.TITLES for one in choices(record, world).values()} <= texts


@pytest.mark.parametrize(
    "setting",
    [Setting("apart", (2,), 3), pytest.param(Setting("apart", (2, 4, 4), 3), marks=pytest.mark.slow)],
    ids=str,
)
@pytest.mark.record
def test_settings_of_the_record_can_be_made_again(setting: Setting) -> None:
    """All words, crossed effects among them where there are two attributes.

    A draw that linear algebra rounds otherwise moves errors by little, and a limit over a truth at most once or twice.
    """
    position = settings().index(setting)
    lines = summarise(setting, of_one(choice.SEED, choice.REPLICATIONS, position), choice.SEED)
    assert len(lines) == 4
    keys = ["world", "subgroups", "rows", "word"]
    exact = [{name: part for name, part in asdict(line).items() if name != "coverage"} for line in lines]
    assert_remade(DOCS / "choice.csv", exact, keys, tolerance=1e-4)
    covered = [{name: getattr(line, name) for name in (*keys, "coverage")} for line in lines]
    assert_remade(DOCS / "choice.csv", covered, keys, tolerance=2 / lines[0].pairs)
