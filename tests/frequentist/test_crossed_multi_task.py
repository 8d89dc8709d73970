"""SureMap for several tasks: the worked example, slopes of all variants, and what they reduce to."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.crossed import multi_task, sure
from bayesgroups.frequentist.crossed.families import family
from bayesgroups.frequentist.crossed.precision import combine

LEVELS = family([[0, 0], [0, 1], [1, 0], [1, 1]], ["race", "sex"]).agreement()
Z = np.array([[0.30, 0.25, 0.20, 0.60], [0.33, 0.20, 0.30, 0.50], [0.28, 0.27, 0.18, 0.40]])
U = np.array([[40.0, 20, 10, 5], [15, 30, 8, 3], [9, 12, 25, 6]]) / 0.2
HOLES = np.where(np.eye(3, 4, dtype=bool), 0.0, U)
NOWHERE = np.where(np.arange(4) == 2, 0.0, U)
# Of the tasks around the centre, then of the centre: shared, race, sex, identity.
VARIANCES = 0.2 * np.array([0.5, 0.1, 0.05, 0.02, 0.05, 0, 0, 0.02])
VARIANTS: tuple[multi_task.Variant, ...] = get_args(multi_task.Variant)


def test_worked_example() -> None:
    found = multi_task.smooth(Z, U, LEVELS, VARIANCES)
    np.testing.assert_allclose(found.theta, [0.078561, 0.040055, 0.036658, 0.097200], atol=1e-6)
    rows = [
        [0.288769, 0.271436, 0.262841, 0.395166],
        [0.299893, 0.217167, 0.300793, 0.345824],
        [0.262422, 0.263545, 0.196054, 0.315953],
    ]
    np.testing.assert_allclose(found.estimate, rows, atol=1e-6)


def test_worked_divergence() -> None:
    total = 0.0
    for task, group in np.ndindex(Z.shape):
        step = np.zeros_like(Z)
        step[task, group] = 1e-5
        up, down = (multi_task.smooth(Z + sign * step, U, LEVELS, VARIANCES).estimate for sign in (1, -1))
        total += float((up - down)[task, group]) / 2e-5
    assert total == pytest.approx(7.693974, abs=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("u", [U, HOLES])
def test_the_risk_counts_its_own_divergence(variant: multi_task.Variant, u: FloatArray) -> None:
    at = _point(variant)
    found = multi_task.smooth(Z, u, LEVELS, at, variant=variant, centre=0.1)
    divergence = 0.0
    for task, group in zip(*np.nonzero(u), strict=True):
        step = np.zeros_like(Z)
        step[task, group] = 1e-5
        up, down = (multi_task.smooth(Z + sign * step, u, LEVELS, at, variant=variant, centre=0.1) for sign in (1, -1))
        divergence += (up.estimate - down.estimate)[task, group] / 2e-5
    used = np.count_nonzero(u)
    expected = (u * (Z - found.estimate) ** 2).sum() - used + 2 * divergence - (u.size - used)
    value = multi_task.risk(Z, u, LEVELS, at, variant=variant, centre=0.1)[0]
    assert value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("u", [U, HOLES, NOWHERE])
def test_slope(variant: multi_task.Variant, u: FloatArray) -> None:
    at = _point(variant)
    _, slope = multi_task.risk(Z, u, LEVELS, at, variant=variant)
    for k, step in enumerate(np.eye(len(at)) * 1e-6):
        up, down = (multi_task.risk(Z, u, LEVELS, at + sign * step, variant=variant)[0] for sign in (1, -1))
        assert slope[k] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-5)


def test_metamap_is_the_joint_posterior_mean() -> None:
    own, centre = combine(VARIANCES[:4], LEVELS), combine(VARIANCES[4:], LEVELS)
    joint = np.kron(np.ones((3, 3)), centre) + np.kron(np.eye(3), own)
    used = np.flatnonzero(HOLES.ravel())
    gain = joint[:, used] @ np.linalg.inv(joint[np.ix_(used, used)] + np.diag(1 / HOLES.ravel()[used]))
    expected = 1 + gain @ (Z.ravel()[used] - 1)
    found = multi_task.smooth(Z, HOLES, LEVELS, VARIANCES, centre=1.0)
    np.testing.assert_allclose(found.estimate.ravel(), expected, rtol=1e-10)


def test_one_task_with_a_known_centre_is_the_single_fit() -> None:
    alone = sure.fit(Z[0], U[0], LEVELS)
    found = multi_task.fit(Z[:1], U[:1], LEVELS, variant="zero")
    np.testing.assert_allclose(found.estimate[0], alone.estimate)
    np.testing.assert_allclose(found.variances, alone.variances)
    assert found.risk == pytest.approx(alone.risk)
    np.testing.assert_array_equal(found.theta, 0)
    np.testing.assert_array_equal(found.centre_variances, 0)


def test_a_centre_without_variance_is_known() -> None:
    at = np.concatenate([VARIANCES[:4], np.zeros(4)])
    free = multi_task.smooth(Z, U, LEVELS, at, centre=0.2)
    known = multi_task.smooth(Z, U, LEVELS, at[:4], variant="zero", centre=0.2)
    np.testing.assert_allclose(free.estimate, known.estimate)
    free_risk, slope = multi_task.risk(Z, U, LEVELS, at, centre=0.2)
    known_risk, known_slope = multi_task.risk(Z, U, LEVELS, at[:4], variant="zero", centre=0.2)
    assert free_risk == pytest.approx(known_risk)
    np.testing.assert_allclose(slope[:4], known_slope)


def test_solve_fits_best() -> None:
    found = multi_task.smooth(Z, U, LEVELS, VARIANCES[:4], variant="solve")

    def left_over(theta: FloatArray) -> float:
        covariance = combine(VARIANCES[:4], LEVELS)
        moved = theta + np.stack([sure.posterior_mean(z - theta, u, covariance) for z, u in zip(Z, U, strict=True)])
        return float((U * (Z - moved) ** 2).sum())

    rng = np.random.default_rng(0)
    for _ in range(20):
        assert left_over(found.theta + 0.01 * rng.normal(size=4)) > left_over(found.theta)


def test_a_group_without_any_data() -> None:
    found = multi_task.smooth(Z, NOWHERE, LEVELS, VARIANCES[:4], variant="solve")
    others = np.delete(found.theta, 2)
    assert others.min() < found.theta[2] < others.max()


@pytest.mark.parametrize("variant", VARIANTS)
def test_order_of_tasks_does_not_matter(variant: multi_task.Variant) -> None:
    plain, turned = (multi_task.fit(Z[turn], U[turn], LEVELS, variant=variant) for turn in ([0, 1, 2], [2, 0, 1]))
    np.testing.assert_allclose(turned.estimate, plain.estimate[[2, 0, 1]], atol=1e-4)
    assert turned.risk == pytest.approx(plain.risk, abs=1e-6)


def _point(variant: multi_task.Variant) -> FloatArray:
    return VARIANCES + 0.001 if variant == "metamap" else VARIANCES[:4]
