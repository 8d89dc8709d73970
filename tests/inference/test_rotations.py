"""Steps about a normal law: exact for that law, however many coordinates; right for others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.hamiltonian import start
from bayesgroups.inference.rotations import step

Density = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def run(
    density: Density, points: FloatArray, transitions: int, size: float = 0.5, drifting: int = 0, decimals: int = 15
) -> tuple[FloatArray, FloatArray]:
    rng, state, found, accepted = np.random.default_rng(1), start(density, points), [], []
    for _ in range(transitions):
        state, acceptance = step(density, lambda x: density(x)[1].round(decimals), state, size, rng, (1, 3), drifting)
        found.append(state.point)
        accepted.append(acceptance)
    return np.array(found), np.array(accepted)


def test_a_standard_normal_law_is_followed_exactly() -> None:
    found, accepted = run(lambda x: (-0.5 * (x**2).sum(axis=1), -x), np.ones((4, 2000)), 50, size=1.0)
    np.testing.assert_allclose(accepted, 1.0, atol=1e-9)
    assert abs(found[10:].var() - 1) < 0.01


@pytest.mark.parametrize("drifting", [0, 1, 3])
def test_a_normal_law_that_is_none_of_the_kind(drifting: int) -> None:
    spread, middle = np.array([0.6, 1.0, 1.5]), np.array([0.5, -0.2, 0.0])

    def density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -0.5 * (((x - middle) / spread) ** 2).sum(axis=1), -(x - middle) / spread**2

    found, _ = run(density, np.zeros((16, 3)), 1500, drifting=drifting)
    assert np.abs((found.mean(axis=(0, 1)) - middle) / spread).max() < 0.04
    assert np.abs(found.std(axis=(0, 1)) / spread - 1).max() < 0.03


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_trajectory_is_made_of_pushes_turns_and_drifts(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point and momentum of single steps, the latter as it is in the energies that are compared."""
    precision = np.array([2.0, 0.7, 1.3])
    monkeypatch.setattr("bayesgroups.inference.rotations.choose", lambda _, proposed, state: proposed)
    monkeypatch.setattr("bayesgroups.inference.rotations.WIDTH", 0.0)

    def density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -0.5 * (precision * x**2).sum(axis=1), -precision * x

    first = start(density, np.array([[0.5, -1.0, 2.0]]))
    state, acceptance = step(
        density, lambda x: density(x)[1], first, np.pi / 2 / steps, np.random.default_rng(3), (1,), 1
    )
    rng = np.random.default_rng(3)
    rng.integers(1), rng.uniform()
    turn = np.pi / 2 / steps * rng.uniform(0.8, 1.2)
    x, p = first.point[0].copy(), rng.standard_normal((1, 3))[0]
    energy = 0.5 * (precision * x**2).sum() + 0.5 * p @ p
    extra = np.array([0.0, 1.0, 1.0])
    for _ in range(steps):
        p = p + turn / 2 * (extra - precision) * x
        x, p = (
            np.where(extra, np.cos(turn) * x + np.sin(turn) * p, x + turn * p),
            np.where(extra, np.cos(turn) * p - np.sin(turn) * x, p),
        )
        p = p + turn / 2 * (extra - precision) * x
    np.testing.assert_allclose(state.point[0], x, atol=1e-12)
    left = energy - 0.5 * (precision * x**2).sum() - 0.5 * p @ p
    np.testing.assert_allclose(acceptance, min(1.0, np.exp(left)), atol=1e-12)


def test_odd_quarter_turns_leave_little_of_a_normal_point() -> None:
    """After half a turn it is opposite and after a whole one where it was: squares, which tails are made of, would stay."""
    found, _ = run(lambda x: (-0.5 * (x**2).sum(axis=1), -x), np.zeros((64, 50)), 400)
    for values in (found[10:], found[10:] ** 2 - 1):
        assert abs((values[1:] * values[:-1]).mean() / (values**2).mean()) < 0.3


@pytest.mark.parametrize(("drifting", "decimals"), [(0, 15), (1, 15), (0, 1), (1, 1)])
def test_a_skewed_law(drifting: int, decimals: int) -> None:
    """The logarithm of a gamma variable; also where gradients between the two ends are rounded to tenths."""

    def density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (2 * x - np.exp(x)).sum(axis=1), 2 - np.exp(x)

    found, _ = run(density, np.zeros((16, 1)), 3000, drifting=drifting, decimals=decimals)
    assert stats.kstest(np.exp(found[::6, :, 0].ravel()), stats.gamma(2).cdf).pvalue > 1e-3


def test_what_has_no_density_is_never_entered() -> None:
    def density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = (x > 0).all(axis=1)
        return np.where(inside, -0.5 * (x**2).sum(axis=1), np.nan), -x

    found, accepted = run(density, np.ones((8, 1)), 4000)
    assert ((accepted >= 0) & (accepted <= 1)).all()
    assert (found > 0).all()
    assert abs(found.mean() - np.sqrt(2 / np.pi)) < 0.03
