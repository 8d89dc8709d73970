"""Lassos by Huber losses against coordinate descent, alone and side by side, and where little is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.structured import huber, lasso
from bayesgroups.frequentist.structured.huber import Losses, Sample, predictions

SHARES = np.array([0.9, 0.3, 0.1, 0.03, 1e-3])


def crossed(seed: int, indicators: float = 1.0) -> Sample:
    """Indicators of the levels of two attributes, which are redundant, a number, and indicators of some of 24 subgroups."""
    rng = np.random.default_rng(seed)
    levels = np.concatenate([np.repeat(np.eye(6), 4, axis=0), np.tile(np.eye(4), (6, 1))], axis=1)
    own = np.eye(24)[:, rng.random(24) < indicators]
    x = np.concatenate([levels, rng.standard_normal((24, 1)), own], axis=1)
    return Sample(x, 0.3 + 0.2 * x[:, 1] - 0.1 * x[:, 7] + 0.1 * rng.standard_normal(24), rng.uniform(1, 400, 24))


def penalties_of(sample: Sample) -> FloatArray:
    some = sample.w > 0
    return SHARES * lasso.penalty_max(sample.x[some], sample.z[some], sample.w[some])


def fitted(sample: Sample, penalty: float) -> FloatArray:
    some = sample.w > 0
    return lasso.fit(sample.x[some], sample.z[some], sample.w[some], penalty).at(sample.x)


@pytest.mark.parametrize("indicators", [1.0, 0.6, 0.0])
@pytest.mark.parametrize("seed", range(5))
def test_predictions_are_those_of_coordinate_descent(seed: int, indicators: float) -> None:
    sample = crossed(seed, indicators)
    penalties = penalties_of(sample)
    for answer, penalty in zip(predictions([sample], penalties[None])[0], penalties, strict=True):
        np.testing.assert_allclose(answer, fitted(sample, penalty), rtol=0, atol=1e-8)


@given(st.integers(0, 10_000))
def test_samples_side_by_side_are_those_alone(seed: int) -> None:
    samples = [crossed(seed + i) for i in range(3)]
    # Each without another fifth of the subgroups, as folds are.
    samples = [each._replace(w=np.where(np.arange(24) % 5 == i, 0.0, each.w)) for i, each in enumerate(samples)]
    penalties = np.stack([penalties_of(each) for each in samples])
    together = predictions(samples, penalties)
    for each, answer, own in zip(samples, together, penalties, strict=True):
        some = each.w > 0
        np.testing.assert_allclose(predictions([each], own[None])[0][:, some], answer[:, some], rtol=0, atol=1e-9)


def test_a_subgroup_without_estimate_has_its_prediction() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.standard_normal((12, 2)), np.eye(12)], axis=1)
    sample = Sample(x, x @ rng.standard_normal(14), np.where(np.arange(12) < 9, rng.uniform(1, 9, 12), 0.0))
    penalties = penalties_of(sample)
    for answer, penalty in zip(predictions([sample], penalties[None])[0], penalties, strict=True):
        np.testing.assert_allclose(answer, fitted(sample, penalty), rtol=0, atol=1e-8)


def test_of_columns_that_indicate_the_same_subgroup_the_first_has_the_coefficient() -> None:
    """The level of the first and the last subgroup, of which the last has no estimate."""
    x = np.column_stack([[1.0, 0, 0, 1], np.eye(4)])
    sample = Sample(x, np.array([0.9, 0.2, 0.3, np.nan]), np.array([9.0, 9, 9, 0]))
    penalty = 0.2 * lasso.penalty_max(x[:3], sample.z[:3], sample.w[:3])
    answer = predictions([sample], np.array([[penalty]]))[0, 0]
    assert answer[3] == pytest.approx(answer[0])
    np.testing.assert_allclose(answer, fitted(sample, penalty), atol=1e-9)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Samples of every step."""
    taken: list[int] = []
    along = Losses.along

    def counted(losses: Losses, at: FloatArray, direction: FloatArray, slope: FloatArray) -> FloatArray:
        taken.append(len(at))
        return along(losses, at, direction, slope)

    monkeypatch.setattr(Losses, "along", counted)
    return taken


def test_equal_estimates_are_their_mean_at_once(steps: list[int]) -> None:
    sample = crossed(1)._replace(z=np.full(24, 0.1))
    np.testing.assert_allclose(predictions([sample], np.array([[1.0, 1e-6, 1e-12]])), 0.1, rtol=1e-12)
    assert len(steps) < 10


def test_few_steps_lead_to_a_minimum(steps: list[int]) -> None:
    """Of 60 penalties of a path a few for each."""
    sample = crossed(2)
    predictions([sample], penalties_of(sample)[:1] * np.geomspace(1, 1e-3, 60)[None])
    assert 60 < len(steps) < 6 * 60 < huber.STEPS
