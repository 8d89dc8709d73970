"""The expected size of small coefficients: the published rule, unequal information, limits."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.models.shared.sparsity import global_scale


def test_equal_information_is_the_published_rule() -> None:
    """Fifty columns of unit variance over 400 rows with noise 2: p0 / (p - p0) * sigma / sqrt(n)."""
    x = np.random.default_rng(1).choice([-1.0, 1.0], (400, 50)).astype(np.float64)
    assert global_scale(x, np.full(400, 2.0), 5.0) == pytest.approx(5 / 45 * 2 / 20)


def test_unequal_information_solves_the_equation() -> None:
    rng = np.random.default_rng(2)
    x, std_error = rng.standard_normal((30, 20)) * np.geomspace(1e-3, 1e3, 20), rng.uniform(0.1, 1.0, 30)
    found = global_scale(x, std_error, 3.0)
    scaled = found * np.sqrt(((x / std_error[:, None]) ** 2).sum(axis=0))
    assert (scaled / (1 + scaled)).sum() == pytest.approx(3.0)
    assert global_scale(x, 10 * std_error, 3.0) == pytest.approx(10 * found)


def test_what_tells_nothing_does_not_count() -> None:
    x, std_error = np.eye(6), np.array([0.1, 0.2, 0.3, 0.1, np.nan, np.nan])
    assert global_scale(x, std_error, 1.0) == pytest.approx(global_scale(np.eye(4), std_error[:4], 1.0))


def test_many_expected_effects_are_half_of_the_columns() -> None:
    assert global_scale(np.eye(4), np.full(4, 0.3), 9.0) == pytest.approx(0.3)


@pytest.mark.parametrize("std_error", [np.full(2, np.nan), np.full(2, 1.0)])
def test_without_information_it_is_one(std_error: np.ndarray) -> None:
    assert global_scale(np.zeros((2, 3)), std_error, 1.0) == 1.0
    assert global_scale(np.empty((2, 0)), std_error, 1.0) == 1.0
