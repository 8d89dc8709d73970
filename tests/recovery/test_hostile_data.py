"""The record of usable answers on data that no prior expects, and a part of it made again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from tests.recovery.remade import assert_remade
from tests.recovery.studies.hostile_data import BEYOND, KINDS, PER_KIND, WORDS, Word, line, rows_of, tally_of

RECORD = Path(__file__).parent / "records" / "hostile_data.csv"
KEYS = ("word", "data", "kind", "table")
QUICK = ("NoPooling", "CompletePooling", "JamesStein", "PartialPooling", "DisagreementModel")


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def test_the_record_has_every_word_on_every_kind_of_data(record: pd.DataFrame) -> None:
    sizes = record.groupby(["word", "data"]).size()
    wanted = {(type(word.estimator).__name__, word.data): len(KINDS) * PER_KIND for word in WORDS}
    assert sizes.to_dict() == wanted
    assert set(record["kind"]) == set(KINDS)


def test_no_usable_answer_is_far_from_one_of_ten_times_the_effort(record: pd.DataFrame) -> None:
    """Beyond 4 Monte Carlo errors in one of some 200 numbers is chance once in a hundred tables, and not twice in one."""
    usable = record[record["answer"] == "usable"]
    assert (usable["distance"] > BEYOND).mean() < 0.01
    assert usable.loc[usable["distance"] > BEYOND, "again"].notna().all()
    assert not (usable["again"] > BEYOND).any()


def test_partial_pooling_is_as_near_to_quadrature(record: pd.DataFrame) -> None:
    exact = record.query("word == 'PartialPooling' and data == 'rate' and answer == 'usable'")["from_quadrature"]
    assert exact.notna().all()
    assert exact.max() < BEYOND + 0.5


def test_most_answers_are_usable(record: pd.DataFrame) -> None:
    assert (record["answer"] == "usable").mean() > 0.9


@pytest.mark.parametrize(
    "word",
    [each for each in WORDS if type(each.estimator).__name__ in QUICK],
    ids=lambda word: f"{type(word.estimator).__name__} {word.data}",
)
@pytest.mark.record
def test_lines_can_be_made_again(word: Word) -> None:
    made = line(word, "heavy", 0)
    assert_remade(RECORD, [asdict(made)], KEYS, tolerance=0.01)


def test_data_are_what_their_kind_says() -> None:
    rows = {kind: rows_of(kind, 0) for kind in KINDS}
    assert (rows["collinear"]["second"] == rows["collinear"]["third"]).all()
    many = {kind: rows_of(kind, 0, many=True).groupby(["first", "second", "third"]).ngroups for kind in KINDS}
    assert many == dict.fromkeys(KINDS, 48)
    assert rows["unequal"].groupby(["first", "second", "third"]).size().max() == 20_000
    assert rows["rare"]["d"].mean() < 0.05
    counts = tally_of(WORDS[0], rows_of("wide", 4), "wide")["estimate"].values
    assert counts.max() - counts.min() > 0.5
    weights = rows["weighted"]["weight"]
    assert weights.max() / weights.min() > 10
