from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.inference.importance import pareto_k
from bayesgroups.questions.priors.power_scaling import sensitivity, weights


def test_sensitivities_are_those_of_arviz() -> None:
    from arviz_stats.base import array_stats

    rng = np.random.default_rng(3)
    x = rng.standard_normal((2000, 2)) @ np.array([[1.0, 0.4], [0.0, 1.0]])
    log_density = -1.5 * (x[:, 0] - 0.5) ** 2
    for column, found in enumerate(sensitivity(x, log_density)):
        near = [weights(log_density, power)[0] for power in (0.99, 1.01)]
        theirs = array_stats._power_scale_sense(x[:, column], *near, 0.99, 1.01)
        assert found == pytest.approx(theirs, rel=1e-6)


def test_a_normal_prior_to_a_power_is_a_normal_prior_of_another_width() -> None:
    # Prior N(0, 1), likelihood N(x | 1, 1): the posterior is N(a / (a + 1) ..., 1 / (1 + a)) under the prior to the power a.
    rng = np.random.default_rng(1)
    theta = 0.5 + np.sqrt(0.5) * rng.standard_normal(40_000)
    for power in (0.25, 4.0):
        weight, k = weights(-0.5 * theta**2, power)
        assert k < 0.7
        assert float(weight @ theta) == pytest.approx(1 / (1 + power), abs=0.02)


def test_weights_sum_to_one_and_their_k_hat_is_that_of_the_engine() -> None:
    log_density = np.random.default_rng(1).standard_normal(1000)
    weight, k = weights(log_density, 4.0)
    assert weight.sum() == pytest.approx(1)
    assert k == pareto_k(3.0 * log_density)


def test_what_does_not_vary_is_not_sensitive() -> None:
    assert sensitivity(np.full((100, 1), 0.3), np.random.default_rng(1).standard_normal(100)).tolist() == [0.0]
