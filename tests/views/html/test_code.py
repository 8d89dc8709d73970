"""The code of every kind of page is run: it makes the numbers of the page again, or says what it leaves to the reader."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.tallies import auc_as_rate
from bayesgroups.tallies.score_histograms import bin_scores
from bayesgroups.views.html.page import render
from bayesgroups.views.html.sections.code import tally_lines
from bayesgroups.views.html.sections.provenance import origin
from bayesgroups.views.html.systems_page import render as render_systems

pytestmark = pytest.mark.usefixtures("no_pictures")


def rows(number: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"race": rng.choice(["A", "B"], number), "age": rng.choice(["18-39", "40-64"], number)})
    frame["y"], frame["score"] = rng.integers(0, 2, number), rng.normal(size=number).round(2)
    frame["loss"], frame["x"] = rng.gamma(2.0, size=number), rng.normal(size=number)
    frame["decision"] = (frame["score"] + frame["y"] > 0.5).astype(int)
    frame["weight"], frame["person"] = rng.choice([1.0, 2.0], number), rng.integers(0, 40, number)
    frame["label"] = np.where(frame["y"] == 1, "2", "7").astype(int)
    frame["gold"] = frame["y"].astype(float).where(rng.random(number) < 0.5)
    frame["day"] = pd.Timestamp("2026-01-05") + pd.to_timedelta(rng.choice([0, 70], number), unit="D")
    return frame


BOTH: dict[str, Any] = {"y_true": "y", "y_pred": "decision"}
TALLIES: dict[str, Callable[[pd.DataFrame], xr.Dataset]] = {
    "two attributes": lambda rows: bg.tally(rows, ["race", "age"], ["sel", "fnr"], **BOTH),
    "weights and features": lambda rows: bg.tally(rows, ["race"], "acc", weights="weight", features=["x"], **BOTH),
    "clusters": lambda rows: bg.tally(rows, ["race"], "acc", cluster="person", cluster_analysis="mean", **BOTH),
    "shared clusters": lambda rows: bg.tally(
        rows, ["race"], "acc", cluster="person", shared_clusters="covariance", **BOTH
    ),
    "confusion": lambda rows: bg.tally(rows, ["race"], ["acc", "ppv"], confusion=True, **BOTH),
    "declared levels": lambda rows: bg.tally(rows, {"race": ["B", "A", "C"], "age": None}, "sel", y_pred="decision"),
    "pooled as published": lambda rows: bg.tally(rows, ["race"], "mean", loss="loss", pooled_variance="published"),
    "a number is positive": lambda rows: bg.tally(
        rows, ["race"], "fnr", y_true="label", y_score="score", threshold=0.1, positive=2
    ),
    "few labels": lambda rows: bg.tally(
        rows, ["race"], "prev", y_true="gold", y_pred="decision", unlabelled="keep", larger_is_better=True
    ),
    "labelled rows alone": lambda rows: bg.tally(
        rows, ["race"], "acc", y_true="gold", y_pred="decision", unlabelled="drop"
    ),
    "missing levels": lambda rows: bg.tally(
        rows.assign(race=rows["race"].where(rows["x"] < 1)), ["race"], "sel", y_pred="decision", missing="level"
    ),
    "missing levels, dropped": lambda rows: bg.tally(
        rows.assign(race=rows["race"].where(rows["x"] < 1)), ["race"], "sel", y_pred="decision", missing="drop"
    ),
    "periods": lambda rows: bg.tally(rows, ["day"], "sel", y_pred="decision", time="month"),
    "an area as a rate": lambda rows: auc_as_rate(
        bg.tally(rows, ["race"], "auc", y_true="y", y_score="score"), "hanley_mcneil_pooled"
    ),
    "an area of bins": lambda rows: bin_scores(bg.tally(rows, ["race"], "auc", y_true="y", y_score="score"), [-9.0, 0.0, 9.0]),
    "covariates of rows": lambda rows: bg.tally(
        rows, ["race"], ["auc"], y_true="y", y_score="score", row_covariates=["x"]
    ),
    "judgements": lambda rows: bg.disagreement_tally(rows, ["race"], "decision", "y", critic="person"),
    "gold scores": lambda rows: bg.gold_score_tally(
        rows.assign(rating=rows["loss"].where(rows["gold"].notna())), ["race"], gold="rating", judge="score",
        metric="stars", larger_is_better=True,
    ),
    "systems": lambda rows: bg.paired_tally(
        rows, ["race"], {"new": "y", "old": "decision"}, cluster="person", baseline="old"
    ),
}  # fmt: skip
CHANGED: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "missing levels": lambda rows: rows.assign(race=rows["race"].where(rows["x"] < 1)),
    "missing levels, dropped": lambda rows: rows.assign(race=rows["race"].where(rows["x"] < 1)),
    "gold scores": lambda rows: rows.assign(rating=rows["loss"].where(rows["gold"].notna())),
}
"""Rows that a tally is of, where they are not as they come."""


def run(code: str, **names: Any) -> dict[str, Any]:
    """Names after the code, all but its page; those that it leaves to the reader are given."""
    for name, value in names.items():
        code = re.sub(rf"^{name} = \.\.\..*$", f"{name} = given_{name}", code, flags=re.MULTILINE)
        names = {**names, f"given_{name}": value}
    space = dict(names)
    exec(code.rpartition("\n")[0], space)
    return space


@pytest.mark.parametrize("kind", TALLIES)
def test_the_code_makes_the_tally_again(kind: str) -> None:
    made = TALLIES[kind](rows())
    lines = tally_lines(made)
    again = run(
        "\n".join(["import bayesgroups as bg", *lines, "..."]), rows=CHANGED.get(kind, lambda rows: rows)(rows())
    )["tally"]
    xr.testing.assert_identical(again, made)


def test_added_tallies_are_added_again() -> None:
    first, second = rows(), rows(90).assign(race="C")
    made = bg.add_tallies([bg.tally(part, ["race", "age"], "fnr", **BOTH) for part in (first, second)])
    lines = ["import bayesgroups as bg", *tally_lines(made), "..."]
    xr.testing.assert_identical(run("\n".join(lines), parts=[first, second])["tally"], made)


def test_a_metric_of_ones_own_is_left_to_the_reader() -> None:
    own = {"big": bg.Metric("big", value="loss", larger_is_better=True)}
    made = bg.tally(rows(), ["race"], [own["big"], "sel"], y_pred="decision")
    lines = tally_lines(made)
    assert lines[0] == "own = {'big': ...}  # bg.Metric() of these names"
    again = run("\n".join(["import bayesgroups as bg", *lines[1:], "..."]), rows=rows(), own=own)["tally"]
    xr.testing.assert_identical(again, made)


def test_counts_that_were_published_are_left_to_the_reader() -> None:
    made = bg.tally_from_counts([1, 2], [4, 9], pd.DataFrame({"race": ["A", "B"]}), metric="acc")
    assert tally_lines(made) == ["tally = ...  # the same counts or estimates of acc by race"]


PEOPLE = pd.DataFrame({"race": list("AABB"), "age": ["18-39", "40-64"] * 2, "count": [100, 300, 200, 10]})
MARGINS = {("race",): PEOPLE.groupby("race", as_index=False)["count"].sum()}
SHARES = PEOPLE.drop(columns="count").assign(prevalence=[0.4, 0.5, 0.6, 0.3])
TARGETS: dict[str, tuple[Any, dict[str, Any]]] = {
    "sizes": (PEOPLE, {"by": ["race"], "seed": 3}),
    "margins": (MARGINS, {"smoothing": 0.5, "by": ["age"]}),
    "rows": ("rows", {"by": ["age"], "empty": "collapse"}),
    "a total": (PEOPLE, {"benchmark": {"sel": {"all": (0.5, 0.02)}}, "benchmark_scale": "difference"}),
    "prevalence": (PEOPLE, {"prevalence": SHARES, "population_of": "people"}),
}
ESTIMATORS: dict[str, Any] = {
    "crossed": bg.CrossedEffects(ordered=("age",)), "pooled": bg.PartialPooling(tau_scale=0.3), "none": None,
}  # fmt: skip


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_code_of_a_target_population_makes_it_again(kind: str, estimator: str) -> None:
    population, asked = TARGETS[kind]
    metrics = ["fnr"] if kind == "prevalence" else ["sel", "mean"] if kind != "a total" else ["sel"]
    made_of = bg.tally(
        rows(), {"race": None, "age": ["40-64", "18-39"]}, metrics, loss="loss", weights="weight", **BOTH
    )
    source = made_of if estimator == "none" else bg.estimate(made_of, ESTIMATORS[estimator], seed=5)
    made = bg.poststratify(source, population, **asked)
    facts = origin(made)
    again = run(facts["code"], rows=rows(), population=population, prevalence=asked.get("prevalence"))["report"]
    assert ("bg.poststratify(tally, " in facts["code"]) == (estimator == "none")
    assert (facts["facts"]["Seed"] == f"5 of the fit, {asked.get('seed', 0)} of the target population") == (
        estimator != "none"
    )
    for name in ("estimates", "constant_data", "posterior"):
        if name in made.children:
            xr.testing.assert_identical(again[name].to_dataset(), made[name].to_dataset())
    assert {**again.attrs, "created_at": ""} == {**made.attrs, "created_at": ""}


def test_a_confusion_model_of_targets_has_its_cells() -> None:
    made_of = bg.tally(rows(), ["race", "age"], ["fnr", "ppv"], confusion=True, **BOTH)
    made = bg.poststratify(bg.estimate(made_of, bg.ConfusionModel(), seed=5), PEOPLE)
    again = run(origin(made)["code"], rows=rows(), population=PEOPLE)["report"]
    xr.testing.assert_identical(again["estimates"].to_dataset(), made["estimates"].to_dataset())


def test_targets_of_an_older_report_are_left_to_the_reader() -> None:
    made_of = bg.tally(rows(), ["race"], "sel", y_pred="decision")
    made = bg.poststratify(bg.estimate(made_of, bg.NoPooling(), seed=5), "rows")
    del made.attrs["poststratification"]
    assert "report = ...  # bg.poststratify() of a report that is not named here" in origin(made)["code"]
    assert origin(made)["facts"]["Seed"] == "0"


def test_added_groups_are_added_again() -> None:
    made_of = bg.tally(rows(), ["race"], "sel", y_pred="decision")
    made = bg.add_groups(bg.estimate(made_of, bg.NoPooling(), seed=5), ["log_prior", "prior"])
    again = run(origin(made)["code"], rows=rows())["report"]
    assert set(again.children) == set(made.children)
    xr.testing.assert_identical(again["prior"].to_dataset(), made["prior"].to_dataset())


def test_the_whole_code_makes_the_page_to_the_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_of = bg.tally(rows(), ["race", "age"], ["sel"], y_pred="decision", weights="weight")
    report = bg.estimate(made_of, bg.PartialPooling(), seed=5)
    truth = xr.DataArray([0.5, 0.6, 0.5, 0.4], {"subgroup": report["estimates"]["subgroup"].values}, "subgroup")
    asked: dict[str, Any] = {
        "level": 0.9,
        "imputed": "include",
        "reference": {"race": "A"},
        "truth": truth,
        "population": PEOPLE,
    }
    page = render(report, **asked)
    code = html.unescape(page.partition("<code>")[2].partition("</code>")[0])
    assert "level=0.9, truth=truth, imputed='include', reference={'race': 'A'}, population=population)" in code
    monkeypatch.chdir(tmp_path)
    run(f"{code}\n...", rows=rows(), truth=truth, population=PEOPLE)
    assert Path("report.html").read_text("utf-8") == page
    assert "population='rows')" in html.unescape(render(report, population="rows"))


@pytest.mark.parametrize("shape", ["wide", "long", "rates"])
def test_the_code_of_systems_makes_their_page(shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = rows()
    if shape == "long":
        parts = [frame.assign(model=name, item=range(len(frame)), right=frame[name]) for name in ("y", "decision")]
        frame = pd.concat(parts, ignore_index=True)
        made = bg.paired_tally(frame, ["race"], system="model", item="item", correct="right")
    elif shape == "wide":
        made = bg.paired_tally(frame, ["race"], {"new": "loss", "old": "score"}, metric="mean", larger_is_better=True)
    else:
        frame["base"] = 1 - frame["decision"]
        made = bg.paired_tally(frame, ["race"], ["decision", "base"], metric="fnr", y_true="y")
    page = render_systems(made, seed=2, interval="tango", level=0.9)
    code = html.unescape(page.partition("<code>")[2].partition("</code>")[0])
    monkeypatch.chdir(tmp_path)
    run(f"{code}\n...", rows=frame)
    assert Path("systems.html").read_text("utf-8") == page


def test_systems_of_an_older_tally_are_named() -> None:
    made = bg.paired_tally(rows(), ["race"], ["y", "decision"])
    settings = json.loads(made.attrs["settings"])
    del settings["columns"]
    older = made.assign_attrs(settings=json.dumps(settings))
    assert tally_lines(older) == ["tally = bg.paired_tally(rows, ['race'], systems=['y', 'decision'])"]
