"""Two crossed effects, of which the second follows the first, against the dense normal formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed import engine
from bayesgroups.inference.collapsed.crossed.following_space import FollowingPredictor, FollowingPrior, FollowingSpace
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace

CELLS = np.array([[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]])
SUBGROUPS = CELLS.shape[1]


def half_normal(scale: float) -> Prior:
    return Prior("half_normal", (scale,) * len(CELLS))


class Case:
    """Six subgroups, one of them unseen by the second predictor and one by both, with a covariate."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        self.predictor = FollowingPredictor(CELLS, rng.standard_normal((SUBGROUPS, 1)), 0.7, 0.4)
        self.v = rng.uniform(0.01, 0.1, 2 * SUBGROUPS)
        self.v[[2, 2 + SUBGROUPS, 4 + SUBGROUPS]] = np.inf
        self.seen = np.isfinite(self.v)
        self.y = np.where(self.seen, rng.normal(0.2, 0.4, 2 * SUBGROUPS), 0.0)
        self.space = FollowingSpace(self.predictor, self.y, self.v)
        self.prior = FollowingPrior(half_normal(0.5), half_normal(0.2), 0.3, 0.3)
        self.tau = self.prior.scales(rng.standard_normal((20, self.prior.dimension)))

    def covariance(self, tau: FloatArray) -> FloatArray:
        """Prior covariance of all rows, from the effects one by one."""
        design = np.concatenate([np.eye(int(cells.max()) + 1)[cells] for cells in CELLS], axis=1)
        sizes = [int(cells.max()) + 1 for cells in CELLS]
        one, other, follow = np.repeat(tau[:2], sizes), np.repeat(tau[2:4], sizes), tau[4]
        ones, nothing = np.ones((SUBGROUPS, 1)), np.zeros((SUBGROUPS, 1))
        x = self.predictor.covariates
        first = np.concatenate([0.7 * ones, nothing, 0 * x, design * one, 0 * design], axis=1)
        second = np.concatenate([nothing, 0.7 * ones, 0.4 * x, follow * design * one, design * other], axis=1)
        every = np.concatenate([first, second])
        return np.asarray(every @ every.T)

    def posterior(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        prior, seen = self.covariance(tau), self.seen
        gain = prior[:, seen] @ np.linalg.inv(prior[np.ix_(seen, seen)] + np.diag(self.v[seen]))
        return gain @ self.y[seen], prior - gain @ prior[seen]


@pytest.fixture
def case() -> Case:
    return Case()


def test_the_marginal_likelihood_is_the_dense_normal_one(case: Case) -> None:
    pick = np.ix_(case.seen, case.seen)
    expected = [
        stats.multivariate_normal(cov=case.covariance(tau)[pick] + np.diag(case.v[case.seen])).logpdf(case.y[case.seen])
        for tau in case.tau
    ]
    assert case.space.log_marginal(case.tau) == pytest.approx(np.array(expected), abs=1e-9)


def test_slopes_are_those_of_the_marginal_likelihood(case: Case) -> None:
    tau, step = case.tau[7], 1e-5 * np.eye(6)
    expected = (case.space.log_marginal(tau + step) - case.space.log_marginal(tau - step)) / 2e-5
    assert case.space.slope(tau) == pytest.approx(expected, rel=1e-5, abs=1e-5)
    step = 1e-5 * np.eye(case.prior.dimension)
    u = np.random.default_rng(1).standard_normal(case.prior.dimension)
    columns = (case.prior.scales(u + step) - case.prior.scales(u - step)).T / 2e-5
    assert case.prior.jacobian(u) == pytest.approx(columns, abs=1e-6)


def test_moments_and_draws_are_those_of_the_dense_posterior(case: Case) -> None:
    mean, covariance = case.posterior(case.tau[4])
    found, variance = case.space.moments(case.tau[4])
    assert found == pytest.approx(mean, abs=1e-9)
    assert variance == pytest.approx(np.diag(covariance), abs=1e-9)
    drawn = case.space.draw(np.repeat(case.tau[4:5], 40_000, axis=0), np.random.default_rng(2))
    shared = drawn.shared()
    error = np.sqrt(np.diag(covariance) / len(shared))
    assert np.abs((shared.mean(axis=0) - mean) / error).max() < 4
    assert np.cov(shared.T) == pytest.approx(covariance, abs=0.02)
    assert (drawn.overall.shape, drawn.beta.shape) == ((40_000, 2), (40_000, 1))


def test_draws_have_their_overall_and_coefficients(case: Case) -> None:
    """With nothing else in the predictors their draws are these, and no more."""
    tau = np.zeros((50, 6))
    drawn = case.space.draw(tau, np.random.default_rng(5))
    second = drawn.overall[:, 1:] + drawn.beta @ case.predictor.covariates.T
    expected = np.concatenate([np.repeat(drawn.overall[:, :1], SUBGROUPS, axis=1), second], axis=1)
    assert drawn.shared() == pytest.approx(expected, abs=1e-10)


def test_if_nothing_follows_the_two_stand_alone(case: Case) -> None:
    tau = case.tau[9].copy()
    tau[4] = 0.0
    cells = np.concatenate([CELLS, np.arange(SUBGROUPS)[None]])
    alone = 0.0
    for first, part in ((True, slice(None, SUBGROUPS)), (False, slice(SUBGROUPS, None))):
        x = np.empty((SUBGROUPS, 0)) if first else case.predictor.covariates
        space = SubgroupSpace(Predictor(cells, x, 0.7, 0.4), case.y[part], case.v[part])
        spreads = np.append(tau[:2] if first else tau[2:4], 0.0)
        alone += float(space.log_marginal(spreads[None])[0])
    assert float(case.space.log_marginal(tau[None])[0]) == pytest.approx(alone, abs=1e-9)


def test_the_prior_is_half_normal_and_normal() -> None:
    prior = FollowingPrior(half_normal(0.5), half_normal(0.2), 0.3, 0.25)
    u = stats.norm.ppf(np.linspace(0.001, 0.999, 999))
    found = prior.scales(np.repeat(u[:, None], prior.dimension, axis=1))
    share = special.ndtr(u)
    for column, scale in enumerate((0.5, 0.5, 0.2, 0.2)):
        assert found[:, column] == pytest.approx(stats.halfnorm.ppf(share, scale=scale), rel=1e-9)
    assert found[:, 4] == pytest.approx(stats.norm.ppf(share, 0.3, 0.25))
    assert (found[:, 5] == 0).all()
    assert prior.largest == pytest.approx(stats.norm.isf(stats.norm.sf(37.0) / 2, scale=0.5), rel=1e-6)


def test_what_does_not_follow_is_drawn_as_if_alone() -> None:
    """A coefficient that is known to be 0 gives the posterior of two crossed binomials."""
    rng = np.random.default_rng(8)
    n = np.array([40.0, 12, 0, 150, 9, 60, 30, 6, 0, 100, 5, 44])
    k = rng.binomial(n.astype(int), 0.3).astype(float)
    cells = np.concatenate([CELLS, np.arange(SUBGROUPS)[None]])
    none = np.empty((SUBGROUPS, 0))
    prior = FollowingPrior(half_normal(0.5), half_normal(0.2), 0.0, 1e-6)
    both = engine.binomial(
        FollowingPredictor(CELLS, none, 1.5, 1.0), k, n, prior, rng, draws=8000,
        known=np.repeat([0.25**2, 0.12**2], SUBGROUPS),
    )  # fmt: skip
    assert both.k_hat < 0.7
    for part, scale, own in ((slice(None, SUBGROUPS), 0.5, 0.25), (slice(SUBGROUPS, None), 0.2, 0.12)):
        alone = engine.binomial(
            Predictor(cells, none, 1.5, 1.0), k[part], n[part], Prior("half_normal", (scale,) * 3, own), rng, draws=8000
        )
        gap = (both.eta[:, part].mean(axis=0) - alone.eta.mean(axis=0)) / alone.eta.std(axis=0)
        assert np.abs(gap).max() < 4.5 * np.sqrt(2 / 4000)
        ratio = both.eta[:, part].std(axis=0) / alone.eta.std(axis=0)
        assert np.abs(np.log(ratio)).max() < 0.08
