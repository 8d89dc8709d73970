"""Net benefit along thresholds and as a metric: equal to dcurves, its ends, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.metrics import net_benefit
from bayesgroups.questions.curves import net_benefits
from bayesgroups.questions.curves.rates import Confusion

LABELS = Path(__file__).parents[2] / "golden" / "labels"
GOLDEN = pd.read_csv(LABELS / "t_counts.csv")
NAMES = {"net_benefit": ("net_benefit", "se"), "minus_treat_all": ("minus_treat_all", "minus_treat_all_se"),
         "standardised_net_benefit": ("standardised", "standardised_se")}  # fmt: skip


def golden_cells() -> Confusion:
    tp, fp, ones, n = (GOLDEN[name].to_numpy(dtype=float) for name in ("tp", "fp", "positives", "n"))
    return Confusion(tp, ones - tp, fp, n - ones - fp)


def golden_rows(subgroup: str) -> pd.DataFrame:
    """Rows with a score in every bin between the golden thresholds that gives the golden counts."""
    of = GOLDEN[GOLDEN["subgroup"] == subgroup]
    negatives = (of["n"] - of["positives"]).iloc[0]
    ones, zeros = (
        -np.diff([whole, *part, 0]) for whole, part in ((of["positives"].iloc[0], of["tp"]), (negatives, of["fp"]))
    )
    score = np.r_[0.0, of["threshold"]]
    counts = np.r_[ones, zeros].astype(int)
    y = np.repeat([1, 0], len(score))
    return pd.DataFrame({"g": subgroup, "y": np.repeat(y, counts), "p": np.repeat(np.tile(score, 2), counts)})


@pytest.fixture(scope="module")
def curve() -> xr.Dataset:
    frame = pd.concat([golden_rows("famhistory 0"), golden_rows("famhistory 1")])
    return bg.threshold_curve(
        frame, {"g": ["famhistory 0", "famhistory 1", "none"]}, y_true="y", y_score="p", draws=400, seed=1,
        metrics=["net_benefit", "standardised_net_benefit", "tpr"], thresholds=np.unique(GOLDEN["threshold"]),
    )  # fmt: skip


def test_values_and_errors_are_those_of_dcurves() -> None:
    assert json.loads((LABELS / "t_net_benefit.json").read_text("utf-8"))["largest_difference_with_subgroups"] < 1e-15
    cells, cost = golden_cells(), net_benefits.odds(GOLDEN["threshold"].to_numpy())
    for name, (estimate, error) in NAMES.items():
        np.testing.assert_allclose(net_benefits.value(name, cells, cost), GOLDEN[estimate], atol=1e-12)
        np.testing.assert_allclose(net_benefits.std_error(name, cells, cost), GOLDEN[error], atol=1e-12)
    np.testing.assert_allclose(net_benefits.treat_all(cells, cost), GOLDEN["treat_all"], atol=1e-12)


def test_probability_of_being_useful_of_one_table() -> None:
    """Half a row in every cell, as the golden values have it, with their Monte Carlo error."""
    line = GOLDEN[(GOLDEN["subgroup"] == "famhistory 1") & (GOLDEN["threshold"] == 0.05)].iloc[0]
    tp, fn, fp, tn = 23.5, 1.5, 61.5, 30.5
    drawn = np.random.default_rng(2).dirichlet([tp, fn, fp, tn], 100_000).T[..., None]
    share = net_benefits.useful(Confusion(*drawn), net_benefits.odds(np.array([0.05]))).mean()
    assert (line["tp"], line["fp"], line["positives"], line["n"]) == (23, 61, 24, 115)
    assert share == pytest.approx(line["probability_useful_mc"], abs=5 * np.sqrt(0.25 / 1e5))


def test_the_curve_has_them_per_subgroup(curve: xr.Dataset) -> None:
    own = curve.sel(approach="frequentist")
    for group in ("famhistory 0", "famhistory 1"):
        of, here = GOLDEN[GOLDEN["subgroup"] == group], own.sel(subgroup=group)
        for values, column in (
            (here["estimate"].sel(metric="net_benefit"), "net_benefit"),
            (here["estimate"].sel(metric="standardised_net_benefit"), "standardised"),
            (here["treat_all"], "treat_all"),
            (here["minus_treat_all"], "minus_treat_all"),
        ):
            np.testing.assert_allclose(values, of[column], atol=1e-12)
        np.testing.assert_allclose(here["count"].sel(metric="net_benefit"), of["n"])
        np.testing.assert_allclose(here["count"].sel(metric="standardised_net_benefit"), of["positives"])
    useful = curve["probability_useful"]
    assert ((useful >= 0) & (useful <= 1)).all()
    assert (useful.sel(threshold=[0.2, 0.25], subgroup="famhistory 0") > 0.99).all()
    near = (curve["estimate"].sel(approach="bayesian") - own["estimate"]).sel(
        metric="net_benefit", subgroup="famhistory 0"
    )
    assert float(np.abs(near).max()) < 0.02


def test_limits_are_ordered_and_within_the_range(curve: xr.Dataset) -> None:
    cost = xr.DataArray(net_benefits.odds(curve["threshold"].values), dims="threshold")
    for part in (curve.sel(approach="bayesian"), curve.sel(approach="frequentist").isel(subgroup=slice(2))):
        net = part.sel(metric="net_benefit")
        assert ((net["lower"] < net["estimate"]) & (net["estimate"] < net["upper"])).all()
        assert ((net["band_lower"] <= net["lower"] + 1e-12) & (net["upper"] <= net["band_upper"] + 1e-12)).all()
        assert ((net["band_lower"] >= -cost) & (net["band_upper"] <= 1)).all()
        assert (part["minus_treat_all_lower"] < part["minus_treat_all_upper"]).all()
    assert np.isnan(curve["estimate"].sel(approach="frequentist", subgroup="none")).all()
    assert curve["status"].sel(subgroup="none") == "no rows"


def test_other_metrics_do_not_change_beside_it(curve: xr.Dataset) -> None:
    alone = bg.threshold_curve(
        pd.concat([golden_rows("famhistory 0"), golden_rows("famhistory 1")]),
        {"g": ["famhistory 0", "famhistory 1", "none"]}, y_true="y", y_score="p", draws=400, seed=1, metrics="tpr",
        thresholds=np.unique(GOLDEN["threshold"]),
    )  # fmt: skip
    xr.testing.assert_identical(alone["band_upper"].sel(metric="tpr"), curve["band_upper"].sel(metric="tpr"))
    assert "treat_all" not in alone


def test_degenerate_subgroups() -> None:
    frame = pd.DataFrame({"g": list("aaabb"), "y": [0, 0, 0, 1, 1], "p": [0.1, 0.4, 0.2, 0.5, 0.7]})
    answer = bg.threshold_curve(
        frame, ["g"], y_true="y", y_score="p", metrics=list(net_benefits.METRICS), draws=100, seed=1
    )
    assert answer["threshold"].values[-1] < 1  # where the cost of a false positive has no end
    own = answer.sel(approach="frequentist").sel(threshold=0.3, method="nearest")
    cost = own["threshold"].item() / (1 - own["threshold"].item())
    assert own["estimate"].sel(metric="net_benefit", subgroup="a").item() == pytest.approx(-cost / 3)
    assert np.isnan(own["estimate"].sel(metric="standardised_net_benefit", subgroup="a"))
    assert own["estimate"].sel(metric="standardised_net_benefit", subgroup="b") == 1
    assert (own["upper"] - own["lower"]).sel(metric="net_benefit", subgroup="b") > 0
    for threshold in (1.0, -0.1, 1.5):
        with pytest.raises(
            bg.InputError, match=rf"net benefit needs thresholds in \[0, 1\), .* got {threshold:g}; give"
        ):
            bg.threshold_curve(
                frame, ["g"], y_true="y", y_score="p", metrics="net_benefit", thresholds=[0.2, threshold], draws=100, seed=1
            )  # fmt: skip


def test_a_metric_of_decisions_at_hand() -> None:
    frame = golden_rows("all")
    tally = bg.tally(frame, ["g"], [net_benefit(0.2), "tpr"], y_true="y", y_score="p", threshold=0.2)
    line = GOLDEN[(GOLDEN["subgroup"] == "all") & (GOLDEN["threshold"] == 0.2)].iloc[0]
    assert tally["estimate"].sel(metric="net_benefit_0.2").item() == pytest.approx(line["net_benefit"], abs=1e-12)
    assert bool(tally["larger_is_better"].sel(metric="net_benefit_0.2"))
    error = np.sqrt(tally["bootstrap_variance"].sel(metric="net_benefit_0.2").item())
    assert error == pytest.approx(line["se"], abs=1e-12)
    for threshold in (1.0, -0.1):
        with pytest.raises(bg.InputError, match=rf"net_benefit: threshold={threshold} must be in \[0, 1\)"):
            net_benefit(threshold)


def test_the_picture_has_everyone_and_no_one(curve: xr.Dataset) -> None:
    figure = bg.plots.curves(curve, metric="net_benefit")
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words[:5] == ["Bayesian", "Frequentist", "mean of subgroups", "everyone", "no one"]
    for axes in figure.axes:
        assert axes.get_ylim()[0] < 0 < axes.get_ylim()[1]
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    np.testing.assert_allclose(
        np.asarray(lines["everyone"].get_ydata()),
        curve["treat_all"].sel(approach="frequentist", subgroup="famhistory 0"),
    )
