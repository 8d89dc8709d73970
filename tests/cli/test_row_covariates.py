"""Covariates of rows from the command line and from the file of an analysis: kept, used, and the same bytes again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.cli.analysis_files import run_analysis
from bayesgroups.cli.estimate import parsed
from bayesgroups.estimators.named import estimator_named
from bayesgroups.inference.collapsed import model_based_metrics
from bayesgroups.tallies.score_covariates import packets_of
from bayesgroups.views.html.sections.provenance import origin

ROWS = [
    "--by",
    "site",
    "--metric",
    "tpr",
    "--metric",
    "auc",
    "--y-true",
    "y",
    "--y-score",
    "score",
    "--threshold",
    "0.5",
]
ANALYSIS = """\
seed = 1
rows = "rows.csv"
folder = "results"
[tally]
by = ["site"]
metrics = ["tpr", "auc"]
y_true = "y"
y_score = "score"
threshold = 0.5
row_covariates = ["age", "bmi"]
output = "rows.tally.nc"
[estimators.scores]
word = "model_based_metrics"
inference = "collapsed"
row_covariates = ["age"]
bootstrap = 20
output = "scores.nc"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows whose scores age explains, and a sampler that is soon done."""
    # So few draws pass no check; they are made once all the same.
    for name, value in {"DRAWS": 100, "FIRST": (60, 1), "usable": lambda _: True}.items():
        monkeypatch.setattr(model_based_metrics, name, value)
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"site": rng.choice(["a", "b", "c"], 300), "y": rng.integers(0, 2, 300)})
    rows["age"], rows["bmi"] = 50 + 10 * rng.standard_normal(300), 25 + 3 * rng.standard_normal(300)
    u = rows["y"] - 0.5 + 0.1 * (rows["age"] - 50) + 0.5 * rng.standard_normal(300)
    rows.assign(score=1 / (1 + np.exp(-u))).to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


def test_a_tally_keeps_what_is_named(folder: Path) -> None:
    target = folder / "t.nc"
    asked = ["tally", str(folder / "rows.csv"), *ROWS, "--show", "0", "-o", str(target)]
    assert run([*asked, "--row-covariate", "age", "--row-covariate", "bmi"]) == 0
    found = packets_of(bg.open_tally(target), ["age", "bmi"])
    rows = pd.read_csv(folder / "rows.csv")
    np.testing.assert_allclose(found.origin, rows[["age", "bmi"]].mean(), rtol=1e-12)
    assert found.members.sum() == len(rows)


@pytest.mark.parametrize("given", ["age,bmi", "age, bmi", "['age', 'bmi']"])
def test_names_are_a_list_or_a_text_with_commas(given: str) -> None:
    leaf = estimator_named("model_based_metrics", parsed((f"row_covariates={given}", "covariates=risk")))
    assert leaf == bg.ModelBasedMetrics(row_covariates=("age", "bmi"), covariates=("risk",))


def test_rows_become_a_report_that_uses_them(folder: Path) -> None:
    asked = [
        "estimate",
        str(folder / "rows.csv"),
        *ROWS,
        "--row-covariate",
        "age",
        "--row-covariate",
        "bmi",
        "--show",
        "0",
    ]
    word = [
        "--estimator",
        "model_based_metrics",
        "--set",
        "row_covariates=age,bmi",
        "--set",
        "bootstrap=20",
        "--inference",
        "collapsed",
    ]
    assert run([*asked, *word, "-o", str(folder / "r.nc")]) in (0, 1)
    report = bg.open_report(folder / "r.nc")
    assert json.loads(report.attrs["settings"])["row_covariates"] == ["age", "bmi"]
    assert "--row-covariate age" in report.attrs["command"]
    code = origin(report)["code"]
    assert "row_covariates=['age', 'bmi'])" in code.splitlines()[1]
    assert "row_covariates=('age', 'bmi')" in code.splitlines()[2]


def test_what_was_not_kept_is_one_message(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["estimate", str(folder / "rows.csv"), *ROWS, "--estimator", "model_based_metrics"]
    assert run([*asked, "--row-covariate", "bmi", "--set", "row_covariates=age"]) == 2
    assert "the tally keeps no covariate 'age' of rows; " in " ".join(capsys.readouterr().err.split())
    assert run(["tally", str(folder / "rows.csv"), *ROWS, "--row-covariate", "agee"]) == 2
    assert "did you mean 'age'" in " ".join(capsys.readouterr().err.split())


def test_an_analysis_carries_them_to_the_byte(folder: Path) -> None:
    path = folder / "analysis.toml"
    path.write_text(ANALYSIS, encoding="utf-8")
    digests = []
    for _ in range(2):
        finished = run_analysis(path)
        digests.append(
            {place.name: hashlib.sha256(place.read_bytes()).digest() for place in (folder / "results").iterdir()}
        )
    assert digests[0] == digests[1]
    assert set(digests[0]) == {"rows.tally.nc", "scores.nc"}
    assert packets_of(finished.tally, ["age", "bmi"]).names == ("age", "bmi")
    assert json.loads(finished.reports["scores"].attrs["settings"])["row_covariates"] == ["age"]
