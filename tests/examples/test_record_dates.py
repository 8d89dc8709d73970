"""Records have dates, and none is older than an answer that it shows; answers are those that words give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bayesgroups.errors import InputError
from examples.evidence import answers, record_dates
from examples.evidence.answers import Answer
from examples.evidence.record_dates import Dated, dated, digest, recorded, stale

ANSWER = Answer("no_pooling", "rates", "bayesian", "fnr", 0.2, 0.1, 0.3, "2026-11-26 09:30")


@pytest.mark.record
def test_words_answer_as_recorded() -> None:
    """Where one does not, records that show it are to be made again: `stale` lists them once the new answers are recorded."""
    now, before = list(answers.answers()), {each.key: each for each in answers.recorded()}
    assert {each.key for each in now} == set(before)
    differ = [each.key for each in now if not before[each.key].agrees(each)]
    assert not differ, "make docs/answers.csv again: python -m examples.evidence.answers --output docs/answers.csv"


def test_every_word_is_asked() -> None:
    words = {each.word for each in answers.recorded()}
    assert words == {
        "no_pooling", "complete_pooling", "james_stein", "partial_pooling", "crossed_effects", "crossed_effects_ordered",
        "structured_regression", "confusion_model", "model_based_metrics", "disagreement_model",
    }  # fmt: skip


def test_no_record_is_older_than_an_answer_that_it_shows() -> None:
    assert stale(recorded().values(), answers.recorded()) == []


def test_dates_are_those_of_the_numbers() -> None:
    """A record that was made again has a new time: python -m examples.evidence.record_dates --output docs/records.csv."""
    dates, commands = recorded(), record_dates.commands()
    assert list(dates) == list(commands)
    changed = [name for name, each in dates.items() if each.digest != digest(record_dates.ROOT / name)]
    assert not changed


def test_a_record_that_is_older_is_found() -> None:
    lines = [
        Dated("a.csv", "2026-11-26 09:29", "", "no_pooling:rates"),
        Dated("b.csv", "2026-11-26 09:30", "", "no_pooling:rates"),
    ]
    assert stale(lines, [ANSWER]) == ["a.csv is of 2026-11-26 09:29, no_pooling:rates of 2026-11-26 09:30"]
    with pytest.raises(InputError, match="there is no answer 'no_pooling:losses'; known: no_pooling:rates"):
        stale([replace(lines[0], answers="no_pooling:losses")], [ANSWER])


def test_an_answer_keeps_its_time_while_it_holds() -> None:
    near, far = replace(ANSWER, estimate=0.207, since=""), replace(ANSWER, estimate=0.209, since="")
    assert answers.dated([near], [ANSWER], "2026-12-01 10:00") == [ANSWER]
    assert answers.dated([far], [ANSWER], "2026-12-01 10:00") == [replace(far, since="2026-12-01 10:00")]
    undefined = replace(ANSWER, estimate=float("nan"), lower=float("nan"), upper=float("nan"))
    assert undefined.agrees(undefined)
    assert not undefined.agrees(ANSWER)
    assert not ANSWER.agrees(undefined)


def test_a_record_keeps_its_time_while_its_numbers_stay(tmp_path: Path) -> None:
    path = tmp_path / "sbc.csv"
    path.write_text("a\n1\n", encoding="utf-8")
    first = Dated("sbc.csv", "2026-11-21 10:00", digest(path), "no_pooling:rates")
    assert dated({"sbc.csv": first}, {"sbc.csv": path}, "2026-12-01 10:00") == [first]
    again = dated({"sbc.csv": first}, {"sbc.csv": path}, "2026-12-01 10:00", again=["sbc.csv"])
    assert again == [replace(first, made="2026-12-01 10:00")]
    path.with_name("sbc_ranks.csv").write_text("b\n", encoding="utf-8")
    changed = dated({"sbc.csv": first}, {"sbc.csv": path}, "2026-12-01 10:00")
    assert changed == [Dated("sbc.csv", "2026-12-01 10:00", digest(path), "no_pooling:rates")]
    with pytest.raises(InputError, match="time 'today' must have the form '2026-11-26 09:30'"):
        dated({}, {"sbc.csv": path}, "today")
    with pytest.raises(InputError, match="--again b.csv: there is no such record"):
        dated({}, {"sbc.csv": path}, "2026-12-01 10:00", again=["b.csv"])


def test_prose_of_a_page_has_no_date(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Prose.\n\n<!-- numbers: a -->\n\n1\n\n<!-- end -->\n", encoding="utf-8")
    before = digest(page)
    page.write_text("Other.\n\n<!-- numbers: a -->\n\n1\n\n<!-- end -->\n", encoding="utf-8")
    assert digest(page) == before
    page.write_text("Other.\n\n<!-- numbers: a -->\n\n2\n\n<!-- end -->\n", encoding="utf-8")
    assert digest(page) != before


def test_commands_write_their_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(answers, "answers", lambda: iter([replace(ANSWER, since="")]))
    for _ in range(2):
        answers.main(["--output", str(tmp_path / "answers.csv"), "--time", "2026-11-26 09:30"])
        assert answers.recorded(tmp_path / "answers.csv") == [ANSWER]
    record_dates.main(["--output", str(tmp_path / "records.csv"), "--time", "2026-11-26 09:30"])
    made = recorded(tmp_path / "records.csv")
    assert {each.made for each in made.values()} == {"2026-11-26 09:30"}
    record_dates.main(
        ["--output", str(tmp_path / "records.csv"), "--again", "docs/choice.csv", "--time", "2026-11-27 09:30"]
    )
    assert [name for name, each in recorded(tmp_path / "records.csv").items() if each.made > "2026-11-27"] == [
        "docs/choice.csv"
    ]
