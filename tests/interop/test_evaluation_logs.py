"""Logs of several systems in one table: logs that the packages made, see tests/golden/logs, and every input that is refused."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.interop import read_logs

LOGS = Path(__file__).parents[1] / "golden" / "logs"
INSPECT, HARNESS = LOGS / "inspect", LOGS / "lm_eval"


def log(path: Path, model: str, values: list[object], status: str = "success", **more: Any) -> Path:
    samples = [
        {"id": i, "epoch": 1, "metadata": {"language": "sw"}, "scores": {"match": {"value": value}}, **more}
        for i, value in enumerate(values)
    ]
    header = {"version": 2, "status": status, "eval": {"model": model, "task": "arc"}}
    path.write_text(json.dumps({**header, "samples": samples}), encoding="utf-8")
    return path


def test_a_folder_of_inspect_logs_has_a_row_per_system_item_and_epoch() -> None:
    rows = read_logs(INSPECT, score="judge_tone", unscored="drop")
    assert rows.groupby("system").size().to_dict() == {"mockllm/new": 16, "mockllm/old": 15}
    assert sorted(rows["item"].unique()) == [f"q{i:02d}" for i in range(8)]
    assert rows.columns.tolist() == [
        "system", "task", "item", "epoch", "score", "error", "metadata_language", "metadata_template",
    ]  # fmt: skip
    matched = read_logs(INSPECT, score="match", unscored="wrong")
    assert matched.groupby("system")["score"].sum().to_dict() == {"mockllm/new": 14.0, "mockllm/old": 5.0}
    crashed = matched.loc[matched["error"] != ""]
    assert crashed[["system", "item", "epoch", "score"]].values.tolist() == [["mockllm/old", "q05", 1, 0.0]]


def test_pairs_of_logs_average_epochs_and_count_what_one_system_lacks() -> None:
    rows = read_logs({"new": INSPECT / "new.eval", "old": INSPECT / "old.eval"}, score="brevity", unscored="drop")
    assert set(rows["system"]) == {"new", "old"}
    assert "q03" not in set(rows["item"])
    by, names = ["metadata_language"], ["new", "old"]
    tally = bg.paired_tally(rows, by, names, system="system", item="item", epoch="epoch", loss="score")
    assert tally["complete"].sel(complete_statistic="items").values.tolist() == [4.0, 3.0]
    once = rows.loc[rows["epoch"] == 1]
    missing = bg.paired_tally(once, by, names, system="system", item="item", loss="score")
    assert missing["unmatched"].sel(pair="new - old").values.tolist() == [0.0, 1.0]


def test_samples_of_the_harness_pair_by_document_and_filter() -> None:
    rows = read_logs(HARNESS, score="exact_match", task="sums_written", filter="strict")
    assert rows.groupby("system")["score"].agg(["size", "sum"]).values.tolist() == [[6, 4.0], [6, 4.0]]
    assert set(rows["system"]) == {"lab__new", "lab__old"}
    assert set(rows["doc_language"]) == {"en", "sw"}
    upper = read_logs(HARNESS, score="exact_match", task="sums_written", filter="flexible")
    assert upper["score"].sum() == 4.0
    tally = bg.paired_tally(upper, ["doc_language"], system="system", item="item", correct="score")
    assert tally["pair_count"].sum(["first_right", "second_right"]).values.tolist() == [[3.0, 3.0]]


def test_items_of_several_tasks_carry_the_task(tmp_path: Path) -> None:
    for task in ("choice", "written"):
        for source in HARNESS.glob(f"*/samples_sums_{task}_*"):
            place = tmp_path / source.parent.name / source.name
            place.parent.mkdir(exist_ok=True)
            lines = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
            kept = [
                line | {"grade": line.get("acc", 1.0), "metrics": ["grade"]}
                for line in lines
                if line["filter"] != "strict"
            ]
            place.write_text("\n".join(map(json.dumps, kept)), encoding="utf-8")
    rows = read_logs(tmp_path)
    assert len(rows) == 24
    assert set(rows["item"]) == {f"sums_{task}/{i}" for task in ("choice", "written") for i in range(6)}


def test_a_null_metric_of_the_harness_is_an_answer_without_a_score(tmp_path: Path) -> None:
    lines = [{"doc_id": i, "doc": {"k": "a"}, "metrics": ["acc"], "acc": None if i == 1 else 1.0} for i in range(3)]
    place = tmp_path / "samples_x.jsonl"
    place.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"1 of 3 answers of .* have no score, 0 of them because of an error.*item '1'"
    ):
        read_logs(place)
    assert read_logs(place, unscored="wrong")["score"].tolist() == [1.0, 0.0, 1.0]


def test_answers_without_a_score_are_refused_with_their_number() -> None:
    message = (
        r"1 of 16 answers of 'mockllm/old' have no score, 1 of them because of an error; the first is item 'q05' "
        r"\(RuntimeError\('the sandbox is out of memory'\)\)\. Count them as wrong with unscored='wrong'"
    )
    with pytest.raises(InputError, match=message):
        read_logs(INSPECT, score="match")
    with pytest.raises(
        InputError, match=r"2 of 16 answers of 'mockllm/new'; 3 of 16 answers of 'mockllm/old' have no score"
    ):
        read_logs(INSPECT, score="brevity")
    with pytest.raises(InputError, match=r"unscored='skip' is not one of 'error', 'drop', 'wrong'"):
        read_logs(INSPECT, score="match", unscored="skip")  # type: ignore[arg-type]


def test_failed_answers_to_wild_scores_have_no_worst_grade(tmp_path: Path) -> None:
    log(tmp_path / "a.json", "m", [7.5, None])
    with pytest.raises(InputError, match=r"the worst of scores between 0 and 1 only; got 7\.5; leave the answers out"):
        read_logs(tmp_path, unscored="wrong")


def test_several_scores_are_listed_and_a_wrong_one_corrected() -> None:
    with pytest.raises(
        InputError, match="has the scores 'match', 'brevity', 'judge_tone', 'judge_facts'; choose one, as score='match'"
    ):
        read_logs(INSPECT)
    with pytest.raises(InputError, match="has no score 'mtch'; did you mean 'match'"):
        read_logs(INSPECT, score="mtch")
    assert len(read_logs(INSPECT, score="score_judge_facts", unscored="drop")) == 31
    with pytest.raises(InputError, match="has the filters 'flexible', 'strict'; choose one"):
        read_logs(HARNESS, score="exact_match", task="sums_written")
    with pytest.raises(InputError, match="has no score 'exact_match'; known: 'acc', 'acc_norm'"):
        read_logs(HARNESS, score="exact_match")
    with pytest.raises(InputError, match="no log is of task 'sums_choise'; did you mean 'sums_choice'"):
        read_logs(HARNESS, score="acc", task="sums_choise")


def test_a_log_of_unscored_samples_says_so(tmp_path: Path) -> None:
    log(tmp_path / "a.json", "m", ["C"], scores={})
    with pytest.raises(InputError, match=r"a\.json' has no score in any sample; score it first"):
        read_logs(tmp_path)


def test_a_log_cut_short_is_refused_until_one_says_what_it_is(tmp_path: Path) -> None:
    log(tmp_path / "a.json", "m", ["C", "I"], status="cancelled")
    with pytest.raises(InputError, match="has the status 'cancelled' and 2 samples, so others may lack"):
        read_logs(tmp_path)
    assert len(read_logs(tmp_path, unscored="drop")) == 2


def test_two_logs_of_one_model_are_told_apart_by_names(tmp_path: Path) -> None:
    first, second = (log(tmp_path / f"{name}.json", "lab/m", ["C", "I"]) for name in ("a", "b"))
    with pytest.raises(
        InputError,
        match=r"'lab/m' has two answers to item '0' \(epoch 1\), in .*a\.json' and .*b\.json'; leave one log out",
    ):
        read_logs([first, second])
    rows = read_logs({"plain": first, "tuned": second})
    assert rows["system"].tolist() == ["plain"] * 2 + ["tuned"] * 2


def test_other_files_of_a_folder_are_left_alone_and_broken_ones_are_not(tmp_path: Path) -> None:
    shutil.copy(INSPECT / "new.eval", tmp_path)
    for name, text in (
        ("logs.json", "{}"),
        ("results_1.json", '{"results": {}}'),
        ("notes.txt", "x"),
        ("list.json", "[1]"),
    ):
        (tmp_path / name).write_text(text)
    assert len(read_logs(tmp_path, score="match")) == 16
    (tmp_path / "broken.json").write_text('{"eval": ')
    with pytest.raises(SchemaError, match=r"broken\.json' is no JSON"):
        read_logs(tmp_path, score="match")


def test_nothing_to_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"has no log of Inspect \(\.eval, \.json\) and no samples of lm-evaluation-harness"
    ):
        read_logs(tmp_path)
    with pytest.raises(InputError, match="source has no path"):
        read_logs([])
    with pytest.raises(InputError, match="does not exist"):
        read_logs(tmp_path / "no.eval")
    with pytest.raises(InputError, match="no log is of task 'arc'"):
        read_logs(INSPECT, score="match", task="arc")


def test_logs_become_rows_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["read-logs", str(INSPECT / "new.eval"), str(INSPECT / "old.eval"), "--score", "match"]
    rows = tmp_path / "rows.csv"
    assert run([*line, "-o", str(rows)]) == 2
    assert "Count them as wrong with --unscored wrong" in " ".join(capsys.readouterr().err.split())
    names = ["--name", "B", "--name", "A"]
    assert run([*line, *names, "--unscored", "wrong", "-o", str(rows)]) == 0
    assert pd.read_csv(rows).groupby("system")["score"].sum().to_dict() == {"A": 5.0, "B": 14.0}
    assert run([*line, "--name", "B", "--unscored", "wrong", "-o", str(rows)]) == 2
    assert "1 name for 2 logs" in " ".join(capsys.readouterr().err.split())
    assert run([*line, "--name", "B", "--name", "B", "--unscored", "wrong", "-o", str(rows)]) == 2
    assert "name 'B' is given twice" in " ".join(capsys.readouterr().err.split())


def test_a_log_that_unpacks_to_much_more_than_it_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "a", "model": "b"}}))
        archive.writestr("summaries.json", b" " * 101_000_000)
    with pytest.raises(
        SchemaError, match=r"'summaries.json' in it would take 101 MB, and has 0\.\d MB packed, as in no log"
    ):
        bg.interop.read_inspect(path)
