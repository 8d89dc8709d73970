"""Effective numbers of draws by the means of single chains: independent draws, autoregressions, what cannot be judged."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.short_chains import effective


def autoregression(correlation: float, seed: int, chains: int = 400, steps: int = 100) -> FloatArray:
    """Stationary chains (chain, draw, 1), whose effective number is (1 - r) / (1 + r) of the draws where they are long."""
    rng = np.random.default_rng(seed)
    values = [rng.standard_normal(chains)]
    for _ in range(steps - 1):
        values.append(correlation * values[-1] + np.sqrt(1 - correlation**2) * rng.standard_normal(chains))
    return np.stack(values, axis=1)[..., None]


@pytest.mark.parametrize("correlation", [0.5, 0.9])
def test_an_autoregression_has_the_number_of_its_closed_form(correlation: float) -> None:
    expected = 40_000 * (1 - correlation) / (1 + correlation)
    assert effective(autoregression(correlation, 1)).bulk == pytest.approx(expected, rel=0.2)


def test_chains_shorter_than_their_memory_count_as_one_draw_each() -> None:
    number = effective(autoregression(0.9999, 2))
    assert 350 < number.bulk < 450
    assert number.tail < 450


def test_the_worst_quantity_counts_and_one_that_does_not_vary_is_left_out() -> None:
    slow, fast = autoregression(0.95, 3), autoregression(0.0, 4)
    together = effective(np.concatenate([slow, fast, np.ones_like(fast)], axis=2))
    assert together == pytest.approx(effective(slow))
    assert effective(fast).bulk > 30_000


def test_what_is_not_finite_or_does_not_vary_has_no_number() -> None:
    draws = autoregression(0.5, 5)
    draws[3, 4] = np.inf
    for each in (draws, np.ones((4, 5, 2))):
        assert np.isnan(effective(each)).all()
