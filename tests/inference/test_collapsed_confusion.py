"""One joint posterior: metrics agree in every draw, and its limits are known ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg

METRICS = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "npv", "fdr", "for", "f1"]


def rows(sizes: list[int], classes: int = 2, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    who = pd.DataFrame({"race": list("aabbcc"), "sex": list("fmfmfm")})
    frame = who.iloc[np.repeat(np.arange(6), sizes)].reset_index(drop=True)
    y = rng.integers(0, classes, len(frame))
    return frame.assign(y=y, d=np.where(rng.random(len(frame)) < 0.5, y, rng.integers(0, classes, len(frame))))


def tally(sizes: list[int], metrics: list[str], classes: int = 2) -> xr.Dataset:
    by = {"race": list("abc"), "sex": list("fm")}
    return bg.tally(rows(sizes, classes), by, metrics, y_true="y", y_pred="d", confusion=True)


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    return bg.estimate(tally([40, 3, 0, 120, 9, 1], METRICS), bg.ConfusionModel(), seed=1)


def test_metrics_agree_in_every_draw(report: xr.DataTree) -> None:
    posterior = report["posterior"].to_dataset()
    cells, mu = posterior["cell_share"], posterior["mu"]
    np.testing.assert_allclose(cells.sum(["outcome", "decision"]).values, 1, atol=1e-12)
    prevalence = cells.sel(outcome="1").sum("decision")
    accuracy = prevalence * mu.sel(metric="tpr") + (1 - prevalence) * mu.sel(metric="tnr")
    selected = prevalence * mu.sel(metric="tpr") + (1 - prevalence) * mu.sel(metric="fpr")
    precision = prevalence * mu.sel(metric="tpr") / selected
    for name, value in (("acc", accuracy), ("sel", selected), ("ppv", precision)):
        np.testing.assert_allclose(value.values, mu.sel(metric=name).values, atol=1e-12)
    for one, other in (("tpr", "fnr"), ("fpr", "tnr"), ("ppv", "fdr"), ("npv", "for")):
        np.testing.assert_allclose((mu.sel(metric=one) + mu.sel(metric=other)).values, 1, atol=1e-12)
    harmonic = 2 / (1 / mu.sel(metric="ppv") + 1 / mu.sel(metric="tpr"))
    np.testing.assert_allclose(harmonic.values, mu.sel(metric="f1").values, atol=1e-12)


def test_no_metric_is_undefined(report: xr.DataTree) -> None:
    assert report.attrs["usable"] == 1
    assert np.isfinite(report["posterior"].to_dataset()["mu"].values).all()
    empty = report["estimates"].to_dataset().sel(approach="bayesian", subgroup="b | f")
    assert set(empty["status"].values.tolist()) == {"imputed"}


def test_a_function_of_ones_own_comes_from_the_same_draws(report: xr.DataTree) -> None:
    posterior = report["posterior"].to_dataset()
    cells = posterior["cell_share"]
    above = cells.sel(outcome="1", decision="1") * cells.sel(outcome="0", decision="0")
    below = cells.sel(outcome="1", decision="0") * cells.sel(outcome="0", decision="1")
    mu = posterior["mu"]
    odds = [mu.sel(metric=name) / (1 - mu.sel(metric=name)) for name in ("tpr", "fpr")]
    np.testing.assert_allclose((above / below).values, (odds[0] / odds[1]).values, rtol=1e-8)


def test_many_rows_and_a_wide_prior_give_the_dirichlet_posterior() -> None:
    given = tally([900, 1100, 1000, 1200, 1300, 800], ["acc"])
    found = bg.estimate(given, bg.ConfusionModel(tau_scale=20.0), seed=1, inference="collapsed")
    cells = found["posterior"].to_dataset()["cell_share"]
    counts = given["cell_count"] + 0.5
    total = counts.sum(["outcome", "decision"])
    mean = counts / total
    std = np.sqrt(mean * (1 - mean) / (total + 1))
    assert float((abs(cells.mean(["chain", "draw"]) - mean) / std).max()) < 0.15
    assert float(abs(np.log(cells.std(["chain", "draw"]) / std)).max()) < 0.1


def test_more_classes_are_as_consistent() -> None:
    names = ["acc", "sel[0]", "tpr[0]", "tpr[1]", "tpr[2]"]
    found = bg.estimate(tally([60, 20, 0, 90, 30, 5], names, 3), bg.ConfusionModel(), seed=1)["posterior"].to_dataset()
    cells, mu = found["cell_share"], found["mu"]
    assert (cells.sizes["outcome"], found.sizes["factor"]) == (3, 8)
    outcome = cells.sum("decision")
    parts = [outcome.sel(outcome=label, drop=True) * mu.sel(metric=f"tpr[{label}]", drop=True) for label in "012"]
    accuracy = parts[0] + parts[1] + parts[2]
    np.testing.assert_allclose(accuracy.values, mu.sel(metric="acc").values, atol=1e-12)


def test_small_subgroups_borrow() -> None:
    given = tally([400, 400, 400, 400, 400, 3], ["sel"])
    found = (
        bg.estimate(given, bg.ConfusionModel(), seed=1)["estimates"].to_dataset().sel(metric="sel", subgroup="c | m")
    )
    alone = float(found["std_error"].sel(approach="frequentist")) or 0.29
    assert float(found["std_error"].sel(approach="bayesian")) < alone


def test_settings_are_checked() -> None:
    with pytest.raises(bg.InputError, match="own_effects='free' is not one of"):
        bg.ConfusionModel(own_effects="free")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="interval='wald' is not one of"):
        bg.ConfusionModel(interval="wald")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="tau_scale=0 must be a positive number"):
        bg.ConfusionModel(tau_scale=0)
    with pytest.raises(bg.InputError, match="order=-1 must be 0 or more"):
        bg.ConfusionModel(order=-1)
    with pytest.raises(bg.InputError, match="order='2' must be 0 or more, a whole number, or None"):
        bg.ConfusionModel(order="2")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="correlated='yes' must be True or False"):
        bg.ConfusionModel(correlated="yes")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="follow_selection='sel' must be True or False"):
        bg.ConfusionModel(follow_selection="sel")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match=r"bootstrap=1\.5 must be 0 or larger, a whole number"):
        bg.ConfusionModel(bootstrap=1.5)  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="bootstrap=-1 must be 0 or larger"):
        bg.ConfusionModel(bootstrap=-1)


def test_correlated_effects_have_no_exact_engine() -> None:
    rows = pd.DataFrame({"site": list("ab") * 8, "y": [0, 0, 1, 1] * 4, "d": [0, 1] * 8})
    tally = bg.tally(rows, ["site"], ["sel", "fnr"], y_true="y", y_pred="d", confusion=True)
    with pytest.raises(
        bg.InputError,
        match="confusion has no exact engine for metric 'sel, fnr': effects that are correlated across factors are drawn by "
        "NUTS alone, correlated=False has an exact engine; use inference='auto' or 'nuts'",
    ):
        bg.estimate(tally, bg.ConfusionModel(correlated=True), seed=1, inference="collapsed")
    assert bg.ConfusionModel().only_sampled == ""


def test_a_tally_without_cells_is_refused() -> None:
    counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    with pytest.raises(bg.InputError, match="no confusion cells; make it with bg.tally"):
        bg.estimate(counts, bg.ConfusionModel(), seed=1)
