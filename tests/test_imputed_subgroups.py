"""Subgroups without rows take no part in questions asked of subgroups, unless they are included, and answers name them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist.bounds import credible_sets
from bayesgroups.questions.certification import (
    minimum_detectable_gap,
    probability_of_finding_worst,
    rows_to_certify,
    rows_to_narrow,
)
from bayesgroups.questions.disparities.posterior_variance import posterior_variance
from bayesgroups.questions.tradeoffs import points_from_reports

LABELS = ["a", "b", "c", "empty"]
Question = Callable[..., xr.Dataset]
QUESTIONS: dict[str, Question] = {
    "certify": bg.certify,
    "ranks": bg.ranks,
    "simultaneous_intervals": bg.simultaneous_intervals,
    "discoveries": bg.discoveries,
    "fairness_definitions": bg.fairness_definitions,
    "disparity": bg.disparity,
    "posterior_variance": posterior_variance,
}
OF_TALLIES = sorted(set(QUESTIONS) - {"posterior_variance"})


def tally_of(*, empty: bool = True) -> xr.Dataset:
    many = 4 if empty else 3
    who = pd.DataFrame({"site": LABELS[:many]})
    return bg.tally_from_counts([900, 890, 880, 0][:many], [1000, 1000, 1000, 0][:many], who, metric="acc")


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    """Three subgroups that are alike and large, and one without rows, which a flat prior answers for."""
    return bg.estimate(tally_of(), bg.NoPooling(), seed=1)


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_those_of_the_subgroups_with_rows(name: str, report: xr.DataTree) -> None:
    """The same numbers as if the draws of the empty subgroup were not there."""
    without = report.copy(deep=True)
    for group in report.children:
        data = without[group].to_dataset()
        without[group] = data.sel(subgroup=LABELS[:3]) if "subgroup" in data.dims else data
    expected, answer = QUESTIONS[name](without), QUESTIONS[name](report)
    if "subgroup" in answer.dims:
        answer = answer.sel(subgroup=LABELS[:3])
    varied = [str(key) for key in expected.data_vars if key != "left_out"]
    xr.testing.assert_allclose(answer[varied], expected[varied])
    assert answer["left_out"].values.tolist() == ["empty (no rows)"]
    assert answer.attrs["imputed"] == "leave_out"


@pytest.mark.parametrize("name", QUESTIONS)
def test_included_subgroups_take_part(name: str, report: xr.DataTree) -> None:
    left, included = QUESTIONS[name](report), QUESTIONS[name](report, imputed="include")
    assert included["left_out"].values.tolist() == [""]
    counted = "groups" if "groups" in left else "subgroups" if "subgroups" in left else None
    if counted is not None:
        assert (int(left[counted][0]), int(included[counted][0])) == (3, 4)
    numbers = [key for key, values in left.data_vars.items() if values.dtype.kind == "f"]
    assert any(not np.array_equal(left[key].values, included[key].values, equal_nan=True) for key in numbers)


@pytest.mark.parametrize("name", OF_TALLIES)
def test_a_tally_has_no_answer_to_include(name: str) -> None:
    for source in (tally_of(), bg.estimate(tally_of(), bg.NoPooling(bootstrap=50), seed=1)):
        settings: dict[str, str] = {}
        if isinstance(source, xr.DataTree):  # replicates of a subgroup without rows have no value either
            settings = {"using": "bootstrap"}
        left, included = (QUESTIONS[name](source, imputed=word, **settings) for word in ("leave_out", "include"))
        xr.testing.assert_identical(left.drop_attrs(), included.drop_attrs())
        assert included["left_out"].values.tolist() == ["empty (no rows)"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_other_treatments_are_refused(name: str, report: xr.DataTree) -> None:
    with pytest.raises(InputError, match="imputed='drop' is not one of 'leave_out', 'include'"):
        QUESTIONS[name](report, imputed="drop")


def test_no_certificate_is_empty_because_of_a_subgroup_without_rows(report: xr.DataTree) -> None:
    """A flat prior puts the empty subgroup anywhere, so that every subgroup would reach next to nothing."""
    certified, vacuous = (bg.certify(report, imputed=word).isel(metric=0) for word in ("leave_out", "include"))
    assert float(certified["pessimist"]) > 0.85
    assert float(vacuous["pessimist"]) < 0.05
    assert certified["worst_subgroup"] == "c"
    assert vacuous["worst_subgroup"] == "empty"
    empty = certified.sel(subgroup="empty")
    assert int(empty["included"]) == 0
    assert str(empty["status"].values) == "imputed"
    assert np.isnan([float(empty[name]) for name in ("estimate", "lower", "upper", "probability_worst")]).all()


def test_the_worst_subgroup_has_rows(report: xr.DataTree) -> None:
    worst = bg.ranks(report)["probability_worst"].isel(metric=0)
    assert np.isnan(float(worst.sel(subgroup="empty")))
    assert float(worst.sum()) == pytest.approx(1.0, abs=1e-12)
    assert str(bg.ranks(report, imputed="include")["probability_worst"].isel(metric=0).idxmax().values) == "empty"


def test_a_subgroup_with_rows_and_an_empty_denominator_is_left_out_of_that_metric_alone() -> None:
    rows = pd.DataFrame({"sex": list("ff" * 20 + "mm" * 20 + "xx"), "y": [1, 0] * 40 + [0, 0]})
    rows["d"] = [1, 0, 1, 1] * 20 + [0, 1]
    report = bg.estimate(bg.tally(rows, ["sex"], ["tpr", "acc"], y_true="y", y_pred="d"), bg.NoPooling(), seed=1)
    for question in (bg.certify, bg.ranks, bg.disparity):
        answer = question(report)
        assert answer["left_out"].sel(metric=["tpr", "acc"]).values.tolist() == ["x (no positives)", ""]


def test_margins_have_the_rows_of_their_intersections() -> None:
    who = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
    tally = bg.tally_from_counts([80, 70, 0, 45, 0, 0], [100, 100, 0, 50, 0, 0], who, metric="acc")
    report = bg.estimate(tally, bg.NoPooling(), seed=1)
    for imputed, number in (("leave_out", 3 + 4), ("include", 6 + 4)):
        answer = bg.certify(report, margins=True, imputed=imputed).isel(metric=0)  # type: ignore[arg-type]
        # Intersections may be imputed. The margin of race c has no rows to weigh its intersections by, and never takes part.
        assert int(answer["included"].sel(subgroup="c | (all)")) == 0
        assert "c | (all) (no rows)" in str(answer["left_out"].values)
        assert int(answer["included"].sel(subgroup="b | (all)")) == 1
        assert int(answer["included"].sel(subgroup="b | f")) == int(imputed == "include")
        assert int(answer["groups"]) == number


def test_published_estimates_weigh_by_variance_and_imputed_ones_by_nothing() -> None:
    who = pd.DataFrame({"site": ["a", "b", "none"]})
    tally = bg.tally_from_estimates([0.2, 0.4, np.nan], [0.001, 0.001, np.nan], who)
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    answer = bg.discoveries(report, imputed="include").isel(metric=0)
    estimates = report["estimates"].to_dataset()["estimate"].sel(approach="bayesian").isel(metric=0)
    everyone = float(estimates.sel(subgroup=["a", "b"]).mean())
    assert float(answer["gap"].sel(subgroup="none")) == pytest.approx(float(estimates.sel(subgroup="none")) - everyone)
    assert np.isfinite(bg.fairness_definitions(report, imputed="include")["value"].values).all()


def test_rates_known_within_bounds_alone_have_no_shares_to_weigh_by() -> None:
    said, disagrees = [*"abc" * 20], ([0] * 4 + [1]) * 12
    rows = pd.DataFrame({"sex": ["f", "m"] * 30, "said": said, "disagrees": disagrees})
    tally = bg.disagreement_tally(rows, ["sex"], "said", "disagrees")
    report = bg.estimate(tally, bg.DisagreementModel(), seed=1)
    bounded = [str(name) for name in tally["metric"].values[~np.isfinite(tally["estimate"].values).any(axis=1)]]
    answer = bg.discoveries(report, imputed="include").sel(metric=bounded)
    assert bounded
    assert np.isnan(answer["gap"].values).all()
    assert np.isnan(answer["probability"].values).all()
    fixed = bg.discoveries(report, reference=0.5, imputed="include").sel(metric=bounded)
    assert np.isfinite(fixed["probability"].values).all()


def test_the_prior_matters_to_the_worst_subgroup_that_has_rows(report: xr.DataTree) -> None:
    left, included = (bg.prior_sensitivity(report, imputed=word).isel(metric=0) for word in ("leave_out", "include"))
    assert left["left_out"] == "empty (no rows)"
    assert included["left_out"] == ""
    draws = report["posterior"].to_dataset()["mu"].isel(metric=0)
    for answer, labels in ((left, LABELS[:3]), (included, LABELS)):
        of_these = draws.sel(subgroup=labels)
        gap = (of_these.max("subgroup") - of_these.min("subgroup")).mean()
        worst = of_these.min("subgroup").mean()
        for quantity, value in (("gap", gap), ("worst", worst)):
            assert float(answer["quantity_mean"].sel(quantity=quantity)) == pytest.approx(float(value), rel=1e-12)
    with pytest.raises(InputError, match="imputed='drop'"):
        bg.prior_sensitivity(report, imputed="drop")  # type: ignore[arg-type]


def test_means_of_a_comparison_are_about_subgroups_with_rows(report: xr.DataTree) -> None:
    pooled = bg.estimate(tally_of(), bg.PartialPooling(), seed=1)
    table, everyone = (
        bg.compare({"alone": report, "pooled": pooled}, imputed=word) for word in ("leave_out", "include")
    )
    assert table["left_out"].values.tolist() == [["empty (no rows)"]] * 2
    included = table["included"].sel(metric="acc", approach="bayesian")
    assert included.transpose("estimator", "subgroup").values.tolist() == [[True, True, True, False]] * 2
    assert bool(everyone["included"].sel(approach="bayesian").all())
    # The frequentist side of independent subgroups has no answer to include.
    assert not bool(everyone["included"].sel(approach="frequentist", estimator="alone", subgroup="empty").any())
    with pytest.raises(InputError, match="imputed='drop'"):
        bg.compare({"alone": report}, imputed="drop")  # type: ignore[arg-type]


def test_candidates_are_judged_by_subgroups_with_rows(report: xr.DataTree) -> None:
    def lowest(values: xr.DataArray) -> xr.DataArray:
        return values.sel(metric="acc").min("subgroup", skipna=False)

    left, included = (
        points_from_reports({"system": report}, lowest, imputed=word) for word in ("leave_out", "include")
    )
    assert left["left_out"].values.tolist() == ["acc: empty (no rows)"]
    assert included["left_out"].values.tolist() == [""]
    assert float(left["fairness"].mean()) > 0.85
    assert float(included["fairness"].mean()) < 0.6
    xr.testing.assert_allclose(left["performance"], included["performance"])
    with pytest.raises(InputError, match="imputed='drop'"):
        points_from_reports({"system": report}, lowest, imputed="drop")  # type: ignore[arg-type]


def test_a_candidate_is_nan_where_a_subgroup_has_none_in_the_denominator() -> None:
    rows = pd.DataFrame({"sex": list("ff" * 20 + "mm" * 20 + "xx"), "y": [1, 0] * 40 + [0, 0]})
    rows["d"] = [1, 0, 1, 1] * 20 + [0, 1]
    report = bg.estimate(bg.tally(rows, ["sex"], ["tpr", "acc"], y_true="y", y_pred="d"), bg.NoPooling(), seed=1)
    seen = {}

    def fairness(values: xr.DataArray) -> xr.DataArray:
        seen["nan"] = xr.apply_ufunc(np.isnan, values).all(("chain", "draw"))
        return values.sel(metric="acc").min("subgroup")

    points = points_from_reports({"system": report}, fairness)
    assert points["left_out"].values.tolist() == ["tpr: x (no positives)"]
    assert seen["nan"].sel(metric=["tpr", "acc"]).transpose("metric", "subgroup").values.tolist() == [
        [False, False, True],
        [False, False, False],
    ]


def test_a_subgroup_without_judgements_makes_no_difference() -> None:
    said, disagrees = [*"abc" * 40], ([0] * 4 + [1]) * 24
    rows = pd.DataFrame({"sex": ["f", "m"] * 60, "said": said, "disagrees": disagrees})
    rows["sex"] = pd.Categorical(rows["sex"], categories=["f", "m", "x"])
    tally = bg.disagreement_tally(rows, ["sex"], "said", "disagrees")
    without = bg.disagreement_tally(rows.astype({"sex": str}), ["sex"], "said", "disagrees")
    known = bg.disagreement_bounds(tally, "equal_opportunity", across="subgroups")
    assert known["left_out"].values.tolist() == ["x (nothing to judge by)"] * 3
    ask = {"seed": 1, "across": "subgroups", "draws": 2000}
    left, included = (
        credible_sets(tally, "equal_opportunity", imputed=word, **ask)  # type: ignore[arg-type]
        for word in ("leave_out", "include")
    )
    alone = credible_sets(without, "equal_opportunity", **ask)  # type: ignore[arg-type]
    assert left["left_out"].values.tolist() == known["left_out"].values.tolist()
    assert included["left_out"].values.tolist() == [""] * 3
    assert float(left["upper"]) == pytest.approx(float(alone["upper"]), abs=0.02)
    assert float(included["upper"]) > float(left["upper"]) + 0.02
    with pytest.raises(InputError, match="imputed='drop'"):
        credible_sets(tally, "equal_opportunity", imputed="drop", **ask)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question",
    [
        lambda tally: rows_to_certify(tally, 0.8),
        rows_to_narrow,
        minimum_detectable_gap,
        probability_of_finding_worst,
        bg.between_group_variance,
    ],
)
def test_questions_of_tallies_name_whom_they_leave_out(question: Question) -> None:
    assert question(tally_of())["left_out"].values.tolist() == ["empty (no rows)"]
    assert question(tally_of(empty=False))["left_out"].values.tolist() == [""]
