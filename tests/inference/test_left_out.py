"""Densities of subgroups that are left out, against dense covariances, integrals and other code."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.integrate import dblquad, quad
from scipy.special import expit, logsumexp
from scipy.stats import betabinom, binom, multivariate_normal, norm, t

import bayesgroups as bg
from bayesgroups.inference.left_out import conjugate, crossed_normal, moved, population, structured
from bayesgroups.inference.left_out.answer import without_answer
from bayesgroups.inference.left_out.confusion import pair_density
from bayesgroups.inference.left_out.smoothing import relative_efficiency, smoothed
from bayesgroups.inference.left_out.values import at_draws
from bayesgroups.inference.observed_nodes import BinomialNode, NormalNode, ObservedNodes
from bayesgroups.models.shared.ordered_levels import NOTHING
from bayesgroups.models.shared.scales import WEAK, natural_scale
from bayesgroups.models.shared.subsets import subsets

GOLDEN = Path(__file__).parents[1] / "golden" / "loo"
SITES = pd.DataFrame({"site": list("abcdef")})
SUCCESSES, TRIALS = np.array([4, 30, 0, 11, 20, 2]), np.array([20, 100, 7, 50, 80, 9])
COUNTS = bg.tally_from_counts(SUCCESSES, TRIALS, SITES, metric="fnr")
MEANS, ERRORS = np.array([0.3, 0.1, 0.6, 0.45, 0.2, 0.5]), np.array([0.1, 0.2, 0.15, 0.05, 0.3, 0.1])
ESTIMATES = bg.tally_from_estimates(MEANS, ERRORS**2, SITES, metric="auc", lower=0.0, upper=1.0)


def _draws(tally: xr.Dataset, **values: np.ndarray) -> xr.Dataset:
    """Draws of hyper-parameters of one metric."""
    number = len(next(iter(values.values())))
    variables = {name: (("sample", "metric"), value.reshape(number, 1)) for name, value in values.items()}
    return xr.Dataset(variables, coords={"metric": tally["metric"].values})


def some(values: np.ndarray | None) -> np.ndarray:
    """The array, which is there."""
    assert values is not None
    return values


def _dense(y: np.ndarray, covariance: np.ndarray, centre: float = 0.0) -> np.ndarray:
    """Log density of every entry of a normal vector given the others: of all, less of the others."""
    places = range(len(y))
    whole = multivariate_normal(np.full(len(y), centre), covariance).logpdf(y)
    kept = [np.delete(places, g) for g in places]
    return np.array(
        [
            whole - multivariate_normal(np.full(len(rest), centre), covariance[np.ix_(rest, rest)]).logpdf(y[rest])
            for rest in kept
        ]
    )


def test_subgroups_that_stand_alone_are_predicted_by_their_prior() -> None:
    answer = conjugate.alone(COUNTS, binomial=True)
    assert answer.method == "exact"
    np.testing.assert_allclose(some(answer.elpd)[0], betabinom.logpmf(SUCCESSES, TRIALS, 0.5, 0.5), atol=1e-9)
    natural = natural_scale(ESTIMATES)
    sd = np.hypot(WEAK * float(natural["scale"][0]), ERRORS)
    elpd = conjugate.alone(ESTIMATES, binomial=False).elpd
    np.testing.assert_allclose(some(elpd)[0], norm.logpdf(MEANS, float(natural["centre"][0]), sd), atol=1e-9)


def test_subgroups_with_one_value_are_predicted_by_the_others() -> None:
    answer = conjugate.in_common(COUNTS, binomial=True)
    k, n = SUCCESSES.sum() - SUCCESSES, TRIALS.sum() - TRIALS
    expected = betabinom.logpmf(SUCCESSES, TRIALS, 0.5 + k, 0.5 + n - k)
    np.testing.assert_allclose(some(answer.elpd)[0], expected, atol=1e-9)
    together = betabinom.logpmf(SUCCESSES, TRIALS, 0.5 + SUCCESSES.sum(), 0.5 + TRIALS.sum() - SUCCESSES.sum())
    np.testing.assert_allclose(some(answer.lpd)[0], together, atol=1e-9)
    natural = natural_scale(ESTIMATES)
    covariance = (WEAK * float(natural["scale"][0])) ** 2 + np.diag(ERRORS**2)
    elpd = conjugate.in_common(ESTIMATES, binomial=False).elpd
    np.testing.assert_allclose(some(elpd)[0], _dense(MEANS, covariance, float(natural["centre"][0])), atol=1e-9)


@pytest.mark.parametrize(("mean", "sd"), [(-1.0, 0.4), (0.5, 1e-4), (3.0, 2.0)])
def test_counts_are_integrated_over_a_normal_logit(mean: float, sd: float) -> None:
    k, n = np.array([0.0, 3.0, 40.0, 2.5]), np.array([4.0, 3.0, 90.0, 6.25])
    density = population.binomial_density(k, n, np.array([[mean]]), np.array([[sd]]))[0]
    choose = density - population.binomial_density(k, n, np.array([[0.0]]), np.array([[0.0]]))[0] - n * np.log(2)
    expected = [
        np.log(
            quad(
                lambda z, i=i: norm.pdf(z) * np.exp(_kernel(float(k[i]), float(n[i]), mean + sd * z)),
                -12,
                12,
                limit=400,
                epsabs=0,
            )[0]
        )
        for i in range(len(k))
    ]
    np.testing.assert_allclose(choose, expected, atol=5e-5)
    whole = binom.logpmf(k[:3], n[:3], 0.5)
    np.testing.assert_allclose(
        population.binomial_density(k, n, np.array([[0.0]]), np.array([[0.0]]))[0, :3], whole, atol=1e-9
    )


def _kernel(k: float, n: float, eta: float) -> float:
    return float(-k * np.logaddexp(0, -eta) - (n - k) * np.logaddexp(0, eta))


@pytest.mark.parametrize("tau", [0.0, 0.05, 1.0])
def test_estimates_of_a_population_with_known_spread_have_a_closed_form(tau: float) -> None:
    natural = natural_scale(ESTIMATES)
    centre, scale = float(natural["centre"][0]), float(natural["scale"][0])
    draws = _draws(ESTIMATES, tau=np.array([tau]))
    noise = np.diag(ERRORS**2 + tau**2)
    answer = population.population_estimates(draws, ESTIMATES)
    np.testing.assert_allclose(some(answer.log_density)[0, 0], _dense(MEANS, noise + scale**2, centre), atol=1e-9)
    flat = population.population_estimates(draws, ESTIMATES, flat=True)
    np.testing.assert_allclose(some(flat.log_density)[0, 0], _dense(MEANS, noise + 1e3**2, centre), atol=1e-4)
    known_centre = population.population_estimates(draws, ESTIMATES, flat=True, centre=0.2)
    np.testing.assert_allclose(
        some(known_centre.log_density)[0, 0], norm.logpdf(MEANS, 0.2, np.sqrt(np.diag(noise))), atol=1e-9
    )


def test_flat_priors_need_estimates() -> None:
    few = bg.tally_from_estimates(MEANS[:4], ERRORS[:4] ** 2, SITES[:4], metric="auc")
    draws = _draws(few, tau=np.array([0.1]))
    assert (
        "without one of 4 estimates flat priors leave no"
        in population.population_estimates(draws, few, flat=True).reason
    )
    assert population.population_estimates(draws, few, flat=True, centre=0.4).reason == ""


@pytest.mark.parametrize("residual", [0.4, 1e-3])
def test_crossed_predictors_given_the_others_are_those_of_the_dense_covariance(residual: float) -> None:
    who = pd.DataFrame({"race": list("aabbcc"), "sex": ["f", "m"] * 3})
    components = subsets(bg.tally_from_counts(SUCCESSES, TRIALS, who))
    x = np.array([[-1.0], [0.3], [0.2], [1.5], [-0.4], [-0.6]])
    sds = np.array([[0.3, 0.6], [0.01, 1.1]])
    z, widths = crossed_normal.design(components, x, sds, 4.0, 0.5, NOTHING, np.empty((2, 0)))
    y = np.random.default_rng(1).normal(size=(2, 6))
    noise = np.full((2, 6), residual**2) * np.array([1, 2, 1, 1, 3, 1])
    mean, variance = crossed_normal.conditional(y, noise, z, widths)
    for draw in range(2):
        agree = components.cells[:-1, :, None] == components.cells[:-1, None, :]
        covariance = 16 + 0.25 * x @ x.T + (sds[draw][:, None, None] ** 2 * agree).sum(axis=0) + np.diag(noise[draw])
        for g in range(6):
            rest = np.delete(np.arange(6), g)
            weights = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, g])
            np.testing.assert_allclose(mean[draw, g], weights @ y[draw, rest], rtol=1e-5, atol=1e-6)
            expected = covariance[g, g] - weights @ covariance[rest, g]
            np.testing.assert_allclose(variance[draw, g], expected, rtol=1e-5)


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("residual", [0.4, 1e-4])
def test_cells_of_complete_tables_have_common_directions(missing: int, residual: float) -> None:
    """And those of others have not; either way entries given the others are those of the dense covariance."""
    who = pd.DataFrame([(a, b, c) for a in "xyz" for b in "uv" for c in "pqr"], columns=["a", "b", "c"])
    components = subsets(bg.tally_from_counts([1] * len(who), [9] * len(who), who))
    rng = np.random.default_rng(5)
    sds = rng.uniform(0.1, 1, (4, len(components.names) - 1))
    z, widths = crossed_normal.design(components, np.empty((len(who), 0)), sds, 4.0, 0.5, NOTHING, np.empty((4, 0)))
    z, cells = z[missing:], len(who) - missing
    assert z.shape[1] > cells
    assert (crossed_normal.common_directions(z, widths) is None) == bool(missing)
    y, noise = rng.normal(size=(4, cells)), np.full((4, cells), residual**2)
    mean, variance = crossed_normal.conditional(y, noise, z, widths)
    for draw in range(4):
        inverse = np.linalg.inv((z * widths[draw] ** 2) @ z.T + np.diag(noise[draw]))
        np.testing.assert_allclose(variance[draw], 1 / np.diagonal(inverse), rtol=1e-6)
        np.testing.assert_allclose(mean[draw], y[draw] - inverse @ y[draw] / np.diagonal(inverse), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("effects", [3, 9])
def test_precisions_in_the_space_of_effects_and_of_cells_are_dense_inverses(effects: int) -> None:
    rng = np.random.default_rng(2)
    w, noise, y = rng.normal(size=(3, 6, effects)), rng.uniform(0.01, 2, (3, 6)), rng.normal(size=(3, 6))
    found = crossed_normal.Precision(noise, w)
    dense = np.linalg.inv(np.stack([each @ each.T + np.diag(d) for each, d in zip(w, noise, strict=True)]))
    first, second = np.array([0, 4, 2]), np.array([5, 1, 3])
    np.testing.assert_allclose(found.diagonal(), np.diagonal(dense, axis1=1, axis2=2), rtol=1e-9)
    np.testing.assert_allclose(found.between(first, second), dense[:, first, second], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.times(y), (dense @ y[..., None])[..., 0], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("effects", [3, 9])
def test_the_posterior_covariance_is_the_dense_one(effects: int) -> None:
    rng = np.random.default_rng(4)
    w, precision = rng.normal(size=(1, 5, effects)), np.array([0.1, 2.0, 30.0, 1.0, 1e-3])
    inner = np.linalg.inv(w[0] @ w[0].T + 0.3 * np.eye(5)) + np.diag(precision)
    covariance = moved.posterior_covariance(precision, np.array([[0.3]]), w)
    np.testing.assert_allclose(covariance[0], np.linalg.inv(inner), rtol=1e-9, atol=1e-12)


def test_moved_draws_have_the_density_of_the_integral_without_the_subgroup() -> None:
    """Three logits on a grid, of which two are left: their weights at the posterior of all three, and the density of the third."""
    k, n, sd, wide = np.array([9.0, 2.0, 1.0]), np.array([30.0, 12.0, 5.0]), 0.6, 1.0
    axis = np.linspace(-5, 3, 81)
    mesh = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    prior = multivariate_normal(np.zeros(3), wide**2 + sd**2 * np.eye(3)).logpdf(mesh)
    likelihood = binom.logpmf(k, n, expit(mesh))
    posterior = np.exp(prior + likelihood.sum(axis=1))
    rng = np.random.default_rng(1)
    at = rng.choice(len(mesh), 40_000, p=posterior / posterior.sum())
    eta = mesh[at] + rng.uniform(-0.05, 0.05, (len(at), 3))
    draws = len(eta)
    plain, weight, density = moved.moved(eta, k, n, np.full(draws, sd**2), np.ones((3, 1)), np.full((draws, 1), wide))
    for g in range(3):
        rest = np.delete(np.arange(3), g)
        expected = logsumexp(prior + likelihood.sum(axis=1)) - logsumexp(prior + likelihood[:, rest].sum(axis=1))
        of_moved = logsumexp(weight[:, g] + density[:, g]) - logsumexp(weight[:, g])
        assert of_moved == pytest.approx(expected, abs=0.02)
        assert np.log(draws) - logsumexp(-plain[:, g]) == pytest.approx(expected, abs=0.06)
        assert np.exp(weight[:, g]).std() / np.exp(weight[:, g]).mean() < 0.5
        inverse = np.exp(-plain[:, g])
        assert np.exp(weight[:, g]).std() / np.exp(weight[:, g]).mean() < inverse.std() / inverse.mean()


def test_tables_of_very_many_subgroups_are_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    eta, noise, widths = np.random.default_rng(1).normal(size=(50, 3)), np.full(50, 0.3), np.ones((50, 1))
    k, n, z = np.array([2.0, 0.0, 3.0]), np.array([5.0, 3.0, 4.0]), np.ones((3, 1))
    plain = moved.count_densities(eta, k, n, noise, z, widths)[0]
    monkeypatch.setattr(moved, "MOVED_SUBGROUPS", 2)
    again, weight, density = moved.count_densities(eta, k, n, noise, z, widths)
    np.testing.assert_allclose(again, plain, rtol=1e-9)
    np.testing.assert_array_equal(weight, -again)
    np.testing.assert_array_equal(density, again)


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_two_counts_are_integrated_over_two_logits(correlation: float) -> None:
    first, second = (np.array([3.0]), np.array([20.0])), (np.array([2.0]), np.array([3.0]))
    variances, means = (0.25, 0.64), (-1.0, 0.5)
    cross = correlation * 0.5 * 0.8
    law = multivariate_normal(means, [[variances[0], cross], [cross, variances[1]]])

    def integrand(second_logit: float, first_logit: float) -> float:
        counts = binom.pmf(3, 20, expit(first_logit)) * binom.pmf(2, 3, expit(second_logit))
        return float(counts * law.pdf([first_logit, second_logit]))

    expected = np.log(dblquad(integrand, -4, 2, -4, 5)[0])
    one_by_one = np.ones((1, 1))
    density = pair_density(
        first, second, (means[0] * one_by_one, means[1] * one_by_one),
        (variances[0] * one_by_one, cross * one_by_one, variances[1] * one_by_one),
    )  # fmt: skip
    np.testing.assert_allclose(density, [[expected]], atol=1e-4)


@pytest.mark.parametrize("prior", ["horseshoe", "laplace"])
@pytest.mark.parametrize("tau", [0.002, 0.2])
def test_the_coefficient_of_an_indicator_is_integrated_out(prior: Literal["horseshoe", "laplace"], tau: float) -> None:
    features = np.concatenate([[[1.0], [1.0], [1.0], [0.0], [0.0], [0.0]], np.eye(6)], axis=1)
    beta = np.array([[0.1, 0.05, -0.1, 0.0, 0.2, 0.0, 0.3]])
    draws = _draws(ESTIMATES, tau=np.array([tau]), overall=np.array([0.4])).assign(
        beta=(("sample", "metric", "coefficient"), beta[:, None]),
        mu=(("sample", "metric", "subgroup"), (0.4 + beta @ features.T)[:, None]),
    )
    slab = 0.3
    answer = structured.structured_regression(
        draws,
        ESTIMATES,
        features,
        prior=prior,
        slab_scale=slab,
        local_df=3.0,
    )
    centre = 0.4 + 0.1 * features[:, 0]

    def of_logarithm(u: float, g: int) -> float:
        local = np.exp(u)
        if prior == "laplace":
            variance, weight = 2 * tau**2 * local, local * np.exp(-local)
        else:
            free = (tau * local) ** 2
            variance, weight = free * slab**2 / (free + slab**2), 2 * t.pdf(local, 3) * local
        return float(weight * norm.pdf(MEANS[g], centre[g], np.sqrt(ERRORS[g] ** 2 + variance)))

    expected = [np.log(quad(of_logarithm, -25, 20, args=(g,), limit=400)[0]) for g in range(6)]
    np.testing.assert_allclose(some(answer.log_density)[0, 0], expected, atol=2e-4)


def test_values_beyond_the_range_leave_no_density() -> None:
    features = np.eye(6)
    draws = _draws(ESTIMATES, tau=np.array([0.1]), overall=np.array([1.0])).assign(
        beta=(("sample", "metric", "coefficient"), np.zeros((1, 1, 6))),
        mu=(("sample", "metric", "subgroup"), np.ones((1, 1, 6))),
    )
    answer = structured.structured_regression(
        draws, ESTIMATES, features, prior="laplace", slab_scale=None, local_df=3.0
    )
    assert "all values lie beyond the range" in answer.reason


def test_densities_at_draws_are_summed_within_a_subgroup() -> None:
    labels = ["fnr | a", "fnr | b"]
    counts = BinomialNode("successes", "binomial_cell", labels, np.ones(2), 2 * np.ones(2), np.full((3, 2), 0.5))
    estimates = NormalNode("estimate", "normal_cell", labels[:1], np.zeros(1), np.zeros((3, 1)), np.ones(1))
    answer = at_draws(ObservedNodes((counts, estimates)), COUNTS)
    assert answer.method == "psis"
    np.testing.assert_allclose(some(answer.log_density)[:, 0, 0], np.log(0.5) + norm.logpdf(0))
    np.testing.assert_allclose(some(answer.log_density)[:, 0, 1], np.log(0.5))
    assert np.isnan(some(answer.log_density)[:, 0, 2:]).all()
    strange = NormalNode("scores", "cell", [0], np.zeros(1), np.zeros((3, 1)), np.ones(1))
    assert "observations of 'scores' are not those of one metric" in at_draws(ObservedNodes((strange,)), COUNTS).reason
    assert at_draws(ObservedNodes(()), COUNTS).reason == "the model observes nothing"
    assert at_draws(ObservedNodes((), "hidden"), COUNTS).reason == without_answer("hidden").reason


def test_equal_weights_are_not_smoothed() -> None:
    answer = smoothed(np.full((4, 50, 1), -2.0))
    assert answer.elpd.tolist() == answer.lpd.tolist() == [-2.0]
    assert np.isnan(answer.pareto_k).all()


def _golden() -> np.ndarray:
    with (GOLDEN / "log_density.csv").open() as lines:
        return np.array([[float(number) for number in row] for row in csv.reader(lines)])


def test_smoothing_is_that_of_loo_in_r() -> None:
    density = _golden().reshape(4, -1, 5)
    with (GOLDEN / "values.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    answer = smoothed(density, efficiency=1.0)
    for name, values in (("elpd_loo", answer.elpd), ("p_loo", answer.lpd - answer.elpd), ("pareto_k", answer.pareto_k)):
        np.testing.assert_allclose(values, [float(row[name]) for row in rows], rtol=1e-9, atol=1e-9, err_msg=name)
    plain = logsumexp(density.reshape(-1, 5), axis=0) - np.log(density.size / 5)
    np.testing.assert_allclose(answer.lpd, plain, rtol=1e-12)


def test_efficiency_is_that_of_the_draws() -> None:
    rng = np.random.default_rng(3)
    independent = rng.normal(size=(4, 1000, 2))
    chains = np.repeat(independent[:, :100], 10, axis=1)
    assert relative_efficiency(independent) == pytest.approx(1.0, abs=0.1)
    assert relative_efficiency(chains) == pytest.approx(0.1, abs=0.03)


def test_scales_by_order_are_those_of_their_components() -> None:
    """The same scale for every order is one scale; a wider one for subgroups moves their densities."""
    labels = pd.DataFrame([(a, b) for a in "xyz" for b in "fm"], columns=["a", "b"])
    counts = bg.tally_from_counts([2, 5, 1, 9, 4, 0], [12, 11, 9, 14, 10, 8], labels)
    same, alike, wide = (
        bg.loo(bg.estimate(counts, bg.CrossedEffects(tau_scale=scale), seed=1))["elpd_i"].values
        for scale in (0.3, (0.3, 0.3), (0.3, 1.5))
    )
    np.testing.assert_array_equal(same, alike)
    assert np.abs(wide - same).max() > 0.01
