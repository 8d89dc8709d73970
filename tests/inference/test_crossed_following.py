"""Chains of two crossed effects, of which the second follows the first, against dense normal formulas and against each alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed import chains, engine
from bayesgroups.inference.collapsed.crossed.draws import CrossedDraws
from bayesgroups.inference.collapsed.crossed.following import FollowingPredictor, FollowingPrior
from bayesgroups.inference.collapsed.crossed.predictor import Predictor, indicator
from bayesgroups.inference.collapsed.crossed.prior import Prior

CELLS = np.array([[0, 0, 1, 1, 2, 2, 3, 3, 4, 4], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]])
SUBGROUPS = CELLS.shape[1]
X = np.random.default_rng(3).standard_normal((SUBGROUPS, 1))
OVERALL, COEFFICIENT = 0.7, 0.4
SCALES, FOLLOW = ((0.6, 0.3), (0.3, 0.2)), (0.3, 0.4)
OWN = np.repeat([0.15**2, 0.1**2], SUBGROUPS)
UNSEEN = [2, 2 + SUBGROUPS, 5 + SUBGROUPS]
"""A subgroup without rows of either, and another without those of the second."""


def fit(k: FloatArray, n: FloatArray, x: FloatArray, follow: tuple[float, float], seed: int) -> CrossedDraws:
    prior = FollowingPrior(Prior("half_normal", SCALES[0]), Prior("half_normal", SCALES[1]), *follow)
    predictor = FollowingPredictor(CELLS, x, OVERALL, COEFFICIENT)
    return chains.binomial(predictor, k, n, prior, np.random.default_rng(seed), draws=8000, known=OWN)


def covariance(tau: FloatArray) -> FloatArray:
    """Prior covariances (draw, row, row) of the predictors in all rows, from the effects one by one."""
    same = np.stack([indicator(cells) @ indicator(cells).T for cells in CELLS])
    first, second = (np.einsum("dk,kij->dij", tau[:, part] ** 2, same) for part in (slice(2), slice(2, 4)))
    follow = tau[:, 4, None, None]
    corners = [first + OVERALL**2, follow * first, follow**2 * first + second + OVERALL**2 + COEFFICIENT**2 * (X @ X.T)]
    every = np.concatenate([np.concatenate(corners[:2], axis=2), np.concatenate(corners[1:], axis=2)], axis=1)
    return np.asarray(every + np.diag(OWN))


@pytest.fixture(scope="module")
def counts() -> tuple[FloatArray, FloatArray]:
    """Successes and rows, of so many that logits are as good as normal."""
    rng = np.random.default_rng(7)
    shared = rng.normal(0, 0.6, 5)[CELLS[0]]
    eta = np.concatenate([-0.4 + shared, 0.5 + 0.6 * shared]) + rng.normal(0, 0.15, 2 * SUBGROUPS)
    n = rng.integers(4_000, 40_000, 2 * SUBGROUPS)
    n[UNSEEN] = 0
    return rng.binomial(n, 1 / (1 + np.exp(-eta))).astype(np.float64), n.astype(np.float64)


def test_of_many_rows_it_is_the_dense_normal_posterior(counts: tuple[FloatArray, FloatArray]) -> None:
    """Standard deviations drawn from their prior and weighed by the dense likelihood; means of all else given these."""
    k, n = counts
    seen = n > 0
    y, v = np.log(k[seen] / (n - k)[seen]), 1 / k[seen] + 1 / (n - k)[seen]
    rng, number = np.random.default_rng(1), 40_000
    halves = np.abs(rng.standard_normal((number, 4))) * np.concatenate(SCALES)
    tau = np.column_stack([halves, rng.normal(*FOLLOW, number)])
    weight, mean, square = np.empty(number), np.empty((number, 2 * SUBGROUPS)), np.empty((number, 2 * SUBGROUPS))
    for part in np.split(np.arange(number), 20):
        prior = covariance(tau[part])
        observed = prior[:, seen][:, :, seen] + np.diag(v)
        gain = np.linalg.solve(observed, prior[:, seen]).swapaxes(1, 2)
        mean[part] = gain @ y
        variance = prior[:, np.arange(2 * SUBGROUPS), np.arange(2 * SUBGROUPS)] - (gain * prior[:, :, seen]).sum(axis=2)
        square[part] = mean[part] ** 2 + variance
        weight[part] = -0.5 * (
            np.linalg.slogdet(observed)[1] + (y * np.linalg.solve(observed, y[:, None])[..., 0]).sum(axis=1)
        )
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    effective = 1 / (weight**2).sum()
    assert effective > 500

    drawn = fit(k, n, X, FOLLOW, seed=2)
    assert drawn.mixing is not None
    assert all(check.passed for check in drawn.checks("rate"))
    share = 1 / effective + 1 / drawn.mixing.bulk
    expected = weight @ tau
    error = np.sqrt(weight @ (tau - expected) ** 2 * share)
    assert np.abs((drawn.tau.mean(axis=0) - expected) / error).max() < 4
    for level in (0.1, 0.9):
        below = np.array([weight @ (tau[:, j] < np.quantile(drawn.tau[:, j], level)) for j in range(5)])
        assert np.abs(below - level).max() < 4 * np.sqrt(level * (1 - level) * (1 / effective + 1 / drawn.mixing.tail))
    expected = weight @ mean
    sd = np.sqrt(weight @ square - expected**2)
    assert np.abs((drawn.eta.mean(axis=0) - expected) / (sd * np.sqrt(share))).max() < 4.5
    np.testing.assert_allclose(drawn.eta.std(axis=0), sd, rtol=0.1)


def test_levels_and_coefficients_are_what_predictors_are_made_of(counts: tuple[FloatArray, FloatArray]) -> None:
    """With the components known to be next to nothing the predictors are these, and own effects."""
    k, n = counts
    nothing = Prior("known", (1e-6, 1e-6))
    drawn = chains.binomial(
        FollowingPredictor(CELLS, X, OVERALL, COEFFICIENT), k, n, FollowingPrior(nothing, nothing, 0.0, 1e-6),
        np.random.default_rng(3), draws=4000, known=OWN,
    )  # fmt: skip
    levels = np.repeat(drawn.overall, SUBGROUPS, axis=1)
    levels[:, SUBGROUPS:] += drawn.beta @ X.T
    left = (drawn.eta - levels)[:, UNSEEN]
    assert (drawn.overall.shape, drawn.beta.shape, drawn.tau.shape) == ((4000, 2), (4000, 1), (4000, 5))
    assert left.std(axis=0) == pytest.approx(np.sqrt(OWN[UNSEEN]), rel=0.08)
    correlation = np.asarray(np.corrcoef(left.T, levels[:, UNSEEN].T), dtype=np.float64)
    assert np.abs(correlation[: len(UNSEEN), len(UNSEEN) :]).max() < 0.08


def test_what_does_not_follow_is_drawn_as_if_alone() -> None:
    """A coefficient that is known to be 0 gives the posterior of two crossed binomials, which are weighed here."""
    rng, none = np.random.default_rng(8), np.empty((SUBGROUPS, 0))
    n = rng.integers(0, 90, 2 * SUBGROUPS).astype(np.float64)
    n[UNSEEN] = 0.0
    k = rng.binomial(n.astype(int), 0.3).astype(np.float64)
    both = fit(k, n, none, (0.0, 1e-6), seed=4)
    assert both.mixing is not None
    cells = np.vstack([CELLS, np.arange(SUBGROUPS)])
    for at in range(2):
        part, own = slice(at * SUBGROUPS, (at + 1) * SUBGROUPS), float(np.sqrt(OWN[at * SUBGROUPS]))
        alone = engine.binomial_by_weights(
            Predictor(cells, none, OVERALL, COEFFICIENT), k[part], n[part],
            Prior("half_normal", (*SCALES[at], own), own), rng, draws=8000,
        )  # fmt: skip
        assert alone is not None
        gap = (both.eta[:, part].mean(axis=0) - alone.eta.mean(axis=0)) / alone.eta.std(axis=0)
        assert np.abs(gap).max() < 4.5 * np.sqrt(1 / both.mixing.bulk + 1 / alone.ess)
        ratio = both.eta[:, part].std(axis=0) / alone.eta.std(axis=0)
        assert np.abs(np.log(ratio)).max() < 0.08
        assert both.tau[:, 2 * at : 2 * at + 2].mean(axis=0) == pytest.approx(alone.tau[:, :2].mean(axis=0), rel=0.08)


def test_priors_are_half_normal_and_normal() -> None:
    """Without rows draws are those of the prior."""
    none = np.zeros(2 * SUBGROUPS)
    drawn = fit(none, none, X, FOLLOW, seed=5)
    laws = [stats.halfnorm(scale=scale) for scale in np.concatenate(SCALES)] + [stats.norm(*FOLLOW)]
    assert drawn.mixing is not None
    error = np.sqrt(0.25 / drawn.mixing.bulk)
    for law, values in zip(laws, drawn.tau.T, strict=True):
        for level in (0.1, 0.5, 0.9):
            assert abs((values < law.ppf(level)).mean() - level) < 4 * error


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_few_subgroups_have_effective_draws_enough_in_tails_too(seed: int) -> None:
    """More than half of the draws are, and more than a third in tails."""
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 200, 2 * SUBGROUPS).astype(np.float64)
    drawn = fit(np.floor(0.3 * n), n, X, FOLLOW, seed)
    assert drawn.mixing is not None
    assert drawn.mixing.bulk > 4300
    assert drawn.mixing.tail > 2800
