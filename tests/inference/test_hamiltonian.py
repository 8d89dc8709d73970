"""Hamiltonian Monte Carlo: normal laws of unequal scales, heavy tails, places it must not go."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.hamiltonian import State, Tuning, choose, spread, start, step, warm_up


def stay(state: State) -> State:
    return state


def run(density: object, size: int, draws: int, *, seed: int = 1) -> FloatArray:
    assert callable(density)
    rng = np.random.default_rng(seed)
    state, tuning = warm_up(density, start(density, rng.standard_normal((4, size))), 400, rng, between=stay)
    found = []
    for _ in range(draws):
        state, _ = step(density, state, tuning, rng)
        found.append(state.point)
    return np.array(found)


def test_a_normal_law_of_unequal_scales() -> None:
    spread = np.array([0.1, 1.0, 10.0])
    found = run(lambda x: (-0.5 * ((x / spread) ** 2).sum(axis=1), -x / spread**2), 3, 4000)
    assert np.abs(found.mean(axis=(0, 1)) / spread).max() < 0.06
    assert np.abs(found.std(axis=(0, 1)) / spread - 1).max() < 0.05


def test_the_logarithm_of_a_half_cauchy_variable() -> None:
    def density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        square = np.exp(2 * x)
        return (x - np.log1p(square)).sum(axis=1), 1 - 2 * square / (1 + square)

    found = np.exp(run(density, 1, 4000)[::8, :, 0].ravel())
    assert stats.kstest(found, stats.halfcauchy.cdf).pvalue > 1e-3


def test_what_has_no_density_is_never_entered() -> None:
    def density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = (x > 0).all(axis=1)
        return np.where(inside, -x.sum(axis=1), np.nan), -np.ones_like(x)

    rng = np.random.default_rng(3)
    state, tuning, found = start(density, np.ones((4, 1))), Tuning(0.3, np.ones(1)), []
    for _ in range(4000):
        state, acceptance = step(density, state, tuning, rng)
        found.append(state.point)
        assert ((acceptance >= 0) & (acceptance <= 1)).all()
    assert (np.array(found) > 0).all()
    assert abs(np.mean(found) - 1) < 0.1


def test_chains_move_one_by_one() -> None:
    old, new = (State(np.full((3, 2), value), np.full(3, value), np.full((3, 2), value)) for value in (0.0, 1.0))
    found = choose(np.array([True, False, True]), new, old)
    assert found.value.tolist() == [1, 0, 1]
    assert (found.point == found.value[:, None]).all()
    assert (found.gradient == found.value[:, None]).all()


def test_scales_of_a_normal_density_are_told_by_points_far_from_its_mass() -> None:
    sd = np.array([0.02, 1.0, 50.0])
    points = 100 + 0.01 * np.random.default_rng(1).standard_normal((4, 3))
    states = [start(lambda x: (-0.5 * ((x / sd) ** 2).sum(axis=1), -x / sd**2), each) for each in (points, 2 * points)]
    np.testing.assert_allclose(spread(states), sd)


def test_scales_are_one_where_gradients_do_not_tell() -> None:
    points = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
    gradients = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, np.nan]])
    assert spread([State(points, np.zeros(2), gradients)]).tolist() == [1, 1, 1]


def test_a_warm_up_takes_few_steps_where_scales_are_unequal() -> None:
    """From the first transition on, also where chains begin ten standard deviations of a coordinate away."""
    sd, gradients = np.array([0.05, 1.0]), 0

    def density(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        nonlocal gradients
        gradients += 1
        return -0.5 * ((x / sd) ** 2).sum(axis=1), -x / sd**2

    rng = np.random.default_rng(1)
    begun = start(density, 0.5 * rng.standard_normal((4, 2)).repeat(4, axis=0))
    state, tuning = warm_up(density, begun, 50, rng, between=stay)
    assert gradients < 50 * 3
    assert 0.5 < tuning.step < 2.5
    assert (np.abs(state.point) < 5 * sd).all()
