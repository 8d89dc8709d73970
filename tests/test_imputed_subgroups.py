"""Subgroups without rows take no part in questions asked of subgroups, unless they are included, and answers name them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.disparities.posterior_variance import posterior_variance
from bayesgroups.errors import InputError

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
            settings = {"approach": "frequentist"} if name == "disparity" else {"part": "bootstrap"}
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
        answer = question(report)  # type: ignore[operator]
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
