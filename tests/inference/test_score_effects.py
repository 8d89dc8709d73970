"""Effects integrated out against the dense normal distribution, and draws against its conditional law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bayesgroups.inference.score_effects import CONTRAST, Cells, Design, draw, solve

RNG = np.random.default_rng(0)
DESIGN = Design(RNG.normal(size=(5, 2, 4)), np.array([-1, -1, 0, 0]), np.array([3.0, 3, 1, 1]), 1)
LOG_SCALE = RNG.normal(size=(2, 3)) * 0.5 - 0.5
MEAN = RNG.normal(size=(1, 5, 2))
PRECISION = RNG.gamma(2, 2, size=(2, 5, 2))
PRECISION[:, 1, 0] = PRECISION[:, 2] = 0.0


def _covariance(log_scale: np.ndarray) -> np.ndarray:
    sigma = np.exp(log_scale)
    scale = np.where(DESIGN.owner >= 0, sigma[0], DESIGN.fixed)
    x = DESIGN.x.reshape(10, 4) * scale
    own = sigma[1] ** 2 * np.ones((2, 2)) + sigma[2] ** 2 * np.outer(CONTRAST, CONTRAST)
    return np.asarray(x @ x.T + np.kron(np.eye(5), own))


def _log_likelihood(log_scale: np.ndarray, precision: np.ndarray) -> float:
    some = precision.ravel() > 0
    covariance = _covariance(log_scale)[np.ix_(some, some)] + np.diag(1 / precision.ravel()[some])
    found = multivariate_normal(np.zeros(some.sum()), covariance).logpdf(MEAN.ravel()[some])
    return float(found + 0.5 * some.sum() * np.log(2 * np.pi))


@pytest.mark.parametrize("chain", [0, 1])
def test_value_and_gradient_are_those_of_the_dense_law(chain: int) -> None:
    found = solve(DESIGN, LOG_SCALE, Cells.of(MEAN, PRECISION))
    assert found.value[chain] == pytest.approx(_log_likelihood(LOG_SCALE[chain], PRECISION[chain]), rel=1e-12)
    for j, step in enumerate(1e-5 * np.eye(3)):
        up, down = (_log_likelihood(LOG_SCALE[chain] + sign * step, PRECISION[chain]) for sign in (1, -1))
        assert found.gradient[chain, j] == pytest.approx((up - down) / 2e-5, rel=1e-5)


def test_draws_have_the_conditional_law() -> None:
    size = 40_000
    scales, precisions = np.repeat(LOG_SCALE[:1], size, 0), np.repeat(PRECISION[:1], size, 0)
    mean, theta = draw(DESIGN, solve(DESIGN, scales, Cells.of(MEAN, precisions)), scales, np.random.default_rng(1))
    assert theta.shape == (size, 4)
    some = PRECISION[0].ravel() > 0
    prior = _covariance(LOG_SCALE[0])
    gain = prior[:, some] @ np.linalg.inv(prior[np.ix_(some, some)] + np.diag(1 / PRECISION[0].ravel()[some]))
    centre, covariance = gain @ MEAN.ravel()[some], prior - gain @ prior[some]
    flat, sd = mean.reshape(size, 10), np.sqrt(np.diag(covariance))
    assert (np.abs(flat.mean(axis=0) - centre) < 5 * sd / np.sqrt(size)).all()
    np.testing.assert_allclose(np.cov(flat.T) / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=0.03)
