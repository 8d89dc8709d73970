"""The exact binomial engine: integrals by brute force, limits, hostile counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import binomial

DRAWS = 40_000
MAX_STANDARD_ERRORS = 4.5  # of a Monte Carlo mean or standard deviation; beyond it once in 150,000


def sample(
    k: list[float] | FloatArray, n: list[float] | FloatArray, *, draws: int = DRAWS, seed: int = 1,
    overall_scale: float = 1.5, tau_scale: float = 0.5,
) -> binomial.BinomialDraws:  # fmt: skip
    return binomial.sample(
        np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64), np.random.default_rng(seed), draws=draws,
        overall_scale=overall_scale, tau_scale=tau_scale,
    )  # fmt: skip


def standard_errors_off(draws: FloatArray, mean: float, sd: float) -> tuple[float, float]:
    square = (draws - mean) ** 2
    size = np.sqrt(len(draws))
    return (
        abs(float(draws.mean()) - mean) / float(draws.std()) * size,
        abs(float(square.mean()) - sd**2) / float(square.std()) * size,
    )


def integrated(
    k: list[float], n: list[float], overall_scale: float, tau_scale: float
) -> dict[str, tuple[float, float]]:
    """Means and standard deviations by sums over (alpha, tau, z); nothing is approximated around a mode."""
    node, weight = np.polynomial.legendre.leggauss(120)
    alpha, tau = 6 * overall_scale * node, 3 * tau_scale * (node + 1)
    z = np.linspace(-8.5, 8.5, 401)
    rate = expit(alpha[:, None, None] + tau[None, :, None] * z)
    prior = np.exp(-0.5 * z * z)
    log = np.log(weight)[:, None] + np.log(weight) - 0.5 * (node[:, None] * 6) ** 2 - 0.5 * (3 * (node + 1)) ** 2
    firsts, seconds = [], []
    for successes, trials in zip(k, n, strict=True):
        likelihood = prior * rate**successes * (1 - rate) ** (trials - successes)
        marginal = likelihood.sum(axis=-1)
        log = log + np.log(marginal)
        firsts.append((likelihood * rate).sum(axis=-1) / marginal)
        seconds.append((likelihood * rate**2).sum(axis=-1) / marginal)
    mass = np.exp(log - log.max())
    mass /= mass.sum()

    def moments(first: FloatArray, second: FloatArray) -> tuple[float, float]:
        mean = float((mass * first).sum())
        return mean, float(np.sqrt((mass * second).sum() - mean**2))

    overall = expit(alpha)[:, None]
    expected = {"overall": moments(overall, overall**2), "tau": moments(tau[None], tau[None] ** 2)}
    return expected | {f"mu{a}": moments(first, seconds[a]) for a, first in enumerate(firsts)}


@pytest.mark.parametrize(
    ("k", "n", "overall_scale", "tau_scale"),
    [
        ([9.0, 7.0, 2.0, 0.0], [10.0, 20.0, 2.0, 0.0], 1.5, 0.5),
        ([0.0, 0.0, 1.0], [3.0, 8.0, 30.0], 1.5, 0.5),
        ([1.0, 30.0, 12.5], [40.0, 40.0, 25.5], 1.0, 1.5),
    ],
)
def test_integrals_by_brute_force(k: list[float], n: list[float], overall_scale: float, tau_scale: float) -> None:
    found = sample(k, n, overall_scale=overall_scale, tau_scale=tau_scale)
    draws = {"overall": found.overall, "tau": found.tau} | {f"mu{a}": found.mu[:, a] for a in range(len(k))}
    for name, (mean, sd) in integrated(k, n, overall_scale, tau_scale).items():
        assert max(standard_errors_off(draws[name], mean, sd)) < MAX_STANDARD_ERRORS, name
    assert found.surface.edge_mass < 1e-9
    assert found.surface.interpolation_error < 1e-4
    assert found.quadrature_error < 1e-3


def test_without_spread_it_is_complete_pooling() -> None:
    k, n = [3.0, 10.0, 1.0], [10.0, 30.0, 9.0]
    found = sample(k, n, tau_scale=1e-6)
    assert np.ptp(found.mu, axis=1).max() < 1e-5
    alpha = np.linspace(-9, 9, 20_001)
    mass = expit(alpha) ** 14 * expit(-alpha) ** 35 * np.exp(-0.5 * (alpha / 1.5) ** 2)
    mass /= mass.sum()
    mean = float((mass * expit(alpha)).sum())
    sd = float(np.sqrt((mass * (expit(alpha) - mean) ** 2).sum()))
    assert max(standard_errors_off(found.overall, mean, sd)) < MAX_STANDARD_ERRORS


def test_with_boundless_spread_it_is_no_pooling() -> None:
    """Rates worlds apart and a flat prior of the spread: each has its own beta posterior."""
    k, n = np.array([1000.0, 500_000.0, 999_000.0]), np.full(3, 1e6)
    found = sample(k, n, tau_scale=50.0, overall_scale=50.0)
    for a in range(3):
        exact = stats.beta(k[a], n[a] - k[a])
        assert max(standard_errors_off(found.mu[:, a], exact.mean(), exact.std())) < MAX_STANDARD_ERRORS


@pytest.mark.parametrize("trials", [1e9, 1e13])
def test_spread_among_rates_at_both_ends_of_the_largest_counts(trials: float) -> None:
    """None, half, all and three of so many, under a flat prior: few outcomes are Poisson, and integrals sums over logits.

    With modes that were not met tau came out seven times as large from 1e13 rows, and the overall rate at 0.
    """
    scale, overall_scale = 20.0, 1.5
    alpha, tau = np.linspace(-6, 6, 25), np.linspace(2, 110, 109)
    eta = np.linspace(-420, 420, 4201)
    log = -0.5 * (alpha[:, None] / overall_scale) ** 2 - 0.5 * (tau / scale) ** 2
    with np.errstate(over="ignore"):
        none = np.exp(-trials * np.exp(eta))
        three = np.exp(3 * (eta + np.log(trials)) - trials * np.exp(eta))
    density = np.exp(-0.5 * ((eta - alpha[:, None, None]) / tau[:, None]) ** 2) / tau[:, None]
    log += sum(np.log(density @ likelihood) for likelihood in (none, three, none[::-1]))
    log += -0.5 * (alpha[:, None] / tau) ** 2 - np.log(tau)
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    expected = float((mass @ tau).sum())
    found = sample(
        [0.0, trials / 2, trials, 3.0], [trials] * 4, tau_scale=scale, overall_scale=overall_scale, draws=4000
    )
    assert found.tau.mean() == pytest.approx(expected, rel=0.05)
    assert found.overall.mean() == pytest.approx(float((expit(alpha) @ mass).sum()), abs=0.03)


def test_hard_counts_alone_take_more_nodes() -> None:
    """Of rates far apart, integrals of some counts need twice the nodes of others; all together are as good as many nodes."""
    rng = np.random.default_rng(1)
    n = np.maximum(np.floor(rng.lognormal(np.log(100), 1, 150)), 1)
    k = rng.binomial(n.astype(int), expit(3 * rng.standard_normal(150))).astype(float)
    alpha, tau = rng.normal(0, 0.4, 20), rng.uniform(2, 3, 20)
    counts = binomial._Counts.of(k, n)
    assert set(counts.nodes) == {11}
    assert np.ptp(counts.errors(alpha, tau).sum(axis=0)) > 2 * binomial.MAX_QUADRATURE_ERROR
    while (better := counts.with_more_nodes(counts.errors(alpha, tau))) is not counts:
        counts = better
    assert set(counts.nodes) == {11, 21}
    nothing = np.zeros(20)
    many = replace(counts, nodes=np.full_like(counts.nodes, 101))
    gap = counts.add_log_likelihood(nothing, alpha, tau) - many.add_log_likelihood(nothing, alpha, tau)
    assert np.ptp(gap) < binomial.MAX_QUADRATURE_ERROR


def test_nothing_seen_is_the_prior() -> None:
    found = sample([0.0, 0.0], [0.0, 0.0], draws=20_000)
    assert stats.kstest(np.log(found.overall / (1 - found.overall)), stats.norm(0, 1.5).cdf).pvalue > 1e-4
    assert stats.kstest(found.tau, stats.halfnorm(scale=0.5).cdf).pvalue > 1e-4
    eta, alpha = (np.log(rate / (1 - rate)) for rate in (found.mu[:, 0], found.overall))
    assert stats.kstest((eta - alpha) / found.tau, "norm").pvalue > 1e-4


def test_empty_subgroups_change_nothing_but_themselves() -> None:
    some, more = sample([3.0, 40.0], [10.0, 60.0], draws=500), sample([3.0, 40.0, 0.0], [10.0, 60.0, 0.0], draws=500)
    np.testing.assert_allclose(more.tau, some.tau)
    np.testing.assert_allclose(more.overall, some.overall)


def test_order_does_not_matter() -> None:
    k, n = np.array([3.0, 40.0, 0.0, 7.0]), np.array([10.0, 60.0, 4.0, 7.0])
    order = np.array([2, 0, 3, 1])
    found, moved = sample(k, n, draws=4000), sample(k[order], n[order], draws=4000)
    np.testing.assert_allclose(moved.tau, found.tau, rtol=1e-6)
    np.testing.assert_allclose(moved.overall, found.overall, rtol=1e-6)
    np.testing.assert_array_equal(moved.mu, found.mu[:, order])


def test_success_and_failure_mirror_each_other() -> None:
    k, n = np.array([3.0, 40.0, 0.0, 7.0]), np.array([10.0, 60.0, 4.0, 7.0])
    found, mirrored = sample(k, n), sample(n - k, n, seed=2)
    for one, other in ((found.mu, 1 - mirrored.mu), (found.overall[:, None], 1 - mirrored.overall[:, None])):
        error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / DRAWS)
        assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < MAX_STANDARD_ERRORS * error).all()


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second, other = (sample([3.0, 0.0], [9.0, 2.0], draws=200, seed=seed) for seed in (1, 1, 2))
    for name in ("mu", "overall", "tau"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
        assert getattr(first, name).tobytes() != getattr(other, name).tobytes()


@pytest.mark.parametrize(
    ("k", "n"),
    [
        ([0.0], [1.0]),
        ([0.0] * 12, [50.0] * 12),
        ([50.0] * 12, [50.0] * 12),
        ([0.0, 1e9], [1e9, 1e9]),
        ([3e11, 4e11, 1.0], [1e12, 1e12, 1.0]),
        ([1e12], [1e12]),
        ([0.0, 0.0], [1e12, 1e12]),
        ([5.0] * 30, [20.0] * 30),
        ([0.001, 0.5], [0.01, 0.75]),
        ([300_000.0] * 40, [1_000_000.0] * 40),
    ],
)
def test_hostile_counts_stay_finite_and_are_watched(k: list[float], n: list[float]) -> None:
    found = sample(k, n, draws=400)
    assert np.isfinite(found.mu).all()
    assert ((found.mu >= 0) & (found.mu <= 1)).all()
    assert np.isfinite([found.overall, found.tau]).all()
    assert found.surface.edge_mass < 1e-6
    assert found.surface.interpolation_error < 1e-3
    assert found.quadrature_error < 1e-2
    seen = np.array(n) >= 1e6
    rate = np.array(k) / np.array(n)
    assert (np.abs(found.mu - rate)[:, seen] < 8e-3).all()


def test_logits_of_a_thousand_are_rates() -> None:
    """Subgroups of nothing and of everything alone, which may be as far out as the prior allows."""
    n = np.full(6, 100.0)
    k = np.array([0.0, 100, 0, 100, 0, 100])
    rng = np.random.default_rng(1)
    drawn = binomial.sample(k, n, rng, draws=400, overall_scale=1.5, tau_scale=300.0, family="half_t")
    assert (drawn.mu == 0).any()
    assert np.isfinite(drawn.mu).all()
    assert (drawn.mu[:, 0] < 0.2).mean() > 0.9
