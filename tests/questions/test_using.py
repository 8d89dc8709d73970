"""One word for where numbers come from, `using`, in every public function, and the former words with a warning."""

from __future__ import annotations

import inspect
import pickle
import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.forwarding import RENAMED_KEYWORDS, present_keywords, renamed_keyword
from bayesgroups.questions.disparities.class_scores import class_scores
from bayesgroups.questions.disparities.posterior_variance import posterior_variance
from bayesgroups.questions.tradeoffs import points_from_reports
from bayesgroups.questions.values import Using, approach_shown, open_source
from bayesgroups.views.tables import comparison_summary, comparison_table
from tests.public_surface import ROOT

MODULES = (
    "interop", "questions.certification", "questions.curves", "questions.priors", "questions.tradeoffs", "views.plots",
    "views.tables",
)  # fmt: skip
FORMER = {"approach", "part", "side"}
SITES = ["a", "b", "c", "empty"]


def public_functions() -> dict[str, Callable[..., Any]]:
    """Functions of the package, of the reference, and of modules with public names."""
    listed = re.findall(
        r"^   ([a-z_]+(?:\.[A-Za-z_]+)*)$", (ROOT / "docs" / "reference" / "index.md").read_text(), re.MULTILINE
    )
    names = {*bg.__all__, *listed}
    for module in MODULES:
        names |= {
            f"{module}.{name}" for name in dir(import_module(f"bayesgroups.{module}")) if not name.startswith("_")
        }
    functions: dict[str, Callable[..., Any]] = {}
    for name in sorted(names):
        room, _, last = name.rpartition(".")
        try:
            value = getattr(import_module(f"bayesgroups.{room}" if room else "bayesgroups"), last)
        except ModuleNotFoundError:  # a method of a class of the reference
            continue
        if inspect.isfunction(value) and value.__module__.startswith("bayesgroups"):
            functions[name] = value
    return functions


FUNCTIONS = public_functions()


def tally() -> xr.Dataset:
    hits, trials = [900, 890, 880, 0], [1000, 1000, 1000, 0]
    counts = {"acc": hits, "tpr[x]": [440, 430, 450, 0]}, {"acc": trials, "tpr[x]": [500, 500, 500, 0]}
    return bg.tally_from_counts(*counts, pd.DataFrame({"site": SITES}))


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    return bg.estimate(tally(), bg.NoPooling(bootstrap=100), seed=1)


def lowest(values: xr.DataArray) -> xr.DataArray:
    return values.sel(metric="acc").min("subgroup")


def points(source: xr.DataTree, **settings: Any) -> xr.Dataset:
    return points_from_reports({"system": source}, lowest, **settings)


QUESTIONS: dict[str, Callable[..., xr.Dataset | xr.DataArray]] = {
    "certify": bg.certify, "ranks": bg.ranks, "simultaneous_intervals": bg.simultaneous_intervals,
    "discoveries": bg.discoveries, "fairness_definitions": bg.fairness_definitions, "disparity": bg.disparity,
    "class_scores": class_scores,
}  # fmt: skip
DRAWN = {**QUESTIONS, "points_from_reports": points}
SHOWN: dict[str, Callable[..., Any]] = {
    "plots.heat_map": lambda source, **settings: bg.plots.heat_map(source, "site", "sex", **settings).get_title(
        loc="left"
    ),
    "plots.shrinkage": lambda source, **settings: bg.plots.shrinkage(source, **settings).get_ylabel(),
    "comparison_table": lambda source, **settings: str(
        comparison_table(bg.compare({"one": source}), "acc", **settings).title
    ),
    "comparison_summary": lambda source, **settings: str(
        comparison_summary(bg.compare({"one": source}), **settings).title
    ),
}


@pytest.fixture(scope="module")
def crossed() -> xr.DataTree:
    who = pd.DataFrame({"site": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
    return bg.estimate(bg.tally_from_counts([9, 8, 7, 6], [10] * 4, who, metric="acc"), bg.PartialPooling(), seed=1)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_come_from_one_parameter_under_one_name(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    first = next(iter(parameters.values()), None)
    if first is not None and {"xr.Dataset", "xr.DataTree"} <= set(str(first.annotation).split(" | ")):
        assert first.name == "source"
    assert not FORMER & set(parameters)
    if "using" in parameters:
        using = parameters["using"]
        assert (using.annotation, using.default, using.kind) == ("Using", "auto", inspect.Parameter.KEYWORD_ONLY)
        function = inspect.unwrap(FUNCTIONS[name])
        assert function.__globals__["Using"] is Using


def test_the_four_places_and_the_functions_that_choose() -> None:
    assert get_args(Using) == ("auto", "tally", "posterior", "bootstrap")
    choosing = {name.rpartition(".")[2] for name, f in FUNCTIONS.items() if "using" in inspect.signature(f).parameters}
    assert choosing == {
        *DRAWN, "contrasts", "impact_ratios", "heat_map", "shrinkage", "metric_frame", "comparison_table", "comparison_summary",
        "maihda", "maihda_table",
    }  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_auto_is_the_posterior_of_a_report_and_the_tally_alone(name: str, report: xr.DataTree) -> None:
    ask = QUESTIONS[name]
    xr.testing.assert_identical(ask(report), ask(report, using="posterior"))
    xr.testing.assert_identical(ask(tally()), ask(tally(), using="tally"))
    said = ask(report, using="tally")
    xr.testing.assert_identical(said, ask(tally()))  # the tally in the report
    if "using" in said.attrs:
        assert [ask(report, using=origin).attrs["using"] for origin in get_args(Using)] == [
            "posterior", "tally", "posterior", "bootstrap",
        ]  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_places_that_do_not_exist_or_have_nothing(name: str, report: xr.DataTree) -> None:
    ask = DRAWN[name]
    with pytest.raises(InputError, match="using='draws' is not one of 'auto', 'tally', 'posterior', 'bootstrap'"):
        ask(report, using="draws")
    without = bg.estimate(tally(), bg.NoPooling(), seed=1)
    with pytest.raises(InputError, match=r"no group 'bootstrap', which using='bootstrap' needs; bg.NoPooling\("):
        ask(without, using="bootstrap")
    del without["posterior"]
    with pytest.raises(InputError, match="no group 'posterior', which using='posterior' needs; save the report with"):
        ask(without)
    if name == "points_from_reports":
        with pytest.raises(InputError, match="using='tally' gives no draws, which candidates need"):
            ask(report, using="tally")
        return
    for using in ("posterior", "bootstrap"):
        with pytest.raises(InputError, match=rf"using='{using}' needs a report from bg.estimate\(\); a tally has no"):
            ask(tally(), using=using)
    with pytest.raises(SchemaError, match="expected a tally or a report of bayesgroups; got str"):
        ask("report.nc")


def test_a_posterior_of_the_variance_is_of_a_report() -> None:
    with pytest.raises(InputError, match="using='posterior' needs a report"):
        posterior_variance(tally())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SHOWN)
def test_estimates_that_are_shown(name: str, crossed: xr.DataTree) -> None:
    show = SHOWN[name]
    assert show(crossed) == show(crossed, using="posterior")
    assert "bayesian" in show(crossed).lower()
    assert "frequentist" in show(crossed, using="tally").lower()
    with pytest.raises(InputError, match="using='bootstrap' has no estimates of its own to show.* give using='tally'"):
        show(crossed, using="bootstrap")
    with pytest.warns(DeprecationWarning, match=r"\(approach='frequentist'\) is \w+\(using='tally'\) now"):
        assert show(crossed, approach="frequentist") == show(crossed, using="tally")
    with pytest.warns(DeprecationWarning, match=r"\(approach='bayesian'\) is \w+\(using='auto'\) now"):
        assert show(crossed, approach="bayesian") == show(crossed)


@pytest.mark.parametrize("name", DRAWN)
def test_former_keywords_give_the_same_answer_with_a_warning(name: str, report: xr.DataTree) -> None:
    ask, function = DRAWN[name], QUESTIONS.get(name, points_from_reports)
    former = RENAMED_KEYWORDS[function]
    pairs = former.values or {"tally": "tally", "posterior": "posterior", "bootstrap": "bootstrap"}
    for before, now in pairs.items():
        with pytest.warns(
            DeprecationWarning, match=rf"^{name}\({former.former}='{before}'\) is {name}\(using='{now}'\) now$"
        ):
            answer = ask(report, **{former.former: before})
        xr.testing.assert_identical(answer, ask(report, using=now))
    with pytest.raises(InputError, match=rf"{name}\(\) got {former.former}= and using=; give using= alone"):
        ask(report, **{former.former: "tally", "using": "tally"})


def test_every_renamed_keyword_leads_to_using() -> None:
    functions = set(map(inspect.unwrap, FUNCTIONS.values()))
    for function, renamed in RENAMED_KEYWORDS.items():
        assert renamed.present == "using"
        assert renamed.former in FORMER
        assert inspect.unwrap(function) in functions  # type: ignore[arg-type]


def test_a_function_with_a_renamed_keyword_is_one_of_its_module() -> None:
    assert bg.certify.__globals__ is vars(sys.modules[bg.certify.__module__])  # by which its examples are found
    assert pickle.loads(pickle.dumps(bg.certify)) is bg.certify
    unknown: dict[str, Any] = {"parts": "tally"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'parts'"):
        bg.certify(tally(), **unknown)


def test_values_that_keep_their_names_and_functions_without_former_keywords() -> None:
    @renamed_keyword("many", "number")
    def double(number: object) -> tuple[object, object]:
        return number, number

    with pytest.warns(DeprecationWarning, match=r"^double\(many=\[1\]\) is double\(number=\[1\]\) now$"):
        assert double(many=[1]) == ([1], [1])  # type: ignore[call-arg]
    assert present_keywords(len, {"part": "tally"}) == {"part": "tally"}


def test_draws_of_a_subgroup_that_nobody_drew_for(report: xr.DataTree) -> None:
    silent = report.copy(deep=True)
    mu = silent["posterior"].to_dataset()
    mu["mu"] = mu["mu"].where(mu["subgroup"] != "b")
    silent["posterior"] = xr.DataTree(mu)
    left, kept = (open_source(silent).read(0, unanswered=how) for how in ("leave_out", "keep"))
    assert left.included.tolist() == [True, False, True, False]
    assert left.left_out == "b (no draws); empty (no rows)"
    assert left.complete.all()
    assert kept.included.tolist() == [True, True, True, False]
    assert not kept.complete.any()
    assert kept.by_draw(lambda y: y.max(axis=1)).tolist() == []


def test_values_of_a_tally_are_one_draw() -> None:
    values = open_source(tally()).read(0)
    assert values.draws is None
    assert values.by_draw(lambda y: np.ptp(y, axis=1)).tolist() == pytest.approx([0.02])
    assert (values.metric, values.kind, values.range, values.sign) == ("acc", "rate", (0.0, 1.0), 1)
    assert open_source(tally(), larger_is_better=False).read(0).sign == -1


def test_what_is_shown_has_two_sides() -> None:
    assert [approach_shown(using) for using in ("auto", "posterior", "tally")] == ["bayesian"] * 2 + ["frequentist"]


@pytest.mark.parametrize(
    "question",
    [bg.certify, bg.ranks, bg.discoveries, bg.simultaneous_intervals, bg.contrasts, bg.disparity, bg.impact_ratios,
     bg.fairness_definitions, bg.prior_sensitivity, bg.loo, posterior_variance],
)  # fmt: skip
@pytest.mark.parametrize("usable", [True, False])
def test_answers_say_whether_their_report_is_usable(
    question: Callable[..., xr.Dataset], usable: bool, make_report: Callable[..., xr.DataTree]
) -> None:
    assert set(question(make_report(usable=usable))["usable"].values.ravel().tolist()) == {int(usable)}
