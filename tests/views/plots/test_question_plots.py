"""Pictures of answers: what is drawn is what the functions say, and bad requests are refused."""

from __future__ import annotations

import io
from collections.abc import Callable

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.views import plots
from bayesgroups.views.plots import style

MakeReport = Callable[..., xr.DataTree]
MakeTally = Callable[..., xr.Dataset]


def _legend(axes: Axes) -> list[str]:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return [text.get_text() for text in figure.legends[0].get_texts()]


def _prior(report: xr.DataTree) -> xr.Dataset:
    return bg.prior_predictive(report["constant_data"].to_dataset(), bg.NoPooling(), seed=1, draws=50)


DRAWN: dict[str, Callable[..., Axes]] = {
    "shrinkage": plots.shrinkage,
    "heat_map": lambda report, **settings: plots.heat_map(report, "race", "sex", **settings),
    "disparity_posterior": plots.disparity_posterior,
    "certification": plots.certification,
    "contrasts": lambda report, **settings: plots.contrasts(bg.contrasts(report), **settings),
    "prior_predictive": lambda report, **settings: plots.prior_predictive(_prior(report), **settings),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn_where_it_is_asked(report: xr.DataTree, name: str) -> None:
    before = dict(mpl.rcParams)
    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    assert DRAWN[name](report, metric="acc", axes=right, size="paper") is right
    assert not left.has_data()
    figure.savefig(io.BytesIO(), format="png")
    assert dict(mpl.rcParams) == before
    with pytest.raises(InputError, match="no metric 'sell'"):
        DRAWN[name](report, metric="sell")
    with pytest.raises(InputError, match="size='wall' is not one of 'page', 'paper', 'slides'"):
        DRAWN[name](report, size="wall")


def _failed(report: xr.DataTree) -> xr.DataTree:
    """The same report, as of a fit that failed its diagnostics."""
    copy = report.copy()
    copy.attrs["usable"] = 0
    return copy


ALSO = {
    "forest": plots.forest,
    "ordered_effect": lambda report, **settings: plots.ordered_effect(report, "race", **settings),
}


@pytest.mark.parametrize("name", [*(name for name in DRAWN if name != "prior_predictive"), *ALSO])
def test_a_picture_of_a_fit_that_failed_says_so(report: xr.DataTree, name: str) -> None:
    draw = (DRAWN | ALSO)[name]
    fine, failed = (draw(each, metric="acc").get_title(loc="left") for each in (report, _failed(report)))
    assert " ".join(failed.split()).endswith("; NOT usable: the Bayesian fit failed its diagnostics")
    assert "NOT usable" not in fine


@pytest.mark.parametrize("name", ["shrinkage", "heat_map"])
def test_a_picture_of_the_other_side_does_not(report: xr.DataTree, name: str) -> None:
    assert "NOT" not in DRAWN[name](_failed(report), metric="acc", using="tally").get_title(loc="left")


def test_shrinkage_has_raw_across_and_estimates_upwards(report: xr.DataTree) -> None:
    axes = plots.shrinkage(report)
    facts = report["constant_data"].to_dataset().sel(metric="fnr")
    estimate = report["estimates"].to_dataset().sel(metric="fnr", approach="bayesian")["estimate"].values
    known = np.isfinite(facts["estimate"].values)
    (circles,) = (found for found in axes.collections if isinstance(found, PathCollection))
    np.testing.assert_allclose(np.asarray(circles.get_offsets()), np.column_stack([facts["estimate"], estimate])[known])
    area, count = circles.get_sizes(), facts["count"].values[known]
    small = np.polyfit(count, area, 1)
    np.testing.assert_allclose(np.polyval(small, count), area, rtol=1e-6)
    assert "no value of its own" in _legend(axes)
    with pytest.raises(InputError, match="using='both' is not one of"):
        plots.shrinkage(report, using="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="named must be 0 or more; got -1"):
        plots.shrinkage(report, named=-1)


def test_a_heat_map_has_means_weighted_by_n(report: xr.DataTree) -> None:
    who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"], "age": ["x", "x", "x", "y"]})
    found = bg.estimate(bg.tally_from_counts([1, 30, 9, 4], [2, 100, 60, 8], who, metric="fnr"), bg.NoPooling(), seed=1)
    axes = plots.heat_map(found, "race", "age", using="tally")
    said = [text.get_text() for text in axes.texts]
    assert f"{(0.5 * 2 + 0.3 * 100) / 102:.3f}\nn 102" in said
    with pytest.raises(InputError, match="no attribute 'rac'"):
        plots.heat_map(report, "rac", "sex")
    with pytest.raises(InputError, match="must be two attributes; both are 'sex'"):
        plots.heat_map(report, "sex", "sex")
    with pytest.raises(InputError, match="using='x' is not one of"):
        plots.heat_map(report, "race", "sex", using="x")  # type: ignore[arg-type]


def test_a_heat_map_has_room_for_so_many_levels(make_report: MakeReport, make_tally: MakeTally) -> None:
    labels = [f"site {i}" for i in range(41)]
    report = make_report(make_tally({"site": labels, "sex": ["f"]}, metrics=("fnr",)))
    with pytest.raises(InputError, match="attribute 'site' has 41 levels; a heat map has room for 40"):
        plots.heat_map(report, "sex", "site")


def test_the_certification_curve_passes_through_what_is_certified(report: xr.DataTree) -> None:
    axes = plots.certification(report, metric="acc")
    curve = axes.lines[0]
    x, p = (np.asarray(values, dtype=float) for values in (curve.get_xdata(), curve.get_ydata()))
    certified = float(bg.certify(report).sel(metric="acc")["pessimist"])
    assert float(np.interp(certified, np.sort(x), p[np.argsort(x)])) == pytest.approx(0.95, abs=0.02)
    assert axes.get_xlabel() == "standard c: acc at least"
    assert any("pessimist" in said for said in _legend(axes))
    nothing = bg.tally_from_counts([0], [0], pd.DataFrame({"site": ["a"]}), metric="fnr")
    with pytest.raises(InputError, match="undefined in every subgroup that takes part, so there is nothing to certify"):
        plots.certification(bg.estimate(nothing, bg.PartialPooling(), seed=1))


def test_the_disparity_has_its_median_in_the_legend(report: xr.DataTree) -> None:
    found = bg.disparity(report, "max_min_difference").sel(metric="fnr", measure="max_min_difference")
    said = _legend(plots.disparity_posterior(report))
    assert f"median {float(found['value']):.3f}, 95% credible" in said
    with pytest.raises(InputError, match="measure='gap' is not one of"):
        plots.disparity_posterior(report, measure="gap")  # type: ignore[arg-type]
    nothing = bg.tally_from_counts([0], [0], pd.DataFrame({"site": ["a"]}), metric="fnr")
    with pytest.raises(InputError, match="has no finite value in any draw"):
        plots.disparity_posterior(bg.estimate(nothing, bg.PartialPooling(), seed=1))


def test_bounds_are_lines_from_lower_to_upper() -> None:
    rows = pd.DataFrame({"sex": list("ffffmmmm"), "label": list("abcaabca"), "disagrees": [0, 1, 0, 1, 0, 0, 1, 1]})
    found = bg.disagreement_bounds(bg.disagreement_tally(rows, ["sex"], "label", "disagrees"), "equal_opportunity")
    axes = plots.disagreement_bounds(found)
    axes.get_figure(root=True).savefig(io.BytesIO(), format="png")  # type: ignore[union-attr]
    first = np.array([segment[:, 0] for segment in axes.collections[0].get_segments() if segment.size])  # type: ignore[attr-defined]
    lower, upper = (found[name].isel(label=0).values for name in ("lower", "upper"))
    np.testing.assert_allclose(first, np.column_stack([lower, upper]))
    assert _legend(axes) == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"bounds must come from bg\.disagreement_bounds"):
        plots.disagreement_bounds(xr.Dataset())
    many = found.isel(label=[0, 1, 2, 0, 1, 2, 0])
    with pytest.raises(InputError, match="tells 6 labels apart; got 7"):
        plots.disagreement_bounds(many)


def test_even_ranks_stay_in_the_band_and_others_leave_it() -> None:
    rng = np.random.default_rng(1)
    axes = plots.calibration_ranks({"even": rng.integers(0, 1000, 400), "low": rng.integers(0, 700, 400)}, draws=999)
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)[:, 1].max()
    even, low = (np.abs(np.asarray(line.get_ydata(), dtype=float)).max() for line in axes.lines[:2])
    assert even < band < low
    for ranks, said in (
        ({}, "1 to 6 quantities apart; got 0"),
        ({"a": [1, 2], "b": [1]}, "ranks of 'b' must be an array of as many numbers"),
        ({"a": [1000]}, "must lie from 0 to draws=999; got 1000 to 1000"),
    ):
        with pytest.raises(InputError, match=said):
            plots.calibration_ranks(ranks, draws=999)


def test_coverage_has_a_line_per_interval() -> None:
    table = pd.DataFrame(
        {"interval": ["a", "a", "b", "b"], "level": [0.5, 0.9] * 2, "coverage": [0.5, 0.9, 0.3, 0.6], "mc_error": 0.01}
    )
    assert _legend(plots.coverage(table)) == ["as stated", "a", "b"]
    with pytest.raises(InputError, match="the table has no column 'design'"):
        plots.coverage(table, by=["design"])
    with pytest.raises(InputError, match="a level comes twice"):
        plots.coverage(pd.concat([table, table]))
    many = pd.concat([table.assign(interval=f"{i}") for i in range(7)])
    with pytest.raises(InputError, match="1 to 6 lines apart; got 7"):
        plots.coverage(many)


def test_the_prior_view_has_three_quantities_and_the_estimates(report: xr.DataTree) -> None:
    said = _legend(plots.prior_predictive(_prior(report)))
    assert [text.split(":")[0] for text in said] == [
        "value of a subgroup", "its estimate, from as many rows", "gap, largest minus smallest", "estimates that were seen",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"starts from bg\.prior_predictive"):
        plots.prior_predictive(xr.Dataset())


def test_a_forest_is_grouped_by_an_attribute(report: xr.DataTree) -> None:
    axes = plots.forest(report, group_by="sex", order="estimate")
    sexes = [label.get_text().rpartition(" | ")[2] for label in axes.get_yticklabels()]
    assert sexes == sorted(sexes) or sexes == sorted(sexes, reverse=True)
    assert {"sex: Female", "sex: Male"} <= {text.get_text() for text in axes.texts}
    chosen = [str(name) for name in report["estimates"].to_dataset()["subgroup"].values[:2]]
    assert len(plots.forest(report, subgroups=chosen).get_yticks()) == 2
    with pytest.raises(InputError, match="the report has no attribute 'age'"):
        plots.forest(report, group_by="age")
    with pytest.raises(InputError, match="the report has no subgroup 'x'"):
        plots.forest(report, subgroups=["x"])


def test_long_labels_leave_room_for_the_picture(make_report: MakeReport, make_tally: MakeTally) -> None:
    report = make_report(make_tally({"site": ["x" * 300, "y"]}, metrics=("fnr",)))
    for axes in (plots.forest(report), plots.shrinkage(report)):
        axes.get_figure(root=True).savefig(io.BytesIO(), format="png")  # type: ignore[union-attr]


def test_colours_can_be_told_from_white() -> None:
    for colour, _ in style.SEQUENCE:
        channels = (np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255).tolist()
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        assert 1.05 / (float(np.dot(linear, [0.2126, 0.7152, 0.0722])) + 0.05) >= 3


def _contrasts() -> xr.Dataset:
    who = pd.DataFrame({"site": ["a", "b", "c"]})
    tally = bg.tally_from_counts([8, 30, 0], [20, 100, 0], who, metric="sel")
    return bg.contrasts(bg.estimate(tally, bg.NoPooling(), seed=1), "b")


def test_contrasts_have_a_line_of_equality_and_marks_of_four_fifths() -> None:
    answer = _contrasts()
    gap, ratio = plots.contrasts(answer), plots.contrasts(answer, scale="ratio")
    lines = [[float(np.ravel(line.get_xdata())[0]) for line in axes.lines] for axes in (gap, ratio)]
    assert lines[0][0] == 0.0
    assert {1.0, 0.8, 1.25} <= set(lines[1])
    assert ratio.get_xscale() == "log"
    assert "not estimable" in [text.get_text().strip() for text in gap.texts]
    assert _legend(gap)[-1] == "thin: all rows together"
    assert "0.8 and 1.25" in _legend(ratio)
    drawn = next(np.asarray(line.get_xdata(), dtype=float) for line in gap.lines if line.get_marker() == "o")
    np.testing.assert_allclose(drawn, answer["estimate"].sel(approach="bayesian", scale="difference").values[0])
    assert len(plots.contrasts(answer, limit=1).get_yticks()) == 1


def test_a_metric_along_ordered_levels() -> None:
    who = pd.DataFrame([(age, sex) for age in ("18", "30", "50", "70") for sex in "fm"], columns=["age", "sex"])
    tally = bg.tally_from_counts([2, 3, 0, 0, 12, 5, 18, 9], [20, 30, 0, 0, 40, 20, 40, 20], who, metric="fnr")
    ages = ["18", "30", "50", "70"]
    report = bg.estimate(tally, bg.CrossedEffects(ordered={"age": ages}), seed=1)
    axes = plots.ordered_effect(report, "age", size="paper")
    assert [label.get_text() for label in axes.get_xticklabels()] == ages
    assert axes.get_title(loc="left").replace("\n", " ") == "fnr by age, sex as among all rows"
    # By hand: sexes weighted by the positives of all ages, 100 to 70.
    mu = report["posterior"].to_dataset()["mu"].sel(metric="fnr").mean(["chain", "draw"]).values.reshape(4, 2)
    line = np.asarray(axes.get_lines()[0].get_ydata(), dtype=np.float64)
    np.testing.assert_allclose(line, mu @ [100 / 170, 70 / 170], atol=1e-9)
    own = next(each for each in axes.get_lines() if str(each.get_label()).startswith("own rows"))
    assert np.asarray(own.get_xdata()).tolist() == pytest.approx([0.08, 2.08, 3.08])
    hollow = next(each for each in axes.get_lines() if each.get_label() == "level without rows")
    assert np.asarray(hollow.get_xdata()).tolist() == [1]
    few = plots.ordered_effect(report, "age", levels=["70", "18"])
    assert [label.get_text() for label in few.get_xticklabels()] == ["70", "18"]
    for options, message in (
        ({"attribute": "race"}, "no attribute 'race'"),
        ({"attribute": "age", "metric": "fpr"}, "no metric 'fpr'"),
        ({"attribute": "age", "levels": ["19"]}, "no level '19'"),
        ({"attribute": "age", "level": 0.99}, r"level=0\.99 is not one of"),
    ):
        with pytest.raises(InputError, match=message):
            plots.ordered_effect(report, **options)


def test_differences_of_systems_have_a_row_per_subgroup() -> None:
    rows = pd.DataFrame({"sex": list("fm") * 20 + ["x"] * 2, "new": [1] * 36 + [0] * 6, "old": [1, 0, 0] * 14})
    answer = bg.compare_systems(bg.paired_tally(rows, ["sex"], ["new", "old"]), pooling="none")
    axes = plots.systems(answer)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["f (20)", "m (20)", "x (2)"]
    assert _legend(axes) == ["equal", "Bayesian, 95% credible", "Frequentist, 95% confidence"]
    bayes, reference = (np.asarray(line.get_xdata(), dtype=np.float64) for line in axes.get_lines()[1:])
    np.testing.assert_allclose([bayes, reference], answer["difference"].isel(pair=0))
    assert [label.get_text() for label in plots.systems(answer, limit=2).get_yticklabels()] == ["f (20)", "m (20)"]
    assert "NOT usable" not in axes.get_title(loc="left")
    failed = answer.assign(usable=answer["usable"].where(answer["approach"] != "bayesian", 0))
    assert "NOT usable" in plots.systems(failed).get_title(loc="left")
    with pytest.raises(InputError, match=r"not of bayesgroups\.compare_systems"):
        plots.systems(xr.Dataset())
    with pytest.raises(InputError, match="the answer has no pair 'old - new'; known: 'new - old'"):
        plots.systems(answer, pair="old - new")
    with pytest.raises(InputError, match="limit must be at least 1"):
        plots.systems(answer, limit=0)
    with pytest.raises(InputError, match="pair 'new - old' has no difference that can be drawn"):
        plots.systems(answer.assign(difference=np.nan * answer["difference"]))


def test_contrasts_that_cannot_be_drawn() -> None:
    answer = _contrasts()
    with pytest.raises(InputError, match="not of bayesgroups.contrasts"):
        plots.contrasts(xr.Dataset())
    with pytest.raises(InputError, match="no scale 'odds_ratio'; "):
        plots.contrasts(answer, scale="odds_ratio")
    with pytest.raises(InputError, match="limit must be at least 1"):
        plots.contrasts(answer, limit=0)
    with pytest.raises(InputError, match="'sel' has no contrast that can be drawn"):
        plots.contrasts(answer.isel(contrast=[1]))
