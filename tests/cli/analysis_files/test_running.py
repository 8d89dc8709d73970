"""A whole analysis as a file: the same bytes again, and every slip told before anything is computed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.cli.analysis_files import read_plan, run_analysis, template
from bayesgroups.cli.analysis_files.questions import QUESTIONS, kind_of, settings_of
from bayesgroups.errors import InputError

HEAD = 'seed = 1\nrows = "rows.csv"\n'
TALLY = '[tally]\nby = ["race", "sex"]\nmetrics = ["fnr"]\ny_true = "outcome"\ny_score = "risk"\nthreshold = 0.5\n'
FIT = '[estimators.pooled]\nword = "partial_pooling"\n'
GAP = '[questions.gap]\nask = "disparity"\nof = "pooled"\noutput = "gap.json"\n'


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    random = np.random.default_rng(3)
    size = 120
    frame = {
        "race": random.choice(["A", "B"], size),
        "sex": random.choice(["f", "m"], size),
        "outcome": random.integers(0, 2, size),
        "risk": random.random(size).round(2),
    }
    pd.DataFrame(frame).to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "analysis.toml"
    path.write_text(text, encoding="utf-8")
    return path


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_settings_by_their_former_names(rows: Path) -> None:
    text = HEAD + TALLY + '[estimators.alone]\nword = "no_pooling"\nbootstrap = 50\n' + GAP.replace("pooled", "alone")
    now = run_analysis(written(rows, text + 'using = "bootstrap"\n')).answers["gap"]
    with pytest.warns(
        DeprecationWarning, match=r"^disparity\(approach='frequentist'\) is disparity\(using='bootstrap'\) now$"
    ):
        before = run_analysis(written(rows, text + 'approach = "frequentist"\n')).answers["gap"]
    xr.testing.assert_identical(before, now)
    assert set(now["correction"].values.tolist()) == {"bootstrap"}


def test_the_template_runs_and_again_to_the_byte(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(rows, template())
    assert run(["run", str(path)]) == 0
    first = digests(rows / "results")
    assert set(first) == {path.name for path in read_plan(path).outputs}
    assert {"pooled.nc", "pooled.html", "pooled.json", "comparison.csv", "worst.json"} <= set(first)
    assert "Usable: alone, pooled." in capsys.readouterr().out
    for place in (rows / "results").iterdir():
        place.unlink()
    assert run(["run", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["usable"] == {"alone": True, "pooled": True}
    assert digests(rows / "results") == first
    assert bg.open_report(rows / "results" / "pooled.nc").attrs["command"] == "bayesgroups run analysis.toml"


def test_reports_carry_the_time_they_are_given(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + TALLY + '[estimators.alone]\nword = "no_pooling"\noutput = "alone.nc"\n'
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert run_analysis(written(rows, text)).reports["alone"].attrs["created_at"] == "not recorded"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert run_analysis(written(rows, text)).reports["alone"].attrs["created_at"] == "1970-01-02T00:00:00+00:00"
    run_analysis(written(rows, 'created_at = "2026-01-31"\n' + text))
    opened = bg.open_report(rows / "alone.nc")
    assert {node.attrs["created_at"] for node in opened.subtree if "created_at" in node.attrs} == {"2026-01-31"}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH='yesterday', which is no whole number"):
        run_analysis(written(rows, text))


def test_a_saved_tally_stands_for_rows(rows: Path) -> None:
    tally = bg.tally(rows / "rows.csv", ["race"], "fnr", y_true="outcome", y_score="risk", threshold=0.5)
    bg.save_tally(tally, rows / "saved.nc")
    finished = run_analysis(written(rows, '[tally]\nfile = "saved.nc"\n' + FIT + GAP))
    assert finished.tally.identical(tally)
    document = json.loads((rows / "gap.json").read_text("utf-8"))
    assert (document["question"], document["usable"]) == ("disparity", True)


def test_the_seed_of_an_analysis_is_that_of_its_parts(rows: Path) -> None:
    one, two = (run_analysis(written(rows, HEAD.replace("1", seed) + TALLY + FIT)).reports["pooled"] for seed in "12")
    assert (one.attrs["seed"], two.attrs["seed"]) == (1, 2)
    own = run_analysis(written(rows, HEAD + TALLY + FIT + "seed = 2\n")).reports["pooled"]
    assert own["posterior"].to_dataset().equals(two["posterior"].to_dataset())


SLIPS = [
    ("sed = 1\n" + HEAD, r"analysis\.toml: unknown key 'sed'; did you mean 'seed'"),
    (HEAD.replace("1", "-1") + TALLY, "seed must be a whole number"),
    ("rows = 3\n", "rows must be a text in quotes; got 3"),
    ("seed = 1\n", "give either rows = 'rows.csv'"),
    (HEAD + '[tally]\nfile = "t.nc"\n', "give either rows = 'rows.csv'"),
    ('[tally]\nfile = "t.nc"\nby = ["race"]\n', "tally.by says what is in rows"),
    (HEAD + '[tally]\nby = ["race"]\n', "lacks 'metrics'"),
    (HEAD + TALLY + "treshold = 1\n", "unknown key 'tally.treshold'; did you mean 'threshold'"),
    (HEAD + TALLY + "[estimators.a]\nseed = 1\n", "lacks 'word'"),
    (
        HEAD + TALLY + '[estimators.a]\nword = "partial_poling"\n',
        "estimator 'partial_poling' does not exist; did you mean",
    ),
    (HEAD + TALLY + FIT + "tau_scal = 1\n", "unknown key 'tau_scal'; did you mean 'tau_scale'"),
    (HEAD + TALLY + FIT + "outptu = 'a.nc'\n", "unknown key 'outptu'; did you mean 'output'"),
    (
        HEAD + TALLY + FIT + 'tau_scale = "wide"\n',
        r"\[estimators.pooled\] partial_pooling: tau_scale='wide' is not one of float",
    ),
    (HEAD + TALLY + FIT + "tau_scale = -1\n", "tau_scale"),
    (HEAD + TALLY + FIT + 'inference = "fast"\n', "inference='fast' is not one of"),
    (HEAD + TALLY + FIT + "level = 0.7\n", "estimators.pooled.level = 0.7 is not in a report"),
    (HEAD + TALLY + FIT + 'html = "a.pdf"\n', r"estimators.pooled.html = 'a.pdf' must end in .html"),
    (HEAD + TALLY + "[estimators]\npooled = 1\n", r"estimators.pooled must be a table"),
    (HEAD + TALLY + FIT + '[questions.gap]\noutput = "a.json"\n', "lacks 'ask'"),
    (
        HEAD + TALLY + FIT + GAP.replace('"disparity"', '"disparty"'),
        "question 'disparty' does not exist; did you mean 'disparity'",
    ),
    (
        HEAD + TALLY + FIT + GAP.replace('"pooled"', '"poled"'),
        "questions.gap.of = 'poled' must be one of 'tally', 'pooled'",
    ),
    (HEAD + TALLY + FIT + GAP + "levl = 0.9\n", "unknown key 'questions.gap.levl'; did you mean 'level'"),
    (HEAD + TALLY + FIT + GAP.replace("gap.json", "gap.txt"), "an answer is written as"),
    (HEAD + TALLY + FIT + '[questions.gap]\nask = "disparity"\nof = "pooled"\n', "lacks 'output'"),
    (HEAD + TALLY + FIT + GAP + GAP.replace("questions.gap", "questions.other"), "two outputs are called 'gap.json'"),
    (
        HEAD + TALLY + FIT + '[comparison]\nof = ["poled"]\noutput = "c.csv"\n',
        "comparison.of names 'poled'; did you mean 'pooled'",
    ),
    (
        HEAD + TALLY + FIT + '[comparison]\nof = "pooled"\noutput = "c.csv"\n',
        "comparison.of must be a list of estimators",
    ),
    ("seed = ", r"analysis\.toml is not a TOML file"),
]


@pytest.mark.parametrize(("text", "said"), SLIPS)
def test_slips_are_told_before_anything_is_computed(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read_plan(written(tmp_path, text))


def test_slips_in_rows_and_settings_name_their_table(rows: Path) -> None:
    with pytest.raises(InputError, match=r"analysis.toml: \[tally\] column 'rase'"):
        run_analysis(written(rows, HEAD + TALLY.replace("race", "rase")))
    with pytest.raises(InputError, match=r"\[questions.gap\] level"):
        run_analysis(written(rows, HEAD + TALLY + FIT + GAP + "level = 2.0\n"))
    with pytest.raises(InputError, match="does not exist; 'bayesgroups init'"):
        run_analysis(rows / "nowhere.toml")
    (rows / "results").write_text("a file")
    with pytest.raises(InputError, match="cannot be made"):
        run_analysis(written(rows, 'folder = "results/deep"\n' + HEAD + TALLY + FIT + GAP))


def test_a_template_replaces_nothing_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    assert run(["init", str(path)]) == 0
    assert f"bayesgroups run {path}" in path.read_text("utf-8")
    assert run(["init", str(path)]) == 2
    assert "is there already" in " ".join(capsys.readouterr().err.split())
    assert run(["init", str(path), "--replace"]) == 0


def test_questions_of_an_analysis_can_include_subgroups_without_rows(rows: Path) -> None:
    frame = pd.read_csv(rows / "rows.csv")
    frame[(frame["race"] != "A") | (frame["sex"] != "f")].to_csv(rows / "rows.csv", index=False)
    worst = '[questions.{0}]\nask = "ranks"\nof = "pooled"\noutput = "{0}.json"\n{1}'
    text = HEAD + TALLY + FIT + worst.format("left", "") + worst.format("included", 'imputed = "include"\n')
    answers = run_analysis(written(rows, text)).answers
    assert answers["left"]["left_out"].values.tolist() == ["A | f (no rows)"]
    assert answers["included"]["left_out"].values.tolist() == [""]
    assert (answers["left"]["groups"].item(), answers["included"]["groups"].item()) == (3, 4)
    with pytest.raises(InputError, match="imputed='drop' is not one of 'leave_out', 'include'"):
        run_analysis(written(rows, HEAD + TALLY + FIT + worst.format("other", 'imputed = "drop"\n')))


def test_every_question_says_what_it_is_put_to() -> None:
    kinds = {question.__name__: kind_of(question) for question in QUESTIONS}
    assert kinds["threshold_curve"] == kinds["margins"] == "tally"
    assert kinds["posterior_variance"] == kinds["prior_sensitivity"] == "report"
    assert kinds["certify"] == "either"
    assert all(settings_of(question) is not None for question in QUESTIONS)
