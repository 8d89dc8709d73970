"""The scripts of users run as they are: an analyst's, two answers side by side, an estimator of one's own."""

from __future__ import annotations

import html
import importlib
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.estimators import ESTIMATORS
from bayesgroups.interop import read_logs

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)


def script(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_the_script_of_an_analyst(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script("analyst").main(["--output", str(tmp_path)])
    text = capsys.readouterr().out
    assert "largest gap between subgroups: 0." in text
    assert "with 95 % probability" in text
    assert bg.open_report(tmp_path / "fnr.nc").attrs["usable"] == 1
    assert (tmp_path / "fnr.html").stat().st_size > 10_000


def test_two_answers(capsys: pytest.CaptureFixture[str]) -> None:
    shown = script("two_answers").main()
    assert "credible" in capsys.readouterr().out
    width = shown["width"]
    assert width.loc[("pooled", "bayesian", "west")] < width.loc[("alone", "bayesian", "west")]
    assert np.isnan(width.loc[("alone", "frequentist", "hill")])


def test_an_estimator_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = script("own_estimator")
    own.main(["--page", str(tmp_path / "own.html")])
    errors = dict(line.split() for line in capsys.readouterr().out.splitlines() if line.startswith(("own", "pooled")))
    assert 0 < float(errors["own"]) < 0.2
    assert own.PriorRows not in ESTIMATORS
    counts = bg.tally_from_counts(
        [1, 30], [2, 100], bg.datasets.demonstration(1).rows[["race"]].drop_duplicates()[:2], metric="fnr"
    )
    report = bg.estimate(counts, own.PriorRows(rows=10.0), seed=1)
    opened = bg.open_report(bg.save_report(report, tmp_path / "r.nc"))
    assert (opened.attrs["estimator"], json.loads(opened.attrs["settings"])) == ("prior_rows", {"rows": 10.0})
    page = html.unescape((tmp_path / "own.html").read_text(encoding="utf-8"))
    priors = json.loads(opened.attrs["prior_description"])["fnr"]
    assert priors == "binomial likelihood; the prior of each subgroup is Beta(3.04, 6.96)"
    for fragment in (
        own.PriorRows.description, own.PriorRows.references[0], "fnr: binomial likelihood; the prior of each subgroup is Beta(",
        "The prior matters", "from own_estimator import PriorRows", "report = bg.estimate(tally, PriorRows(rows=40.0), seed=1)",
    ):  # fmt: skip
        assert fragment in page
    sensitivity = bg.prior_sensitivity(opened, powers=[2.0])  # 20 prior rows instead of 10
    twice = (20 * 31 / 102 + np.array([1, 30])) / (20 + np.array([2, 100]))
    np.testing.assert_allclose(sensitivity["mean_at"].values.ravel(), twice, atol=0.01)
    mean = report["posterior"].to_dataset()["mu"].mean(("chain", "draw")).values.ravel()
    prior = 10 * 31 / 102
    np.testing.assert_allclose(mean, [(prior + 1) / 12, (prior + 30) / 110], atol=0.01)


def test_a_model_of_ones_own_builds() -> None:
    counts = bg.tally_from_counts(
        [1, 30], [2, 100], bg.datasets.demonstration(1).rows[["race"]].drop_duplicates()[:2], metric="fnr"
    )
    model = script("own_model").build(counts, rows=10.0)
    assert isinstance(counts, xr.Dataset)
    assert model.named_vars_to_dims["mu"] == ("metric", "subgroup")


@pytest.mark.slow
def test_a_model_of_ones_own_is_sampled() -> None:
    own = script("own_estimator")
    counts = bg.tally_from_counts(
        [1, 30], [2, 100], bg.datasets.demonstration(1).rows[["race"]].drop_duplicates()[:2], metric="fnr"
    )
    exact, sampled = (bg.estimate(counts, own.PriorRows(), seed=1, inference=way) for way in ("collapsed", "nuts"))
    assert sampled.attrs["usable"] == 1
    first, second = (
        report["posterior"].to_dataset()["mu"].mean(("chain", "draw")).values for report in (exact, sampled)
    )
    np.testing.assert_allclose(first, second, atol=0.02)


def test_two_language_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = script("language_models")
    models.write_logs(tmp_path, seed=1)
    with pytest.raises(
        InputError, match="12 of 900 answers of 'lab/new' have no score, 12 of them because of an error"
    ):
        read_logs(tmp_path, score="match")
    models.main([])
    bayesian, frequentist, _ = capsys.readouterr().out.split("\n\n")
    assert "lab/new - lab/old, bayesian" in bayesian
    assert "English | sums" in frequentist
    pairs = models.pairs_of(tmp_path)
    assert pairs["complete"].sel(complete_statistic="items").sum().item() == 900
