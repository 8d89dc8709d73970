from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.report.view import check_order, failures, number, plain, read, usable, whole

MakeReport = Callable[..., xr.DataTree]


def test_the_first_metric_is_read_unless_another_is_named(report: xr.DataTree) -> None:
    assert read(report).metric == "fnr"
    assert read(report, "acc").metric == "acc"


def test_numbers_are_those_of_the_report(report: xr.DataTree) -> None:
    reading = read(report, "acc", level=0.8)
    table = report["estimates"].to_dataset().sel(metric="acc")
    for side in (reading.bayesian, reading.frequentist):
        own = table.sel(approach=side.approach)
        np.testing.assert_array_equal(side.estimate, own["estimate"])
        np.testing.assert_array_equal(side.lower, own["lower"].sel(level=0.8))
        np.testing.assert_array_equal(side.inner_upper, own["upper"].sel(level=0.5))


def test_remarks_say_what_is_special(report: xr.DataTree) -> None:
    assert read(report).remarks()[:4] == ["no rows; imputed (Bayesian)", "one row", "all rows agree", ""]


def test_orders(report: xr.DataTree) -> None:
    reading = read(report)
    assert reading.order("tally").tolist() == [0, 1, 2, 3, 4, 5]
    assert np.all(np.diff(reading.count[reading.order("size")]) <= 0)
    assert np.all(np.diff(reading.bayesian.estimate[reading.order("estimate")]) <= 0)
    with pytest.raises(InputError, match="order 'rows' is not one of 'tally', 'size', 'estimate'"):
        check_order("rows")


def test_inside_needs_an_interval_and_a_truth(report: xr.DataTree, truth: xr.DataArray) -> None:
    reading = read(report, truth=truth)
    assert not reading.inside(reading.frequentist)[0]
    assert reading.inside(reading.bayesian)[0]
    blank = read(report)
    assert not blank.inside(blank.bayesian).any()


def test_a_truth_is_matched_by_label(report: xr.DataTree, truth: xr.DataArray) -> None:
    shuffled = truth.assign_coords(subgroup=truth["subgroup"]).isel(subgroup=[4, 2, 0])
    shuffled = shuffled.copy(data=np.array([[0.4, 0.2, 0.0]] * 2))
    found = read(report, truth=shuffled).truth
    assert found is not None
    np.testing.assert_array_equal(found, [0.0, np.nan, 0.2, np.nan, 0.4, np.nan])
    assert read(report, truth=truth.sel(metric=["acc"])).truth is None
    assert read(report, truth=truth.sel(metric="fnr", drop=True)).truth is not None


def test_the_overall_value_without_a_posterior_is_that_of_all_rows(report: xr.DataTree) -> None:
    assert read(report).overall_is == "centre of the subgroups (posterior mean)"
    bare = report.copy()
    del bare["posterior"]
    facts = report["constant_data"].to_dataset().sel(metric="fnr")
    reading = read(bare)
    assert reading.overall_is == "all rows"
    assert reading.overall == pytest.approx(float(facts["successes"].sum() / facts["count"].sum()))


def test_verdicts(make_report: MakeReport) -> None:
    assert usable(make_report())
    assert failures(make_report()) == []
    broken = make_report(usable=False)
    assert not usable(broken)
    assert failures(broken)[0].startswith("fnr: the posterior mass at the edge of the grid is 0.4")


def test_decimals_follow_the_scale(make_report: MakeReport) -> None:
    assert read(make_report()).decimals() == 3
    table = pd.DataFrame({"site": ["a", "b", "c", "d"]})
    for scale, decimals in ((1e6, 0), (10.0, 1), (1e-4, 6), (1e-30, 12)):
        values = scale * np.array([1.0, 2.0, 3.0, 4.0])
        tally = bg.tally_from_estimates(values, (0.1 * scale) ** 2 * np.ones(4), table)
        report = make_report(bg.tally_from_counts([1, 2, 3, 4], [9, 9, 9, 9], table))
        estimates = report["estimates"].to_dataset()
        for name in ("estimate", "lower", "upper"):
            estimates[name] = xr.full_like(estimates[name], 4 * scale)
        report["estimates"] = xr.DataTree(estimates)
        report["constant_data"] = xr.DataTree(tally.assign_coords(metric=["rate"]))
        assert read(report).decimals() == decimals


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a | b", "a | b"),
        ("日本語 é", "日本語 é"),
        ("می‌خواهم", "می‌خواهم"),
        ("a\x00\x1b[2J\r\n", r"a\x00\x1b[2J\x0d\x0a"),
        ("\u202eevil", r"\x202eevil"),
        ("\ud800", r"\xd800"),
    ],
)
def test_labels_are_made_plain(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_numbers_have_no_negative_zero_and_no_nan() -> None:
    assert [number(-0.0001), number(float("nan")), number(1e300), whole(3.25), whole(1e15)] == [
        "0.000", "", "1e+300", "3.2", "1000000000000000",
    ]  # fmt: skip


def test_bad_requests_are_refused(report: xr.DataTree, truth: xr.DataArray) -> None:
    with pytest.raises(InputError, match="the report has no metric 'fnrr'; did you mean 'fnr'"):
        read(report, "fnrr")
    with pytest.raises(InputError, match=r"level 0\.7 is not in a report; choose one of 0\.5, 0\.8, 0\.9, 0\.95"):
        read(report, level=0.7)
    with pytest.raises(InputError, match=r"truth must be an xarray\.DataArray with dim 'subgroup'"):
        read(report, truth=xr.DataArray([1.0], dims="site"))
    with pytest.raises(InputError, match="truth must have dims 'metric' and 'subgroup' alone"):
        read(report, truth=truth.expand_dims(draw=2))
    with pytest.raises(InputError, match="truth knows none of the subgroups of the report; it has"):
        read(report, truth=truth.assign_coords(subgroup=list("abcdef")))
    with pytest.raises(SchemaError, match="expected a report"):
        read("report")  # type: ignore[arg-type]
