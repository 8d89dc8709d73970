"""Elliptical slices of crossed effects: the algebra against dense formulas, the draws against quadrature and exact posteriors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import binomial as binomial_pooling
from bayesgroups.inference.collapsed.crossed import elliptical, emulator, engine, sites
from bayesgroups.inference.collapsed.crossed.blocks import Blocks, blocks_of
from bayesgroups.inference.collapsed.crossed.following_space import FollowingPredictor, FollowingPrior, FollowingSpace
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.site_posterior import SitePosterior
from bayesgroups.inference.collapsed.crossed.slice_chains import SliceChains
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace

CELLS = np.array([*itertools.product(range(4), range(3))]).T
DESIGN = np.concatenate([CELLS, np.arange(12)[None]])
U = np.random.default_rng(4).standard_normal((5, 7))


class Crossed:
    """Twelve subgroups, one unseen, with a covariate and known variances of residual effects."""

    def __init__(self) -> None:
        rng = np.random.default_rng(8)
        self.v, self.extra = rng.uniform(0.02, 0.2, 12), rng.uniform(0.01, 0.03, 12)
        self.v[5] = np.inf
        self.y = np.where(np.isfinite(self.v), rng.normal(0, 0.6, 12), 0.0)
        predictor, prior = Predictor(DESIGN, rng.standard_normal((12, 1)), 1.5, 0.4), Prior("half_t", (0.3, 0.2, 0.4))
        self.blocks: Blocks = blocks_of(predictor, prior)
        self.u = U[:, : prior.dimension]
        space = SubgroupSpace(predictor, self.y, self.v + self.extra)
        self.log_marginal = space.log_marginal(prior.scales(self.u))
        self.noiseless = SubgroupSpace(predictor, self.y, self.v)


class Following:
    """Two predictors of twelve subgroups, of which the second follows the first; two rows unseen."""

    def __init__(self) -> None:
        rng = np.random.default_rng(9)
        self.v, self.extra = rng.uniform(0.02, 0.2, 24), rng.uniform(0.01, 0.03, 24)
        self.v[[3, 15]] = np.inf
        self.y = np.where(np.isfinite(self.v), rng.normal(0, 0.6, 24), 0.0)
        halves = Prior("half_normal", (0.5, 0.4)), Prior("half_normal", (0.2, 0.3))
        predictor, prior = (
            FollowingPredictor(CELLS, rng.standard_normal((12, 1)), 1.5, 0.4),
            FollowingPrior(*halves, 0.3, 0.3),
        )
        self.blocks: Blocks = blocks_of(predictor, prior)
        self.u = U[:, : prior.dimension]
        self.log_marginal = FollowingSpace(predictor, self.y, self.v + self.extra).log_marginal(prior.scales(self.u))


@pytest.fixture(params=[Crossed, Following])
def posterior(request: pytest.FixtureRequest) -> tuple[Any, SitePosterior]:
    case = request.param()
    return case, SitePosterior(case.blocks, case.y, case.v, case.extra)


def dense(case: Any, u: FloatArray) -> FloatArray:
    """Prior covariance of all rows, from the effects one by one."""
    blocks = case.blocks
    loadings = blocks.loadings(u[None])[0]
    root = np.block([[loadings[p, b] * each for b, each in enumerate(blocks.roots)] for p in range(blocks.parts)])
    residual = np.repeat(blocks.residual_sd(u[None])[0], blocks.subgroups)
    return np.asarray(root @ root.T + np.diag(residual**2 + case.extra))


def test_the_marginal_likelihood_is_that_of_the_other_spaces(posterior: tuple[Any, SitePosterior]) -> None:
    case, sites = posterior
    np.testing.assert_allclose(sites.given(case.u).log_marginal, case.log_marginal, rtol=1e-10)


def test_slopes_are_those_of_the_marginal_likelihood(posterior: tuple[Any, SitePosterior]) -> None:
    case, sites = posterior
    step = 1e-5 * np.eye(case.blocks.dimension)
    differences = sites.given(case.u[1] + step).log_marginal - sites.given(case.u[1] - step).log_marginal
    np.testing.assert_allclose(sites.slope(case.u[1]), differences / 2e-5, rtol=1e-5, atol=1e-6)


def test_moments_and_draws_are_those_of_the_dense_posterior(posterior: tuple[Any, SitePosterior]) -> None:
    case, sites = posterior
    prior, seen = dense(case, case.u[0]), np.isfinite(case.v)
    gain = prior[:, seen] @ np.linalg.inv(prior[np.ix_(seen, seen)] + np.diag(case.v[seen]))
    mean, covariance = gain @ case.y[seen], prior - gain @ prior[seen]
    np.testing.assert_allclose(sites.moments(case.u[0]), (mean, np.diag(covariance)), rtol=1e-9)
    number = 20_000
    given = sites.given(case.u[:1])
    np.testing.assert_allclose(sites.centre(given)[0], mean, rtol=1e-9)
    many = given._replace(**{name: np.repeat(getattr(given, name), number, axis=0) for name in given._fields})
    deviation, effects = sites.deviation(sites.noise(number, np.random.default_rng(1)), many)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs(deviation.mean(axis=0) / np.sqrt(np.diag(covariance))).max() < 4.5 / np.sqrt(number)
    assert np.abs((np.cov(deviation.T) - covariance) / scale).max() < 6 / np.sqrt(number)
    # The effects that come with a draw make its rows, but for what single subgroups have of their own.
    rows = sites.blocks.sums(effects, many.loadings).reshape(number, -1)
    left = (deviation - rows).var(axis=0)
    assert (left < 1.1 * many.residual_sd[0] ** 2).all()


def test_one_attribute_of_rates_is_quadrature() -> None:
    k, n = np.array([0.0, 3, 9, 2, 30, 0, 5]), np.array([4.0, 30, 60, 3, 300, 0, 11])
    predictor = Predictor(np.arange(7)[None], np.empty((7, 0)), 1.5, 1.0)
    slices = engine.binomial_by_slices(
        predictor, k, n, Prior("half_normal", (0.8,)), np.random.default_rng(1), draws=8000
    )
    exact = binomial_pooling.sample(k, n, np.random.default_rng(2), draws=8000, overall_scale=1.5, tau_scale=0.8)
    mu = 1 / (1 + np.exp(-slices.eta))
    assert slices.mixing is not None
    assert slices.mixing.bulk > 2000
    error = exact.mu.std(axis=0) * np.sqrt(1 / 8000 + 1 / slices.mixing.bulk)
    assert (np.abs(mu.mean(axis=0) - exact.mu.mean(axis=0)) < 4 * error).all()
    np.testing.assert_allclose(mu.std(axis=0), exact.mu.std(axis=0), rtol=0.08)
    assert slices.tau.mean() == pytest.approx(exact.tau.mean(), rel=0.05)


def test_tails_of_counts_of_nothing_and_of_everything_are_quadrature() -> None:
    """Where effects may be large, such a count leaves its logit a long tail, and sites alone end it too soon."""
    k, n = np.array([0.0, 20, 0, 40, 3, 0]), np.array([30.0, 20, 50, 40, 9, 12])
    predictor = Predictor(np.arange(6)[None], np.empty((6, 0)), 4.0, 1.0)
    slices = engine.binomial_by_slices(predictor, k, n, Prior("half_t", (0.7,)), np.random.default_rng(2), draws=4000)
    assert slices.mixing is not None
    assert all(check.passed for check in slices.checks("rate"))
    exact = binomial_pooling.sample(
        k, n, np.random.default_rng(2), draws=20_000, overall_scale=4.0, tau_scale=0.7, family="half_t"
    )
    mu, error = 1 / (1 + np.exp(-slices.eta)), np.sqrt(0.025 * 0.975 * (1 / slices.mixing.tail + 1 / 20_000))
    for share in (0.025, 0.975):
        below = (exact.mu < np.quantile(mu, share, axis=0)).mean(axis=0)
        assert (np.abs(below - share) < 3.5 * error).all()


def test_skewed_logits_of_few_subgroups_are_left_to_slices() -> None:
    """Weights of draws that were never made in a tail do not tell that it is there."""
    predictor = Predictor(DESIGN[:, :6], np.empty((6, 0)), 4.0, 1.0)
    n = np.array([30.0, 20, 50, 40, 9, 12])
    engines = [
        engine.binomial(predictor, k, n, Prior("half_t", (0.7,) * 3), np.random.default_rng(1), draws=400).engine
        for k in (np.array([0.0, 20, 0, 40, 3, 12]), np.array([11.0, 7, 20, 13, 3, 5]))
    ]
    assert engines == ["elliptical", "collapsed"]


def test_skewness_is_that_of_a_dense_grid() -> None:
    """One logit of six has a flat site, and the others' say nothing of it: the prior times its own count."""
    k, n, y, v = np.array([0.0, 4, 0]), np.array([5.0, 9, 0]), np.array([-1.0, 0.3, 0]), np.array([2.0, 0.5, np.inf])
    prior_mean, prior_variance = np.array([0.4, -0.1, 0]), np.array([4.0, 1.0, 1.0])

    def moments(y: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        variance = 1 / (1 / prior_variance + 1 / v)
        return variance * (prior_mean / prior_variance + y / v), variance

    grid = np.linspace(-40, 20, 60_001)
    density = np.exp(-5 * np.logaddexp(0, grid) - (grid - 0.4) ** 2 / 8)
    density /= density.sum()
    middle = density @ grid
    third, second = (density @ (grid - middle) ** power for power in (3, 2))
    assert sites.skewness(k, n, y, v, moments) == pytest.approx(abs(third / second**1.5), rel=1e-3)
    assert sites.skewness(k, 0 * n, y, v, moments) == 0.0


@pytest.mark.parametrize("likelihood", ["binomial", "gaussian", "correlated"])
def test_draws_are_those_of_the_weighted_engine(likelihood: str) -> None:
    rng = np.random.default_rng(5)
    n = np.array([0, 1, 2, 4, 9, 30, 120, 700, 20, 3, 60, 15], dtype=np.float64)
    eta = -1 + 0.5 * rng.standard_normal(4)[CELLS[0]] + 0.3 * rng.standard_normal(12)
    fits: tuple[Any, Any]
    if likelihood == "binomial":
        data = rng.binomial(n.astype(int), 1 / (1 + np.exp(-eta))).astype(np.float64), n
        fits = engine.binomial, engine.binomial_by_slices
    else:
        v = np.where(n > 0, 0.2 / np.maximum(n, 1), np.inf)
        data = eta + np.sqrt(0.2 / np.maximum(n, 1)) * rng.standard_normal(12), v
        fits = engine.gaussian, engine.gaussian_by_slices
    known: dict[str, Any] = {"known": np.full(12, 0.01)}
    if likelihood == "correlated":
        seen = np.isfinite(data[1])
        root = np.sqrt(np.where(seen, data[1], np.nan))
        known["covariance"] = np.outer(root, root) * (0.6 + 0.4 * np.eye(12))
    predictor, prior = Predictor(DESIGN, CELLS[1][:, None] - 1.0, 1.5, 0.5), Prior("half_t", (0.25,) * 3)
    weighed, slices = (fit(predictor, *data, prior, np.random.default_rng(3), draws=8000, **known) for fit in fits)
    assert slices.mixing is not None
    assert all(check.passed for check in slices.checks("rate"))
    assert weighed.engine == "collapsed"
    assert slices.engine == "elliptical"
    for name in ("eta", "tau", "beta", "overall"):
        first, second = getattr(weighed, name), getattr(slices, name)
        error = first.std(axis=0) * np.sqrt(1 / weighed.ess + 1 / slices.mixing.bulk)
        assert (np.abs(np.median(first, axis=0) - np.median(second, axis=0)) < 5 * error).all(), name
        ends, others = (np.quantile(part, (0.1, 0.9), axis=0) for part in (first, second))
        np.testing.assert_allclose(ends, others, atol=0.12)


def test_a_wrong_emulator_costs_time_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under an emulator that knows nothing proposals come from the prior, and the density decides."""
    k, n = np.array([3.0, 9, 2, 30, 5]), np.array([30.0, 60, 3, 300, 11])
    predictor = Predictor(np.arange(5)[None], np.empty((5, 0)), 1.5, 1.0)
    prior, rngs = Prior("half_normal", (0.8,)), np.random.default_rng(1).spawn(2)
    right = engine.binomial_by_slices(predictor, k, n, prior, rngs[0], draws=4000)
    monkeypatch.setattr(emulator.Emulator, "__call__", lambda _, u: 0.3 * u[:, 0])
    wrong = engine.binomial_by_slices(predictor, k, n, prior, rngs[1], draws=4000)
    assert right.mixing is not None
    assert wrong.mixing is not None
    error = right.eta.std(axis=0) * np.sqrt(1 / right.mixing.bulk + 1 / wrong.mixing.bulk)
    assert (np.abs(right.eta.mean(axis=0) - wrong.eta.mean(axis=0)) < 4 * error).all()
    assert right.tau.mean() == pytest.approx(wrong.tau.mean(), rel=0.1)


def test_the_same_seed_gives_the_same_bytes() -> None:
    k, n = np.array([1.0, 0, 2, 30, 0, 0]), np.array([2.0, 1, 3, 40, 2, 50])
    blocks = blocks_of(Predictor(np.arange(6)[None], np.empty((6, 0)), 4.0, 1.0), Prior("half_t", (0.25,)))

    def draw(thin: int) -> elliptical.EllipticalDraws:
        return elliptical.binomial(blocks, k, n, np.zeros(6), np.random.default_rng(7)).sample(400, thin)

    first, again = draw(1), draw(1)
    assert first.eta.tobytes() == again.eta.tobytes()
    assert first.u.tobytes() == again.u.tobytes()
    assert draw(3).eta.tobytes() != first.eta.tobytes()


def test_fits_that_do_not_mix_are_thinned_and_then_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that stay where they are have no R-hat: every thinning is tried, and the gate does not pass."""
    tried: list[int] = []
    sample = elliptical.Run.sample

    def counted(self: elliptical.Run, draws: int, thin: int) -> elliptical.EllipticalDraws:
        tried.append(thin)
        return sample(self, draws, 1)

    monkeypatch.setattr(elliptical.Run, "sample", counted)
    for step in ("move_scales", "move_scales_by"):
        monkeypatch.setattr(SliceChains, step, lambda *_: None)
    predictor = Predictor(np.arange(5)[None], np.empty((5, 0)), 1.5, 1.0)
    stuck = engine.gaussian_by_slices(
        predictor, np.arange(5.0), np.ones(5), Prior("half_t", (0.2,)), np.random.default_rng(1), draws=400
    )
    assert tried == list(engine.THINNING)
    assert not all(check.passed for check in stuck.checks("rate"))
