"""SureMap for one task: the worked example, the risk it estimates, and what its estimates are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed import sure
from bayesgroups.frequentist.crossed.families import family
from bayesgroups.frequentist.crossed.precision import combine
from bayesgroups.frequentist.crossed.search import minimise

# Components in the order of a family: shared, race, sex, identity.
LEVELS = family([[0, 0], [0, 1], [1, 0], [1, 1]], ["race", "sex"]).agreement()
Z = np.array([0.3, 0.25, 0.2, 0.6])
U = np.array([40.0, 20, 10, 5]) / 0.2
VARIANCES = 0.2 * np.array([0.5, 0.1, 0.05, 0.02])
LARGE = family(list(itertools.product(range(4), range(2), range(3))), ["a", "b", "c"]).agreement()


def some(seed: int, groups: int = 24) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    u = rng.integers(1, 60, groups) / 0.2
    u[3] = 0
    return rng.uniform(0.1, 0.7, groups), u


def test_worked_example() -> None:
    value, slope = sure.risk(Z, U, LEVELS, VARIANCES)
    assert value == pytest.approx(3.123033, abs=1e-6)
    np.testing.assert_allclose(0.2 * slope, [-0.041775, 3.131386, 5.583754, -7.713486], atol=1e-6)
    covariance = combine(VARIANCES, LEVELS)
    np.testing.assert_allclose(
        sure.posterior_mean(Z, U, covariance), [0.280914, 0.283275, 0.281445, 0.353340], atol=1e-6
    )
    empty = np.array([40.0, 20, 10, 0]) / 0.2
    np.testing.assert_allclose(
        sure.posterior_mean(Z, empty, covariance), [0.286377, 0.251544, 0.210943, 0.189814], atol=1e-6
    )


def test_worked_minimum() -> None:
    found = sure.fit(Z, U, LEVELS)
    np.testing.assert_allclose(found.variances / 0.2, [0.416888, 0, 0, 0], atol=1e-5)
    assert found.risk == pytest.approx(0.952342, abs=1e-6)
    np.testing.assert_allclose(found.estimate, 0.284242, atol=1e-6)


def test_the_estimate_is_the_posterior_mean() -> None:
    z, u = some(1)
    covariance = combine(np.linspace(0.01, 0.05, len(LARGE)), LARGE)
    data = u > 0
    gain = covariance[:, data] @ np.linalg.inv(covariance[np.ix_(data, data)] + np.diag(1 / u[data]))
    expected = 1 + gain @ (z[data] - 1)
    np.testing.assert_allclose(sure.posterior_mean(z, u, covariance, centre=1.0), expected, rtol=1e-10)


def test_limits() -> None:
    z, u = some(2)
    pooled = sure.posterior_mean(z, u, combine(np.eye(len(LARGE))[0] * 1e5, LARGE))
    np.testing.assert_allclose(pooled, (u * z).sum() / u.sum(), rtol=1e-5)
    alone = sure.posterior_mean(z, u, combine(np.eye(len(LARGE))[-1] * 1e9, LARGE))
    np.testing.assert_allclose(alone[u > 0], z[u > 0], rtol=1e-6)
    assert alone[3] == 0


@pytest.mark.parametrize("seed", range(3))
def test_slope(seed: int) -> None:
    z, u = some(seed)
    at = np.random.default_rng(seed).uniform(0, 0.05, len(LARGE))
    _, slope = sure.risk(z, u, LARGE, at, centre=0.5)
    for k, step in enumerate(np.eye(len(LARGE)) * 1e-6):
        up, down = (sure.risk(z, u, LARGE, at + sign * step, centre=0.5)[0] for sign in (1, -1))
        assert slope[k] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-5)


def test_the_risk_is_estimated_without_bias() -> None:
    rng = np.random.default_rng(0)
    truth, u = np.array([0.3, 0.28, 0.25, 0.35]), U
    covariance = combine(VARIANCES, LEVELS)
    claimed, paid = [], []
    for _ in range(4000):
        z = truth + rng.normal(size=4) / np.sqrt(u)
        claimed.append(sure.risk(z, u, LEVELS, VARIANCES)[0])
        paid.append(u @ (sure.posterior_mean(z, u, covariance) - truth) ** 2)
    difference = np.array(claimed) - np.array(paid)
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(difference))
    assert difference.std() < 5


def test_a_minimum_is_a_minimum() -> None:
    rng = np.random.default_rng(3)
    for seed in range(2):
        z, u = some(10 + seed)
        found = sure.fit(z, u, LARGE)
        assert found.risk == pytest.approx(sure.risk(z, u, LARGE, found.variances)[0])
        for _ in range(50):
            other = found.variances * rng.uniform(0.5, 2, len(LARGE)) + rng.choice([0, 1e-3], len(LARGE))
            assert sure.risk(z, u, LARGE, other)[0] >= found.risk - 1e-6


def test_order_of_groups_does_not_matter() -> None:
    z, u = some(4)
    turn = np.random.default_rng(0).permutation(24)
    plain = sure.fit(z, u, LARGE)
    turned = sure.fit(z[turn], u[turn], LARGE[:, turn][:, :, turn])
    np.testing.assert_allclose(turned.estimate, plain.estimate[turn], atol=2e-4)
    assert turned.risk == pytest.approx(plain.risk, abs=1e-4)


def test_units_do_not_matter() -> None:
    z, u = some(5)
    plain, scaled = sure.fit(z, u, LARGE), sure.fit(1000 * z, u / 1e6, LARGE)
    np.testing.assert_allclose(scaled.estimate, 1000 * plain.estimate, rtol=1e-3)


@pytest.mark.parametrize("seed", [63, 192])
def test_other_starts_end_no_lower(seed: int) -> None:
    """Of tables with two valleys, in which descents that stop early choose the wrong one."""
    rng = np.random.default_rng(seed)
    u = rng.lognormal(4, 1.5, 24) / 0.2
    z = 0.3 + rng.normal(size=24) * np.sqrt(1 / u + 0.05**2)
    found = sure.fit(z, u, LARGE)
    begin = sure.starts(z, u, len(LARGE))[1] * np.exp(rng.normal(size=(20, len(LARGE))))
    for start in begin:
        assert minimise(lambda x: sure.risk(z, u, LARGE, x), start[None], start)[1] > found.risk - 1e-4


def test_the_best_start_wins() -> None:
    def valleys(x: FloatArray) -> tuple[float, FloatArray]:
        return float(np.cos(x[0]) + 0.1 * x[0]), np.array([-np.sin(x[0]) + 0.1])

    found, value = minimise(valleys, np.array([[9.0], [3.0]]), np.ones(1))
    assert found[0] == pytest.approx(np.pi - np.arcsin(0.1) + 0, abs=0.21)
    assert value < -0.6
