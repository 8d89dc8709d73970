"""Model-based metrics end to end: identities, agreement with the PyMC model, checks of fit, corners."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import norm

import bayesgroups as bg
from bayesgroups.inference import nuts
from bayesgroups.inference.collapsed import model_based_metrics
from bayesgroups.inference.collapsed.model_based_metrics import laws, sample
from bayesgroups.inference.score_checks import checks, misfit
from bayesgroups.models.shared.score_cells import score_cells
from bayesgroups.scores.inputs import with_scores

NAMES = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "fdr", "npv", "for", "f1", "auc"]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_based_metrics, "LONGER", (300, 1))


def rows_of(size: int = 800, seed: int = 1) -> pd.DataFrame:
    """Rows of a known law: logit Normal(-.5 + y, 1); ``c`` is small and has no positives."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"s": rng.choice(["a", "b", "c"], size, p=[0.6, 0.38, 0.02])})
    rows["y"] = rng.integers(0, 2, size) * (rows["s"] != "c")
    return rows.assign(p=1 / (1 + np.exp(0.5 - rows["y"] - rng.standard_normal(size))))


def tally_of(rows: pd.DataFrame, names: list[str] | None = None) -> xr.Dataset:
    by = {"s": ["a", "b", "c", "empty"]}
    return bg.tally(rows, by, names or NAMES, y_true="y", y_score="p", threshold=0.5)


@pytest.fixture(scope="module")
def fitted() -> xr.DataTree:
    return bg.estimate(tally_of(rows_of()), bg.ModelBasedMetrics(), seed=1)


def test_the_report_is_usable_and_says_why(fitted: xr.DataTree) -> None:
    assert (fitted.attrs["usable"], fitted.attrs["inference"]) == (1, "gibbs")
    names = [str(name) for name in fitted["diagnostics"].to_dataset()["check"].values]
    assert {"auc: R-hat", "auc: bulk ESS", "auc: score shape", "auc: misfit"} <= set(names)


def test_identities_hold_draw_by_draw(fitted: xr.DataTree) -> None:
    mu = fitted["posterior"].to_dataset()["mu"]
    of = {name: mu.sel(metric=name).values for name in NAMES}
    for one, other in (("tpr", "fnr"), ("fpr", "tnr"), ("ppv", "fdr"), ("npv", "for")):
        np.testing.assert_allclose(of[one] + of[other], 1, rtol=0, atol=1e-12)
    p = (of["sel"] - of["fpr"]) / (of["tpr"] - of["fpr"])  # the prevalence that selection implies
    gap = np.abs(of["tpr"] - of["fpr"]) > 0.05
    np.testing.assert_allclose((p * of["tpr"] + (1 - p) * (1 - of["fpr"]) - of["acc"])[gap], 0, atol=1e-12)
    np.testing.assert_allclose((of["ppv"] * of["sel"] - p * of["tpr"])[gap], 0, atol=1e-12)
    np.testing.assert_allclose((of["npv"] * (1 - of["sel"]) - (1 - p) * of["tnr"])[gap], 0, atol=1e-12)
    whole = of["ppv"] * of["sel"] + of["npv"] * (1 - of["sel"])  # right among the selected, and among the rest
    np.testing.assert_allclose(whole, of["acc"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["f1"], 2 * of["ppv"] * of["tpr"] / (of["ppv"] + of["tpr"]), rtol=0, atol=1e-12)


def test_known_values_are_found(fitted: xr.DataTree) -> None:
    found = fitted["estimates"].to_dataset().sel(approach="bayesian", subgroup=["a", "b"])
    for name, truth in (("tpr", norm.cdf(0.5)), ("fpr", norm.cdf(-0.5)), ("auc", norm.cdf(1 / np.sqrt(2)))):
        one = found.sel(metric=name)
        assert (np.abs(one["estimate"] - truth) < 4 * one["std_error"]).all()


def test_what_has_no_rows_of_its_own_is_imputed(fitted: xr.DataTree) -> None:
    found = fitted["estimates"].to_dataset().sel(approach="bayesian", metric="fnr")
    assert found["status"].values.tolist() == ["ok", "ok", "imputed", "imputed"]
    width = (found["upper"] - found["lower"]).sel(level=0.95).values
    assert width[3] > width[2] > width[0]


def test_every_threshold_follows_from_one_fit() -> None:
    tally = with_scores(tally_of(rows_of(300), ["sel", "auc"]))
    scores = score_cells(tally)
    found = laws(tally, scores, seed=1, tune=50)
    chosen = [found.metric("sel", cut)[0] for cut in (-1.0, 0.0, 1.0)]
    assert (chosen[0] >= chosen[1]).all()
    assert (chosen[1] >= chosen[2]).all()
    assert (chosen[0] > chosen[2]).all()
    brier, typical = found.metric("brier", np.nan)
    assert ((brier > 0) & (brier < 1)).all()
    assert typical.shape == (4, 1000, 1)


def test_the_finite_population_knows_its_outcomes() -> None:
    tally = tally_of(rows_of(), ["sel", "auc"])
    whole, own = (sample(tally, seed=1, population=which).draws["mu"] for which in ("super", "finite"))
    assert own.sel(metric="auc").equals(whole.sel(metric="auc"))
    spread = [draws.sel(metric="sel", subgroup="a").std().item() for draws in (own, whole)]
    assert spread[0] < spread[1]
    assert own.sel(metric="sel", subgroup="empty").isnull().all()  # noqa: PD003


@pytest.mark.slow
@pytest.mark.parametrize("residuals", ["normal", "skewed"])
def test_nuts_samples_the_same_posterior(residuals: str) -> None:
    tally = tally_of(rows_of(250), ["fnr", "auc"])
    word = bg.ModelBasedMetrics(residuals=residuals)  # type: ignore[arg-type]
    mine = word.collapsed(tally, seed=1).draws["mu"]
    draws, tune = (1000, 700) if residuals == "skewed" else (500, 500)
    theirs = nuts.sample(word.model(tally), seed=1, draws=draws, tune=tune, chains=2, target_accept=0.95)
    other = theirs["posterior"]["mu"]
    spread = mine.std(["chain", "draw"])
    gap = abs(mine.mean(["chain", "draw"]) - other.mean(["chain", "draw"])) / spread
    ratio = other.std(["chain", "draw"]) / spread
    print(
        f"\n{residuals}: largest distance {float(gap.max()):.3f} sd; "
        f"ratio of sd {float(ratio.min()):.2f} to {float(ratio.max()):.2f}"
    )
    assert (gap < 0.2).all()
    np.testing.assert_allclose(ratio, 1, atol=0.2)


def test_a_model_that_does_not_fit_is_not_usable() -> None:
    rows = rows_of(3000)
    skewed = rows.assign(p=lambda frame: 1 / (1 + np.exp(2.5 - np.exp(0.5 * np.log(frame["p"] / (1 - frame["p"]))))))
    tally = tally_of(skewed, ["sel", "auc"])
    wrong = bg.estimate(tally, bg.ModelBasedMetrics(residuals="normal", bootstrap=20), seed=1)
    assert wrong.attrs["usable"] == 0
    assert wrong.attrs["inference"] == "gibbs"
    said = wrong["diagnostics"].to_dataset()
    failed = [str(name) for name in said["check"].values[said["passed"].values == 0]]
    assert "sel: score shape" in failed
    right = sample(tally, seed=1, residuals="auto")
    assert all(one.passed for one in checks(tally, right.draws, residuals="auto") if one.name == "score shape")


@pytest.mark.slow
def test_two_atoms_are_no_law() -> None:
    rng = np.random.default_rng(1)
    rows = rows_of(1500).assign(p=lambda frame: np.where(rng.random(1500) < 0.3 + 0.3 * frame["y"], 0.9, 0.2))
    tally = tally_of(rows, ["sel", "auc"])
    found = checks(tally, sample(tally, seed=1).draws, residuals="auto")
    assert not next(one for one in found if one.name == "score shape").passed


def test_a_metric_without_any_positive_has_no_answer() -> None:
    rows = rows_of(200).assign(y=0)
    rows.loc[:, "p"] = rows["p"].clip(0.01, 0.99)
    tally = bg.tally(rows, ["s"], ["sel", "fnr", "auc"], y_true="y", y_score="p", threshold=0.5)
    found = sample(tally, seed=1)
    assert found.draws["mu"].sel(metric=["fnr", "auc"]).isnull().all()  # noqa: PD003
    assert np.isfinite(found.draws["mu"].sel(metric="sel")).all()
    assert {one.metric for one in found.checks} == {"sel"}
    assert {one.metric for one in checks(tally, found.draws, residuals="auto")} == {"sel"}


def test_a_subgroup_whose_scores_are_all_equal_has_an_answer() -> None:
    rows = rows_of(400)
    rows.loc[rows["s"] == "c", "p"] = 0.2
    found = sample(tally_of(rows, ["sel", "auc"]), seed=1).draws["mu"]
    assert np.isfinite(found).all()


def test_misfit_counts_what_chance_does_not_explain() -> None:
    one = bg.tally_from_counts([50, 50], [100, 100], pd.DataFrame({"s": ["a", "b"]})).isel(metric=0)
    rng = np.random.default_rng(1)
    assert misfit(one, 0.5 + 0.05 * rng.standard_normal((500, 2))) == 0.0
    assert misfit(one, 0.8 + 0.05 * rng.standard_normal((500, 2))) > 3
    assert np.isnan(misfit(one, np.full((500, 2), 0.5)))


def test_settings_are_checked() -> None:
    with pytest.raises(bg.InputError, match="residuals='t' is not one of"):
        bg.ModelBasedMetrics(residuals="t")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="population='all' is not one of"):
        bg.ModelBasedMetrics(population="all")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="method='slow' is not one of"):
        bg.ModelBasedMetrics(method="slow")  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match="order=-1 must be a whole number, 0 or larger"):
        bg.ModelBasedMetrics(order=-1)
    with pytest.raises(bg.InputError, match="bootstrap=1 must be a whole number, 2 or larger"):
        bg.ModelBasedMetrics(bootstrap=1)
    with pytest.raises(bg.InputError, match="effect_scale=0"):
        bg.ModelBasedMetrics(effect_scale=0)
    with pytest.raises(bg.InputError, match="row_covariates=3 must be names of columns"):
        bg.ModelBasedMetrics(row_covariates=3)  # type: ignore[arg-type]
    with pytest.raises(bg.InputError, match=r"covariates=\[3\] must be names of columns"):
        bg.ModelBasedMetrics(covariates=[3])  # type: ignore[arg-type]
    assert bg.ModelBasedMetrics(covariates=["age"]).covariates == ("age",)  # type: ignore[arg-type]
