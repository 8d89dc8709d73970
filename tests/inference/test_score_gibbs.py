"""The sampler of score laws: it finds what is there, with and without a warp, and refuses nothing in the corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.hamiltonian import LogDensity, State, step
from bayesgroups.inference.score_effects import Design
from bayesgroups.inference.score_gibbs import PER_SCALES, ScoreDraws, ScorePrior, Warped, sample
from bayesgroups.inference.short_chains import GIBBS_CHAINS_OF_A_GROUP
from bayesgroups.report.diagnostics import mixing
from bayesgroups.scores.shapes import BinnedScores, fit
from bayesgroups.scores.warps import undo, warp

PRIOR = ScorePrior(0.3, 0.5, 0.25)
GROUPS = 6
DESIGN = Design(np.broadcast_to(np.eye(2), (GROUPS, 2, 2)), np.array([-1, -1]), np.full(2, 3.0), 0)


def _cells(mean: np.ndarray, sd: np.ndarray, count: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Observed means and scatters of normal rows, (subgroup, outcome)."""
    rng = np.random.default_rng(seed)
    error = rng.standard_normal(count.shape) / np.sqrt(np.maximum(count, 1))
    scatter = sd**2 * rng.chisquare(np.maximum(count - 1, 1e-9))
    return np.where(count > 0, mean + sd * error, 0.0), np.where(count > 1, scatter, 0.0)


def _far(found: ScoreDraws, mean: np.ndarray) -> np.ndarray:
    flat = found.mean.reshape(-1, GROUPS, 2)
    return np.asarray(np.abs(flat.mean(axis=0) - mean) / flat.std(axis=0))


def test_known_laws_are_found() -> None:
    rng = np.random.default_rng(2)
    mean = np.array([-0.4, 0.6]) + 0.3 * rng.standard_normal((GROUPS, 1)) + 0.1 * rng.standard_normal((GROUPS, 2))
    sd = np.array([0.9, 1.2]) * np.ones((GROUPS, 2))
    count = np.full((GROUPS, 2), 60.0)
    found = sample(DESIGN, count, *_cells(mean, sd, count, 1), PRIOR, np.random.default_rng(1), draws=200, tune=200)
    assert found.mean.shape == (4, 200, GROUPS, 2)
    assert (_far(found, mean) < 4).all()
    assert (_far(found, mean) < 2).mean() > 0.8
    np.testing.assert_allclose(np.exp(found.hyper[..., :2]).mean(axis=(0, 1)), [0.9, 1.2], atol=0.12)
    assert (found.shape == 0).all()


def test_small_and_empty_cells_borrow() -> None:
    count = np.array([[80.0, 40.0], [90.0, 30.0], [70.0, 50.0], [60.0, 2.0], [1.0, 0.0], [0.0, 0.0]])
    mean, sd = np.broadcast_to(np.array([0.0, 1.0]), (GROUPS, 2)), np.ones((GROUPS, 2))
    found = sample(DESIGN, count, *_cells(mean, sd, count, 1), PRIOR, np.random.default_rng(1), draws=200, tune=200)
    spread = found.mean.std(axis=(0, 1))
    assert np.isfinite(found.mean).all()
    assert spread[5].min() > spread[0].max()
    assert np.abs(found.mean.mean(axis=(0, 1)) - mean).max() < 0.5


def test_a_warp_is_found() -> None:
    rng = np.random.default_rng(3)
    cell = np.sort(rng.integers(0, 2 * GROUPS, 3000))
    x = undo(warp(0.4, -0.3), 0.5 * (cell % 2) + rng.standard_normal(3000))
    rows = BinnedScores(x, np.ones(3000), np.zeros(3000), cell, 2 * GROUPS)
    count = np.bincount(cell).astype(float)
    mean = np.bincount(cell, x) / count
    scatter = np.bincount(cell, (x - mean[cell]) ** 2)
    start = fit(rows)
    assert start.worth
    n, middle, around = (part.reshape(GROUPS, 2) for part in (count, mean, scatter))
    found = sample(
        DESIGN, n, middle, around, PRIOR, np.random.default_rng(1), warped=Warped(rows, start), draws=200, tune=200
    )
    epsilon, log_delta = found.shape[..., 0], found.shape[..., 1]
    assert abs(epsilon.mean() - 0.4) < 4 * epsilon.std()
    assert abs(log_delta.mean() + 0.3) < 4 * log_delta.std()
    gap = found.mean[..., 1] - found.mean[..., 0]
    assert abs(gap.mean() - 0.5) < 0.12


def test_chains_of_a_group_are_laid_out_one_after_another() -> None:
    """They begin at one point and go apart; groups agree with each other as draws of one law do."""
    count = np.full((GROUPS, 2), 20.0)
    cells = _cells(np.zeros((GROUPS, 2)), np.ones((GROUPS, 2)), count, 1)
    drawn = sample(DESIGN, count, *cells, PRIOR, np.random.default_rng(1), groups=3, draws=90).mean
    assert drawn.shape == (3, 90, GROUPS, 2)
    each = 6 * PER_SCALES  # of a chain: as many whole iterations as its quarter of 90 draws takes
    assert len(np.unique(drawn[:, ::each, 0, 0])) == 3 * GIBBS_CHAINS_OF_A_GROUP
    assert mixing(drawn.reshape(3, 90, -1).transpose(2, 0, 1)).r_hat < 1.1


def test_the_seed_decides_everything() -> None:
    count = np.full((GROUPS, 2), 20.0)
    cells = _cells(np.zeros((GROUPS, 2)), np.ones((GROUPS, 2)), count, 1)
    first, second, other = (
        sample(DESIGN, count, *cells, PRIOR, np.random.default_rng(seed), draws=40, tune=40).mean for seed in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_hyper_parameters_of_many_cells_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are known to a few hundredths then, and trajectories are no longer than that."""
    accepted: list[float] = []

    def followed(log_density: LogDensity, state: State, *rest: Any, **more: Any) -> tuple[State, FloatArray]:
        moved, acceptance = step(log_density, state, *rest, **more)
        if state.point.shape[1] == 3:
            accepted.append(float(acceptance.mean()))
        return moved, acceptance

    monkeypatch.setattr("bayesgroups.inference.hamiltonian.step", followed)
    groups, rng = 400, np.random.default_rng(4)
    sd = np.exp(0.3 * rng.standard_normal((groups, 2)))
    count = np.full((groups, 2), 50.0)
    design = Design(np.broadcast_to(np.eye(2), (groups, 2, 2)), np.array([-1, -1]), np.full(2, 3.0), 0)
    sample(design, count, *_cells(0 * sd, sd, count, 1), PRIOR, np.random.default_rng(1), draws=200)
    assert np.mean(accepted[-20:]) > 0.85
