"""Estimand in reports and in the first line of whatever shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.text import Text

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.report.view import headline, read
from bayesgroups.tallies.estimands import superpopulation_values
from bayesgroups.views.plots import certification, disparity_posterior, forest, heat_map, shrinkage
from bayesgroups.views.tables import comparison_summary, comparison_table, report_frame, report_table
from bayesgroups.views.tables.answer_files import save_answer
from bayesgroups.views.tables.answers import answer_headlines
from bayesgroups.views.tables.report_documents import report_document

pytestmark = pytest.mark.usefixtures("read_once")
SITES = pd.DataFrame({"site": list("abcd"), "sex": list("ffmm")})
SAID = "fnr: superpopulation rate per subgroup; 95% credible (equal-tailed) and confidence (Jeffreys) intervals"


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    tally = bg.tally_from_counts([1, 30, 9, 4], [5, 100, 60, 9], SITES, metric="fnr")
    return bg.estimate(tally, bg.NoPooling(interval="jeffreys"), seed=1)


def other(report: xr.DataTree, estimand: str) -> xr.DataTree:
    """The same report, as if it answered for something else."""
    table = report["estimates"].to_dataset()
    changed = report.copy()
    changed["estimates"] = xr.DataTree(table.assign(estimand=(("approach", "metric"), np.full((2, 1), estimand))))
    return changed


def test_estimands_follow_the_kind_of_metric_and_the_rows() -> None:
    rows = pd.DataFrame(
        {"g": list("aabb"), "y": [0, 1, 0, 1], "s": [0.1, 0.7, 0.2, 0.4], "c": [1, 2, 1, 2], "w": [1.0, 2, 1, 3]}
    )
    names = ["fnr", "f1", "auc", "mean"]

    def said(**more: str) -> list[str]:
        tally = bg.tally(rows, ["g"], names, y_true="y", y_score="s", threshold=0.5, loss="s", **more)  # type: ignore[arg-type]
        return [str(one).removeprefix("superpopulation ") for one in superpopulation_values(tally)]

    plain = ["rate", "F1 score", "AUC", "mean"]
    assert said() == said(cluster="c") == plain
    assert said(weights="w") == [f"{one} under the weights" for one in plain]
    counted = [f"{one}, every cluster counting once" for one in plain]
    assert said(cluster="c", cluster_analysis="mean") == [*counted[:2], "AUC", counted[3]]
    published = bg.tally_from_estimates([0.1, 0.2], [0.1, 0.1], pd.DataFrame({"g": ["a", "b"]}))
    assert superpopulation_values(published).tolist() == ["superpopulation value"]


def test_disagreement_answers_for_a_rate_or_for_the_set_of_those_that_are_possible() -> None:
    random = np.random.default_rng(1)
    rows = pd.DataFrame({"sex": random.choice(["f", "m"], 90), "label": random.choice(list("xyz"), 90)})
    tally = bg.disagreement_tally(rows.assign(no=random.integers(0, 2, 90)), ["sex"], "label", "no")
    table = bg.estimate(tally, bg.DisagreementModel(), seed=1)["estimates"].to_dataset()["estimand"]
    assert set(table.sel(metric="acc").values.tolist()) == {"superpopulation rate"}
    assert table.sel(metric="tpr[x]").values.tolist() == [
        "superpopulation rate under the stated prior", "identified set of the superpopulation rate",
    ]  # fmt: skip


@pytest.mark.usefixtures("no_pictures")
def test_first_lines_name_the_estimand_and_the_intervals(report: xr.DataTree, tmp_path: Path) -> None:
    assert read(report).headline() == SAID
    assert str(report_table(report).title) == SAID
    assert SAID in bg.write_html(report, tmp_path / "page.html").read_text("utf-8")
    assert json.loads(json.dumps(report_document(report)))["attributes"]["headlines"] == {"fnr": SAID}
    assert " ".join(forest(report).get_title(loc="left").split()) == SAID
    for axes in (heat_map(report, "site", "sex"), shrinkage(report)):
        assert " ".join(axes.get_title(loc="left").split()).endswith("estimates of the superpopulation rate")
    opened = bg.open_report(bg.save_report(report, tmp_path / "r.nc"))
    assert read(opened).headline() == SAID


def test_a_report_of_old_says_its_intervals_alone(report: xr.DataTree) -> None:
    old = report.copy()
    old["estimates"] = xr.DataTree(report["estimates"].to_dataset().drop_vars("estimand"))
    assert read(old).headline() == SAID.replace(" superpopulation rate per subgroup;", "")
    assert "note" not in bg.compare({"old": old, "new": report}).attrs


def test_a_remark_of_a_method_stays_readable() -> None:
    assert (
        headline("wer", 0.8, [("", "confidence", ["t (too few subgroups)"])])
        == "wer: 80% confidence (t; too few subgroups) intervals"
    )


def test_reports_of_different_estimands_are_marked(
    report: xr.DataTree, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = bg.compare({"one": report, "two": report})
    assert "note" not in same.attrs
    assert str(comparison_table(same, "fnr").title) == (
        "fnr: superpopulation rate per subgroup; 95% credible (equal-tailed) intervals, Bayesian"
    )
    people = other(report, "rate of these people")
    found = bg.compare({"one": report, "two": people})
    assert found["estimand"].dims == ("estimator", "approach", "metric")
    assert (
        "fnr, bayesian: the reports answer for different estimands ('one': superpopulation rate; 'two': rate of these"
        in (found.attrs["note"])
    )
    assert "superpopulation rate and rate of these people per subgroup" in str(comparison_table(found, "fnr").title)
    for name, one in (("one", report), ("two", people)):
        bg.save_report(one, tmp_path / f"{name}.nc")
    assert run(["compare", str(tmp_path / "one.nc"), str(tmp_path / "two.nc")]) == 0
    assert "the reports answer for different estimands" in " ".join(capsys.readouterr().out.split())


def test_titles_of_forest_plots_stay_inside_of_the_picture(report: xr.DataTree) -> None:
    names = ["a subgroup with a long name", "another subgroup with a long name"]
    tally = bg.tally_from_counts([1, 30], [5, 100], pd.DataFrame({"site": names}), metric="fnr")
    for each in (report, bg.estimate(tally, bg.PartialPooling(), seed=1)):
        axes = forest(each, width=8.0)
        figure = axes.get_figure(root=True)
        assert figure is not None
        figure.draw_without_rendering()
        title = axes.get_title(loc="left")
        texts = [text for text in axes.findobj(Text) if isinstance(text, Text) and text.get_text() == title]
        assert len(texts) == 1
        assert 0 < texts[0].get_window_extent().x1 <= figure.bbox.x1


def test_pictures_of_questions_name_the_estimand_and_the_intervals(report: xr.DataTree) -> None:
    said = [" ".join(draw(report).get_title(loc="left").split()) for draw in (certification, disparity_posterior)]
    assert said == [
        "fnr: worst of 4 subgroups in the superpopulation rate; 95% credible (one-sided) and confidence (one-sided "
        "Clopper-Pearson) intervals",
        "fnr: gap between 4 subgroups in the superpopulation rate; 95% credible (equal-tailed) intervals",
    ]


def test_frames_of_reports_name_the_estimand_and_the_intervals(report: xr.DataTree) -> None:
    frame = report_frame(report, level=0.8)
    assert set(frame["level"]) == {0.8}
    for side, kind, method in (("bayesian", "credible", "equal_tailed"), ("frequentist", "confidence", "jeffreys")):
        assert set(frame[f"{side}_estimand"]) == {"superpopulation rate"}
        assert set(frame[f"{side}_interval_kind"]) == {kind}
        assert set(frame[f"{side}_interval_method"]) == {method}


def test_frames_name_one_sided_intervals_where_they_are() -> None:
    tally = bg.tally_from_counts([0, 30], [20, 100], SITES.iloc[:2], metric="fnr")
    frame = report_frame(bg.estimate(tally, bg.NoPooling(), seed=1))
    assert frame["bayesian_interval_method"].tolist() == ["one_sided", "equal_tailed"]
    assert frame["bayesian_lower"].tolist()[0] == 0


QUESTIONS = {
    "certify": "fnr: worst subgroup in the superpopulation rate; 95% {} intervals",
    "ranks": "fnr: rank of each subgroup in the superpopulation rate; 95% {} intervals",
    "simultaneous_intervals": "fnr: superpopulation rate per subgroup; 95% {} intervals",
    "disparity": "fnr: disparity between subgroups in the superpopulation rate; 95% {} intervals",
    "fairness_definitions": "fnr: published definitions of unfairness in the superpopulation rate; 95% {} intervals",
}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("certify", "credible (quantile)"), ("ranks", "credible (equal-tailed)"),
        ("simultaneous_intervals", "simultaneous credible (posterior-max-t)"),
        ("disparity", "credible (equal-tailed)"), ("fairness_definitions", "credible (equal-tailed)"),
    ],
)  # fmt: skip
def test_answers_name_the_estimand_and_the_intervals(
    report: xr.DataTree, question: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = getattr(bg, question)(report)
    sentence = QUESTIONS[question].format(said)
    assert answer_headlines(answer, question) == [sentence]
    table = pd.read_csv(save_answer(answer, question, tmp_path / "answer.csv"))
    assert set(table["estimand"]) == {"superpopulation rate"}
    assert set(table["interval_kind"]) == {said.partition(" (")[0]}
    bg.save_report(report, tmp_path / "r.nc")
    assert run([question.replace("_", "-"), str(tmp_path / "r.nc")]) == 0
    assert " ".join(capsys.readouterr().out.split()).startswith(sentence)
    assert run([question.replace("_", "-"), str(tmp_path / "r.nc"), "--json"]) == 0
    assert said_in_json(capsys.readouterr().out) == {"superpopulation rate"}


def said_in_json(text: str) -> set[str]:
    """Estimands in the records of an answer."""
    records = [record for table in json.loads(text)["tables"] for record in table["records"]]
    return {record["estimand"] for record in records if "estimand" in record}


@pytest.mark.parametrize(
    ("part", "reference", "said"),
    [
        ("auto", "overall", "gap of each subgroup to everyone in the superpopulation rate; at most 5% of entries expected to be "
         "false (posterior)"),
        ("tally", "rest", "gap of each subgroup to everyone else in the superpopulation rate; at most 5% of entries expected to "
         "be false (Benjamini-Hochberg)"),
        ("tally", 0.2, "gap of each subgroup to 0.2 in the superpopulation rate; at most 5% of entries expected to be false "
         "(Benjamini-Hochberg)"),
    ],
)  # fmt: skip
def test_discoveries_name_the_estimand_and_the_error(
    report: xr.DataTree, part: Any, reference: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = bg.discoveries(report, 0.05, using=part, reference=reference)
    assert answer["estimand"].values.tolist() == ["superpopulation rate"]
    assert answer_headlines(answer, "discoveries") == [f"fnr: {said}"]
    assert set(pd.read_csv(save_answer(answer, "discoveries", tmp_path / "a.csv"))["estimand"]) == {
        "superpopulation rate"
    }
    bg.save_report(report, tmp_path / "r.nc")
    asked = [
        "discoveries",
        str(tmp_path / "r.nc"),
        "--tolerance",
        "0.05",
        "--using",
        part,
        "--reference",
        str(reference),
    ]
    assert run(asked) == 0
    assert " ".join(capsys.readouterr().out.split()).startswith(f"fnr: {said}")
    assert run([*asked, "--json"]) == 0
    assert said_in_json(capsys.readouterr().out) == {"superpopulation rate"}


@pytest.mark.parametrize(("part", "kind", "method"), [("bootstrap", "confidence", "percentile"), ("tally", "none", "")])
def test_definitions_of_unfairness_name_their_intervals(part: Any, kind: str, method: str) -> None:
    tally = bg.tally_from_counts([1, 30, 9, 4], [5, 100, 60, 9], SITES, metric="fnr")
    resampled = bg.estimate(tally, bg.NoPooling(bootstrap=50), seed=1)
    answer = bg.fairness_definitions(resampled, using=part)
    assert answer["interval_kind"].values.tolist() == [kind]
    assert answer["interval_method"].values.tolist() == [method]
    assert answer["estimand"].values.tolist() == ["superpopulation rate"]


def test_answers_of_a_tally_name_the_estimand_too(tmp_path: Path) -> None:
    tally = bg.tally_from_counts([1, 30, 9, 4], [5, 100, 60, 9], SITES, metric="fnr")
    assert answer_headlines(bg.disparity(tally), "disparity") == [
        "fnr: disparity between subgroups in the superpopulation rate; no intervals"
    ]
    assert answer_headlines(bg.fairness_definitions(tally), "fairness_definitions") == [
        "fnr: published definitions of unfairness in the superpopulation rate; no intervals"
    ]
    table = pd.read_csv(save_answer(bg.between_group_variance(tally), "variance", tmp_path / "answer.csv"))
    assert set(table["estimand"]) == {"variance of these subgroups"}
    assert set(table["interval_kind"]) == {"confidence"}


def test_a_report_of_old_has_answers_without_an_estimand(report: xr.DataTree) -> None:
    old = report.copy()
    old["estimates"] = xr.DataTree(report["estimates"].to_dataset().drop_vars("estimand"))
    assert answer_headlines(bg.certify(old), "certify") == ["fnr: worst subgroup; 95% credible (quantile) intervals"]
    assert answer_headlines(bg.disparity(old), "disparity")[0].startswith("fnr: disparity between subgroups; 95%")
    listed = answer_headlines(bg.discoveries(old), "discoveries")[0]
    assert listed.startswith("fnr: gap of each subgroup to everyone; at most 5% of entries")


def test_a_comparison_in_short_names_the_estimand_and_the_intervals(report: xr.DataTree) -> None:
    title = str(comparison_summary(bg.compare({"one": report, "two": report})).title)
    assert title.splitlines() == [
        "fnr: superpopulation rate per subgroup; 95% credible (equal-tailed) intervals",
        "Bayesian, against the first report",
    ]


def test_answers_with_one_estimand_name_it_and_the_intervals_of_both_approaches() -> None:
    names = ["bayesian", "frequentist"]
    answer = xr.Dataset(coords={"approach": names}, attrs={"estimand": "difference of two rates", "level": 0.9})
    assert answer_headlines(answer, "maihda") == ["difference of two rates; 90% credible and confidence intervals"]
    methods = answer.assign(method=("approach", np.array(["crossed_binomial", "newcombe"])))
    sentence = "difference of two rates; 90% credible (crossed-binomial) and confidence (Newcombe) intervals"
    assert answer_headlines(methods, "compare_systems") == [sentence]


@pytest.mark.parametrize("name", ["compare_systems", "leaderboard", "maihda"])
def test_questions_of_one_estimand_say_it(name: str) -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"a": np.repeat(["x", "y", "z"], 40), "b": np.tile(["p", "q"], 60)})
    rows["one"], rows["two"] = rng.integers(0, 2, (2, len(rows)))
    if name == "maihda":
        tally = bg.tally_from_counts([5, 9, 4, 8, 2, 7], [20] * 6, rows[["a", "b"]].drop_duplicates(), metric="fnr")
    else:
        tally = bg.paired_tally(rows, ["a"], {"one": "one", "two": "two"})
    answer = getattr(bg, name)(tally)
    assert answer.attrs["estimand"]
    assert answer.attrs["level"] == 0.95
