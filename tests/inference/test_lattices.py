"""Moves on lattices leave the law invariant, wherever the lattice lies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayesgroups.inference.lattices import moved


@pytest.mark.parametrize("spacing", [0.05, 0.5, 4.0])
def test_draws_from_a_law_stay_draws_from_it(spacing: float) -> None:
    rng = np.random.default_rng(3)
    value = rng.gumbel(size=20_000)
    for _ in range(5):
        value = moved(value, stats.gumbel_r.logpdf, 6, spacing, rng)
    assert stats.kstest(value, stats.gumbel_r.cdf).pvalue > 1e-3


def test_points_without_density_are_never_drawn() -> None:
    rng, value = np.random.default_rng(1), np.full(2000, 0.5)
    for _ in range(5):
        value = moved(value, lambda at: np.where(at > 0, -at, np.nan), 8, 1.0, rng)
    assert (value > 0).all()


def test_a_value_without_any_density_stays() -> None:
    value = np.array([1.5, -2.0])
    found = moved(value, lambda at: np.full(at.shape, np.nan), 8, 1.0, np.random.default_rng(1))
    np.testing.assert_array_equal(found, value)
