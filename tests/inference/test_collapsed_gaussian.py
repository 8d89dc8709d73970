"""The exact normal engine: the printed grid answer, integrals done another way, limits, hostile values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed import gaussian

Z = np.array([0.20, 0.25, 0.40, 0.10, 0.75])
V = 0.16 / np.array([50.0, 30, 15, 8, 4])
DRAWS = 100_000
MAX_STANDARD_ERRORS = 4.5  # of a Monte Carlo mean or standard deviation; beyond it once in 150,000


def sample(
    z: FloatArray, v: FloatArray, *, draws: int = DRAWS, seed: int = 1, centre: float = 0.5,
    overall_scale: float = 0.5, tau_scale: float = 0.25,
) -> gaussian.GaussianDraws:  # fmt: skip
    return gaussian.sample(
        z, v, np.random.default_rng(seed), draws=draws, centre=centre, overall_scale=overall_scale, tau_scale=tau_scale
    )


def assert_mean(draws: FloatArray, expected: float, digits: float = 0.0) -> None:
    error = draws.std() / np.sqrt(len(draws))
    assert abs(draws.mean() - expected) < MAX_STANDARD_ERRORS * error + digits


def assert_sd(draws: FloatArray, expected: float, digits: float = 0.0) -> None:
    square = (draws - draws.mean()) ** 2
    error = square.std() / np.sqrt(len(draws)) / (2 * expected)
    assert abs(draws.std() - expected) < MAX_STANDARD_ERRORS * error + digits


def test_the_printed_grid_answer() -> None:
    found = sample(Z, V)
    assert_mean(found.overall, 0.29938, 5e-6)
    assert_mean(found.tau, 0.15087, 5e-6)
    assert (found.tau < 0.13426).mean() == pytest.approx(0.5, abs=MAX_STANDARD_ERRORS * 0.5 / np.sqrt(DRAWS))
    means, sds = (0.22041, 0.25972, 0.34827, 0.20241, 0.44318), (0.05387, 0.06351, 0.09284, 0.10967, 0.17553)
    for a in range(5):
        assert_mean(found.mu[:, a], means[a], 5e-6)
        assert_sd(found.mu[:, a], sds[a], 5e-6)
    assert found.edge_mass < 1e-12
    assert found.grid_error < 1e-9


class Moments(NamedTuple):
    """Posterior means and standard deviations, by another route."""

    overall: tuple[float, float]
    tau: tuple[float, float]
    mu: list[tuple[float, float]]


def integrated(z: FloatArray, v: FloatArray, *, centre: float, overall_scale: float, tau_scale: float) -> Moments:
    """Sums over a lattice of (overall, tau): neither is integrated in closed form here."""
    overall = np.linspace(centre - 7 * overall_scale, centre + 7 * overall_scale, 4001)[:, None]
    tau = (np.arange(1500) + 0.5)[None] / 1500 * 6 * tau_scale
    log = stats.norm.logpdf(overall, centre, overall_scale) + stats.halfnorm.logpdf(tau, scale=tau_scale)
    for estimate, variance in zip(z, v, strict=True):
        log = log + stats.norm.logpdf(estimate, overall, np.sqrt(variance + tau**2))
    mass = np.exp(log - log.max())
    mass /= mass.sum()

    def moments(mean: FloatArray, variance: FloatArray | float = 0.0) -> tuple[float, float]:
        first = float((mass * mean).sum())
        return first, float(np.sqrt((mass * (variance + (mean - first) ** 2)).sum()))

    own = [tau**2 / (tau**2 + variance) for variance in v]
    each = [
        moments(overall + share * (estimate - overall), share * variance)
        for share, estimate, variance in zip(own, z, v, strict=True)
    ]
    return Moments(moments(overall), moments(tau), each)


@pytest.mark.parametrize(
    ("z", "v", "overall_scale"),
    [
        ([0.5], [0.02], 0.3),
        ([0.1, 0.9], [0.01, 0.3], 0.3),
        ([0.31, 0.30, 0.29, 0.33], [0.004, 0.01, 0.0025, 0.02], 0.3),
        ([0.7, 0.8, 0.75], [0.01, 0.02, 0.01], 0.08),  # far off in units of the prior
    ],
)
def test_integrals_done_another_way(z: list[float], v: list[float], overall_scale: float) -> None:
    expected = integrated(np.array(z), np.array(v), centre=0.4, overall_scale=overall_scale, tau_scale=0.2)
    found = sample(np.array(z), np.array(v), centre=0.4, overall_scale=overall_scale, tau_scale=0.2)
    pairs = [(found.overall, expected.overall), (found.tau, expected.tau)]
    pairs += [(found.mu[:, a], moments) for a, moments in enumerate(expected.mu)]
    for draws, (mean, sd) in pairs:
        assert_mean(draws, mean, 1e-5)
        assert_sd(draws, sd, 1e-5)


def test_without_spread_it_is_complete_pooling() -> None:
    found = sample(Z, V, tau_scale=1e-7)
    assert np.ptp(found.mu, axis=1).max() < 1e-5
    precision = (1 / V).sum() + 1 / 0.5**2
    assert_mean(found.overall, float(((Z / V).sum() + 0.5 / 0.5**2) / precision))
    assert_sd(found.overall, float(precision**-0.5))


def test_with_boundless_spread_it_is_no_pooling() -> None:
    found = sample(1e3 * Z, V, tau_scale=1e6, overall_scale=1e6)
    for a in range(5):
        assert_mean(found.mu[:, a], 1e3 * Z[a])
        assert_sd(found.mu[:, a], np.sqrt(V[a]))


def test_subgroups_without_an_estimate_are_drawn_from_the_population() -> None:
    with_one = sample(np.append(Z, np.nan), np.append(V, np.nan))
    without = sample(Z, V)
    np.testing.assert_allclose(with_one.tau, without.tau)
    np.testing.assert_allclose(with_one.overall, without.overall)
    new = (with_one.mu[:, -1] - with_one.overall) / with_one.tau
    assert stats.kstest(new[:20_000], "norm").pvalue > 1e-4


def test_nothing_seen_is_the_prior() -> None:
    found = sample(np.full(2, np.nan), np.full(2, np.nan), draws=20_000)
    assert stats.kstest(found.overall, stats.norm(0.5, 0.5).cdf).pvalue > 1e-4
    assert stats.kstest(found.tau, stats.halfnorm(scale=0.25).cdf).pvalue > 1e-4
    assert stats.kstest((found.mu[:, 0] - found.overall) / found.tau, "norm").pvalue > 1e-4


def test_order_does_not_matter() -> None:
    order = np.array([3, 0, 4, 2, 1])
    found, moved = sample(Z, V, draws=4000), sample(Z[order], V[order], draws=4000)
    np.testing.assert_allclose(moved.tau, found.tau, rtol=1e-9)
    np.testing.assert_allclose(moved.overall, found.overall, rtol=1e-9)
    gap = found.mu[:, order] - moved.mu  # the noise of each subgroup is another's
    assert (np.abs(gap.mean(axis=0)) < MAX_STANDARD_ERRORS * gap.std(axis=0) / np.sqrt(4000)).all()


@pytest.mark.parametrize("unit", [1e-120, 1e-6, 1e12])
def test_any_unit_will_do(unit: float) -> None:
    plain = sample(Z, V, draws=500)
    found = sample(unit * Z, unit**2 * V, draws=500, centre=0.5 * unit, overall_scale=0.5 * unit, tau_scale=0.25 * unit)
    np.testing.assert_allclose(found.mu / unit, plain.mu, rtol=1e-9)
    np.testing.assert_allclose(found.tau / unit, plain.tau, rtol=1e-9)


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second, other = (sample(Z, V, draws=100, seed=seed) for seed in (1, 1, 2))
    for name in ("mu", "overall", "tau"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
        assert getattr(first, name).tobytes() != getattr(other, name).tobytes()


@pytest.mark.parametrize(
    ("z", "v"),
    [
        ([0.3], [0.0]),
        ([0.3, 0.3, 0.3], [0.0, 0.0, 0.0]),
        ([0.2, 0.3, 0.9], [0.0, 0.0, 0.1]),
        ([0.2, 0.3, 0.9], [1e-300, 1e-300, 1e-300]),
        ([0.2, 0.3, 0.9], [1e-300, 1.0, 1e300]),
        ([0.4] * 40, [0.01] * 40),
        ([1e12, -1e12, 3.0], [1.0, 1.0, 1.0]),
        ([0.4, 0.5], [1e12, 1e12]),
    ],
)
def test_hostile_values_stay_finite_and_are_watched(z: list[float], v: list[float]) -> None:
    found = sample(np.array(z), np.array(v), draws=400)
    assert np.isfinite(found.mu).all()
    assert np.isfinite([found.overall, found.tau]).all()
    assert found.edge_mass < 1e-6
    assert found.grid_error < 1e-3
    known = np.array(v) < 1e-100
    assert np.abs(found.mu - np.array(z))[:, known].max(initial=0.0) < 1e-5
