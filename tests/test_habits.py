"""Habits of users of neighbouring packages: each works where its meaning is plain, or is answered with the way out."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import KeywordError
from bayesgroups.estimators import ESTIMATORS, Estimator

RANDOM = np.random.default_rng(5)
ROWS = pd.DataFrame(
    {
        "sex": RANDOM.choice(["f", "m"], 120),
        "race": RANDOM.choice(["a", "b"], 120),
        "y": RANDOM.integers(0, 2, 120),
        "p": RANDOM.integers(0, 2, 120),
        "score": RANDOM.random(120).round(3),
        "speaker": RANDOM.integers(0, 30, 120),
    }
)
MANY = pd.DataFrame(
    {"id": np.arange(8000), "age": RANDOM.normal(size=8000), "sex": ["f", "m"] * 4000, "hit": [1, 0] * 4000}
)


def tallied(**changes: Any) -> xr.Dataset:
    arguments: dict[str, Any] = {"by": ["sex"], "metrics": ["fnr"], "y_true": "y", "y_pred": "p"}
    return bg.tally(ROWS, **(arguments | changes))


@pytest.fixture(scope="module")
def counts() -> xr.Dataset:
    return tallied(by=["sex", "race"], metrics=["acc", "fnr"])


@pytest.fixture(scope="module")
def report(counts: xr.Dataset) -> xr.DataTree:
    return bg.estimate(counts, bg.PartialPooling(), seed=1)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"y_true": ROWS["y"].to_numpy()}, {}),
        ({"y_true": ROWS["y"], "y_pred": ROWS["p"].rename("decision")}, {}),
        ({"y_true": ROWS["y"].tolist(), "y_pred": ROWS["p"].tolist()}, {}),
        ({"y_true": pl.Series("y", ROWS["y"].tolist())}, {}),
        ({"weights": 1 + ROWS["score"].to_numpy()}, {"weights": "w"}),
        ({"cluster": ROWS["speaker"].tolist()}, {"cluster": "speaker"}),
        ({"metrics": ["mean"], "loss": ROWS["score"].to_numpy()}, {"metrics": ["mean"], "loss": "score"}),
        ({"metrics": ["auc"], "y_score": ROWS["score"].to_numpy()}, {"metrics": ["auc"], "y_score": "score"}),
        ({"metrics": "correct", "correct": ROWS["p"].to_numpy()}, {"metrics": "correct", "correct": "p"}),
        ({"by": ROWS["sex"]}, {}),
        ({"by": ROWS[["sex", "race"]]}, {"by": ["sex", "race"]}),
        ({"by": [ROWS["sex"], "race"]}, {"by": ["sex", "race"]}),
        ({"by": ROWS["sex"].str.upper().rename("SEX")}, {"by": ["SEX"]}),
    ],
)
@pytest.mark.parametrize("make", [lambda rows: rows, pl.from_pandas, lambda rows: rows.to_dict("list")])
def test_values_in_place_of_the_name_of_a_column(
    given: dict[str, Any], named: dict[str, Any], make: Callable[[pd.DataFrame], Any]
) -> None:
    frame = make(ROWS)
    plain: dict[str, Any] = {"by": ["sex"], "metrics": ["fnr"], "y_true": "y", "y_pred": "p"}
    answer = bg.tally(frame, **(plain | given))
    whole = ROWS.assign(w=1 + ROWS["score"], SEX=ROWS["sex"].str.upper())
    # Engines add weights in any order.
    xr.testing.assert_allclose(answer, bg.tally(make(whole), **(plain | named)), rtol=1e-12, atol=0.0)


def test_a_column_of_values_is_called_by_its_series_or_argument() -> None:
    assert '"y_true":"y"' in tallied(y_true=ROWS["y"]).attrs["settings"].replace(" ", "")
    assert '"y_true":"decision"' in tallied(y_true=ROWS["y"].rename("decision")).attrs["settings"].replace(" ", "")
    assert '"y_true":"y_true"' in tallied(y_true=ROWS["y"].to_numpy()).attrs["settings"].replace(" ", "")
    assert '"y_true":"y_true"' in tallied(y_true=ROWS["p"].rename("y")).attrs["settings"].replace(" ", "")
    taken = ROWS.assign(y_true=0)
    answer = bg.tally(taken, ["sex"], ["fnr"], y_true=ROWS["y"].to_numpy(), y_pred="p")
    assert '"y_true":"y_true_"' in answer.attrs["settings"].replace(" ", "")
    xr.testing.assert_equal(answer, tallied())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_true": [0, 1, 1]}, r"y_true= has 3 values and frame= 120 rows"),
        (
            {"y_score": np.zeros((120, 2)), "metrics": ["auc"]},
            r"y_score= must hold one value per row; got values of shape \(120, 2\)",
        ),
        ({"y_true": {"a": 1}}, r"y_true= must be the name of a column or one value per row; got a dict"),
        (
            {"y_true": ROWS["y"][::-1]},
            r"y_true= has another index than frame=.* as y_true=values\.reindex\(frame\.index\)",
        ),
        ({"by": ROWS["race"].rename("sex")}, r"series 'sex' whose values are not those of column 'sex'"),
        ({"by": ROWS["sex"].rename(None)}, r"by= has a series without a name.*rename\('sex'\)"),
        ({"by": ROWS["sex"].to_numpy()}, r"by= names columns and got 120 values such as '[fm]'; make them a column"),
    ],
)
def test_values_that_cannot_be_a_column(given: dict[str, Any], message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        tallied(**given)


@pytest.mark.parametrize("frame", ["rows.csv", iter([ROWS]), pl.from_pandas(ROWS).lazy()])
def test_values_beside_rows_that_are_not_in_memory(frame: object) -> None:
    with pytest.raises(bg.InputError, match=r"y_true= is given as values, but the rows of frame= are not in memory"):
        bg.tally(frame, ["sex"], ["fnr"], y_true=ROWS["y"], y_pred="p")


def accuracy_score(y_true: Any, y_pred: Any) -> float:
    return float((y_true == y_pred).mean())


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"mine": lambda y_true, y_pred: 0.0}, r"got a function for 'mine'.*bg\.Metric\('mine', value="),
        ({"acc": accuracy_score}, r"got a function for 'acc'.*accuracy_score: it is 'acc' here"),
        ([accuracy_score], r"accuracy_score: it is 'acc' here"),
        (accuracy_score, r"accuracy_score: it is 'acc' here"),
        ({"misses": "fnr", "hits": "tpr"}, r"got a dictionary, so give its values, as metrics=\['fnr', 'tpr'\]"),
        ({"fnr"}, r"a list of these; got set"),
        (3, r"a list of these; got int"),
        (["fnr", 3], r"a list of these; it has 3"),
        ({}, r"got a dictionary"),
    ],
)
def test_metrics_that_are_functions_or_dictionaries(metrics: Any, message: str) -> None:
    with pytest.raises(bg.InputError, match=message):
        tallied(metrics=metrics)


@pytest.mark.parametrize("name", ["FNR", "Fnr", "TPR", "Acc", "F1"])
def test_names_of_metrics_in_capitals(name: str) -> None:
    xr.testing.assert_identical(tallied(metrics=[name]), tallied(metrics=[name.lower()]))


def test_a_class_keeps_its_capitals() -> None:
    rows = ROWS.assign(y=ROWS["y"].map({0: "Cat", 1: "dog"}), p=ROWS["p"].map({0: "Cat", 1: "dog"}))
    answer = bg.tally(rows, ["sex"], ["TPR[Cat]"], y_true="y", y_pred="p")
    assert answer["metric"].values.tolist() == ["tpr[Cat]"]
    with pytest.raises(bg.InputError, match=r"unknown metric 'recall\[Cat\]'; it is 'tpr\[Cat\]' here"):
        bg.tally(rows, ["sex"], ["recall[Cat]"], y_true="y", y_pred="p")


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("accuracy", "it is 'acc' here"), ("accuracy_score", "it is 'acc' here"), ("recall", "it is 'tpr' here"),
        ("precision", "it is 'ppv' here"), ("selection_rate", "it is 'sel' here"), ("specificity", "it is 'tnr' here"),
        ("false_negative_rate", "it is 'fnr' here"), ("False Positive Rate", "it is 'fpr' here"), ("f1_score", "it is 'f1' here"),
        ("roc_auc_score", "it is 'auc' here"), ("error_rate", "it is 1 minus 'acc'"),
        ("mean_absolute_error", "it is 'mean' of a column with the absolute error of every row, named by loss="),
        ("kappa", "known: 'acc', 'auc'"),
    ],
)  # fmt: skip
def test_names_of_metrics_in_other_packages(name: str, fix: str) -> None:
    with pytest.raises(bg.InputError, match=f"unknown metric '{name}'; {fix}"):
        tallied(metrics=[name])


@pytest.mark.parametrize(
    ("ask", "fix"),
    [
        (lambda: tallied(sensitive_features="sex"), r"'sensitive_features'; it is by= here"),
        (lambda: tallied(sample_weight="score"), "it is weights= here"),
        (lambda: tallied(groups="sex"), "it is by= here"),
        (lambda: tallied(y_prob="score"), "it is y_score= here"),
        (lambda: tallied(pos_label=1), "it is positive= here"),
        (lambda: tallied(y_ture="y"), "did you mean 'y_true'"),
        (lambda: bg.certify(tallied(), alpha=0.05), "it is level= here, which is 1 - alpha"),  # type: ignore[call-arg]
        (lambda: bg.certify(tallied(), standard=0.5), "it is standards= here"),  # type: ignore[call-arg]
        (lambda: bg.ranks(tallied(), hdi_prob=0.9), "it is level= here"),  # type: ignore[call-arg]
        (lambda: bg.estimate(tallied(), bg.NoPooling(), random_state=1), "it is seed= here"),  # type: ignore[call-arg]
        (lambda: bg.estimate(tallied(), bg.NoPooling(), seed=1, colour=1), "known: 'estimator', 'groups'"),  # type: ignore[call-arg]
    ],
)  # fmt: skip
def test_keywords_of_other_packages(ask: Callable[[], object], fix: str) -> None:
    with pytest.raises(KeywordError, match=fix) as caught:
        ask()
    assert isinstance(caught.value, bg.InputError)
    assert isinstance(caught.value, TypeError)  # what Python raises, for those who catch it


@pytest.mark.parametrize("name", [name for name in bg.__all__ if inspect.isfunction(getattr(bg, name))])
def test_every_public_function_knows_its_keywords(name: str) -> None:
    function = getattr(bg, name)
    with pytest.raises(KeywordError, match=rf"^{name}\(\) got an unexpected keyword argument 'no_such_keyword'; "):
        function(no_such_keyword=1)
    assert function.__doc__
    assert "no_such_keyword" not in inspect.signature(function).parameters


@pytest.mark.parametrize("leaf", ESTIMATORS, ids=lambda leaf: leaf.word)
def test_every_estimator_knows_its_settings(leaf: type[Estimator]) -> None:
    with pytest.raises(
        KeywordError, match=rf"^{leaf.__name__}\(\) got an unexpected keyword argument 'no_such_setting'; "
    ):
        leaf(no_such_setting=1)


def test_a_misspelled_setting_is_told_the_right_one() -> None:
    with pytest.raises(KeywordError, match="did you mean 'tau_scale'"):
        bg.PartialPooling(tau_scal=1.0)  # type: ignore[call-arg]


def test_a_list_of_reports_is_compared(counts: xr.Dataset, report: xr.DataTree) -> None:
    alone = bg.estimate(counts, bg.NoPooling(), seed=1)
    named = bg.compare({"no_pooling": alone, "partial_pooling": report})
    xr.testing.assert_identical(bg.compare([alone, report]), named)
    xr.testing.assert_identical(bg.compare(each for each in (alone, report)), named)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        (lambda report: [report, report], r"2 of the reports are of the estimator 'partial_pooling'; give them names"),
        (lambda report: report, r"compare\(\) takes several reports and got one alone"),
        (lambda report: [], r"compare\(\) got no report"),
        (lambda report: 3, r"reports must be given by name.*got int"),
    ],
)  # fmt: skip
def test_reports_without_names(reports: Callable[[xr.DataTree], Any], message: str, report: xr.DataTree) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.compare(reports(report))


def test_reports_that_share_some_metrics(report: xr.DataTree) -> None:
    second = bg.estimate(tallied(by=["sex", "race"], metrics=["fnr", "tpr"]), bg.PartialPooling(), seed=1)
    reports = {"a": report, "b": second}
    with pytest.raises(
        bg.InputError, match=r"not about the same metrics: .*; they share \['fnr'\], so give metrics=\['fnr'\]"
    ):
        bg.compare(reports)
    table = bg.compare(reports, metrics=["fnr"])
    assert table["metric"].values.tolist() == ["fnr"]
    assert table["left_out"].dims == ("estimator", "metric")
    xr.testing.assert_equal(table, bg.compare(reports, metrics="fnr"))
    np.testing.assert_array_equal(table["shift"], 0.0)  # a metric has the same draws in any company
    with pytest.raises(bg.InputError, match=r"report 'b' has no metric 'acc' of metrics="):
        bg.compare(reports, metrics=["acc"])
    with pytest.raises(bg.InputError, match=r"metrics= must name at least one metric, and each once; got \[\]"):
        bg.compare(reports, metrics=[])


@pytest.mark.parametrize("of", [lambda counts, report: counts, lambda counts, report: report])
def test_a_standard_in_percent(of: Callable[..., Any], counts: xr.Dataset, report: xr.DataTree) -> None:
    source = of(counts, report).sel(metric=["acc"])
    with pytest.raises(
        bg.InputError,
        match=r"standards=75 is outside \[0, 1\], the range of metric 'acc'; 75 percent is standards=0\.75",
    ):
        bg.certify(source, standards=75)
    with pytest.raises(bg.InputError, match=r"standards=-1 is outside \[0, 1\].*give a value that the metric can have"):
        bg.certify(source, standards=[0.5, -1])
    assert bg.certify(source, standards=0.75)["standard"].values.tolist() == [0.75]


def test_a_standard_of_rows_to_certify_in_percent(counts: xr.Dataset) -> None:
    from bayesgroups.questions.certification import rows_to_certify

    with pytest.raises(bg.InputError, match=r"standard=80 is outside .*80 percent is standard=0\.8"):
        rows_to_certify(counts.sel(metric=["acc"]), 80)
    with pytest.raises(bg.InputError, match=r"standard=0\.8 is one standard for metrics of both directions"):
        rows_to_certify(counts, 0.8)


@pytest.mark.parametrize("standards", [0.8, [0.8]])
def test_one_standard_for_metrics_of_both_directions(standards: Any, counts: xr.Dataset, report: xr.DataTree) -> None:
    for source in (counts, report, bg.margins(counts)):
        with pytest.raises(
            bg.InputError, match=r"larger values of 'acc' are better, smaller ones of 'fnr'.*metrics=\['acc'\] alone"
        ):
            bg.certify(source, standards=standards)
    assert "reaches" in bg.certify(counts, standards=[0.2, 0.8])
    assert "reaches" in bg.certify(report.sel(metric=["acc"]), standards=0.8)


def test_standards_by_metric(counts: xr.Dataset) -> None:
    with pytest.raises(bg.InputError, match=r"must be a number or a list of numbers, which hold for every metric"):
        bg.certify(counts, standards={"acc": 0.8})  # type: ignore[arg-type]


@pytest.mark.parametrize("by", [["id"], ["age"], ["id", "age"], ["sex", "id"]])
def test_an_attribute_that_tells_rows_apart(by: list[str]) -> None:
    start = time.perf_counter()
    with pytest.raises(
        bg.InputError, match=r"attribute '(id|age)' has 8000 levels in 8000 rows, .* or, where .* give cluster='"
    ):
        bg.tally(MANY, by, ["correct"], correct="hit")
    assert time.perf_counter() - start < 20


def test_many_levels_with_rows_are_an_attribute() -> None:
    rows = MANY.assign(site=MANY["id"] % 1000)
    assert bg.tally(rows, ["site"], ["correct"], correct="hit").sizes["subgroup"] == 1000
    declared = bg.tally(MANY[:300], {"id": list(range(300))}, ["correct"], correct="hit")
    assert declared.sizes["subgroup"] == 300


def test_more_combinations_than_a_table_has() -> None:
    rows = MANY.assign(a=MANY["id"] % 1000, b=MANY["id"] % 1001, c=MANY["id"] % 7)
    with pytest.raises(
        bg.InputError, match=r"have 7007000 combinations, .* at most 1000000: 'a' has 1000, 'b' has 1001, 'c' has 7"
    ):
        bg.tally(rows, ["a", "b", "c"], ["correct"], correct="hit")


def test_margins_are_no_tally(counts: xr.Dataset, report: xr.DataTree) -> None:
    with pytest.raises(bg.SchemaError, match=r"its subgroups overlap.* as bg\.certify\(report, margins=True\)"):
        bg.estimate(bg.margins(counts), bg.PartialPooling(), seed=1)
    assert "f | (all)" in bg.certify(report, margins=True)["subgroup"].values


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda report: report, r"got a report, whose tally is report\['constant_data'\]"),
        (lambda report: ROWS, r"got DataFrame; reduce rows first, as bg\.tally\(frame"),
        (lambda report: xr.Dataset(), r"from bg\.tally\(\) or a related function; got Dataset$"),
    ],
)
def test_other_sources_that_are_no_tally(
    source: Callable[[xr.DataTree], Any], message: str, report: xr.DataTree
) -> None:
    with pytest.raises(bg.SchemaError, match=message):
        bg.estimate(source(report), bg.PartialPooling(), seed=1)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        ("partial_pooling", r"not a text: write bg\.PartialPooling\(\)"),
        ("PartialPooling()", r"not a text: write bg\.PartialPooling\(\)"),
        ("james-stein", r"not a text: write bg\.JamesStein\(\)"),
        ("crossed_effect", r"not a text: did you mean 'CrossedEffects'\?"),
        ("lasso", r"'lasso' is not one; write one such as bg\.PartialPooling\(\)"),
        (bg.PartialPooling, r"write PartialPooling\(\) with brackets"),
        (3, r"must be one such as bg\.PartialPooling\(\); got int"),
    ],
)
def test_estimators_as_text_or_class(estimator: Any, message: str, counts: xr.Dataset) -> None:
    with pytest.raises(bg.InputError, match=message):
        bg.estimate(counts, estimator, seed=1)
