"""Plug-in metrics of the cells: known standard errors, and a bootstrap that keeps metrics consistent."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from statsmodels.stats.proportion import proportion_confint

import bayesgroups as bg
from bayesgroups.frequentist import confusion

METRICS = ["sel", "acc", "fnr", "fpr", "ppv", "f1"]


def tally(metrics: list[str] | None = None) -> xr.Dataset:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": ["f"] * 300 + ["m"] * 80, "y": rng.random(380) < 0.4, "d": rng.random(380) < 0.3})
    frame["s"] = rng.random(380)
    return bg.tally(
        frame, {"sex": list("fmx")}, metrics or METRICS, y_true="y", y_pred="d", y_score="s", confusion=True
    )


def test_rates_have_the_standard_error_of_a_proportion() -> None:
    given = tally()
    found = confusion.estimate(given)
    np.testing.assert_allclose(found["estimate"].values, given["estimate"].values, atol=1e-12)
    rates = given["kind"].values == "rate"
    p, n = given["estimate"].values[rates], given["count"].values[rates]
    np.testing.assert_allclose(found["std_error"].values[rates][:, :2], np.sqrt(p * (1 - p) / n)[:, :2], atol=1e-12)
    assert set(found["status"].sel(subgroup="x").values.tolist()) == {"undefined"}


def test_limits_of_rates_and_f1_are_those_of_wilson() -> None:
    given = tally()
    found = confusion.estimate(given).sel(level=0.95, subgroup=["f", "m"])
    assert found["interval_method"].values.tolist() == ["wilson"] * len(METRICS)
    rates = given["kind"].values == "rate"
    successes, trials = (given[name].sel(subgroup=["f", "m"]).values for name in ("successes", "count"))
    wilson = [
        proportion_confint(k, n, method="wilson")
        for k, n in zip(successes[rates].ravel(), trials[rates].ravel(), strict=True)
    ]
    shape = (rates.sum(), 2)
    np.testing.assert_allclose(found["lower"].values[rates], np.reshape([low for low, _ in wilson], shape), atol=1e-9)
    np.testing.assert_allclose(found["upper"].values[rates], np.reshape([high for _, high in wilson], shape), atol=1e-9)
    cells = given["cell_count"].sel(subgroup="f").transpose("outcome", "decision").values
    hits = cells[1, 1]
    jaccard = np.array(proportion_confint(hits, cells.sum() - cells[0, 0], method="wilson"))
    f1 = found.sel(metric="f1", subgroup="f")
    np.testing.assert_allclose([f1["lower"], f1["upper"]], 2 * jaccard / (1 + jaccard), atol=1e-9)


def test_two_people_have_an_interval_and_other_metrics_the_delta_method() -> None:
    rows = pd.DataFrame({"site": list("aab") * 4, "y": [1, 1, 0] * 4, "d": [1, 1, 1, 1, 1, 0] * 2})
    benefit = bg.Metric("benefit", value=nw.col("__y_pred__") - nw.col("__y_true__"), kind="mean", lower=-1, upper=1)
    given = bg.tally(rows, ["site"], ["tpr", benefit], y_true="y", y_pred="d", confusion=True)
    report = (
        bg.estimate(given, bg.ConfusionModel(), seed=1)["estimates"]
        .to_dataset()
        .sel(approach="frequentist", level=0.95)
    )
    assert report["interval_method"].sel(subgroup="a").values.tolist() == ["wilson", "delta"]
    tpr = report.sel(metric="tpr", subgroup="a")
    assert (float(tpr["estimate"]), float(tpr["upper"]), str(tpr["status"].values)) == (1.0, 1.0, "saturated")
    assert float(tpr["lower"]) == pytest.approx(proportion_confint(8, 8, method="wilson")[0])
    alone = confusion.estimate(given, interval="delta").sel(metric="tpr", subgroup="a")
    assert str(alone["status"].values) == "degenerate"


def test_the_bootstrap_has_the_variance_of_the_delta_method() -> None:
    given = tally()
    drawn = confusion.replicates(given, seed=1, draws=4000)
    ratio = drawn["mu"].std(["chain", "draw"]) / confusion.estimate(given)["std_error"]
    assert float(abs(np.log(ratio.sel(subgroup=["f", "m"]))).max()) < 0.15
    wide = confusion.estimate(given, interval="multinomial_bootstrap", seed=1)
    gap = (wide["upper"] - confusion.estimate(given, interval="delta")["upper"]).sel(subgroup="f", level=0.95)
    assert float(abs(gap).max()) < 0.02


def test_metrics_of_a_replicate_come_from_the_same_rows() -> None:
    mu = confusion.replicates(tally(["acc", "sel", "ppv", "npv"]), seed=2, draws=200)["mu"].sel(subgroup="f")
    right = mu.sel(metric="sel") * mu.sel(metric="ppv") + (1 - mu.sel(metric="sel")) * mu.sel(metric="npv")
    np.testing.assert_allclose(right.values, mu.sel(metric="acc").values, atol=1e-12)


def test_replicates_are_kept_where_asked_for() -> None:
    report = bg.estimate(tally(["acc"]), bg.ConfusionModel(bootstrap=50), seed=1)
    assert report["bootstrap"]["mu"].shape == (1, 50, 1, 3)


def test_what_cannot_be_answered_is_refused() -> None:
    with pytest.raises(bg.InputError, match="interval='wald' is not one of"):
        confusion.estimate(tally(), interval="wald")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="metric 'auc' is no function of outcome and decision"):
        confusion.estimate(tally(["acc", "auc"]))
