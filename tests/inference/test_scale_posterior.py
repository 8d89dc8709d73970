"""The linear model with coefficients integrated out: against dense matrices, finite differences, ridge regression."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.scale_posterior import design, draw_coefficients, log_likelihood


def crossed(rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Redundant columns: two attributes, a gradual one, subgroups, one of them twice; two subgroups are empty."""
    first, second = (levels.ravel() for levels in np.meshgrid(np.arange(2), np.arange(4), indexing="ij"))
    levels = [first == level for level in range(2)] + [second == level for level in range(4)]
    x = np.column_stack([*levels, rng.standard_normal(8), np.eye(8), 3 * np.eye(8)[:, 2]]).astype(np.float64)
    v = rng.uniform(0.01, 0.5, 8)
    z = rng.standard_normal(8)
    z[[1, 6]] = np.nan
    return x, z, v


def dense(x: FloatArray, scales: FloatArray) -> FloatArray:
    """Prior covariance of the linear predictor."""
    return np.ones((len(x), len(x))) + (x * scales**2) @ x.T


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def test_likelihood_is_the_normal_density(rng: np.random.Generator) -> None:
    x, z, v = crossed(rng)
    scales = rng.uniform(0.01, 2.0, (3, x.shape[1]))
    seen = np.isfinite(z)
    value, _ = log_likelihood(design(x, z, v), scales)
    for chain in range(3):
        covariance = dense(x[seen], scales[chain]) + np.diag(v[seen])
        expected = stats.multivariate_normal(cov=covariance).logpdf(z[seen]) + 0.5 * seen.sum() * np.log(2 * np.pi)
        assert value[chain] == pytest.approx(expected, rel=1e-10)


def test_gradient_is_that_of_the_likelihood(rng: np.random.Generator) -> None:
    x, z, v = crossed(rng)
    data, log_scales, small = design(x, z, v), rng.normal(-1.0, 1.0, (2, x.shape[1])), 1e-6
    _, gradient = log_likelihood(data, np.exp(log_scales))
    for column in range(x.shape[1]):
        step = small * np.eye(x.shape[1])[column]
        up, down = (log_likelihood(data, np.exp(log_scales + sign * step))[0] for sign in (1, -1))
        assert gradient[:, column] == pytest.approx((up - down) / (2 * small), abs=1e-6)


def test_a_column_without_data_has_no_gradient(rng: np.random.Generator) -> None:
    x, z, v = crossed(rng)
    _, gradient = log_likelihood(design(x, z, v), np.ones((1, x.shape[1])))
    assert (gradient[0, [8, 13]] == 0).all()
    assert (np.delete(gradient[0], [8, 13]) != 0).all()


def ridge(x: FloatArray, z: FloatArray, v: FloatArray, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and covariance of (intercept, beta) when the scales are known."""
    seen = np.isfinite(z)
    columns = np.column_stack([np.ones(seen.sum()), x[seen]])
    covariance = np.linalg.inv((columns.T / v[seen]) @ columns + np.diag(1 / np.concatenate([[1.0], scales**2])))
    return covariance @ (columns.T @ (z[seen] / v[seen])), covariance


def test_coefficients_given_scales_are_ridge_regression(rng: np.random.Generator) -> None:
    x, z, v = crossed(rng)
    scales = np.asarray(rng.uniform(0.05, 1.5, x.shape[1]))
    size = 20_000
    intercept, beta = draw_coefficients(design(x, z, v), np.tile(scales, (size, 1)), rng)
    drawn = np.column_stack([intercept, beta])
    mean, covariance = ridge(x, z, v, scales)
    deviation = np.sqrt(np.diag(covariance))
    assert np.abs((drawn.mean(axis=0) - mean) / deviation * np.sqrt(size)).max() < 4.5
    found = np.cov(drawn.T) / np.outer(deviation, deviation)
    assert found == pytest.approx(covariance / np.outer(deviation, deviation), abs=4.5 * np.sqrt(2 / size))


def test_limits_of_the_scales(rng: np.random.Generator) -> None:
    """Without effects the fit is the intercept; with effects that are free it is the data."""
    x, z, v = crossed(rng)
    seen = np.isfinite(z)
    data = design(x, z, v)
    close, apart = (draw_coefficients(data, np.full((4000, x.shape[1]), scale), rng) for scale in (1e-9, 1e3))
    precision = 1 + (1 / v[seen]).sum()
    assert np.abs(close[1]).max() < 1e-7
    assert abs(close[0].mean() - (z[seen] / v[seen]).sum() / precision) < 4.5 / np.sqrt(4000 * precision)
    fitted = apart[0][:, None] + apart[1] @ x[seen].T
    assert np.abs((fitted.mean(axis=0) - z[seen]) / np.sqrt(v[seen] / 4000)).max() < 4.5


def test_tiny_variances_keep_their_digits() -> None:
    """Redundant columns and data known to twelve digits: the log density still follows from the one contrast."""
    x = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    z = np.array([0.3, 0.3, -0.1, -0.1])
    data = design(x, z, np.full(4, 1e-12))
    value, gradient = log_likelihood(data, np.ones((1, 3)))
    averaged = np.array([[3.0, 2.0], [2.0, 3.0]]) + 0.5e-12 * np.eye(2)
    expected = -0.5 * (np.log(np.linalg.det(averaged)) + z[[0, 2]] @ np.linalg.solve(averaged, z[[0, 2]]))
    within = -np.log(1e-12) - np.log(2.0)  # the two differences within pairs, and the scale of the two means
    assert value[0] == pytest.approx(expected + within, abs=1e-6)
    assert np.isfinite(gradient).all()
