"""Mixing of short chains: independent draws, autoregressions, ArviZ' R-hat of groups, what cannot be judged."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.short_chains import mixing
from bayesgroups.report import diagnostics


def autoregression(correlation: float, seed: int, chains: int = 400, steps: int = 100) -> FloatArray:
    """Stationary chains (1, chain, draw), whose effective number is (1 - r) / (1 + r) of the draws where they are long."""
    rng = np.random.default_rng(seed)
    values = [rng.standard_normal(chains)]
    for _ in range(steps - 1):
        values.append(correlation * values[-1] + np.sqrt(1 - correlation**2) * rng.standard_normal(chains))
    return np.stack(values, axis=1)[None]


@pytest.mark.parametrize("correlation", [0.5, 0.9])
def test_an_autoregression_has_the_number_of_its_closed_form(correlation: float) -> None:
    expected = 40_000 * (1 - correlation) / (1 + correlation)
    assert mixing(autoregression(correlation, 1), 4).bulk == pytest.approx(expected, rel=0.2)


def test_chains_shorter_than_their_memory_count_as_one_draw_each() -> None:
    number = mixing(autoregression(0.9999, 2), 4)
    assert 350 < number.bulk < 450
    assert number.tail < 450


def test_the_worst_quantity_counts_and_one_that_does_not_vary_is_left_out() -> None:
    slow, fast = autoregression(0.95, 3), autoregression(0.0, 4)
    together = mixing(np.concatenate([slow, fast, np.ones_like(fast)]), 4)
    assert together == mixing(slow, 4)
    assert mixing(fast, 4).bulk > 30_000


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.99])
def test_r_hat_of_groups_is_that_of_arviz(correlation: float) -> None:
    draws = np.concatenate([autoregression(correlation, seed, 40, 51) for seed in (5, 6, 7)])
    expected = diagnostics.mixing(draws.reshape(3, 4, -1)).r_hat
    assert mixing(draws, 4).r_hat == pytest.approx(expected, abs=1e-6)


def test_equal_draws_of_chains_that_stay_share_their_ranks() -> None:
    draws = autoregression(0.9, 5, 40, 51).repeat(2, axis=2)
    expected = diagnostics.mixing(draws.reshape(1, 4, -1)).r_hat
    assert mixing(draws, 4).r_hat == pytest.approx(expected, abs=1e-6)


def test_what_is_not_finite_or_does_not_vary_has_no_number() -> None:
    draws = autoregression(0.5, 5)
    endless = np.concatenate([draws, np.full_like(draws, np.inf)])
    draws[0, 3, 4] = np.inf
    for each in (draws, endless, np.ones((2, 4, 5))):
        assert np.isnan(diagnostics.mixing(each).r_hat)
        assert np.isnan([mixing(each, 4).r_hat, mixing(each, 4).bulk, mixing(each, 4).tail]).all()


def test_quantities_in_several_arrays_are_those_of_one() -> None:
    draws = np.concatenate([autoregression(correlation, seed) for seed, correlation in enumerate((0.3, 0.5, 0.7))])
    still = np.ones_like(draws)
    parts = [draws[:1], still, np.moveaxis(np.ascontiguousarray(np.moveaxis(draws[1:], 0, -1)), -1, 0)]
    assert mixing(parts, 4) == mixing(np.concatenate([draws, still]), 4) == mixing(draws, 4)
    assert diagnostics.mixing(parts) == diagnostics.mixing(draws)
