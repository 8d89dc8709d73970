"""Chains of crossed effects against quadrature, dense normal posteriors, and the weighted engine."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import binomial as binomial_pooling
from bayesgroups.inference.collapsed.crossed import chains as by_chains
from bayesgroups.inference.collapsed.crossed import engine, learned_turns, sites, spectral_design, trajectories
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Counts
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from examples.comparisons import seconds_map
from tests.inference.test_crossed_spectrum import ALONG, CASES, CELLS, GRID, NONE, THREE, X, prior_covariance

MANY = np.stack([np.repeat(np.arange(40), 6), np.tile(np.arange(6), 40), np.arange(240)])


def errors(first: FloatArray, second: FloatArray, number: float) -> FloatArray:
    """Differences of means in Monte Carlo errors of two samples of so many effective draws."""
    return np.asarray((first.mean(axis=0) - second.mean(axis=0)) / (second.std(axis=0) * np.sqrt(2 / number)))


def test_one_attribute_of_rates_is_quadrature() -> None:
    k, n = np.array([0.0, 3, 9, 2, 30, 0, 5]), np.array([4.0, 30, 60, 3, 300, 0, 11])
    predictor = Predictor(np.arange(7)[None], np.empty((7, 0)), 1.5, 1.0)
    chains = by_chains.binomial(predictor, k, n, Prior("half_normal", (0.8,)), np.random.default_rng(1), draws=8000)
    exact = binomial_pooling.sample(k, n, np.random.default_rng(2), draws=8000, overall_scale=1.5, tau_scale=0.8)
    mu = 1 / (1 + np.exp(-chains.eta))
    assert chains.mixing is not None
    assert chains.mixing.bulk > 2000
    assert np.abs(errors(mu, exact.mu, chains.mixing.bulk)).max() < 4
    np.testing.assert_allclose(mu.std(axis=0), exact.mu.std(axis=0), rtol=0.08)
    assert chains.tau.mean() == pytest.approx(exact.tau.mean(), rel=0.05)
    middle = 1 / (1 + np.exp(-chains.overall))
    assert middle.mean() == pytest.approx(exact.overall.mean(), abs=4 * exact.overall.std() / np.sqrt(1000))


def test_tails_of_counts_of_nothing_and_of_everything_are_quadrature() -> None:
    k, n = np.array([0.0, 20, 0, 40, 3, 0]), np.array([30.0, 20, 50, 40, 9, 12])
    predictor = Predictor(np.arange(6)[None], np.empty((6, 0)), 4.0, 1.0)
    chains = by_chains.binomial(predictor, k, n, Prior("half_t", (0.7,)), np.random.default_rng(2), draws=4000)
    assert chains.mixing is not None
    assert all(check.passed for check in chains.checks("rate"))
    exact = binomial_pooling.sample(
        k, n, np.random.default_rng(2), draws=100_000, overall_scale=4.0, tau_scale=0.7, family="half_t"
    )
    mu, error = 1 / (1 + np.exp(-chains.eta)), np.sqrt(0.025 * 0.975 * (1 / chains.mixing.tail + 1 / 100_000))
    for share in (0.025, 0.975):
        below = (exact.mu < np.quantile(mu, share, axis=0)).mean(axis=0)
        assert (np.abs(below - share) < 3.5 * error).all()


def quantiles_of_tau(successes: int, failures: int, scale: float, shares: list[float]) -> FloatArray:
    """Quantiles of the standard deviation between subgroups of single rows, by sums over logits or over logistic numbers."""
    log_tau, z, logistic = (
        np.linspace(np.log(scale / 500), np.log(500 * scale), 240),
        np.linspace(-8, 8, 641),
        np.linspace(-40, 40, 641),
    )
    density = np.empty((61, len(log_tau)))
    for column, tau in enumerate(np.exp(log_tau)):
        alpha = np.linspace(-4, 4, 61) * np.hypot(1, tau)
        if tau < 3:
            rate = 1 / (1 + np.exp(-alpha[:, None] - tau * z)) @ stats.norm.pdf(z) * (z[1] - z[0])
        else:
            rate = (
                stats.norm.cdf((alpha[:, None] - logistic) / tau)
                @ stats.logistic.pdf(logistic)
                * (logistic[1] - logistic[0])
            )
        density[:, column] = successes * np.log(rate) + failures * np.log1p(-rate) - 0.5 * (alpha / 1.5) ** 2
        density[:, column] += np.log(np.hypot(1, tau)) - 2 * np.log1p((tau / scale) ** 2 / 3) + np.log(tau)
    mass = np.exp(density - density.max()).sum(axis=0).cumsum()
    return np.exp(np.interp(shares, mass / mass[-1], log_tau))


def test_of_single_rows_chains_come_to_the_tail_of_the_standard_deviation() -> None:
    """They say next to nothing of it, so that its tail is about that of its prior, with most logits far out."""
    k, shares = np.arange(240.0) % 2, [0.5, 0.9, 0.95, 0.975]
    chains = by_chains.binomial(
        Predictor(np.arange(240)[None], np.empty((240, 0)), 1.5, 1.0),
        k,
        np.ones(240),
        Prior("half_t", (1.0,)),
        np.random.default_rng(1),
        draws=4000,
    )
    assert chains.mixing is not None
    assert chains.mixing.passed
    for share, quantile in zip(shares, quantiles_of_tau(120, 120, 1.0, shares), strict=True):
        error = np.sqrt(share * (1 - share) / min(chains.mixing.bulk, chains.mixing.tail))
        assert (chains.tau[:, 0] < quantile).mean() == pytest.approx(share, abs=3 * error)


def test_of_single_rows_there_are_no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of their draws would be in the tail, and so no weight would tell."""
    predictor, n = Predictor(MANY, np.empty((240, 0)), 1.5, 1.0), np.ones(240)
    assert engine.weights_are_fast(predictor, 240)
    monkeypatch.setattr(engine, "binomial_by_weights", lambda *_, **__: pytest.fail("weights"))
    k = (np.arange(240) % 3 == 0).astype(np.float64)
    drawn = engine.binomial(predictor, k, n, Prior("half_t", (0.3, 0.3, 0.3)), np.random.default_rng(1), draws=400)
    assert drawn.mixing is not None


@pytest.mark.parametrize("name", ["known", "known, following"])
def test_draws_at_known_scales_are_the_dense_normal_posterior(name: str) -> None:
    """Means, covariances, the overall levels and coefficients, which are drawn after the chains."""
    case, rng = CASES["known"], np.random.default_rng(3)
    y, v = rng.standard_normal(12), rng.uniform(0.05, 0.4, 12)
    v[4] = np.inf
    seen = np.isfinite(v)
    cross = np.diag(np.where(seen, v, np.nan))
    if name == "known":
        drawn = by_chains.gaussian(case.predictor, y, v, case.prior, rng, draws=20_000)  # type: ignore[arg-type]
    else:
        cross[0, 1] = cross[1, 0] = 0.6 * np.sqrt(v[0] * v[1])
        drawn = by_chains.gaussian(case.predictor, y, v, case.prior, rng, draws=20_000, covariance=cross)  # type: ignore[arg-type]
    prior = prior_covariance(case, np.array([0.3, 0.2, 0.4]))
    noise = cross[np.ix_(seen, seen)]
    inverse = np.linalg.inv(prior[np.ix_(seen, seen)] + noise)
    gain = prior[:, seen] @ inverse
    mean, covariance = gain @ y[seen], prior - gain @ prior[seen]
    sd = np.sqrt(np.diag(covariance))
    assert np.abs((drawn.eta.mean(axis=0) - mean) / sd).max() < 4.5 / np.sqrt(8000)
    assert np.abs((np.cov(drawn.eta.T) - covariance) / np.outer(sd, sd)).max() < 0.06
    for values, root in ((drawn.overall[:, None], 1.5 * np.ones((12, 1))), (drawn.beta, 0.4 * X)):
        scale = 1.5 if root[0, 0] == 1.5 else 0.4
        across = scale * root[seen].T @ inverse
        variance = scale**2 - (across @ (scale * root[seen])).ravel()
        assert values.mean() == pytest.approx((across @ y[seen])[0], abs=4.5 * np.sqrt(variance[0] / 8000))
        assert values.std() == pytest.approx(np.sqrt(variance[0]), rel=0.05)


@pytest.mark.parametrize("many", [False, True], ids=["few subgroups", "many subgroups"])
@pytest.mark.parametrize("likelihood", ["binomial", "gaussian", "correlated"])
def test_draws_are_those_of_the_weighted_engine(likelihood: str, many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with the help that chains of many subgroups have, here of few."""
    if many:
        monkeypatch.setattr(spectral_design, "SMALL_TABLE", 0)
        monkeypatch.setattr(learned_turns, "STRETCHED", (1.0, 1.0))
    rng = np.random.default_rng(5)
    n = np.array([0, 1, 2, 4, 9, 30, 120, 700, 20, 3, 60, 15], dtype=np.float64)
    eta = -1 + 0.5 * rng.standard_normal(4)[GRID[0]] + 0.3 * rng.standard_normal(12)
    fits: tuple[Any, Any]
    if likelihood == "binomial":
        data = rng.binomial(n.astype(int), 1 / (1 + np.exp(-eta))).astype(np.float64), n
        fits = engine.binomial_by_weights, by_chains.binomial
    else:
        v = np.where(n > 0, 0.2 / np.maximum(n, 1), np.inf)
        data = eta + np.sqrt(0.2 / np.maximum(n, 1)) * rng.standard_normal(12), v
        fits = engine.gaussian, by_chains.gaussian
    known: dict[str, Any] = {"known": np.full(12, 0.01)}
    if likelihood == "correlated":
        root = np.sqrt(np.where(np.isfinite(data[1]), data[1], np.nan))
        known["covariance"] = np.outer(root, root) * (0.6 + 0.4 * np.eye(12))
    predictor, prior = Predictor(CELLS, GRID[1][:, None] - 1.0, 1.5, 0.5), Prior("half_t", (0.25,) * 3)
    weighed, chains = (fit(predictor, *data, prior, np.random.default_rng(3), draws=8000, **known) for fit in fits)
    assert weighed is not None
    assert chains is not None
    assert chains.mixing is not None
    assert all(check.passed for check in chains.checks("rate"))
    assert (weighed.engine, chains.engine) == ("collapsed", "hamiltonian")
    for name in ("eta", "tau", "beta", "overall"):
        first, second = getattr(weighed, name), getattr(chains, name)
        error = first.std(axis=0) * np.sqrt(1 / weighed.ess + 1 / chains.mixing.bulk)
        assert (np.abs(np.median(first, axis=0) - np.median(second, axis=0)) < 5 * error).all(), name
        ends, others = (np.quantile(part, (0.1, 0.9), axis=0) for part in (first, second))
        np.testing.assert_allclose(ends, others, atol=0.12)


def test_many_subgroups_are_those_of_few_effects_integrated_out() -> None:
    """240 subgroups and 46 effects, which weights are fast for."""
    rng = np.random.default_rng(7)
    n = rng.integers(0, 60, 240).astype(np.float64)
    k = rng.binomial(n.astype(int), 1 / (1 + np.exp(1 - 0.5 * rng.standard_normal(40)[MANY[0]]))).astype(np.float64)
    predictor, prior = Predictor(MANY, np.empty((240, 0)), 4.0, 1.0), THREE
    known = np.full(240, 0.125**2)
    assert engine.weights_are_fast(predictor, int((n > 0).sum()))
    weighed, chains = (
        fit(predictor, k, n, prior, np.random.default_rng(2), draws=4000, known=known)
        for fit in (engine.binomial, by_chains.binomial)
    )
    assert chains.mixing is not None
    assert weighed.engine == "collapsed"
    number = 2 / (1 / min(weighed.ess, 4000) + 1 / chains.mixing.bulk)
    assert np.abs(errors(chains.eta, weighed.eta, number)).max() < 5
    assert np.abs(errors(chains.tau, weighed.tau, number)).max() < 4.5
    np.testing.assert_allclose(chains.eta.std(axis=0).mean(), weighed.eta.std(axis=0).mean(), rtol=0.03)


def test_coordinates_of_chains_leave_draws_what_they_are() -> None:
    """A transport that knows nothing costs time and nothing else."""
    k, n = np.array([3.0, 9, 2, 30, 5]), np.array([30.0, 60, 3, 300, 11])
    predictor, prior = Predictor(np.arange(5)[None], np.empty((5, 0)), 1.5, 1.0), Prior("half_normal", (0.8,))
    right = by_chains.binomial(predictor, k, n, prior, np.random.default_rng(1), draws=4000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trajectories, "fitted", lambda target, points, turned=True: (target, points))
        plain = by_chains.binomial(predictor, k, n, prior, np.random.default_rng(2), draws=4000)
    assert right.mixing is not None
    assert plain.mixing is not None
    assert np.abs(errors(right.eta, plain.eta, min(right.mixing.bulk, plain.mixing.bulk))).max() < 4
    assert right.tau.mean() == pytest.approx(plain.tau.mean(), rel=0.1)


def test_standard_deviations_of_which_few_rows_say_little_have_effective_draws_enough() -> None:
    """120 subgroups of five rows that differ much: about 1,100 of 4,000 draws, and 630 along the standard deviations themselves."""
    rng, levels = np.random.default_rng(1), (5, 4, 3, 2)
    attributes = np.indices(levels).reshape(len(levels), -1)
    subsets = [list(each) for size in range(1, 5) for each in itertools.combinations(range(4), size)]
    cells = np.stack([np.unique(attributes[each], axis=1, return_inverse=True)[1].ravel() for each in subsets])
    logit = -1 + np.sum([rng.normal(0, 3 / np.sqrt(len(cells)), each.max() + 1)[each] for each in cells], axis=0)
    n = np.maximum(rng.lognormal(np.log(5) - 0.5, 1, len(logit)).astype(int), 1)
    k = rng.binomial(n, 1 / (1 + np.exp(-logit))).astype(np.float64)
    predictor, prior = Predictor(cells, np.empty((len(n), 0)), 4.0, 1.0), Prior("half_t", (0.5,) * len(cells))
    bulk = []
    for seed in (1, 2, 3):
        chains = by_chains.binomial(
            predictor,
            k,
            n.astype(np.float64),
            prior,
            np.random.default_rng(seed),
            draws=4000,
            known=np.full(len(n), 0.05**2),
        )
        assert chains.mixing is not None
        bulk.append(chains.mixing.bulk)
    assert np.mean(bulk) > 900


@pytest.mark.parametrize("seed", [3, 5, 10, 11, 14])
def test_chains_of_many_subgroups_keep_to_no_scale_that_is_next_to_nothing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Coordinates fitted to sixteen points that lie there made chains stay, and took two or three times as long to be mended."""
    tries: list[int] = []
    sample = trajectories.Run.sample

    def counted(self: trajectories.Run, draws: int, thin: int) -> Any:
        tries.append(thin)
        return sample(self, draws, thin)

    monkeypatch.setattr(trajectories.Run, "sample", counted)
    tally = seconds_map.tally_of("crossed_effects", seconds_map.table((6, 5, 4, 2), 1000, 0.01))
    posterior = bg.CrossedEffects().collapsed(tally, seed=seed)
    assert all(check.passed for check in posterior.checks)
    assert len(tries) == 1


def test_the_same_seed_gives_the_same_bytes() -> None:
    k, n = np.array([1.0, 0, 2, 30, 0, 0, 3, 1, 2, 4, 1, 0]), np.full(12, 40.0)

    def draw(seed: int) -> FloatArray:
        predictor = Predictor(CELLS, NONE, 4.0, 1.0)
        return by_chains.binomial(predictor, k, n, THREE, np.random.default_rng(seed), draws=400, ordered=ALONG).eta

    assert draw(7).tobytes() == draw(7).tobytes() != draw(8).tobytes()


def test_skewed_logits_of_few_subgroups_are_left_to_chains() -> None:
    """Weights of draws that were never made in a tail do not tell that it is there."""
    predictor = Predictor(CELLS[:, :6], np.empty((6, 0)), 4.0, 1.0)
    n = np.array([30.0, 20, 50, 40, 9, 12])
    engines = [
        engine.binomial(predictor, k, n, Prior("half_t", (0.7,) * 3), np.random.default_rng(1), draws=400).engine
        for k in (np.array([0.0, 20, 0, 40, 3, 12]), np.array([11.0, 7, 20, 13, 3, 5]))
    ]
    assert engines == ["hamiltonian", "collapsed"]


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


@pytest.mark.parametrize(("rows", "single"), [(1e3, True), (1e14, False)])
def test_gradients_lead_in_single_precision_where_it_does(rows: float, single: bool) -> None:
    """A logit in single precision has an error of many standard deviations where very many rows say what it is."""
    n = np.full(5, rows)
    predictor = Predictor(np.arange(5)[None], np.empty((5, 0)), 1.5, 1.0)
    design = spectral_design.design_of(predictor, Prior("half_t", (0.2,)), np.zeros(5))
    share = np.linspace(0.1, 0.5, 5)
    run = trajectories.run(
        design, Counts((share * n)[None], n[None]), np.log(share / (1 - share))[None], np.random.default_rng(1)
    )
    assert (run.slope != run.target.slope) == single


@pytest.mark.parametrize("unit", [1e-20, 1e12])
def test_units_of_estimates_do_not_matter(unit: float) -> None:
    """Squares of the small ones are no numbers in single precision, which then does not lead."""
    y, v, means = np.array([0.3, -0.5, 1.2, 0.1, 0.9]), np.full(5, 0.2), []
    for size in (1.0, unit):
        predictor, prior = (
            Predictor(np.arange(5)[None], np.empty((5, 0)), 1.5 * size, 1.0),
            Prior("half_t", (0.6 * size,)),
        )
        drawn = by_chains.gaussian(predictor, size * y, size**2 * v, prior, np.random.default_rng(1), draws=2000)
        assert all(check.passed for check in drawn.checks("loss"))
        means.append((drawn.eta.mean(axis=0) / size, drawn.eta.std(axis=0) / size, np.median(drawn.tau) / size))
    for first, second in zip(*means, strict=True):
        np.testing.assert_allclose(first, second, atol=0.06)


@pytest.mark.parametrize(("first", "transitions"), [(2, [2, 2, 2, 2, 4]), (1, [1, 1, 2, 1, 1, 2, 4])])
def test_chains_that_do_not_mix_go_on_and_then_fail(
    monkeypatch: pytest.MonkeyPatch, first: int, transitions: list[int]
) -> None:
    """Chains that stay where they are have no R-hat: all that can be tried is, and the gate does not pass.

    There are two transitions for every draw at first where coordinates are few, else one; as many follow as there were, up to
    four for every draw, and up to eight once coordinates are fitted anew.
    """
    tried: list[int] = []
    sample = trajectories.Run.sample

    def counted(self: trajectories.Run, draws: int, thin: int) -> Any:
        tried.append(thin)
        return sample(self, draws, 1)

    monkeypatch.setattr(trajectories.Run, "sample", counted)
    monkeypatch.setattr("bayesgroups.inference.rotations.choose", lambda _, proposed, state: state)
    assert trajectories.THINNING_OF_SMALL == 2
    monkeypatch.setattr(trajectories, "THINNING_OF_SMALL", first)
    predictor = Predictor(np.arange(5)[None], np.empty((5, 0)), 1.5, 1.0)
    stuck = by_chains.gaussian(
        predictor, np.arange(5.0), np.ones(5), Prior("half_t", (0.2,)), np.random.default_rng(1), draws=400
    )
    assert tried == transitions
    assert not all(check.passed for check in stuck.checks("rate"))


def test_chains_that_diverge_are_fitted_anew_and_take_smaller_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[float] = []
    sample = trajectories.Run.sample

    def diverging(self: trajectories.Run, draws: int, thin: int) -> Any:
        sampled, run = sample(self, draws, thin)
        steps.append(self.step)
        return (replace(sampled, divergences=3) if len(steps) == 1 else sampled), run

    monkeypatch.setattr(trajectories.Run, "sample", diverging)
    predictor = Predictor(np.arange(5)[None], np.empty((5, 0)), 1.5, 1.0)
    drawn = by_chains.gaussian(
        predictor, np.arange(5.0), np.ones(5), Prior("half_t", (0.2,)), np.random.default_rng(1), draws=2000
    )
    assert steps[1] < steps[0]
    assert drawn.divergences == 0
    assert all(check.passed for check in drawn.checks("rate"))
