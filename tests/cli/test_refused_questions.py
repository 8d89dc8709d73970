"""Commands that cannot be answered: one message each, and nothing printed beside it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from bayesgroups.cli import run

Captured = pytest.CaptureFixture[str]
BAD: list[tuple[str, str]] = [
    ("disparity nowhere.nc", "nowhere.nc' does not exist"),
    ("disparity rows.csv", "name at least one column"),
    ("disparity r.nc --by race", "--by says what is in rows"),
    ("disparity t.nc --output x.txt", "x.txt': an answer is written as .nc, .json, .csv"),
    ("posterior-variance t.nc", "not a report of bayesgroups"),
    ("variance-attribution r.nc", "variance components"),
    ("goodness-of-fit t.nc --formula 1", "two or more models"),
    ("goodness-of-fit t.nc --formula race", "put the intercept alone before it, as ['1', 'race']"),
    ("goodness-of-fit t.nc --formula 1 --formula rase", "did you mean 'race'"),
    ("desiderata t.nc --definition equality_gp", "did you mean 'equality_gap'"),
    ("threshold-curve t.nc", "auc"),
    ("bin-scores auc.nc --bins 0 -o b.nc", "--bins must be 1 or larger"),
    ("aggregate confusion.csv --group-power max_gp", "did you mean 'max_gap'"),
    ("aggregate models.csv", "models.csv' has no column 'subgroup'"),
    ("auc-pfc confusion.csv --anchor 0.3 1", "has no column 'candidate'"),
    ("compare-auc-pfc plain.csv fair.csv --anchor 0.3 1", "--by strength"),
    ("pareto-frontier r.nc", "r.nc' has no candidates"),
    ("pareto-frontier systems.nc --by strength", "has candidates already"),
    ("points-from-reports r.nc r.nc --performance fnr --fairness fnr", "have one name"),
    ("points-from-reports r.nc --performance fnr --fairness fnt", "did you mean 'fnr'"),
    (
        "points-from-reports classes.nc --performance fnr[a] --fairness fnr --class-power none",
        "leaves a number per class",
    ),
    ("compare-auc-pfc plain.csv plain.csv --by strength --anchor 0.3 1", "have one name"),
    ("tally-from-estimates counts.csv --by site -o e.nc", "--std-error"),
    ("tally-from-counts counts.csv --by sit -o e.nc", "did you mean 'site'"),
    ("estimate t.nc --set tau_scal=1", "did you mean 'tau_scale'"),
    ("estimate t.nc --set tau_scale", "not of the form name=value"),
    ("estimate t.nc --set tau_scale=1 --set tau_scale=2", "names 'tau_scale' twice"),
    ("estimate t.nc --set interval=bad", "--set interval=bad is not one of 'morris'"),
    ("export r.nc -o table.doc", "a table is written as"),
    ("read-inspect rows.csv -o x.csv", "is no log of Inspect"),
    ("show confusion.csv", "name at least one column"),
]


@pytest.mark.parametrize(("line", "said"), BAD)
def test_bad_input_is_one_message(
    line: str, said: str, folder: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)
    asked = [str(folder / word) if (folder / word).is_file() else word for word in line.split()]
    assert run(asked) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert printed.err.startswith("bayesgroups: ")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err


def test_confusion_counts_that_come_twice_are_refused(tmp_path: Path, capsys: Captured) -> None:
    row = {"subgroup": "f", "label": "cat", "predicted": "cat", "count": 1}
    pd.DataFrame([row, row]).to_csv(tmp_path / "twice.csv", index=False)
    assert run(["aggregate", str(tmp_path / "twice.csv")]) == 2
    assert "two counts of the cell" in " ".join(capsys.readouterr().err.split())


def test_a_column_with_missing_levels_is_no_population(tmp_path: Path, capsys: Captured) -> None:
    pd.DataFrame({"sex": ["f", None], "y": [1, 0], "s": [0.1, 0.2]}).to_csv(tmp_path / "p.csv", index=False)
    asked = ["--by", "sex", "--metric", "acc", "--y-true", "y", "--y-score", "s", "--threshold", "0.5", "--rows", "1"]
    assert run(["study", str(tmp_path / "p.csv"), *asked]) == 2
    assert "'sex' has missing values" in " ".join(capsys.readouterr().err.split())
