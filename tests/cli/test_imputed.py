"""Commands that ask something of subgroups take --imputed and say whom they leave out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import run

Captured = pytest.CaptureFixture[str]
SENTENCE = "Left out, without rows: empty (no rows)."
COMMANDS = [
    "certify r.nc",
    "simultaneous-intervals r.nc",
    "ranks r.nc",
    "discoveries r.nc",
    "fairness-definitions r.nc",
    "disparity r.nc --measure gini",
    "posterior-variance r.nc",
    "prior-sensitivity r.nc",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("imputed")
    who = pd.DataFrame({"site": ["a", "b", "c", "empty"]})
    tally = bg.tally_from_counts([900, 890, 880, 0], [1000, 1000, 1000, 0], who, metric="acc")
    bg.save_tally(tally, place / "t.nc")
    bg.save_report(bg.estimate(tally, bg.NoPooling(), seed=1), place / "r.nc")
    rows = pd.DataFrame({"site": list("ab") * 30, "said": list("uvw") * 20, "no": ([0] * 4 + [1]) * 12})
    rows["site"] = pd.Categorical(rows["site"], categories=["a", "b", "empty"])
    bg.save_tally(bg.disagreement_tally(rows, ["site"], "said", "no"), place / "d.nc")
    return place


def asked(line: str, folder: Path, *more: str) -> list[str]:
    return [*(str(folder / word) if word.endswith(".nc") else word for word in line.split()), *more]


@pytest.mark.parametrize("line", COMMANDS)
def test_an_answer_says_whom_it_leaves_out(line: str, folder: Path, capsys: Captured) -> None:
    assert run(asked(line, folder)) == 0
    assert SENTENCE in " ".join(capsys.readouterr().out.split())
    assert run(asked(line, folder, "--imputed", "include")) == 0
    assert "Left out" not in capsys.readouterr().out
    assert run(asked(line, folder, "--json")) == 0
    assert "empty (no rows)" in capsys.readouterr().out
    assert run(asked(line, folder, "--imputed", "drop")) != 0
    assert "--imputed" in capsys.readouterr().err


@pytest.mark.parametrize("imputed", ["leave_out", "include"])
def test_of_a_tally_nobody_can_be_included(imputed: str, folder: Path, capsys: Captured) -> None:
    assert run(asked("certify t.nc", folder, "--imputed", imputed)) == 0
    assert SENTENCE in " ".join(capsys.readouterr().out.split())


def test_a_standard_is_certified_of_those_with_rows(folder: Path, capsys: Captured) -> None:
    said = []
    for imputed in ("leave_out", "include"):
        assert run(asked("certify r.nc --standard 0.85", folder, "--imputed", imputed)) == 0
        said.append(" ".join(capsys.readouterr().out.split()))
    assert "standard 0.85: shown to be reached by all" in said[0]
    assert "standard 0.85: not shown to be reached by all" in said[1]


def test_comparisons_mark_and_leave_out(folder: Path, capsys: Captured) -> None:
    assert run(asked("compare r.nc", folder)) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"acc: {SENTENCE}" in printed
    assert "* no rows: the model alone answers" in printed
    widths = bg.compare({"r": bg.open_report(folder / "r.nc")})["width"].sel(level=0.95, approach="bayesian")
    for imputed, mean in (("leave_out", widths[..., :3].mean()), ("include", widths.mean())):
        assert run(asked("compare r.nc", folder, "--imputed", imputed)) == 0
        assert f"{float(mean):.3f}" in capsys.readouterr().out.splitlines()[-1 if imputed == "include" else -2]


@pytest.mark.usefixtures("no_pictures")
def test_candidates_and_pages(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    line = "points-from-reports r.nc --performance acc --fairness acc --group-power min_score"
    fairness = {}
    for imputed in ("leave_out", "include"):
        assert run(asked(line, folder, "--imputed", imputed, "--json")) == 0
        tables = json.loads(capsys.readouterr().out)["tables"]
        fairness[imputed] = next(r["fairness_mean"] for t in tables for r in t["records"] if "fairness_mean" in r)
        page = tmp_path / f"{imputed}.html"
        assert run([*asked("write-html r.nc", folder), "--output", str(page), "--imputed", imputed]) == 0
        capsys.readouterr()
        assert (SENTENCE in page.read_text("utf-8")) == (imputed == "leave_out")
    assert fairness["leave_out"] > 0.85
    assert fairness["include"] < 0.6


def test_credible_sets_of_a_difference(folder: Path, capsys: Captured) -> None:
    line = "disagreement-sets d.nc --notion equal_opportunity --kind credible --draws 200 --across subgroups --json"
    upper = {}
    for imputed in ("leave_out", "include"):
        assert run(asked(line, folder, "--imputed", imputed)) == 0
        printed = capsys.readouterr().out
        assert ("empty (nothing to judge by)" in printed) == (imputed == "leave_out")
        tables = json.loads(printed)["tables"]
        upper[imputed] = next(record["upper"] for part in tables for record in part["records"] if "upper" in record)
    assert np.isfinite(list(upper.values())).all()
    assert upper["include"] > upper["leave_out"]
