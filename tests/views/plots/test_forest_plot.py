from __future__ import annotations

import io
from collections.abc import Callable

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from bayesgroups.errors import InputError, SchemaError
from bayesgroups.views.plots import forest

MakeReport = Callable[..., xr.DataTree]
MakeTally = Callable[..., xr.Dataset]


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def _labels(report: xr.DataTree, **settings: str) -> list[str]:
    axes = forest(report, order=settings["order"])  # type: ignore[arg-type]
    return [label.get_text() for label in axes.get_yticklabels()]


def _texts(report: xr.DataTree) -> list[str]:
    return [text.get_text() for text in forest(report).texts]


def test_every_subgroup_has_a_row_with_its_size(report: xr.DataTree) -> None:
    assert _labels(report, order="tally") == report["estimates"].to_dataset()["subgroup"].values.tolist()
    counts = report["constant_data"].to_dataset()["count"].sel(metric="fnr").values
    assert sorted(f"{count:.0f}" for count in counts) == sorted(text for text in _texts(report) if text.isdigit())


def test_rows_are_sorted(report: xr.DataTree) -> None:
    facts = report["constant_data"].to_dataset().sel(metric="fnr")
    by_size = facts["subgroup"].values[np.argsort(-facts["count"].values, kind="stable")]
    assert _labels(report, order="size") == by_size.tolist()
    estimates = report["estimates"].to_dataset().sel(metric="fnr", approach="bayesian")
    by_estimate = estimates["subgroup"].values[np.argsort(-estimates["estimate"].values)]
    assert _labels(report, order="estimate") == by_estimate.tolist()


def test_points_and_intervals_are_those_of_the_report(report: xr.DataTree) -> None:
    axes = forest(report, metric="acc", level=0.9, order="tally")
    estimates = report["estimates"].to_dataset().sel(metric="acc", level=0.9)
    for position, approach in enumerate(("bayesian", "frequentist")):
        own = estimates.sel(approach=approach)
        known = np.isfinite(own["lower"].values)
        lines = axes.collections[2 * position]
        assert isinstance(lines, LineCollection)
        drawn = np.array([segment[:, 0] for segment in map(np.asarray, lines.get_segments()) if segment.size])
        np.testing.assert_allclose(drawn, np.stack([own["lower"], own["upper"]], axis=-1)[known])


def test_statuses_are_marked(report: xr.DataTree) -> None:
    said = _texts(report)
    assert {"no rows; imputed (Bayesian)", "one row", "all rows agree"} <= set(said)
    hollow = [line for line in forest(report).lines if line.get_markerfacecolor() == "white"]
    assert sum(np.size(line.get_xdata()) for line in hollow) == 1


def test_approaches_differ_in_more_than_colour(report: xr.DataTree) -> None:
    axes = forest(report)
    markers = {str(line.get_marker()) for line in axes.lines}
    assert {"o", "D"} <= markers


def test_a_truth_is_drawn_and_named(report: xr.DataTree, truth: xr.DataArray) -> None:
    figure = _figure(forest(report, truth=truth))
    assert "truth" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_limit_draws_the_first(report: xr.DataTree) -> None:
    assert len(forest(report, limit=2).get_yticks()) == 2
    with pytest.raises(InputError, match="limit must be at least 1, or None for all subgroups; got 0"):
        forest(report, limit=0)


def test_labels_are_no_formulas(make_report: MakeReport, make_tally: MakeTally) -> None:
    tally = make_tally({"income": [r"$\frac", "$5$", "<b>", "a\nb"]})
    figure = _figure(forest(make_report(tally)))
    figure.savefig(io.BytesIO(), format="svg")
    assert r"a\x0ab" in [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_a_metric_that_is_undefined_everywhere_is_drawn_empty(report: xr.DataTree) -> None:
    blank = report.copy()
    estimates = report["estimates"].to_dataset()
    for name in ("estimate", "lower", "upper"):
        estimates[name] = xr.full_like(estimates[name], np.nan)
    blank["estimates"] = xr.DataTree(estimates)
    del blank["posterior"]
    _figure(forest(blank)).savefig(io.BytesIO(), format="png")


def test_unbounded_intervals_end_at_the_edge(report: xr.DataTree) -> None:
    wide = report.copy()
    estimates = report["estimates"].to_dataset()
    estimates["upper"] = estimates["upper"].where(estimates["approach"] == "bayesian", np.inf)
    wide["estimates"] = xr.DataTree(estimates)
    figure = _figure(forest(wide))
    figure.savefig(io.BytesIO(), format="png")
    assert np.isfinite(figure.axes[0].get_xlim()).all()


def test_nothing_global_is_touched(report: xr.DataTree) -> None:
    before = dict(mpl.rcParams)
    forest(report)
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in forest.__globals__


def test_bad_requests_are_refused(report: xr.DataTree) -> None:
    with pytest.raises(InputError, match="order='n' is not one of 'tally', 'size', 'estimate'"):
        forest(report, order="n")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the report has no metric 'sell'"):
        forest(report, metric="sell")
    with pytest.raises(InputError, match=r"level 0\.99 is not in a report"):
        forest(report, level=0.99)
    with pytest.raises(SchemaError, match="expected a report"):
        forest({})  # type: ignore[arg-type]
