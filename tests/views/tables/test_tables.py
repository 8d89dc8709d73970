from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
from rich.console import Console
from rich.table import Table

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.views.tables import (
    comparison_summary,
    comparison_table,
    report_frame,
    report_table,
    tally_table,
    truth_table,
)
from bayesgroups.views.tables.layout import Footnotes

MakeReport = Callable[..., xr.DataTree]
MakeTally = Callable[..., xr.Dataset]


def shown(table: Table, width: int = 110) -> str:
    """The table as it comes out in a terminal of so many columns."""
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_table_of_a_fit_that_failed_says_so(report: xr.DataTree) -> None:
    failed = report.copy()
    failed.attrs["usable"] = 0
    told = "NOT usable: the Bayesian fit failed its diagnostics"
    assert told in " ".join(shown(report_table(failed)).split())
    assert report_frame(failed)["remark"].str.endswith(told).all()
    assert not report_frame(report)["remark"].str.contains("NOT usable").any()


def test_a_report_shows_both_approaches(report: xr.DataTree) -> None:
    text = shown(report_table(report))
    assert "Bayesian" in text
    assert "95% credible" in text
    assert "Frequentist" in text
    assert "95% confidence" in text
    estimates = report["estimates"].to_dataset().sel(metric="fnr", subgroup="Asian | Male", level=0.95)
    for approach in ("bayesian", "frequentist"):
        one = estimates.sel(approach=approach)
        expected = f"{float(one['estimate']):.3f} [{float(one['lower']):.3f}, {float(one['upper']):.3f}]"
        assert expected in text


def test_statuses_become_footnotes(report: xr.DataTree) -> None:
    text = shown(report_table(report))
    assert "undefined" in text
    assert "a no rows; imputed (Bayesian)" in text
    assert "b one row" in text
    assert "c all rows agree" in text


def test_intervals_that_miss_the_truth_get_a_star(report: xr.DataTree, truth: xr.DataArray) -> None:
    text = shown(report_table(report, "acc", truth=xr.zeros_like(truth)))
    assert "]*" in text
    assert "* misses the truth" in text
    assert "*" not in shown(report_table(report, "acc"))


def test_a_terminal_of_80_columns_holds_the_table(report: xr.DataTree, truth: xr.DataArray) -> None:
    text = shown(report_table(report, truth=truth, decimals=2), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert "African American | Female" in text


def test_a_narrow_terminal_folds_and_loses_nothing(report: xr.DataTree) -> None:
    text = shown(report_table(report, decimals=2), width=50)
    assert max(map(len, text.splitlines())) <= 50
    assert "…" not in text


def test_labels_are_no_markup(make_report: MakeReport, make_tally: MakeTally) -> None:
    tally = make_tally({"group": ["[red]x[/red]", "a", "\x1b[31mb", "c"]})
    text = shown(report_table(make_report(tally)))
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "[red]x[/red]" in shown(tally_table(tally, "fnr"))


def test_a_limit_shows_the_largest(report: xr.DataTree) -> None:
    text = shown(report_table(report, limit=2))
    assert "2 of 6 subgroups are shown, those with the largest n" in text
    counts = report["constant_data"].to_dataset()["count"].sel(metric="fnr")
    assert str(counts["subgroup"].values[int(np.argmax(counts.values))]) in text
    assert report_table(report, limit=6).row_count == 6
    with pytest.raises(InputError, match="limit must be 0 or larger, or None for all subgroups; got -1"):
        report_table(report, limit=-1)


def test_a_report_table_refuses(report: xr.DataTree) -> None:
    with pytest.raises(InputError, match="no metric 'auc'"):
        report_table(report, "auc")
    with pytest.raises(InputError, match=r"level 0\.99 is not in a report"):
        report_table(report, level=0.99)
    with pytest.raises(InputError, match="order 'random' is not one of"):
        report_table(report, order="random")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="expected a report"):
        report_table(xr.Dataset())  # type: ignore[arg-type]


def test_a_frame_has_a_row_per_metric_and_subgroup(report: xr.DataTree, truth: xr.DataArray) -> None:
    frame = report_frame(report, level=0.8, truth=truth)
    assert len(frame) == 12
    assert list(frame.columns[:6]) == ["metric", "subgroup", "race", "sex", "level", "count"]
    estimates = report["estimates"].to_dataset()
    row = frame[(frame["metric"] == "acc") & (frame["subgroup"] == "Asian | Male")].iloc[0]
    one = estimates.sel(metric="acc", subgroup="Asian | Male", level=0.8, approach="bayesian")
    assert row["bayesian_lower"] == float(one["lower"])
    assert row["frequentist_covers"] == (row["frequentist_lower"] <= 0.4 <= row["frequentist_upper"])
    assert frame["bayesian_status"].tolist()[0] == "imputed"
    assert "truth" not in report_frame(report).columns


def test_a_tally_table(make_tally: MakeTally) -> None:
    tally = make_tally()
    text = shown(tally_table(tally, "acc", limit=3))
    assert "std. error" in text
    assert "3 of 6 subgroups are shown" in text
    with pytest.raises(InputError, match="the tally has no metric 'accc'; did you mean 'acc'"):
        tally_table(tally, "accc")


def test_comparisons(report: xr.DataTree) -> None:
    both = bg.compare({"one": report, "[b]two[/b]": report})
    text = shown(comparison_table(both, "acc"))
    assert "[b]two[/b]" in text
    assert "acc: superpopulation rate per subgroup; 95% credible" in text
    summary = comparison_summary(both)
    assert summary.row_count == 4
    assert "1.000" in shown(summary)
    assert "partial pooling" in shown(summary)
    with pytest.raises(InputError, match="the reports have no metric 'auc'"):
        comparison_table(both, "auc")
    with pytest.raises(InputError, match="using='both' is not one of 'auto', 'tally', 'posterior'"):
        comparison_table(both, "acc", using="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"level 0\.7 is not in a report"):
        comparison_summary(both, level=0.7)


def test_against_the_truth(report: xr.DataTree, truth: xr.DataArray) -> None:
    table = truth_table({"one": report}, truth)
    assert table.row_count == 4
    estimates = report["estimates"].to_dataset().sel(metric="acc", approach="bayesian")
    error = float(np.abs(estimates["estimate"] - 0.4).mean())
    assert f"{error:.3f}" in shown(table)
    with pytest.raises(InputError, match="the truth lacks the metric 'fnr'"):
        truth_table({"one": report}, truth.sel(metric=["acc"]))
    with pytest.raises(InputError, match=r"truth_table\(\) got no report"):
        truth_table({}, truth)


def test_footnotes_go_on_after_z() -> None:
    notes = Footnotes()
    marks = [notes.mark(f"remark {i}").plain for i in range(28)]
    assert marks[:2] == ["a", "b"]
    assert marks[-1] == "27"
    assert notes.mark("remark 1").plain == "b"
    assert notes.mark("").plain == ""
