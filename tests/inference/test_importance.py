"""Adaptive importance sampling against closed forms, and its diagnosis against ArviZ."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance


def weights(found: importance.Weighted) -> FloatArray:
    weight = np.exp(found.log_weight - found.log_weight.max())
    return np.asarray(weight / weight.sum())


@pytest.mark.parametrize("spread", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("number", [60, 1000, 8000])
def test_k_hat_is_that_of_arviz(spread: float, number: int) -> None:
    from arviz_stats.base import array_stats

    log_weight = spread * np.random.default_rng(number).standard_t(8, size=number)
    theirs = float(array_stats.psislw(-log_weight)[1])
    assert importance.pareto_k(log_weight) == pytest.approx(theirs, abs=0.02)


def test_k_hat_that_cannot_be_fitted_is_infinite() -> None:
    assert importance.pareto_k(np.zeros(10)) == math.inf
    assert importance.pareto_k(np.full(1000, math.nan)) == math.inf
    assert importance.pareto_k(np.zeros(1000)) == -math.inf


def test_a_normal_posterior_is_met() -> None:
    """Prior N(0, I), likelihood N(m, S): the posterior is normal with known moments."""
    rng = np.random.default_rng(4)
    root = rng.standard_normal((3, 3))
    covariance = root @ root.T / 3 + 0.1 * np.eye(3)
    precision, centre = np.linalg.inv(covariance), np.array([1.0, -2.0, 0.5])
    found = importance.sample(lambda u: -0.5 * np.einsum("ni,ij,nj->n", u - centre, precision, u - centre), 3, rng)
    posterior = np.linalg.inv(precision + np.eye(3))
    mean = posterior @ precision @ centre
    weight = weights(found)
    error = np.sqrt(np.diag(posterior) / found.ess)
    assert np.abs((weight @ found.u - mean) / error).max() < 4
    around = found.u - mean
    assert (weight[:, None] * around).T @ around == pytest.approx(posterior, abs=0.05)
    assert found.k_hat < 0.5
    assert found.ess > 2000


def test_thirty_dimensions_are_met() -> None:
    """Half of them matter; the slope is given, as it is where a difference is dear."""
    centre, precision = np.linspace(-2, 2, 30), np.where(np.arange(30) % 2, 4.0, 0.0)
    found = importance.sample(
        lambda u: -0.5 * (precision * (u - centre) ** 2).sum(axis=1), 30, np.random.default_rng(5),
        slope=lambda u: -precision * (u - centre),
    )  # fmt: skip
    weight, variance = weights(found), 1 / (1 + precision)
    assert np.abs((weight @ found.u - variance * precision * centre) / np.sqrt(variance / found.ess)).max() < 4
    assert weight @ (found.u - variance * precision * centre) ** 2 == pytest.approx(variance, rel=0.2)
    assert found.k_hat < 0.5
    assert found.ess > 1000


def test_a_slope_finds_the_same_mode() -> None:
    def log_likelihood(u: FloatArray) -> FloatArray:
        return np.asarray(-np.exp(u[:, 0]) + u @ np.array([0.5, -1.0]))

    by_differences = importance.mode(log_likelihood, np.zeros(2))
    by_slope = importance.mode(log_likelihood, np.zeros(2), lambda u: np.array([0.5 - np.exp(u[0]), -1.0]))
    assert by_slope == pytest.approx(by_differences, abs=1e-4)


def test_two_modes_are_both_found() -> None:
    def two(u: FloatArray) -> FloatArray:
        return np.asarray(np.logaddexp(-8 * (u[:, 0] - 1.5) ** 2, -8 * (u[:, 0] + 1.5) ** 2))

    found = importance.sample(two, 2, np.random.default_rng(1))
    right = float(weights(found)[found.u[:, 0] > 0].sum())
    assert right == pytest.approx(0.5, abs=0.05)


def test_a_small_mode_beside_many_free_parameters_has_its_mass() -> None:
    """Averaged over seeds: draws that a proposal was fitted to make light of what few of them fell into."""
    dimension, mass = 15, 0.03
    # Posteriors of either mode are normal: precision 1 + p and mean p c / (1 + p) where the likelihood has precision p.
    centre, precision = np.array([[3.3, 0.0], [2.4, 2.5]]), np.array([[50.0, 0.0], [50.0, 4.0]])
    log_mass = (-0.5 * np.log1p(precision) - 0.5 * precision * centre**2 / (1 + precision)).sum(axis=1)
    offset = np.log([1 - mass, mass]) - log_mass

    def two(u: FloatArray) -> FloatArray:
        parts = [offset[i] - 0.5 * (precision[i] * (u[:, :2] - centre[i]) ** 2).sum(axis=1) for i in range(2)]
        return np.asarray(np.logaddexp(*parts))

    shares = []
    for seed in range(24):
        weighted = importance.sample(two, dimension, np.random.default_rng(seed))
        shares.append(float(weights(weighted)[weighted.u[:, 0] < 2.8].sum()))
    error = np.std(shares, ddof=1) / math.sqrt(len(shares))
    assert abs(np.mean(shares) - mass) < 4 * error
    assert error < 0.2 * mass


def test_parameters_that_do_not_matter_keep_their_prior() -> None:
    found = importance.sample(lambda u: -20 * (u[:, 0] - 0.2) ** 2, 8, np.random.default_rng(2))
    weight = weights(found)
    variance = weight @ found.u[:, 1:] ** 2
    assert np.abs(variance - 1).max() < 0.15
    assert found.k_hat < 0.5


def test_minus_infinity_is_a_likelihood() -> None:
    found = importance.sample(
        lambda u: np.where(u[:, 0] > 0, 0.0, -np.inf), 1, np.random.default_rng(3), start=np.ones(1)
    )
    assert float(weights(found)[found.u[:, 0] <= 0].sum()) == 0
    assert weights(found) @ found.u[:, 0] == pytest.approx(math.sqrt(2 / math.pi), abs=0.03)


def test_resampling_takes_the_expected_number() -> None:
    log_weight = np.log([0.1, 0.2, 0.7])
    taken = np.bincount(importance.resample(log_weight, 1000, np.random.default_rng(1)))
    assert np.abs(taken - [100, 200, 700]).max() <= 1


def test_the_effective_number_of_weights() -> None:
    assert importance.effective(np.full(50, -3.0)) == pytest.approx(50)
    assert importance.effective(np.log(np.array([1.0, 3.0]))) == pytest.approx(16 / 10)
