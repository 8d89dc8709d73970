"""Draws of candidates from seeds and from reports, areas compared draw by draw, and bands around curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.tradeoffs import frontier_band, points_from_reports, points_from_runs

RUNS = pd.DataFrame(
    {
        "method": ["x", "x", "x", "y", "x", "x"],
        "weight": [1, 1, 2, 1, 2, 2],
        "performance": [0.8, 0.6, 0.5, 0.4, 0.6, 0.7],
        "fairness": [0.5, 0.7, 0.9, 0.75, 0.8, 0.7],
    }
)


def test_runs_of_a_setting_are_averaged() -> None:
    points = points_from_runs(RUNS, ["method", "weight"])
    assert points["candidate"].values.tolist() == ["x | 1", "x | 2", "y | 1"]
    expected = RUNS.groupby(["method", "weight"])["performance"].mean()
    np.testing.assert_allclose(points["performance"], expected)
    assert points["runs"].values.tolist() == [2, 3, 1]
    assert bg.pareto_frontier(points).sizes["candidate"] == 2


def test_the_bootstrap_has_the_moments_it_should() -> None:
    points = points_from_runs(RUNS, ["method", "weight"], draws=20_000, seed=1)
    assert points["fairness"].dims == ("chain", "draw", "candidate")
    groups = RUNS.groupby(["method", "weight"])["fairness"]
    error = np.sqrt(groups.var(ddof=0) / groups.size())
    np.testing.assert_allclose(points["fairness"].mean(("chain", "draw")), groups.mean(), atol=2e-3)
    np.testing.assert_allclose(points["fairness"].std(("chain", "draw")), error, atol=2e-3)
    # Both goals of a run are drawn together: in setting x | 1 they always add up to 1.3.
    total = points.isel(candidate=0).to_array().sel(variable=["performance", "fairness"]).sum("variable")
    np.testing.assert_allclose(total, 1.3)
    again = points_from_runs(RUNS, ["method", "weight"], draws=20_000, seed=1)
    xr.testing.assert_identical(points, again)


def near(performance: Any, fairness: Any, seed: int, spread: float = 0.02) -> xr.Dataset:
    noise = np.random.default_rng(seed).normal(0, spread, (2, 2, 400, len(performance)))
    dims = ("chain", "draw", "candidate")
    return xr.Dataset({"performance": (dims, performance + noise[0]), "fairness": (dims, fairness + noise[1])})


@pytest.fixture(scope="module")
def methods() -> dict[str, xr.Dataset]:
    return {"a": near([0.7, 0.6], [0.70, 0.80], 1), "b": near([0.7, 0.6], [0.68, 0.78], 2), "c": near([0.6], [0.6], 3)}


@pytest.mark.parametrize("reading", ["frontier", "steps", "polar_area", "polar_dto"])
def test_areas_are_compared_draw_by_draw(methods: dict[str, xr.Dataset], reading: Any) -> None:
    utopia = (1, 1) if reading.startswith("polar") else None
    compared = bg.compare_auc_pfc(methods, anchor=0.5, reading=reading, utopia=utopia)
    areas = [bg.auc_pfc(one, anchor=0.5, reading=reading, utopia=utopia).values for one in methods.values()]
    np.testing.assert_array_equal(compared["area"], np.stack(areas, axis=-1))
    larger = compared["probability_larger"]
    assert float(larger.sel(system="a", other="b")) == pytest.approx(float((areas[0] > areas[1]).mean()))
    np.testing.assert_allclose(larger + larger.values.T, 1)
    best = np.stack(areas).argmin(axis=0) if utopia else np.stack(areas).argmax(axis=0)
    np.testing.assert_allclose(compared["probability_best"], [(best == i).mean() for i in range(3)])
    assert (compared["lower"] <= compared["upper"]).all()
    inside = (compared["area"] >= compared["lower"]) & (compared["area"] <= compared["upper"])
    np.testing.assert_allclose(
        inside.mean(("chain", "draw")).transpose("system", "level")[0], compared["level"], atol=0.01
    )


def test_ties_are_shared(methods: dict[str, xr.Dataset]) -> None:
    compared = bg.compare_auc_pfc({"one": methods["a"], "two": methods["a"]}, anchor=0.5)
    assert compared["probability_larger"].values.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert compared["probability_best"].values.tolist() == [0.5, 0.5]


def test_the_frontier_of_noisy_candidates_lies_too_high() -> None:
    """Warning in the notes of `compare_auc_pfc`: equal candidates, and the more of them, the higher."""
    compared = bg.compare_auc_pfc(
        {"2": near([0.6] * 2, [0.6] * 2, 1), "40": near([0.6] * 40, [0.6] * 40, 2)}, anchor=0.3
    )
    few, many = compared["area"].mean(("chain", "draw")).values
    truth = 0.3 * 0.8
    assert truth < few < many


def test_a_comparison_needs_draws(methods: dict[str, xr.Dataset]) -> None:
    with pytest.raises(InputError, match=r"needs two methods or more; got \['a'\]"):
        bg.compare_auc_pfc({"a": methods["a"]}, anchor=0.5)
    plain = methods["a"].mean(("chain", "draw"))
    with pytest.raises(InputError, match="the methods need draws, equally many; got no draws"):
        bg.compare_auc_pfc({"a": plain, "b": plain}, anchor=0.5)
    with pytest.raises(
        InputError, match=r"got \{'chain': 2, 'draw': 400\} and \{'chain': 2, 'draw': 3\} for 'a' and 'b'"
    ):
        bg.compare_auc_pfc({"a": methods["a"], "b": methods["b"].isel(draw=slice(3))}, anchor=0.5)


def test_the_band_is_that_of_the_curves(methods: dict[str, xr.Dataset]) -> None:
    band = frontier_band(methods["a"], anchor=0.5, performance=[0.4, 0.55, 0.7, 0.95])
    assert band["probability_reached"].values[[0, 1, 3]].tolist() == [0, 1, 0]
    assert 0.2 < float(band["probability_reached"][2]) < 0.8
    assert np.isnan(band["fairness"].values[[0, 3]]).all()
    heights = []
    few = methods["a"].isel(chain=[0], draw=slice(60))
    for draw in range(60):
        one = bg.pareto_frontier(few.isel(chain=0, draw=draw))
        heights.append(np.interp(0.55, [0.5, *one["performance"].values], [1, *one["fairness"].values]))
    own = frontier_band(few, anchor=0.5, performance=[0.55])
    assert float(own["fairness"][0]) == pytest.approx(float(np.median(heights)))
    assert float(own["lower"].sel(level=0.9)[0]) == pytest.approx(float(np.quantile(heights, 0.05)))


def test_a_band_without_draws_is_the_curve() -> None:
    points = pd.DataFrame({"performance": [0.8, 0.6], "fairness": [0.6, 0.8]})
    band = frontier_band(points, anchor=0.5)
    assert band.sizes["performance"] == 101
    np.testing.assert_allclose(band["lower"].isel(level=0), band["upper"].isel(level=3))
    area = np.trapezoid(band["fairness"], band["performance"])
    assert area == pytest.approx(float(bg.auc_pfc(points, anchor=0.5)), abs=1e-4)
    for wrong in ([], [[0.5]], [np.nan]):
        with pytest.raises(InputError, match="performance= must be a list of finite numbers"):
            frontier_band(points, anchor=0.5, performance=wrong)


BAD_RUNS: list[tuple[dict[str, Any], str]] = [
    ({"by": "wait"}, "runs have no column 'wait'; did you mean 'weight'"),
    ({"by": []}, "by= is empty; name at least one"),
    ({"draws": -1}, "draws=-1 must be 0 or more"),
    ({"runs": RUNS.iloc[:0]}, "runs has no rows"),
    ({"runs": RUNS.assign(weight=np.nan)}, r"a setting is missing in \['weight'\]"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_RUNS)
def test_bad_runs_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        points_from_runs(**({"runs": RUNS, "by": "weight"} | changes))


# From reports.


@pytest.fixture(scope="module")
def reports() -> dict[str, xr.DataTree]:
    who = pd.DataFrame({"sex": ["f", "m"]})
    trials = {"acc": [1000, 400], "tpr[cat]": [400, 100], "tpr[dog]": [600, 300]}
    hits = {
        "plain": {"acc": [700, 380], "tpr[cat]": [250, 95], "tpr[dog]": [450, 285]},
        "fair": {"acc": [720, 280], "tpr[cat]": [280, 70], "tpr[dog]": [440, 210]},
    }
    return {
        name: bg.estimate(bg.tally_from_counts(one, trials, who), bg.NoPooling(), seed=i)
        for i, (name, one) in enumerate(hits.items())
    }


def classes(values: xr.DataArray) -> xr.DataArray:
    own = values.sel(metric=["tpr[cat]", "tpr[dog]"])
    return 1 - bg.aggregate(own.rename(metric="label"))


def test_reports_become_candidates_with_draws(reports: dict[str, xr.DataTree]) -> None:
    points = points_from_reports(reports, classes)
    assert points["fairness"].dims == ("chain", "draw", "candidate")
    mu = reports["plain"]["posterior"]["mu"].sel(metric="acc")
    by_rows = (1000 * mu.sel(subgroup="f") + 400 * mu.sel(subgroup="m")) / 1400
    np.testing.assert_allclose(points["performance"].sel(candidate="plain"), by_rows.transpose("chain", "draw"))
    assert float(points["performance"].sel(candidate="plain").mean()) == pytest.approx(1080 / 1400, abs=0.003)
    means = points["fairness"].mean(("chain", "draw")).values
    assert means[0] < 0.9 < means[1]
    assert bg.pareto_frontier(points)["candidate"].values.tolist() == ["fair", "plain"]
    found = bg.select_model(points)
    assert found is not None
    assert 0 <= found.regret < 0.05


def test_performance_can_be_a_function(reports: dict[str, xr.DataTree]) -> None:
    worst = points_from_reports(reports, classes, performance=lambda values: values.sel(metric="acc").min("subgroup"))
    assert float(worst["performance"].sel(candidate="plain").mean()) == pytest.approx(0.7, abs=0.005)


def test_the_frequentist_side(make_report: Callable[..., xr.DataTree]) -> None:
    report = make_report()
    posterior = report["posterior"].to_dataset()
    both = xr.DataTree.from_dict(
        {**{f"/{name}": node.to_dataset() for name, node in report.children.items()},
         "/bootstrap": posterior[["mu"]].isel(chain=[0])}
    )  # fmt: skip
    both.attrs = report.attrs
    points = points_from_reports({"x": both}, lambda v: 1 - v.sel(metric="acc").std("subgroup"), using="bootstrap")
    assert points.sizes == {"chain": 1, "draw": 250, "candidate": 1}
    assert points.attrs["using"] == "bootstrap"


def test_an_empty_subgroup_does_not_weigh(make_report: Callable[..., xr.DataTree]) -> None:
    report = make_report()
    points = points_from_reports({"x": report}, lambda values: values.sel(metric="acc").min("subgroup"))
    count = report["constant_data"].to_dataset()["count"].sel(metric="acc")
    assert float(count[0]) == 0
    mu = report["posterior"].to_dataset()["mu"].sel(metric="acc")
    np.testing.assert_allclose(points["performance"][..., 0], mu.weighted(count).mean("subgroup"))


def test_bad_reports_are_named(reports: dict[str, xr.DataTree]) -> None:
    with pytest.raises(InputError, match="got no report"):
        points_from_reports({}, classes)
    with pytest.raises(SchemaError, match="report"):
        points_from_reports({"x": xr.DataTree()}, classes)
    with pytest.raises(InputError, match="using='both' is not one of"):
        points_from_reports(reports, classes, using="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="report 'plain' has no metric 'auc'"):
        points_from_reports(reports, classes, performance="auc")
    with pytest.raises(
        InputError, match=r"fairness= must give a number per draw, dims .*; for report 'plain' it gave float"
    ):
        points_from_reports(reports, lambda values: 0.5)  # type: ignore[arg-type, return-value]
    with pytest.raises(InputError, match="performance= must give a number per draw"):
        points_from_reports(reports, classes, performance=lambda values: values)
    with pytest.raises(InputError, match="report 'plain': the report has no group 'bootstrap'"):
        points_from_reports({"plain": _without(reports["plain"], "bootstrap")}, classes, using="bootstrap")
    fewer = _without(reports["fair"], "bootstrap")
    fewer["posterior"] = xr.DataTree(fewer["posterior"].to_dataset().isel(draw=slice(10)))
    with pytest.raises(InputError, match="reports 'plain' and 'fair' have different draws"):
        points_from_reports({"plain": reports["plain"], "fair": fewer}, classes)


def test_published_estimates_have_no_counts() -> None:
    who = pd.DataFrame({"sex": ["f", "m", "x"]})
    tally = bg.tally_from_estimates([0.7, 0.8, 0.75], [0.01] * 3, who, metric="acc", lower=0, upper=1)
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    with pytest.raises(InputError, match="has no counts of 'acc' to average by"):
        points_from_reports({"x": report}, lambda values: values.sel(metric="acc").min("subgroup"))


def _without(report: xr.DataTree, group: str) -> xr.DataTree:
    kept = {f"/{name}": node.to_dataset() for name, node in report.children.items() if name != group}
    tree = xr.DataTree.from_dict(kept)
    tree.attrs = report.attrs
    return tree
