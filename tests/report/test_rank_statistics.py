"""Diagnostics of chains against those of arviz-stats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arviz_stats.base.array import array_stats

from bayesgroups.report.rank_statistics import statistics

TAIL = (0.05, 0.95)


@pytest.mark.parametrize("shape", [(6, 4, 333), (5, 2, 10), (5, 3, 7), (4, 4, 4), (4, 4, 5), (3, 1, 50)])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.99, -0.6])
def test_statistics_are_those_of_arviz(shape: tuple[int, int, int], correlation: float) -> None:
    draws = np.random.default_rng(1).normal(size=shape)
    for at in range(1, shape[2]):
        draws[..., at] += correlation * draws[..., at - 1]
    _agree(draws)


def test_ties_and_stuck_chains_are_those_of_arviz() -> None:
    draws = np.random.default_rng(1).normal(size=(6, 4, 100))
    _agree(np.round(draws, 1))
    stuck = np.repeat(draws[..., :1], 100, axis=2)
    stuck[:, 0, 0] += 1
    _agree(stuck)


def _agree(draws: np.ndarray) -> None:
    theirs: Any = array_stats  # arviz-stats is typed in part
    with np.errstate(all="ignore"):
        expected = (
            theirs.rhat(draws, 1, 2, method="rank"),
            theirs.ess(draws, 1, 2, method="bulk"),
            theirs.ess(draws, 1, 2, method="tail", prob=TAIL),
        )
        for one, other in zip(statistics(draws, TAIL), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
