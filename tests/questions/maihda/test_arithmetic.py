"""Fits of multilevel models of strata from sums, against R and an independent computation on the same strata."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from scipy.stats import chi2

from bayesgroups.questions.maihda import mean_models, rate_models
from bayesgroups.questions.maihda.discrimination import auc, delong
from bayesgroups.questions.maihda.shares import project
from bayesgroups.questions.maihda.stratum_fit import p_value_zero, profile_limits
from bayesgroups.questions.maihda.variance_scales import integrated, latent, linearised, median_odds_ratio, realised

FOLDER = Path(__file__).parents[2] / "golden" / "targets"
PYTHON = json.loads((FOLDER / "maihda_python.json").read_text())
NAMES = {
    "null": [],
    "gender": ["gender"],
    "employed": ["employed"],
    "age": ["age"],
    "adjusted": ["gender", "employed", "age"],
}


def strata(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((FOLDER / name).read_text().splitlines()))


def columns(rows: list[dict[str, str]], names: list[str]) -> np.ndarray:
    made = [np.ones(len(rows))]
    for name in names:
        levels = list(dict.fromkeys(row[name] for row in rows))
        made += [np.array([float(row[name] == level) for row in rows]) for level in levels[1:]]
    return np.column_stack(made)


def means(names: list[str], restricted: bool) -> mean_models.Means:
    rows = strata("efc_strata.csv")
    n, mean, within = (np.array([float(row[key]) for row in rows]) for key in ("n", "mean", "sum_squares"))
    return mean_models.Means(n, mean, float(within.sum()), columns(rows, names), restricted)


def rates(names: list[str]) -> rate_models.Counts:
    rows = strata("efc_binary_strata.csv")
    k, n = (np.array([float(row[key]) for row in rows]) for key in ("k", "n"))
    return rate_models.Counts(k, n, columns(rows, names))


@pytest.mark.parametrize("method", ["ml", "reml"])
@pytest.mark.parametrize("model", list(NAMES))
def test_means_of_rows_in_strata(method: str, model: str) -> None:
    golden = PYTHON[f"gaussian_{method}"][model]
    fit = mean_models.fit(means(NAMES[model], method == "reml"))
    # Theirs come from an optimiser.
    np.testing.assert_allclose(
        [fit.between, fit.residual], [golden["between"], golden["residual"]], atol=1e-6, rtol=1e-6
    )
    np.testing.assert_allclose(fit.log_likelihood, golden["loglik"], rtol=1e-10)
    np.testing.assert_allclose(fit.coefficients, golden["fixed"], rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), golden["se"], rtol=1e-6)
    assert fit.boundary is (model == "adjusted")
    if model == "null":
        np.testing.assert_allclose(fit.effect, golden["stratum_residual"], atol=1e-6)
        np.testing.assert_allclose(fit.effect_sd, golden["conditional_sd"], atol=1e-6)


def test_profile_of_the_variance_of_means() -> None:
    data = means([], restricted=False)
    fit, golden = mean_models.fit(data), PYTHON["gaussian_ml"]["null"]
    limits = profile_limits(lambda v: mean_models.profile(v, data), fit.between, 0.95)
    np.testing.assert_allclose(limits, golden["profile_ci_between"], rtol=1e-5)
    p = p_value_zero(fit.log_likelihood, mean_models.ratio_profile(0.0, data))
    np.testing.assert_allclose(p, golden["p_zero_mixture"], rtol=1e-6)


@pytest.mark.parametrize("restricted", [True, False])
@pytest.mark.parametrize("spread", [0.3, 30.0, 3000.0])
def test_means_that_lie_far_apart(spread: float, restricted: bool) -> None:
    """The variance, its profile and limits, against the likelihood of both variances on a grid."""
    rng = np.random.default_rng(3)
    n = rng.integers(2, 20, 9).astype(float)
    mean = spread * rng.normal(size=9) + rng.normal(size=9) / np.sqrt(n)
    data = mean_models.Means(n, mean, float(rng.chisquare(n.sum() - 9)), np.ones((9, 1)), restricted)
    fit = mean_models.fit(data)
    assert fit.between > 0

    def height(between: float) -> float:
        residual = np.geomspace(fit.residual / 30, fit.residual * 30, 3001)[:, None]
        total = residual / n + between
        weight = 1 / total
        centre = (weight * mean).sum(axis=1) / weight.sum(axis=1)
        value = (data.rows - 9) * np.log(2 * np.pi * residual[:, 0]) + data.within / residual[:, 0]
        value = value + (np.log(2 * np.pi * total * n) + weight * (mean - centre[:, None]) ** 2).sum(axis=1)
        if restricted:
            value = value + np.log(weight.sum(axis=1)) - np.log(2 * np.pi)
        return float(-0.5 * value.min())

    limits = profile_limits(lambda between: mean_models.profile(between, data), fit.between, 0.95)
    for between in (fit.between, *limits):
        assert mean_models.profile(between, data) == pytest.approx(height(between), abs=1e-4)
    assert mean_models.profile(fit.between, data) == pytest.approx(fit.log_likelihood, abs=1e-8)
    assert height(fit.between) - height(limits[1]) == pytest.approx(chi2.ppf(0.95, 1) / 2, abs=1e-3)


def test_means_of_rows_that_hardly_differ_have_no_finite_variance() -> None:
    data = mean_models.Means(np.full(4, 5.0), np.array([0.0, 1e6, 3e6, -2e6]), 1e-6, np.ones((4, 1)), True)
    fit = mean_models.fit(data)
    assert np.isnan(fit.between)
    assert "still rises where the variance between strata is 1e+12 times that of rows" in fit.reason


def test_rates_of_rows_in_strata() -> None:
    golden, fit = PYTHON["binary"]["null"], rate_models.fit(rates([]))
    np.testing.assert_allclose(fit.between, golden["variance"], rtol=1e-6)
    np.testing.assert_allclose(fit.coefficients, golden["fixed"], rtol=1e-6)
    np.testing.assert_allclose(fit.effect, golden["posterior_mean_residual"], atol=1e-6)
    zero = rate_models.profile(0.0, rates([]))
    np.testing.assert_allclose(fit.log_likelihood, golden["loglik_without_constant"], rtol=1e-9)
    np.testing.assert_allclose(zero, golden["loglik_zero"], rtol=1e-9)
    np.testing.assert_allclose(p_value_zero(fit.log_likelihood, zero), golden["p_zero_mixture"], rtol=1e-5)
    between, centre = np.array(fit.between), fit.coefficients[0]
    for value, name in (
        (latent(between), "vpc_latent"),
        (linearised(between, centre), "vpc_response_linearised"),
        (integrated(between, centre), "vpc_response_quadrature"),
        (median_odds_ratio(between), "mor"),
    ):
        np.testing.assert_allclose(value, golden[name], rtol=2e-5)


def test_main_effects_of_rates_leave_nothing_between_strata() -> None:
    golden, fit = PYTHON["binary"]["adjusted"], rate_models.fit(rates(NAMES["adjusted"]))
    assert fit.boundary
    assert fit.between == 0
    np.testing.assert_allclose(fit.coefficients, golden["fixed"], rtol=1e-5)
    np.testing.assert_allclose(fit.log_likelihood, golden["loglik_without_constant"], rtol=1e-9)
    data = rates([])
    main = columns(strata("efc_binary_strata.csv"), NAMES["adjusted"]) @ fit.coefficients
    np.testing.assert_allclose(auc(main, data.successes, data.count), golden["auc_main_effects"], rtol=1e-8)


STRATA = {
    # Hardly a variance, of many rows: an optimiser that steps over it ends at 0.
    "small": (
        [586, 665, 278, 254, 1002, 15361, 316, 268, 266, 4779],
        [2511, 2701, 1196, 1117, 4281, 62706, 1177, 1234, 994, 20304],
    ),
    "moderate": ([2, 12, 13, 40, 3, 9], [15, 37, 34, 63, 20, 10]),
    # Strata with successes alone or none, where integrals are of one side.
    "wide": ([0, 9, 400, 1, 0, 250, 30, 3], [50, 9, 410, 700, 3, 300, 31, 90]),
}


def likelihood(k: list[int], n: list[int], main: np.ndarray, b: np.ndarray, sd: float) -> float:
    """Log likelihood by the trapezoidal rule over z, in steps that no term of the integrand can hide between."""
    z = np.linspace(-12, 12, 48_001)
    total = 0.0
    for successes, count, row in zip(k, n, main, strict=True):
        eta = row @ b + sd * z
        terms = successes * eta - count * np.logaddexp(0, eta) - 0.5 * z**2 - 0.5 * np.log(2 * np.pi)
        total += terms.max() + np.log(np.exp(terms - terms.max()).sum() * (z[1] - z[0]))
    return float(total)


@pytest.mark.parametrize("name", list(STRATA))
@pytest.mark.parametrize("adjusted", [False, True])
def test_rates_are_at_the_highest_likelihood(name: str, adjusted: bool) -> None:
    k, n = STRATA[name]
    main = np.column_stack([np.ones(len(k)), np.arange(len(k)) % 2.0])[:, : 1 + adjusted]
    data = rate_models.Counts(np.array(k, dtype=float), np.array(n, dtype=float), main)
    fit = rate_models.fit(data)
    assert fit.between > 0

    def height(at: np.ndarray) -> float:
        return -likelihood(k, n, main, at[:-1], float(np.exp(at[-1])))

    found = np.r_[fit.coefficients, 0.5 * np.log(fit.between)]
    np.testing.assert_allclose(-height(found), fit.log_likelihood, rtol=0, atol=1e-8 * abs(fit.log_likelihood))
    best = minimize(
        height, found + 0.05, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-11, "maxiter": 4000}
    )
    assert -best.fun <= fit.log_likelihood + 1e-7
    np.testing.assert_allclose(best.x, found, atol=2e-4)


@pytest.mark.parametrize("name", list(STRATA))
def test_limits_of_rates_are_where_the_profile_falls(name: str) -> None:
    k, n = STRATA[name]
    one = np.ones((len(k), 1))
    data = rate_models.Counts(np.array(k, dtype=float), np.array(n, dtype=float), one)
    fit = rate_models.fit(data)
    low, high = profile_limits(
        lambda v: rate_models.profile(v, data, fit.coefficients), fit.between, 0.95, rate_models.MAX_BETWEEN
    )
    assert np.isfinite(high) == (name != "wide")
    for limit in (low, min(high, rate_models.MAX_BETWEEN)):
        best = minimize_scalar(
            lambda b, limit=limit: -likelihood(k, n, one, np.array([b]), float(np.sqrt(limit))),
            bounds=(fit.coefficients[0] - 3, fit.coefficients[0] + 3), method="bounded", options={"xatol": 1e-9},
        )  # fmt: skip
        drop = fit.log_likelihood + best.fun
        if 0 < limit < rate_models.MAX_BETWEEN:
            assert drop == pytest.approx(chi2.ppf(0.95, 1) / 2, abs=1e-6)
        else:
            assert drop < chi2.ppf(0.95, 1) / 2
    assert low < fit.between < high
    again = rate_models.profile(2 * fit.between, data)
    assert rate_models.profile(2 * fit.between, data, fit.coefficients) == pytest.approx(again, abs=1e-9)


def test_two_peaks_of_the_likelihood_are_both_seen() -> None:
    """Of millions of rows it can fall from no variance before it rises."""
    k = np.array([45_224.0, 176_893, 522_319, 35_172, 10_096, 33_178])
    n = np.array([83_229.0, 793_387, 963_868, 159_831, 45_225, 60_852])
    data = rate_models.Counts(k, n, np.column_stack([np.ones(6), [0, 1, 0, 1, 1, 0]]))
    fit = rate_models.fit(data)
    assert rate_models.profile(1e-8, data) < rate_models.profile(0.0, data) < fit.log_likelihood
    spreads = np.geomspace(1e-3, 1e-2, 400)
    heights = [rate_models.profile(float(spread**2), data) for spread in spreads]
    assert max(heights) <= fit.log_likelihood + 1e-9
    assert np.sqrt(fit.between) == pytest.approx(spreads[int(np.argmax(heights))], rel=0.01)


def test_all_or_nothing_has_no_finite_variance() -> None:
    data = rate_models.Counts(np.array([0.0, 10, 0, 10, 10]), np.full(5, 10.0), np.ones((5, 1)))
    fit = rate_models.fit(data)
    assert np.isnan(fit.between)
    assert "still rises at a standard deviation between strata of 10 logits" in fit.reason


def test_single_rows_have_no_variance_between_them() -> None:
    """The likelihood of strata of one row is the same whatever the variance."""
    k = np.array([0.0, 1, 0, 0, 1, 1, 0])
    fit = rate_models.fit(rate_models.Counts(k, np.ones(7), np.ones((7, 1))))
    assert fit.boundary
    assert fit.value == pytest.approx(3 / 7, abs=1e-9)


def test_a_limit_beyond_the_largest_value_is_infinite() -> None:
    assert profile_limits(lambda x: -1 / (1 + x), 50.0, 0.95, 100.0) == (0.0, np.inf)
    assert latent(np.array([np.inf, 0.0, np.nan]), 2.0).tolist()[:2] == [1.0, 0.0]


def test_main_effects_that_separate_have_no_fit() -> None:
    data = rate_models.Counts(
        np.array([0.0, 0, 3, 5]), np.array([9.0, 9, 9, 9]), np.column_stack([np.ones(4), [0, 0, 1, 1]])
    )
    fit = rate_models.fit(data)
    assert np.isnan(fit.between)
    assert "separate" in fit.reason


def test_discrimination_of_strata() -> None:
    golden, data = PYTHON["binary"]["null"], rates([])
    fit = rate_models.fit(data)
    observed = data.successes / data.count
    np.testing.assert_allclose(auc(observed, data.successes, data.count), golden["auc_observed_rates"], rtol=1e-9)
    np.testing.assert_allclose(delong(observed, data.successes, data.count), 0.018462, atol=1e-6)
    np.testing.assert_allclose(auc(fit.effect, data.successes, data.count), golden["auc_shrunk"], rtol=1e-9)
    shrunk = expit(fit.coefficients[0] + fit.effect)
    own = auc(shrunk, data.count * shrunk, data.count)
    np.testing.assert_allclose(own, golden["auc_of_shrunk_rates_on_themselves"], rtol=1e-6)


def test_the_area_is_that_of_all_pairs() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        n = rng.integers(1, 9, 7).astype(float)
        k, score = rng.binomial(n.astype(int), 0.5).astype(float), rng.integers(0, 4, 7) / 4
        pairs = np.sign(score[:, None] - score[None, :]) / 2 + 0.5
        expected = k @ pairs @ (n - k) / (k.sum() * (n - k).sum())
        np.testing.assert_allclose(auc(score, k, n), expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "weight"), [("equal", [1.0] * 4), ("weights_6_2_1_1", [6.0, 2, 1, 1])])
def test_projection(name: str, weight: list[float]) -> None:
    golden: dict[str, Any] = PYTHON[f"projection_{name}"]
    design = np.array([[1.0, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    split = project(np.array(golden["eta"]), design, np.array(weight))
    np.testing.assert_allclose(split.additive, golden["additive"], rtol=1e-12)
    np.testing.assert_allclose(split.interaction, golden["interaction"], rtol=1e-12)
    np.testing.assert_allclose(split.interaction_share, golden["interaction_share"], rtol=1e-12)
    np.testing.assert_allclose(split.residual, golden["residuals"], atol=1e-12)


def test_variances_of_a_projection_add_up() -> None:
    rng = np.random.default_rng(2)
    eta, weight = rng.standard_normal((50, 6)), rng.random(6)
    design = np.column_stack([np.ones(6), [0, 0, 0, 1, 1, 1], [0, 1, 0, 0, 1, 0]])
    split = project(eta, design, weight)
    mean = eta @ weight / weight.sum()
    np.testing.assert_allclose(split.additive + split.interaction, (eta - mean[:, None]) ** 2 @ weight / weight.sum())


def test_a_realised_share_of_equal_rates_is_nothing() -> None:
    assert float(realised(np.full(4, 0.3), np.ones(4))) == pytest.approx(0, abs=1e-15)
