"""Logs of Inspect and lm-evaluation-harness, written by hand in their published forms."""

from __future__ import annotations

import io
import json
import math
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.errors import InputError, MissingDependencyError, SchemaError
from bayesgroups.interop import read_inspect, read_lm_eval

HEADER = {"version": 2, "status": "success", "eval": {"model": "lab/model-1", "task": "arc", "eval_id": "x"}}


def sample(item: object, epoch: int, language: str, value: object, **more: Any) -> dict[str, Any]:
    return {
        "id": item, "epoch": epoch, "input": "?", "target": "A", "metadata": {"language": language, "tags": ["a", "b"]},
        "scores": {"match": {"value": value, "answer": "A"}}, **more,
    }  # fmt: skip


SAMPLES = [
    sample(1, 1, "sw", "C"),
    sample(1, 2, "sw", "I"),
    sample("two", 1, "en", "P"),
    sample("two", 2, "en", 0.25),
    sample(3, 1, "en", None, error={"message": "out of time", "traceback": "..."}),
]


def archive(path: Path, parts: dict[str, object], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in parts.items():
            file.writestr(name, json.dumps(content))
    return path


def zstandard(path: Path, parts: dict[str, object]) -> Path:
    """An archive as Inspect writes it: entries of method 93, which the writer of Python 3.12 does not know."""
    body, central = io.BytesIO(), io.BytesIO()
    for name, content in parts.items():
        raw, label = json.dumps(content).encode(), name.encode()
        packed = pa.compress(raw, codec="zstd", asbytes=True)
        fields = (20, 0, 93, 0, 0, zlib.crc32(raw), len(packed), len(raw), len(label))
        central.write(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, *fields, 0, 0, 0, 0, 0, body.tell()) + label)
        body.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, *fields, 0) + label + packed)
    listing = central.getvalue()
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(parts), len(parts), len(listing), body.tell(), 0)
    path.write_bytes(body.getvalue() + listing + end)
    return path


def forms(folder: Path) -> list[Path]:
    whole: dict[str, object] = {"header.json": HEADER, "summaries.json": SAMPLES}
    journal: dict[str, object] = {"_journal/start.json": HEADER}
    journal |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in SAMPLES}
    (folder / "log.json").write_text(json.dumps({**HEADER, "samples": SAMPLES}), encoding="utf-8")
    return [
        archive(folder / "a.eval", whole), archive(folder / "b.eval", journal), zstandard(folder / "c.eval", whole),
        folder / "log.json",
    ]  # fmt: skip


def test_every_form_of_an_inspect_log_is_read(tmp_path: Path) -> None:
    for path in forms(tmp_path):
        frame = read_inspect(path).sort_values(["item", "epoch"], ignore_index=True)
        assert frame["item"].tolist() == ["1", "1", "3", "two", "two"]
        assert frame["score"].tolist()[:2] == [1.0, 0.0]
        assert math.isnan(frame["score"][2])
        assert frame["error"].tolist() == ["", "", "out of time", "", ""]
        assert frame["score_match"].tolist()[3:] == [0.5, 0.25]
        assert set(frame["system"]) == {"lab/model-1"}
        assert frame["metadata_language"].tolist() == ["sw", "sw", "en", "en", "en"]
        assert frame["metadata_tags"][0] == '["a", "b"]'


def graded(folder: Path, partial: bool = False) -> Path:
    """A log of 200 answers in each of four languages, nine tenths correct in English and four tenths in the others."""
    samples = [
        sample(
            f"{language}{i}", 1, language, "C" if i % 10 < (9 if language == "en" else 4) else "P" if partial else "I"
        )
        for language in ("en", "sw", "fi", "de")
        for i in range(200 if language == "en" else 190)
    ]
    path = folder / "graded.json"
    path.write_text(json.dumps({**HEADER, "samples": samples}), encoding="utf-8")
    return path


def test_the_worst_subgroup_of_a_log_is_the_least_accurate(tmp_path: Path) -> None:
    rows = read_inspect(graded(tmp_path))
    tally = bg.tally(rows, ["metadata_language"], "correct", correct="score", cluster="item")
    assert (tally["kind"].item(), tally["larger_is_better"].item(), tally["row_kind"].item()) == ("rate", 1, "rate")
    assert tally["estimate"].sel(metric="correct", subgroup="en").item() == 0.9
    for source in (tally, bg.estimate(tally, bg.PartialPooling(), seed=1)):
        found = bg.certify(source).sel(metric="correct")
        assert str(found["worst_subgroup"].values) != "en"
        assert found["pessimist"] < 0.4 < found["optimist"] < 0.5
        assert "note" not in found.attrs
    ranks = bg.ranks(bg.estimate(tally, bg.PartialPooling(), seed=1)).sel(metric="correct")
    assert float(ranks["probability_best"].sel(subgroup="en")) > 0.99
    assert float(ranks["probability_worst"].sel(subgroup="en")) < 0.01


def test_partial_credit_is_a_mean_of_which_larger_is_better(tmp_path: Path) -> None:
    rows = read_inspect(graded(tmp_path, partial=True))
    with pytest.raises(
        InputError, match=r"'score' \(correct=\) must hold 0 and 1 or booleans; row 9 has 0.5.*larger_is_better=True"
    ):
        bg.tally(rows, ["metadata_language"], "correct", correct="score")
    tally = bg.tally(rows, ["metadata_language"], "mean", loss="score", larger_is_better=True)
    found = bg.certify(tally).sel(metric="mean")
    assert str(found["worst_subgroup"].values) != "en"
    assert float(found["pessimist"]) < 0.7


def test_the_command_that_help_teaches_finds_the_least_accurate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, tally = tmp_path / "rows.csv", tmp_path / "correct.tally.nc"
    assert run(["read-inspect", str(graded(tmp_path)), "--output", str(rows)]) == 0
    line = ["--by", "metadata_language", "--metric", "correct", "--correct", "score", "--cluster", "item"]
    assert run(["tally", str(rows), *line, "--output", str(tally)]) == 0
    capsys.readouterr()
    assert run(["certify", str(tally), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    records = next(table["records"] for table in answer["tables"] if table["dims"] == ["metric"])
    assert [record["worst_subgroup"] == "en" for record in records] == [False]


def test_scores_of_several_keys_and_scorers(tmp_path: Path) -> None:
    scores = {"judge": {"value": {"tone": "yes", "facts": True}}, "match": {"value": "0.5"}}
    one = {"id": 1, "epoch": 1, "scores": scores}
    (tmp_path / "log.json").write_text(json.dumps({**HEADER, "samples": [one]}), encoding="utf-8")
    frame = read_inspect(tmp_path / "log.json")
    assert frame[["score_judge_tone", "score_judge_facts", "score_match"]].values.tolist() == [[1.0, 1.0, 0.5]]
    assert "score" not in frame


def test_an_inspect_log_is_tallied_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = archive(tmp_path / "run.eval", {"header.json": HEADER, "summaries.json": SAMPLES[:4]})
    rows = tmp_path / "rows.csv"
    assert run(["read-inspect", str(log), "-o", str(rows)]) == 0
    asked = ["--by", "metadata_language", "--metric", "mean", "--loss", "score", "--cluster", "item"]
    assert run(["tally", str(rows), *asked, "-o", str(tmp_path / "t.nc")]) == 0
    assert bg.open_tally(tmp_path / "t.nc")["estimate"].values.tolist() == [[0.375, 0.5]]
    assert run(["read-inspect", str(log), "-o", str(tmp_path / "rows.txt")]) == 2
    assert "rows are written as .csv" in " ".join(capsys.readouterr().err.split())


def test_what_is_no_inspect_log_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_inspect(tmp_path / "no.eval")
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(SchemaError, match="it has no 'eval'"):
        read_inspect(tmp_path / "a.json")
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(SchemaError, match="is no log of Inspect"):
        read_inspect(tmp_path / "b.json")
    with pytest.raises(SchemaError, match=r"it has no header\.json"):
        read_inspect(archive(tmp_path / "c.eval", {"other.json": 1}))
    (tmp_path / "d.json").write_text(json.dumps({**HEADER, "samples": []}))
    with pytest.raises(SchemaError, match="has no samples"):
        read_inspect(tmp_path / "d.json")
    (tmp_path / "e.json").write_text(json.dumps({**HEADER, "samples": [{"epoch": 1}]}))
    with pytest.raises(SchemaError, match="a sample has no 'id'"):
        read_inspect(tmp_path / "e.json")
    (tmp_path / "f.json").write_text(json.dumps({**HEADER, "samples": [sample(1, 1, "en", "fine")]}))
    with pytest.raises(InputError, match="item '1': score_match is 'fine', which is no number and no grade"):
        read_inspect(tmp_path / "f.json")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 opens Zstandard itself")
def test_without_pyarrow_zstandard_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zstandard(tmp_path / "c.eval", {"header.json": HEADER})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"bayesgroups\[parquet\]"):
        read_inspect(path)


def line(item: int, language: str, value: float, chosen: str = "none") -> dict[str, Any]:
    return {
        "doc_id": item, "doc": {"question": "?", "language": language, "choices": ["a"]}, "target": "0", "arguments": {},
        "resps": [[["x"]]], "filtered_resps": ["x"], "filter": chosen, "metrics": ["exact_match", "word_perplexity"],
        "doc_hash": "h", "prompt_hash": "p", "target_hash": "t", "exact_match": value, "word_perplexity": [1.0, 2],
    }  # fmt: skip


def jsonl(path: Path, lines: list[Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(json.dumps(one) for one in lines) + "\n\n", encoding="utf-8")
    return path


def test_samples_of_the_harness_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        line(i, "sw" if i % 2 else "en", float(i > 1), chosen) for i in range(4) for chosen in ("strict", "flexible")
    ]
    path = jsonl(tmp_path / "lab__model" / "samples_gsm8k_cot_2026-01-31T10-00-00.123456.jsonl", lines)
    with pytest.raises(InputError, match="has the filters 'flexible', 'strict'; choose one"):
        read_lm_eval(path)
    with pytest.raises(InputError, match="has no filter 'strct'; did you mean 'strict'"):
        read_lm_eval(path, filter="strct")
    frame = read_lm_eval(path, filter="strict")
    assert (len(frame), set(frame["task"]), set(frame["system"])) == (4, {"gsm8k_cot"}, {"lab__model"})
    assert frame["exact_match"].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert "word_perplexity" not in frame
    assert frame["doc_choices"][0] == '["a"]'
    assert run(["read-lm-eval", str(path), "--filter", "strict", "-o", str(tmp_path / "rows.csv")]) == 0
    assert "Wrote 4 rows" in capsys.readouterr().out


def test_what_is_no_sample_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_lm_eval(tmp_path / "no.jsonl")
    with pytest.raises(SchemaError, match="line 1: no sample, it lacks 'doc_id'"):
        read_lm_eval(jsonl(tmp_path / "a.jsonl", [{"doc": {}}]))
    (tmp_path / "b.jsonl").write_text("{\n")
    with pytest.raises(SchemaError, match="line 1: no JSON"):
        read_lm_eval(tmp_path / "b.jsonl")
    (tmp_path / "c.jsonl").write_text("\n")
    with pytest.raises(SchemaError, match="has no samples"):
        read_lm_eval(tmp_path / "c.jsonl")
    (tmp_path / "d.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match="holds no samples"):
        read_lm_eval(tmp_path / "d.jsonl")
    with pytest.raises(SchemaError, match="none of the metrics"):
        read_lm_eval(jsonl(tmp_path / "e.jsonl", [{**line(1, "en", 1.0), "metrics": ["word_perplexity"]}]))
