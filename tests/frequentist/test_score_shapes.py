"""Warps of scores, and which shape fits."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.scores.shapes import BinnedScores, chosen, distance, fit, warped_moments
from bayesgroups.scores.warps import apply, apply_with_slope, undo, warp

SKEWED = warp(0.4, -0.3)


def _rows(size: int, *, skewed: bool, cells: int = 4) -> BinnedScores:
    rng = np.random.default_rng(1)
    cell = np.sort(rng.integers(0, cells, size))
    x = 0.5 * cell + rng.standard_normal(size)
    return BinnedScores(undo(SKEWED, x) if skewed else x, np.ones(size), np.zeros(size), cell, cells)


def test_a_warp_increases_and_can_be_undone() -> None:
    x = np.linspace(-6, 6, 101)
    value = apply(SKEWED, x)
    assert (np.diff(value) > 0).all()
    np.testing.assert_allclose(undo(SKEWED, value), x, atol=1e-10)


def test_the_slope_is_the_derivative() -> None:
    x, h = np.linspace(-3, 3, 13), 1e-6
    _, slope = apply_with_slope(SKEWED, np.arcsinh(x))
    np.testing.assert_allclose(slope, (apply(SKEWED, x + h) - apply(SKEWED, x - h)) / (2 * h), rtol=1e-6)


def test_a_warped_normal_has_mean_zero_and_variance_one() -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    value, weights = apply(SKEWED, nodes), weights / weights.sum()
    assert value @ weights == pytest.approx(0.0, abs=1e-6)
    assert value**2 @ weights == pytest.approx(1.0, abs=1e-6)


def test_moments_are_those_of_warped_rows() -> None:
    rows = _rows(300, skewed=True)
    mean, scatter, slope = warped_moments(rows, SKEWED)
    value, own = apply_with_slope(SKEWED, rows.arcsinh)
    for cell in range(4):
        here = value[rows.cell == cell]
        assert mean[cell] == pytest.approx(here.mean())
        assert scatter[cell] == pytest.approx(((here - here.mean()) ** 2).sum())
    assert slope == pytest.approx(np.log(own).sum())


def test_normal_scores_need_no_warp() -> None:
    found = fit(_rows(3000, skewed=False))
    assert not found.worth
    assert abs(found.epsilon) < 0.15
    assert chosen(_rows(3000, skewed=False), "auto").epsilon == 0.0


def test_skewed_scores_do_and_it_shows() -> None:
    rows = _rows(3000, skewed=True)
    found = fit(rows)
    assert found.worth
    sd = np.sqrt(np.diag(np.linalg.inv(found.hessian)))
    assert (np.abs(np.array([found.epsilon - 0.4, found.log_delta + 0.3])) < 4 * sd).all()
    normal, size = distance(rows, 0.0, 0.0)
    warped, _ = distance(rows, found.epsilon, found.log_delta)
    assert size == 3000
    assert normal > 0.05
    assert warped < 0.025
    assert chosen(rows, "normal").epsilon == 0.0
    assert chosen(rows, "auto").epsilon == found.epsilon == chosen(rows, "skewed").epsilon


def test_too_few_rows_say_nothing() -> None:
    few = BinnedScores(np.array([0.0, 1.0]), np.ones(2), np.zeros(2), np.array([0, 1]), 2)
    assert not fit(few).worth
    assert fit(few).epsilon == 0.0
    assert np.isnan(distance(few, 0.0, 0.0)[0])
