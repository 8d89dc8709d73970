"""Partial pooling around a regression on covariates: golden values, limits, both likelihoods, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit

import bayesgroups as bg
from bayesgroups.frequentist import partial_pooling
from bayesgroups.frequentist.intervals import fay_herriot
from bayesgroups.inference.collapsed import area_regression

FOLDER = Path(__file__).parents[1] / "golden" / "targets"
GOLDEN = json.loads((FOLDER / "fay_herriot.json").read_text())
METAFOR = json.loads((FOLDER / "fay_herriot_metafor.json").read_text())
DUMMIES = ("second", "third", "fourth")
SIX = (np.array([0.20, 0.25, 0.40, 0.10, 0.75, 0.35]), np.array([0.0032, 0.005333, 0.010667, 0.02, 0.04, 0.008]))
SLOPE = np.array([0.0, 1, 2, 0, 3, 1])


def milk() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimates, sampling variances and the columns of 43 areas."""
    rows = list(csv.DictReader((FOLDER / "milk.csv").read_text().splitlines()))
    z = np.array([float(row["direct_est"]) for row in rows])
    v = np.array([float(row["std_error"]) for row in rows]) ** 2
    major = np.array([int(row["major_area"]) for row in rows])
    return z, v, np.column_stack([np.ones(len(z)), major == 2, major == 3, major == 4]).astype(float)


def areas(**unseen: Any) -> xr.Dataset:
    """The tally of them, with the dummies of the major areas for features."""
    z, v, x = milk()
    for row in unseen.get("without", ()):
        z[row] = np.nan
    who = pd.DataFrame({"area": [f"{row:02d}" for row in range(len(z))]})
    return bg.tally_from_estimates(
        z, v, who, metric="milk", features={name: x[:, column] for column, name in enumerate(DUMMIES, start=1)}
    )


def counts(seed: int = 3, slope: float = 0.0) -> xr.Dataset:
    rng = np.random.default_rng(seed)
    who = pd.DataFrame([(race, sex) for race in "abcd" for sex in "fm"], columns=["race", "sex"])
    n = rng.integers(20, 200, len(who))
    rate = expit(-1 + slope * (who["sex"] == "m") + 0.3 * rng.standard_normal(len(who)))
    return bg.tally_from_counts(rng.binomial(n, rate), n, who, metric="fnr")


@pytest.mark.parametrize("method", ["reml", "ml", "moment"])
def test_milk(method: Any) -> None:
    z, v, x = milk()
    fit, golden = fay_herriot.fit(z, v, x, method), GOLDEN[method]
    np.testing.assert_allclose(fit.variance, golden["A"], rtol=1e-9)
    np.testing.assert_allclose(fit.beta, golden["beta"], rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), golden["se_beta"], rtol=1e-8)
    np.testing.assert_allclose(fit.estimate, golden["estimate"], rtol=1e-9)
    np.testing.assert_allclose(fit.mse, golden["mse"], rtol=1e-8)
    assert not fit.boundary


def test_metafor_has_the_same_variances() -> None:
    z, v, x = milk()
    for name, method in (("REML", "reml"), ("ML", "ml"), ("PM", "moment")):
        fit = fay_herriot.fit(z, v, x, method)  # type: ignore[arg-type]
        np.testing.assert_allclose(fit.variance, METAFOR[name]["A"], rtol=1e-8)
        np.testing.assert_allclose(fit.estimate, METAFOR[name]["blup"], rtol=1e-8)


@pytest.mark.parametrize("method", ["reml", "ml", "moment"])
def test_six_areas_with_a_slope_are_at_the_boundary(method: Any) -> None:
    fit = fay_herriot.fit(*SIX, np.column_stack([np.ones(6), SLOPE]), method)
    assert fit.boundary
    assert fit.variance == 0
    np.testing.assert_allclose(fit.beta, [0.172831, 0.134243], atol=1e-6)
    np.testing.assert_allclose(fit.estimate, fit.beta[0] + fit.beta[1] * SLOPE, rtol=1e-12)
    assert (fit.mse > 0).all()


def test_six_areas_around_one_centre() -> None:
    fit = fay_herriot.fit(*SIX, np.ones((6, 1)))
    golden = GOLDEN["printed_intercept"]["reml"]
    np.testing.assert_allclose(fit.estimate, golden["estimate"], rtol=1e-8)
    np.testing.assert_allclose(fit.mse, golden["mse"], rtol=1e-7)


def test_the_report_has_the_golden_estimates() -> None:
    report = bg.estimate(areas(), bg.PartialPooling(covariates=DUMMIES, tau_scale=0.25), seed=1)
    cells = report["estimates"].to_dataset().sel(metric="milk")
    np.testing.assert_allclose(cells["estimate"].sel(approach="frequentist"), GOLDEN["reml"]["estimate"], rtol=1e-8)
    np.testing.assert_allclose(cells["std_error"].sel(approach="frequentist") ** 2, GOLDEN["reml"]["mse"], rtol=1e-7)
    exact = GOLDEN["bayes_halfnormal_0.25"]
    error = 5 * np.array(exact["sd"]) / np.sqrt(4000)
    assert (abs(cells["estimate"].sel(approach="bayesian").values - exact["estimate"]) < error).all()
    np.testing.assert_allclose(cells["std_error"].sel(approach="bayesian"), exact["sd"], rtol=0.06)
    posterior = report["posterior"].to_dataset().sel(metric="milk")
    assert abs(float(posterior["tau"].mean()) - exact["sigma_mean"]) < 0.004
    assert posterior["beta"].dims == ("chain", "draw", "covariate")
    assert posterior["covariate"].values.tolist() == list(DUMMIES)
    assert set(cells["interval_method"].sel(approach="frequentist").values.ravel()) == {"prasad_rao"}
    assert report.attrs["usable"] == 1
    assert "centre ~ flat, beta ~ flat" in bg.PartialPooling(covariates=DUMMIES).describe_priors(areas())


def test_flat_spread_in_the_engine() -> None:
    z, v, x = milk()
    drawn = area_regression.sample(
        z, v, x, np.random.default_rng(1), precision=np.zeros(4), tau_scale=1e3, draws=20_000
    )
    exact = GOLDEN["bayes_flat_sigma"]
    assert abs(drawn.tau.mean() - exact["sigma_mean"]) < 5 * drawn.tau.std() / np.sqrt(20_000)
    assert (abs(drawn.mu.mean(axis=0) - exact["estimate"]) < 5 * np.array(exact["sd"]) / np.sqrt(20_000)).all()


def test_areas_without_an_estimate_are_imputed() -> None:
    report = bg.estimate(areas(without=(0, 20)), bg.PartialPooling(covariates=DUMMIES), seed=1)
    cells = report["estimates"].to_dataset().sel(metric="milk")
    assert np.unique(cells["status"].values[:, [0, 20]]).tolist() == ["imputed"]
    z, v, x = milk()
    z[[0, 20]] = np.nan
    fit = fay_herriot.fit(z, v, x)
    np.testing.assert_allclose(cells["estimate"].sel(approach="frequentist")[[0, 20]], x[[0, 20]] @ fit.beta, rtol=1e-8)
    np.testing.assert_allclose(
        fit.mse[[0, 20]], fit.variance + np.einsum("ij,jk,ik->i", x, fit.covariance, x)[[0, 20]], rtol=1e-12
    )
    assert (abs(np.diff(cells["estimate"].values[:, [0, 20]], axis=0)) < 0.05).all()


def test_coefficients_are_in_units_of_the_covariate() -> None:
    answer = partial_pooling.estimate(areas(), covariates=DUMMIES)
    x = milk()[2][:, 1:]
    np.testing.assert_allclose(answer["beta"][0] / x.std(axis=0), GOLDEN["reml"]["beta"][1:], rtol=1e-8)
    intercept = float(answer["overall"][0]) - (answer["beta"][0].values / x.std(axis=0)) @ x.mean(axis=0)
    np.testing.assert_allclose(intercept, GOLDEN["reml"]["beta"][0], rtol=1e-8)


def test_rates_have_dummies_of_attributes() -> None:
    report = bg.estimate(counts(slope=1.5), bg.PartialPooling(covariates=("race", "sex")), seed=1)
    beta = report["posterior"].to_dataset()["beta"].sel(metric="fnr")
    assert beta["covariate"].values.tolist() == ["race[b]", "race[c]", "race[d]", "sex[m]"]
    assert 0.8 < float(beta.sel(covariate="sex[m]").mean()) < 2.2
    assert report.attrs["inference"] == "hamiltonian"
    assert report.attrs["usable"] == 1
    assert json.loads(report.attrs["settings"])["covariates"] == ["race", "sex"]


def test_the_spread_is_smaller_once_it_is_explained() -> None:
    table = counts(slope=2.5)
    plain = bg.estimate(table, bg.PartialPooling(), seed=1)["posterior"]["tau"].mean()
    adjusted = bg.estimate(table, bg.PartialPooling(covariates=("sex",)), seed=1)["posterior"]["tau"].mean()
    assert float(adjusted) < 0.7 * float(plain)


def test_without_covariates_settings_of_the_regression_change_nothing() -> None:
    report = bg.estimate(counts(), bg.PartialPooling(covariates=()), seed=1)
    assert report.identical(bg.estimate(counts(), bg.PartialPooling(covariates=[]), seed=1))  # type: ignore[arg-type]
    assert "beta" not in report["posterior"]


@pytest.mark.parametrize("likelihood", ["auto", "normal"])
def test_groups_of_the_report(likelihood: Any) -> None:
    estimator = bg.PartialPooling(likelihood=likelihood, covariates=("sex",))
    report = bg.estimate(counts(), estimator, seed=1, groups=["prior", "log_prior"])
    assert {"log_prior", "log_likelihood"} <= set(report.children)
    if likelihood == "auto":
        assert "beta" in report["prior"]
    else:
        assert "flat" in report.attrs["without_groups"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "ml"}, "method='ml' is a setting of the regression on covariates; name some"),
        ({"coefficient_scale": 1.0}, "coefficient_scale=1.0 is a setting of the regression"),
        ({"covariates": ["sex"], "interval": "fab"}, "interval='fab' has no version with covariates"),
        ({"covariates": ["sex"], "clusters": "random_effects"}, "clusters='random_effects' has no version"),
        ({"covariates": ["sex"], "method": "mle"}, "method='mle' is not one of"),
        ({"covariates": ["sex"], "coefficient_scale": -1}, "coefficient_scale=-1 must be a positive number"),
    ],
)
def test_settings_that_do_not_go_together(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(bg.InputError, match=words.replace("(", "\\(")):
        bg.PartialPooling(**settings)


@pytest.mark.parametrize(
    ("covariates", "words"),
    [
        (
            ("age",),
            "covariate 'age' is neither an attribute of the tally \\(race, sex\\) nor a feature of it \\(none\\)",
        ),
        (("sex", "sex"), "covariate 'sex' is named twice"),
    ],
)
def test_covariates_that_are_not_there(covariates: tuple[str, ...], words: str) -> None:
    with pytest.raises(bg.InputError, match=words):
        bg.estimate(counts(), bg.PartialPooling(covariates=covariates), seed=1)


def test_too_few_areas_or_dependent_columns() -> None:
    who, z = pd.DataFrame({"site": list("abcd")}), [0.1, 0.2, 0.3, 0.5]
    features = {
        "x": [1.0, 2, 4, 3],
        "y": [2.0, 4, 8, 6],
        "w": [1.0, 0, 0, 1],
        "same": [1.0] * 4,
        "gap": [np.nan, 1, 2, 3],
    }
    tally = bg.tally_from_estimates(z, [0.01] * 4, who, features=features)
    for covariates, words in (
        (("x", "y"), "the columns y follow from the columns before them \\(intercept, x, y\\)"),
        (("x", "w"), "4 subgroups have an estimate, for 3 coefficients \\(intercept, x, w\\); 5 are the least"),
        (("same",), "covariate 'same' is the same in all subgroups"),
        (("gap",), "subgroup 'a' has no value of the covariate 'gap'"),
    ):
        with pytest.raises(bg.InputError, match=words):
            bg.estimate(tally, bg.PartialPooling(covariates=covariates), seed=1)


def test_features_of_published_estimates_are_checked() -> None:
    who = pd.DataFrame({"site": ["a", "b"]})
    for features, words in (
        ({"site": [1, 2]}, "features= has the name 'site' of another column"),
        ({"x": [1, np.inf]}, "subgroup 'b': feature 'x' must be finite"),
        ({"x": [1]}, "features\\['x'\\]= has 1 values for 2 subgroups"),
    ):
        with pytest.raises(bg.InputError, match=words):
            bg.tally_from_estimates([0.1, 0.2], [0.01, 0.01], who, features=features)


def test_crossed_effects_take_features_of_published_estimates() -> None:
    who = pd.DataFrame([(a, b) for a in "abc" for b in "xy"], columns=["race", "sex"])
    x = np.array([0.0, 1, 2, 3, 4, 5])
    tally = bg.tally_from_estimates(0.1 * x, [0.001] * 6, who, features={"x": x})
    beta = bg.estimate(tally, bg.CrossedEffects(covariates=("x",)), seed=1)["posterior"].to_dataset()["beta"]
    assert np.isfinite(beta.values).all()
    assert float(beta.mean()) > 0


def test_a_metric_without_estimates_is_nothing() -> None:
    who = pd.DataFrame({"site": list("abcdef")})
    tally = bg.tally_from_counts(
        {"fnr": [1, 2, 3, 4, 5, 6], "fpr": [0] * 6}, {"fnr": [9] * 6, "fpr": [0] * 6}, who
    ).assign_coords(feature=["x"])
    tally["feature_mean"] = (("subgroup", "feature"), np.arange(6.0)[:, None])
    report = bg.estimate(tally, bg.PartialPooling(covariates=("x",)), seed=1)
    assert np.isnan(report["estimates"].to_dataset()["estimate"].sel(metric="fpr").values).all()
    assert np.isfinite(report["estimates"].to_dataset()["estimate"].sel(metric="fnr").values).all()
