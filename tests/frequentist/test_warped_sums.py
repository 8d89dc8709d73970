"""Moments of warped scores from sums against those from rows."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.scores.shapes import BinnedScores, warped_moments
from bayesgroups.scores.warped_sums import WarpedSums
from bayesgroups.scores.warps import warp


@pytest.mark.parametrize(("reach", "spread"), [(0.3, 0.1), (1.0, 0.3), (1.0, 1.0), (30.0, 0.3)])
def test_moments_are_those_of_the_rows(reach: float, spread: float) -> None:
    rng = np.random.default_rng(1)
    cell = np.sort(rng.choice([0, 1, 3, 4], 400))
    cell[-1] = 6  # one bin alone; 2 and 5 are empty
    within = rng.gamma(1, 1e-3, 400)
    within[-1] = 0.0
    rows = BinnedScores(reach * rng.normal(size=400) + cell, rng.gamma(2, 2, 400), within, cell, 8)
    warps = warp(spread * rng.normal(size=5), spread * rng.normal(size=5))
    sums = WarpedSums(rows)
    for _ in range(2):  # made, and taken from what is there
        for found, expected in zip(sums.moments(warps), warped_moments(rows, warps), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())
    assert (sums.moments(warps)[1][:, [2, 5, 6, 7]] == 0).all()
