"""Score limits of a weighted sum of rates: Wilson's of one cell, and the test that they invert."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import bayesgroups as bg
from bayesgroups.frequentist.intervals.proportions import wilson
from bayesgroups.frequentist.intervals.weighted_score import score_sum
from tests.questions.populations.examples import POPULATION, WEIGHTS, K, N, frequentist, limits, schools

Z = np.array([0.6744897501960817, 1.959963984540054])


@pytest.mark.parametrize("k", [0, 1, 9, 20])
def test_one_cell_has_wilson_limits(k: int) -> None:
    lower, upper = score_sum(np.array([k / 20]), np.array([20.0]), np.array([1.0]), Z)
    for i, level in enumerate((0.5, 0.95)):
        expected = wilson(np.array([float(k)]), np.array([20.0]), level)
        assert [lower[i], upper[i]] == pytest.approx([expected.lower[0], expected.upper[0]], abs=1e-9)


def test_the_test_at_a_limit_just_fails_to_reject() -> None:
    """Restricted rates by a general optimiser: the statistic at a limit is the critical value."""
    k, n, w = np.array([1.0, 4, 7]), np.array([6.0, 12, 9]), np.array([0.5, 0.3, 0.2])
    for limit in np.ravel(score_sum(k / n, n, w, Z[1:])):
        best = minimize(
            lambda p: -(k * np.log(p) + (n - k) * np.log1p(-p)).sum(), np.full(3, limit), method="SLSQP",
            bounds=[(1e-6, 1 - 1e-6)] * 3, constraints={"type": "eq", "fun": lambda p, at=limit: p @ w - at},
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        error = np.sqrt((w**2 * best.x * (1 - best.x) / n).sum())
        assert abs(w @ (k / n) - limit) / error == pytest.approx(Z[1], abs=1e-3)


def test_poststratified_limits() -> None:
    target = bg.poststratify(schools(), POPULATION, interval="score")
    lower, upper = score_sum(K / N, N.astype(float), WEIGHTS, Z[1:])
    assert limits(target) == pytest.approx([float(lower[0]), float(upper[0])])
    assert str(frequentist(target)["interval_method"].values) == "score"
    # A normal interval has the same width here, for rows are many.
    plain = bg.poststratify(schools(), POPULATION)
    assert np.diff(limits(target)) == pytest.approx(np.diff(limits(plain)), rel=0.03)
    rows = pd.DataFrame({"type": ["E", "H", "M"], "count": N})
    census = bg.poststratify(schools(), rows, finite=True, interval="score")
    assert limits(census) == pytest.approx([124 / 200] * 2)
    half = bg.poststratify(schools(), rows.assign(count=[142, 50, 66]), finite=True, interval="score")
    assert limits(half)[0] < float(frequentist(half)["estimate"]) < limits(half)[1]


def test_no_successes_leave_an_upper_limit_and_swapped_outcomes_swap_limits() -> None:
    n, w = np.array([6.0, 12, 9]), np.array([0.5, 0.3, 0.2])
    lower, upper = score_sum(np.zeros(3), n, w, Z)
    assert lower.tolist() == [0, 0]
    assert (upper > 0.02).all()
    first, second = score_sum(np.ones(3), n, w, Z)
    np.testing.assert_allclose([1 - first, 1 - second], [upper, lower], atol=1e-12)


def test_rare_rates_are_covered() -> None:
    """Six cells of 5 to 20 rows with rates of .02 to .1, where limits of cells put together cover .91."""
    rows = np.array([6.0, 12, 5, 15, 20, 8])
    rates, w = np.array([0.02, 0.05, 0.08, 0.03, 0.1, 0.05]), np.array([400, 100, 300, 150, 250, 200]) / 1400
    rng = np.random.default_rng(20_261_123)
    tables, times = np.unique(rng.binomial(rows.astype(int), rates, (2_000, 6)), axis=0, return_counts=True)
    lower, upper = score_sum(tables / rows, rows, w, Z[1:])
    inside = (lower <= w @ rates) & (upper >= w @ rates)
    assert (inside * times).sum() / times.sum() > 0.94
