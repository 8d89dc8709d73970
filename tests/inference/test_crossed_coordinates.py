"""Coordinates of what is learned, and turns of others: the same law, whatever they are fitted to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import integrate, stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.following import FollowingPrior, Priors
from bayesgroups.inference.collapsed.crossed.learned_coordinates import MAX_NARROW, WIDTH, Learned
from bayesgroups.inference.collapsed.crossed.learned_turns import (
    STRETCHED_IF_VARIED,
    LearnedTurn,
    Told,
    bend_of,
    learned_turn,
)
from bayesgroups.inference.collapsed.crossed.positive_numbers import numbers, positive
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.scale_coordinates import coordinates_of
from bayesgroups.inference.collapsed.crossed.turns import STRETCHED, Variances, turn

HALVES = Prior("half_normal", (0.3, 0.4))
PRIORS: dict[str, Priors] = {
    "half-normal": HALVES,
    "half-t": Prior("half_t", (0.3, 0.2)),
    "r2d2": Prior("r2d2", (0.3, 0.2, 0.4)),
    "following": FollowingPrior(HALVES, HALVES, 0.3, 0.3),
}


def test_positive_numbers_are_integrals_of_the_normal_law() -> None:
    u = np.array([-6.0, -2, -0.3, 0, 1, 4])
    made = positive(u)
    expected = [integrate.quad(stats.norm.cdf, -12, each, epsabs=1e-14)[0] for each in u]
    np.testing.assert_allclose(made.value, expected, rtol=1e-6)
    np.testing.assert_allclose(made.slope, stats.norm.cdf(u))
    np.testing.assert_allclose(made.log_slope, stats.norm.logcdf(u))
    np.testing.assert_allclose(
        made.bend, (positive(u + 1e-6).log_slope - positive(u - 1e-6).log_slope) / 2e-6, rtol=1e-6
    )
    value: FloatArray = np.logspace(-250, 5, 18)
    np.testing.assert_allclose(positive(numbers(value)).value, value, rtol=1e-8)


def test_bends_far_out_are_those_of_the_logarithm() -> None:
    """About -u, from Mills's ratio, also where the slope itself is no number any more."""
    u = np.array([-29.0, -31.0, -200.0])
    each = [float(positive(u[[i]]).bend[0]) for i in range(len(u))]
    np.testing.assert_allclose(positive(u).bend, each, rtol=1e-11)
    np.testing.assert_allclose(each, -u + 1 / -u - 2 / (-u) ** 3, rtol=1e-6)


def test_half_normal_numbers_are_nearly_normal() -> None:
    u = np.linspace(-5, 5, 1001)
    made = positive(u)
    log_density = made.log_slope - 0.5 * made.value**2
    bend = np.gradient(np.gradient(log_density, u), u)[2:-2]
    assert bend.min() > -1.35
    assert bend.max() < -0.8


@pytest.mark.parametrize("name", PRIORS)
def test_fitted_coordinates_have_the_same_values_and_the_law_of_the_prior(name: str) -> None:
    """The density of points is that of the old points times the stretch; slopes are differences."""
    coordinates, rng = coordinates_of(PRIORS[name], 1), np.random.default_rng(2)
    plain = Learned.plain(coordinates)
    points = rng.standard_normal((50, plain.dimension)) - 0.5
    fitted, moved = plain.fitted(points)
    np.testing.assert_allclose(fitted.at(moved).values, plain.at(points).values, rtol=1e-9)
    assert np.abs(moved.mean(axis=0)).max() < 1e-9
    assert np.abs(moved.std(axis=0) - 1).max() < 0.05
    step = 1e-6 * np.eye(plain.dimension)
    ratio = fitted.at(moved).log_density() - plain.at(points).log_density()
    number = plain.dimension
    stretch = []
    for point, old in zip(moved[:5], points[:5], strict=True):
        # how fast old points move with new ones, from the same values
        values = [fitted.at((point + sign * each)[None]).values[0] for each in step for sign in (1, -1)]
        others = [plain.at((old + sign * each)[None]).values[0] for each in step for sign in (1, -1)]
        new, earlier = (np.diff(np.reshape(part, (number, 2, -1)), axis=1)[:, 0, :] for part in (values, others))
        live = np.abs(earlier).max(axis=0) > 0
        stretch.append(np.linalg.slogdet(new[:, live] @ np.linalg.pinv(earlier[:, live]))[1])
    np.testing.assert_allclose(np.ptp(ratio[:5] - np.array(stretch)), 0, atol=1e-4)
    columns = rng.standard_normal(fitted.at(moved[:1]).values.shape[1])
    for each in (plain, fitted):
        at = moved[:4]

        def total(a: FloatArray, each: Learned = each) -> FloatArray:
            scaled = each.at(a)
            return np.asarray(scaled.log_density() + scaled.values @ columns)

        differences = np.stack([(total(at + e) - total(at - e)) / 2e-6 for e in step], axis=1)
        np.testing.assert_allclose(each.at(at).pull(np.tile(columns, (4, 1))), differences, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "prior",
    [*PRIORS.values(), Prior("half_t", (0.3, 0.2, 0.1), residual_sd=0.1)],
    ids=[*PRIORS, "residual effects known"],
)
def test_pieces_of_learned_values_are_independent_beforehand(prior: Priors) -> None:
    """Each makes its values of its numbers alone, and their log densities add up to that of all but for the stretch of points."""
    coordinates, rng = coordinates_of(prior, 2), np.random.default_rng(5)
    learned, points = Learned.plain(coordinates).fitted(rng.standard_normal((30, coordinates.dimension)))
    numbers_of, whole = learned.numbers(points), learned.at(points)
    np.testing.assert_allclose(learned.points(numbers_of), points, atol=1e-12)
    made = [piece.learned.at(numbers_of[:, piece.numbers]) for piece in learned.pieces]
    np.testing.assert_allclose(np.concatenate([each.values for each in made], axis=1), whole.values)
    np.testing.assert_allclose(sum(each.log_density() for each in made), whole.log_density())
    places = [range(coordinates.dimension)[piece.numbers] for piece in learned.pieces]
    assert [place for each in places for place in each] == list(range(coordinates.dimension))
    assert max(map(len, places)) == (3 if isinstance(prior, Prior) and prior.family == "r2d2" else 1)


def test_narrowed_coordinates_are_in_units_of_what_all_others_leave() -> None:
    plain, rng = Learned.plain(coordinates_of(HALVES, 1)), np.random.default_rng(4)
    points = rng.standard_normal((20, plain.dimension))
    root = np.diag([0.5, 2.0, 8.0]) @ rng.standard_normal((3, 3)) / 10 + np.diag([0.3, 1.5, 4.0])
    curvature = np.tile(root @ root.T, (20, 1, 1))
    narrow, moved = plain.narrowed(curvature, points)
    np.testing.assert_allclose(narrow.at(moved).values, plain.at(points).values, rtol=1e-12)
    left = np.linalg.eigvalsh(narrow.root.T @ curvature[0] @ narrow.root)
    values = np.linalg.eigvalsh(curvature[0])
    expected = np.where(values < WIDTH**2, values, np.maximum(values / MAX_NARROW**2, WIDTH**2))
    np.testing.assert_allclose(left, np.sort(expected), rtol=1e-9)
    # Signs of curvatures do not cancel.
    either = np.concatenate([curvature[:10], -curvature[10:]])
    np.testing.assert_allclose(plain.narrowed(either, points)[0].root, narrow.root)


NOWHERE = Variances(np.empty((4, 0)), np.empty((4, 1)))


def test_turned_coordinates_are_independent() -> None:
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    precision = basis @ np.diag(np.concatenate([np.full(25, 1.1), [0.02, 0.1, 0.3, 3, 5]])) @ basis.T
    turned = turn(precision)
    assert turned.vectors.shape == (30, 5)
    root = turned.at(np.eye(30), NOWHERE).values
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(root @ precision @ root), [1.0] * 5 + [1.1] * 25, atol=1e-9)
    points = rng.standard_normal((4, 30))
    np.testing.assert_allclose(turned.back(turned.at(points, NOWHERE).values, NOWHERE), points, atol=1e-12)


class Uneven(NamedTuple):
    """Subgroups of very different weights, whose coordinates are of two kinds."""

    weight: FloatArray
    basis: FloatArray
    member: FloatArray

    def given(self, variances: Variances) -> FloatArray:
        """Precision of coordinates scaled by what the data leave of each, (coordinate, coordinate), at one draw of variances."""
        said = self.weight / (1 + variances.residual * self.weight)
        of_all = (self.basis.T * said) @ self.basis
        variance = variances.of_kind @ self.member
        spread = np.sqrt(variance / (1 + variance * np.diag(of_all))).ravel()
        precision = of_all * np.outer(spread, spread)
        np.fill_diagonal(precision, 1.0)
        return np.asarray(precision)

    def turn(self, variances: Variances, draws: Variances) -> LearnedTurn:
        """Turn made at variances, that vary as draws do."""
        residual = float(variances.residual[0, 0])
        said = self.weight / (1 + residual * self.weight)
        precision, steep = said @ self.basis**2, said**2 @ self.basis**2
        bend = bend_of(steep / precision, residual)
        told = Told.on_average(self.member, precision * (1 + residual * bend), bend, variances)
        variance = variances.of_kind @ self.member
        spread = np.sqrt(variance / (1 + variance * precision)).ravel()
        return learned_turn(self.given(variances), self.basis * spread, said, self.member, told, draws)


@pytest.fixture(name="uneven")
def uneven_subgroups() -> Uneven:
    rng = np.random.default_rng(8)
    basis = np.linalg.qr(rng.standard_normal((60, 60)))[0][:, :24]
    member = np.repeat(np.eye(2), [9, 15], axis=1)
    return Uneven(np.exp(rng.normal(1, 1.5, 60)), basis, member)


def at(first: float, second: float, residual: float) -> Variances:
    return Variances(np.array([[first, second]]), np.array([[residual]]))


AVERAGE = at(1.0, 2.0, 0.05)
APART = Variances(AVERAGE.of_kind * [[0.3], [3.0]], AVERAGE.residual * [[1.8], [0.2]])


@pytest.mark.parametrize(
    "variances",
    [
        at(0.3, 2, 0.05),
        at(1, 0.5, 0.05),
        at(3, 6, 0.05),
        at(1, 2, 0.005),
        at(1, 2, 0.2),
        at(2, 1, 0.4),
        at(0.5, 4, 0.01),
    ],
)
def test_learned_turns_follow_the_precision_at_all_variances(uneven: Uneven, variances: Variances) -> None:
    """The law of coordinates is nearer to a standard one than by the stretch that is right on average."""
    turned = uneven.turn(AVERAGE, APART)

    def off(at: Variances, given: Variances) -> float:
        """Kullback-Leibler divergence of the law of coordinates from the standard one."""
        root = turned.at(np.eye(24), at).values
        values = np.linalg.eigvalsh(root @ uneven.given(given) @ root.T)
        return float(0.5 * (1 / values - 1 + np.log(values)).sum())

    assert off(AVERAGE, AVERAGE) < 0.08
    assert off(variances, variances) < 0.7 * off(AVERAGE, variances)


def test_directions_are_turned_where_precisions_are_far_from_one_or_vary(uneven: Uneven) -> None:
    """Of single draws nothing varies; of draws that differ directions that are not as far are turned too."""
    values = np.linalg.eigvalsh(uneven.given(AVERAGE))
    far, near = (((values < low) | (values > high)).sum() for low, high in (STRETCHED, STRETCHED_IF_VARIED))
    assert len(uneven.turn(AVERAGE, AVERAGE).bend) == far < near
    assert far < len(uneven.turn(AVERAGE, APART).bend) <= near


def test_learned_turns_have_the_volume_and_the_slopes_of_their_map(uneven: Uneven) -> None:
    """Derivatives are differences; the logarithm of the stretch is that of the determinant; the way back is the inverse."""
    turned, rng = uneven.turn(AVERAGE, APART), np.random.default_rng(2)
    variances, z = at(0.2, 0.7, 0.5), rng.standard_normal((1, 24))
    made = turned.at(z, variances)
    whole = turned.at(np.eye(24), variances)
    np.testing.assert_allclose(made.log_density(), np.linalg.slogdet(whole.values)[1])
    np.testing.assert_allclose(turned.back(made.values, variances), z, atol=1e-12)
    weight = rng.standard_normal(24)

    def total(z: FloatArray, variances: Variances) -> float:
        found = turned.at(z, variances)
        return float((found.values @ weight + found.log_density())[0])

    by_z, by_variances = made.pull(weight[None])
    assert by_variances is not None
    step = 1e-6
    of_z = [(total(z + step * e, variances) - total(z - step * e, variances)) / (2 * step) for e in np.eye(24)]
    np.testing.assert_allclose(by_z[0], of_z, rtol=1e-6, atol=1e-8)
    numbers = np.array([0.2, 0.7, 0.5])
    of_numbers = [
        (total(z, at(*numbers + step * e)) - total(z, at(*numbers - step * e))) / (2 * step) for e in np.eye(3)
    ]
    found = np.concatenate([by_variances.of_kind[0], by_variances.residual[0]])
    np.testing.assert_allclose(found, of_numbers, rtol=1e-6)
