"""Worked numbers of the functions behind curves."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.frequentist.intervals import interval, proportions
from bayesgroups.questions.curves import (
    bands,
    calibration,
    hierarchy,
    histograms,
    rates,
    recalibration,
    scores,
    tilts,
    trees,
)


def test_miss() -> None:
    lower = proportions.jeffreys(np.array([3.0]), np.array([9.0]), 0.9).lower
    assert bands.miss(lower, np.array([3.0]), np.array([9.0])).round(6).tolist() == [0.1]


def test_calibrated() -> None:
    misses = np.linspace(0, 1, 1001)[:, None] * [[1.0, 1.0]]
    assert bands.calibrated(misses, 0.9).round(2).tolist() == 0.9


def test_rank_misses() -> None:
    draws = np.array([3.0, 1.0, 2.0, 4.0, 5.0])
    misses = bands.rank_misses(draws[:, None]).ravel()
    assert misses.tolist() == [1.0, 0.0, 0.5, 0.5, 0.0]
    for draw, a in zip(draws, misses, strict=True):  # held at a, and at no larger one
        for larger, held in ((0.0, True), (0.01, a == 1.0)):
            lower, upper = np.quantile(draws, [min(a + larger, 1.0) / 2, 1 - min(a + larger, 1.0) / 2])
            assert (lower <= draw <= upper) == held


def test_no_equal_draw_is_missed_before_the_last() -> None:
    almost = 1 - np.finfo(np.float64).epsneg
    draws = np.array([0.2, almost, 1.0, 0.5, 1.0])[:, None]
    assert bands.rank_misses(draws).ravel().tolist() == [0.0, 1.0, 1.0, 0.5, 1.0]
    assert bands.rank_misses(np.zeros((5, 3))).tolist() == np.ones((5, 3)).tolist()


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_a_band_is_no_wider_for_draws_at_the_end_of_the_range(share: float) -> None:
    """Where some draws are 1 up to rounding, a band of level .9 holds nine draws of ten, and rounding does not move it."""
    rng = np.random.default_rng(2)
    curves = rng.random((20_000, 30))
    end, rounding = rng.random(curves.shape) < share, rng.integers(0, 9, curves.shape) * np.finfo(np.float64).epsneg
    exact, rounded = np.where(end, 1.0, curves), np.where(end, 1 - rounding, curves)
    found = bands.draw_limits(rounded, 0.9)
    assert found.level == bands.draw_limits(exact, 0.9).level
    inside = (found.band.lower - 1e-12 <= rounded) & (rounded <= found.band.upper + 1e-12)
    assert 0.9 <= inside.all(axis=1).mean() < 0.9 + 2 * 30 / 20_000


def test_draw_limits() -> None:
    curves = np.random.default_rng(1).normal(size=(40_000, 20))
    found = bands.draw_limits(curves, 0.9)
    inside = ((found.band.lower <= curves) & (curves <= found.band.upper)).all(axis=1).mean()
    assert 0.9 <= inside < 0.9 + 2 * 20 / 40_000  # a band loses two draws of each point at once
    assert bool((found.point.upper < found.band.upper).all())


def test_rising() -> None:
    lower, upper = bands.rising(interval.Interval(np.array([0.2, 0.1, 0.5]), np.array([0.9, 0.6, 1.0])))
    assert lower.tolist() == [0.2, 0.2, 0.5]
    assert upper.tolist() == [0.6, 0.6, 1.0]


def test_isotonic() -> None:
    assert calibration.isotonic(np.array([0.1, 0.5, 0.2]), np.array([1.0, 1.0, 2.0])).round(6).tolist() == [
        0.1,
        0.3,
        0.3,
    ]


def test_shared() -> None:
    alike = np.full((1, 20, 2), 50.0)
    apart = np.array([[[95.0, 5.0], [5.0, 95.0]] * 10])
    rng = np.random.default_rng(1)
    assert bool(np.median(hierarchy.shared(alike, rng, 1000).kappa) > 500)
    assert bool(np.median(hierarchy.shared(apart, rng, 1000).kappa) < 5)


def test_histogram() -> None:
    zero, name = np.zeros(3, dtype=np.intp), np.array(["a"])
    score_cells = scores.Scores(name, {}, zero, np.array([0.2, 0.5, 0.9]), np.array([0.0, 1, 1]), np.array([2.0, 0, 1]))
    found = histograms.histogram(score_cells, np.array([0.5, 0.8]))
    assert found.positives.tolist() == [[0.0, 1.0, 1.0]]
    assert found.negatives.tolist() == [[2.0, 0.0, 1.0]]


def test_at_least() -> None:
    assert histograms.at_least(np.array([2.0, 0.0, 1.0])).tolist() == [1.0, 1.0]


def test_ranked() -> None:
    assert histograms.ranked(np.array([3.0, 1.0, 2.0, 9.0]), np.array([1.0, 1.0, 0.0, 1.0]), 3).tolist() == [
        1.0,
        3.0,
        9.0,
    ]


def test_counts() -> None:
    one = np.ones(1)
    cells = rates.Confusion(2 * one, one, 3 * one, 4 * one)
    assert [float(part[0]) for part in rates.counts("ppv", cells)] == [2.0, 5.0]


def test_value() -> None:
    assert rates.value("f1", np.array([0.5])).round(4).tolist() == [0.6667]


def test_recalibration_members() -> None:
    counts = np.array([[[90.0, 10.0], [45.0, 5.0]], [[10.0, 90.0], [0.0, 0.0]]])
    drawn = recalibration.members(counts, np.array([0.1, 0.9]), np.random.default_rng(1), 1000)
    assert [one.mean(axis=0).round(1).tolist() for one in drawn] == [[0.1, 0.9], [0.1, 0.9]]


def test_resample() -> None:
    found = histograms.Histogram(np.array([0.5]), np.array([[1.0, 3.0]]), np.array([[4.0, 0.0]]))
    drawn = histograms.resample(found, 0, np.random.default_rng(1), 1000)
    assert bool((drawn.positives.sum(axis=1) + drawn.negatives.sum(axis=1) == 8).all())
    assert drawn.positive_share.tolist() == [0.125, 0.375]
    assert drawn.negative_share.tolist() == [0.5, 0.0]


def test_centre() -> None:
    assert tilts.centre(np.array([[4.0, 0.0], [0.0, 4.0]])).tolist() == [0.5, 0.5]


def test_polynomials() -> None:
    q = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    phi = tilts.polynomials(q)
    assert bool(np.allclose(phi * q @ phi.T, np.eye(3), atol=1e-09))
    assert bool(np.allclose(phi @ q, 0, atol=1e-09))


def test_fit() -> None:
    rng = np.random.default_rng(1)
    apart = np.stack([rng.multinomial(400, np.roll([0.1, 0.2, 0.4, 0.2, 0.1], i % 2)) for i in range(12)])
    alike = np.stack([rng.multinomial(400, [0.1, 0.2, 0.4, 0.2, 0.1]) for i in range(12)])
    fits = [tilts.fit(counts.astype(np.float64), rng, 500) for counts in (apart, alike)]
    assert [fit is not None and bool(np.median(fit.tau[:, 0]) > 0.1) for fit in fits] == [True, False]


def test_newton() -> None:
    assert tilts.newton(lambda theta: (np.array([12.0]) - 4.0 * theta, np.array([[4.0]])), 1).round(6).tolist() == [1.5]


def test_split() -> None:
    assert [level.middle.tolist() for level in trees.split(np.ones(5))] == [[3], [1, 4], [2]]


def test_trees_members() -> None:
    counts = np.array([[8.0, 2.0, 0.0], [7.0, 2.0, 1.0], [9.0, 1.0, 0.0]])
    rng = np.random.default_rng(1)
    drawn = trees.members(trees.fit(counts, rng, 2000), counts, 0, rng)
    assert drawn.mean(axis=0).round(1).tolist() == [0.8, 0.2, 0.0]
    assert bool(np.allclose(drawn.sum(axis=1), 1))
