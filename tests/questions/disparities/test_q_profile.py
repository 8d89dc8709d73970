"""One-sided limits of the variance between groups."""

from __future__ import annotations

import numpy as np

from bayesgroups.questions.disparities.q_profile import two_sided, upper_limit


def test_an_upper_limit_is_that_of_the_interval_with_twice_its_error() -> None:
    y, v = np.array([0.1, 0.5, 0.9, 0.2]), np.array([0.01, 0.02, 0.03, 0.01])
    np.testing.assert_allclose(upper_limit(y, v, 0.975), two_sided(y, v, 0.95).upper, rtol=1e-9)
