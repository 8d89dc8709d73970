"""Likelihood of crossed effects, the mixture over its variances, and several tasks stacked into one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed import marginal_likelihood, mixture, multi_task
from bayesgroups.frequentist.crossed.families import family
from bayesgroups.frequentist.crossed.precision import combine, invert_lower, weigh
from bayesgroups.frequentist.crossed.restricted import CHUNK, Restricted
from bayesgroups.frequentist.crossed.stacked import stack
from bayesgroups.frequentist.intervals import morris

FAMILY = family(list(itertools.product(range(4), range(2), range(3))), ["a", "b", "c"])
LEVELS = FAMILY.without("shared").agreement()
TWO = family(list(itertools.product(range(4), range(2))), ["a", "b"])


def some(seed: int, groups: int = 24) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    u = rng.integers(1, 60, groups) / 0.2
    u[3] = 0
    return rng.uniform(0.1, 0.7, groups), u


def test_weights_invert_the_covariance_of_what_has_data() -> None:
    _, u = some(0)
    covariance = combine(np.linspace(0.01, 0.03, len(LEVELS)), LEVELS)
    used = np.flatnonzero(u)
    expected = np.zeros((24, 24))
    expected[np.ix_(used, used)] = np.linalg.inv(covariance[np.ix_(used, used)] + np.diag(1 / u[used]))
    np.testing.assert_allclose(weigh(u, covariance), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(weigh(np.stack([u, u]), covariance)[1], weigh(u, covariance))


def test_weights_of_errors_that_no_law_has_are_inverses_too() -> None:
    """Correlations that rounding or a user has made larger than 1, which leave no Cholesky factor."""
    across = np.array([[0.0, 1.2], [1.2, 0.0]])
    np.testing.assert_allclose(weigh(np.ones(2), across), np.linalg.inv(np.eye(2) + across), rtol=1e-12)


def test_inverses_of_triangles() -> None:
    factors = np.tril(np.random.default_rng(1).standard_normal((3, 40, 40))) + 8 * np.eye(40)
    np.testing.assert_allclose(invert_lower(factors) @ factors, np.broadcast_to(np.eye(40), factors.shape), atol=1e-12)


def test_slope() -> None:
    z, u = some(1)
    variances = np.random.default_rng(1).uniform(0, 0.05, len(LEVELS))
    _, slope = marginal_likelihood.deviance(z, u, LEVELS, variances)
    for k, step in enumerate(np.eye(len(LEVELS)) * 1e-6):
        up, down = (marginal_likelihood.deviance(z, u, LEVELS, variances + sign * step)[0] for sign in (1, -1))
        assert slope[k] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-4)


def test_the_likelihood_is_that_of_contrasts() -> None:
    z, u = some(2)
    used = np.flatnonzero(u)
    contrasts = np.linalg.svd(np.ones((1, len(used))))[2][1:]

    def direct(variances: FloatArray) -> float:
        law = combine(variances, LEVELS)[np.ix_(used, used)] + np.diag(1 / u[used])
        law = contrasts @ law @ contrasts.T
        y = contrasts @ z[used]
        return float(np.linalg.slogdet(law)[1] + y @ np.linalg.solve(law, y))

    rng = np.random.default_rng(2)
    points = rng.uniform(0, 0.05, (3, len(LEVELS)))
    ours = [marginal_likelihood.deviance(z, u, LEVELS, each)[0] for each in points]
    theirs = [direct(each) for each in points]
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=1e-8)


def test_information_is_the_variance_of_the_slope() -> None:
    _, u = some(3)
    variances = np.full(len(LEVELS), 0.01)
    rng = np.random.default_rng(3)
    covariance = combine(variances, LEVELS) + np.diag(np.where(u > 0, 1 / np.where(u > 0, u, 1), 0))
    drawn = rng.multivariate_normal(np.zeros(24), covariance, size=3000)
    slopes = np.array([marginal_likelihood.deviance(z, u, LEVELS, variances)[1] / 2 for z in drawn])
    found = marginal_likelihood.information(u, LEVELS, variances)
    np.testing.assert_allclose(np.cov(slopes.T), found, atol=0.15 * found.max())
    np.testing.assert_allclose(slopes.mean(axis=0), 0, atol=4 * np.sqrt(np.diag(found).max() / 3000))


def test_posterior_is_that_of_a_wide_prior_on_the_mean() -> None:
    z, u = some(4)
    covariance = combine(np.full(len(LEVELS), 0.01), LEVELS)
    wide = covariance + 1e5
    weights = weigh(u, wide)
    found = Restricted(z, u, LEVELS).posterior(np.full((1, len(LEVELS)), 0.01))
    np.testing.assert_allclose(found.estimate[0], wide @ (weights @ z), rtol=1e-3)
    used = np.flatnonzero(u)
    exact = np.linalg.inv(np.linalg.inv(wide + 1e-12 * np.eye(24)) + np.diag(u))
    np.testing.assert_allclose(found.variance[0, used], np.diagonal(exact)[used], rtol=0.02)


@pytest.mark.parametrize("correlated", [False, True])
def test_many_points_are_as_one_by_one(correlated: bool) -> None:
    z, u = some(8)
    size = np.sqrt(np.where(u > 0, 1 / np.where(u > 0, u, 1), 0.0))
    between = 0.9 * np.outer(size, size) * (np.arange(24) < 6) * (np.arange(24) < 6)[:, None] * ~np.eye(24, dtype=bool)
    between = between if correlated else np.zeros((24, 24))
    points = np.random.default_rng(8).exponential(0.02, (CHUNK // 24**2 * 2 + 5, len(LEVELS)))
    points[0] = 0
    law = Restricted(z, u, LEVELS, between)
    values, found = law.log_likelihood(points), law.posterior(points)
    errors = np.diag(np.where(u > 0, size**2, 1e9)) + between
    for i in (0, 1, len(points) // 2, len(points) - 1):
        assert values[i] == pytest.approx(-marginal_likelihood.deviance(z, u, LEVELS, points[i], between)[0] / 2)
        covariance = combine(points[i], LEVELS)
        weights = np.linalg.inv(covariance + errors)
        mean = weights.sum(axis=0) / weights.sum()
        left = 1 - covariance @ weights.sum(axis=0)
        np.testing.assert_allclose(found.estimate[i], mean @ z + covariance @ weights @ (z - mean @ z), rtol=1e-6)
        within = np.diagonal(covariance - covariance @ weights @ covariance)
        np.testing.assert_allclose(found.variance[i], within + left**2 / weights.sum(), rtol=1e-6)


def test_one_component_of_equal_errors_in_closed_form() -> None:
    z = np.array([0.1, 0.4, 0.5, 0.9, 0.2])
    found = marginal_likelihood.fit(z, np.full(5, 100.0), np.eye(5)[None])
    assert found[0] == pytest.approx(z.var(ddof=1) - 0.01, rel=1e-4)
    near = np.array([0.1, 0.11, 0.1, 0.11, 0.1])
    assert marginal_likelihood.fit(near, np.full(5, 100.0), np.eye(5)[None])[0] == 0


def test_the_mixture_sums_what_quadrature_does() -> None:
    z, u = np.array([0.1, 0.4, 0.5, 0.9, 0.2, 0.3]), np.array([100.0, 50, 30, 10, 80, 0])
    own = np.eye(6)[None]
    found = mixture.mix(z, u, own)
    reference = 4 * mixture.typical_noise(u, own)[0]
    shrink = (np.arange(4000) + 0.5) / 4000
    variances = reference * (1 - shrink) / shrink
    weight = np.array([-marginal_likelihood.deviance(z, u, own, np.array([each]))[0] / 2 for each in variances])
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    each = Restricted(z, u, own).posterior(variances[:, None])
    mean = weight @ each.estimate
    np.testing.assert_allclose(found.posterior.estimate, mean, atol=2e-3)
    expected = weight @ (each.variance + (each.estimate - mean) ** 2)
    np.testing.assert_allclose(found.posterior.variance[:5], expected[:5], rtol=0.02)
    np.testing.assert_allclose(found.posterior.variance[5], expected[5], rtol=0.1)  # long tail
    assert 200 < found.effective <= mixture.DRAWS


def test_the_mixture_is_much_like_morris_with_one_component() -> None:
    z, v = np.array([0.20, 0.25, 0.40, 0.10, 0.75, 0.3, 0.5]), 0.16 / np.array([50, 30, 15, 8, 4, 20, 25])
    found, old = mixture.mix(z, 1 / v, np.eye(7)[None]).posterior, morris.fit(z, v)
    np.testing.assert_allclose(found.estimate, old.estimate, atol=0.12)
    np.testing.assert_allclose(found.variance, old.variance, rtol=0.4)


def test_the_seed_hardly_matters_and_the_order_of_groups_not_at_all() -> None:
    z, u = some(5)
    plain, other = (mixture.mix(z, u, LEVELS, seed=seed).posterior for seed in (0, 1))
    np.testing.assert_allclose(other.estimate, plain.estimate, atol=0.01)
    np.testing.assert_allclose(other.variance, plain.variance, rtol=0.2)
    turn = np.random.default_rng(0).permutation(24)
    turned = mixture.mix(z[turn], u[turn], LEVELS[:, turn][:, :, turn]).posterior
    np.testing.assert_allclose(turned.estimate, plain.estimate[turn], atol=1e-3)
    np.testing.assert_allclose(turned.variance, plain.variance[turn], rtol=0.02)


def test_typical_noise_counts_every_cell_once() -> None:
    u = np.array([10.0, 20, 30, 0, 5, 5, 2, 8])
    found = mixture.typical_noise(u, TWO.agreement())
    np.testing.assert_allclose(found[0], 1 / 80)
    np.testing.assert_allclose(found[1], (1 / np.array([30, 30, 10, 10])).prod() ** 0.25)
    np.testing.assert_allclose(found[-1], (1 / u[u > 0]).prod() ** (1 / 7))


@pytest.mark.parametrize("spread", [pytest.param(0.0, marks=pytest.mark.slow), 0.1])
def test_intervals_cover(spread: float) -> None:
    agreement = TWO.agreement()
    rng = np.random.default_rng(6)
    u = np.array([5.0, 8, 12, 20, 30, 60, 100, 300]) / 0.2
    law = combine(np.array([0.0, spread**2, spread**2, spread**2]) / 2, agreement)
    truth = 0.4 + rng.multivariate_normal(np.zeros(8), law, size=120)
    z = truth + rng.normal(size=truth.shape) / np.sqrt(u)
    found = [mixture.mix(y, u, agreement[1:], draws=128).posterior for y in z]
    off = [np.abs(each.estimate - mu) / np.sqrt(each.variance) for each, mu in zip(found, truth, strict=True)]
    assert np.mean(np.array(off) <= 1.96) > 0.92  # 960 intervals: nominal less three standard errors or so


def test_stacked_tasks_have_the_law_of_metamap() -> None:
    agreement = TWO.agreement()
    rng = np.random.default_rng(7)
    z, u = rng.uniform(0.2, 0.5, (3, 8)), rng.integers(0, 30, (3, 8)) / 0.2
    own, centre = rng.uniform(0, 0.03, (2, len(agreement)))
    centre[0] = 1e4  # a free overall mean
    found = multi_task.smooth(z, u, agreement, np.concatenate([own, centre]))
    cells = stack(agreement, 3, shares_centre=True)
    law = Restricted(z.ravel(), u.ravel(), np.asarray(cells.agreement))
    stacked = law.posterior(np.concatenate([own, centre[1:]])[None])
    np.testing.assert_allclose(stacked.estimate.reshape(3, 8), found.estimate, rtol=1e-4)


def test_what_stacks_leave_out() -> None:
    agreement = TWO.agreement()
    alone = stack(agreement, 1, shares_centre=True)
    np.testing.assert_array_equal(alone.agreement, agreement[1:])
    own, centre = alone.split(np.arange(3.0))
    np.testing.assert_array_equal(own, [np.nan, 0, 1, 2])
    assert np.isnan(centre).all()
    apart = stack(agreement, 2, shares_centre=False)
    assert np.asarray(apart.agreement).shape == (4, 16, 16)
    assert not apart.centre.any()
