"""Shared coefficients integrated out: against dense matrices, ridge regression, and with digits to spare."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import shared_effects
from bayesgroups.inference.shared_effects import SharedEffects, log_likelihood


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def crossed(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Redundant columns, the intercept first: two attributes and a gradual feature; data and noise variances of two chains."""
    first, second = (levels.ravel() for levels in np.meshgrid(np.arange(2), np.arange(4), indexing="ij"))
    levels = [first == level for level in range(2)] + [second == level for level in range(4)]
    columns = np.column_stack([np.ones(8), *levels, rng.standard_normal(8)]).astype(np.float64)
    return columns, rng.standard_normal(8), rng.uniform(0.01, 0.5, (2, 8))


def marginal(columns: FloatArray, z: FloatArray, noise: FloatArray, prior: FloatArray) -> float:
    """Log density of the data, up to a constant."""
    covariance = (columns * prior) @ columns.T + np.diag(noise)
    return float(-0.5 * (np.linalg.slogdet(covariance)[1] + z @ np.linalg.solve(covariance, z)))


def priors(rng: np.random.Generator) -> FloatArray:
    return np.column_stack([np.ones(2), rng.uniform(0.01, 2.0, (2, 7)) ** 2])


def test_coefficients_given_scales_are_ridge_regression(rng: np.random.Generator) -> None:
    columns, z, noise = crossed(rng)
    prior = priors(rng)
    effects = SharedEffects(columns, z, noise, prior)
    for chain in range(2):
        covariance = np.linalg.inv((columns.T / noise[chain]) @ columns + np.diag(1 / prior[chain]))
        np.testing.assert_allclose(effects.covariance[chain], covariance, atol=1e-12)
        np.testing.assert_allclose(effects.mean[chain], covariance @ (columns.T @ (z / noise[chain])), atol=1e-10)


def test_draws_have_the_conditional_law(rng: np.random.Generator) -> None:
    columns, z, noise = crossed(rng)
    size = 20_000
    effects = SharedEffects(columns, z, np.tile(noise[:1], (size, 1)), np.tile(priors(rng)[:1], (size, 1)))
    drawn, covariance = effects.draw(rng), effects.covariance[0]
    deviation = np.sqrt(np.diag(covariance))
    assert np.abs((drawn.mean(axis=0) - effects.mean[0]) / deviation * np.sqrt(size)).max() < 4.5
    found = np.cov(drawn.T) / np.outer(deviation, deviation)
    assert found == pytest.approx(covariance / np.outer(deviation, deviation), abs=4.5 * np.sqrt(2 / size))


@pytest.mark.parametrize("here", [1e-4, 0.3, 1.0])
def test_the_likelihood_of_one_scale_is_that_of_the_dense_law(rng: np.random.Generator, here: float) -> None:
    columns, z, noise = crossed(rng)
    for column in range(1, 8):
        prior = priors(rng)
        prior[:, column] = here**2
        information, score = SharedEffects(columns, z, noise, prior.copy()).alone(np.full(2, column))
        variances = np.array([1e-10, 0.01, 0.5, 3.0])
        found = log_likelihood(information[:, None], score[:, None], variances)
        for chain in range(2):
            expected = []
            for variance in variances:
                prior[chain, column] = variance
                expected.append(marginal(columns, z, noise[chain], prior[chain]))
            np.testing.assert_allclose(np.diff(found[chain]), np.diff(expected), atol=1e-8)


def test_changes_one_after_another_are_one_change(rng: np.random.Generator) -> None:
    columns, z, noise = crossed(rng)
    prior, other = priors(rng), priors(rng)
    other[0, 3] = 1e-18
    effects = SharedEffects(columns, z, noise, prior)
    for column in (1, 2, 3, 4, 5, 6, 7, 3):
        at = np.full(2, column)
        effects.change(at, effects.alone(at)[0], other[:, column])
    expected = SharedEffects(columns, z, noise, other.copy())
    np.testing.assert_allclose(effects.mean, expected.mean, atol=1e-10)
    np.testing.assert_allclose(effects.covariance, expected.covariance, rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(effects.covariance[0, 3, 3], 1e-18, rtol=1e-6)
    effects.settle()
    np.testing.assert_allclose(effects.covariance, expected.covariance, atol=1e-14)


def test_products_and_rotations_are_two_ways_to_one_answer(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, z, noise = crossed(rng)
    prior = priors(rng)
    by_products = SharedEffects(columns, z, noise, prior)
    monkeypatch.setattr(shared_effects, "MAX_PRECISION_RATIO", 0.0)
    by_rotations = SharedEffects(columns, z, noise, prior)
    np.testing.assert_allclose(by_rotations.mean, by_products.mean, atol=1e-11)
    np.testing.assert_allclose(by_rotations.covariance, by_products.covariance, atol=1e-12)


@pytest.mark.parametrize("noise", [1e-6, 1e-12])
def test_tiny_noise_keeps_its_digits(noise: float) -> None:
    """Redundant columns and data known to twelve digits: the mean of a contrast still follows from the prior of its parts."""
    columns = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    z = np.array([0.3, 0.3, -0.1, -0.1])
    effects = SharedEffects(columns, z, np.full((1, 4), noise), np.ones((1, 3)))
    # Two sums are known; of intercept and two effects, each of variance 1, what is left has one dimension.
    sums = columns[[0, 2]]
    expected = sums.T @ np.linalg.solve(sums @ sums.T, z[[0, 2]])
    np.testing.assert_allclose(effects.mean[0], expected, atol=1e-6)
    left = np.eye(3) - sums.T @ np.linalg.solve(sums @ sums.T, sums)
    np.testing.assert_allclose(effects.covariance[0], left, atol=1e-6)
    information, _ = effects.alone(np.array([1]))
    assert information[0] == pytest.approx(2.0, abs=1e-2)  # the two priors of an intercept that the other effect hides
