"""James and Stein's estimator towards a known centre: worked numbers, risk, invariances, and intervals around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist import james_stein, no_pooling
from bayesgroups.frequentist.intervals import bock, fab, moments, morris, robust
from bayesgroups.frequentist.intervals.interval import Interval

MakeTally = Callable[..., xr.Dataset]
INTERVALS: tuple[james_stein.Choice, ...] = get_args(james_stein.Choice)
FIVE = np.array([0.20, 0.25, 0.40, 0.10, 0.75])
COUNT = np.array([50, 30, 15, 8, 4])
V = 0.16 / COUNT
CENTRE = 0.3


@pytest.fixture
def five_and_none(make_tally: MakeTally) -> xr.Dataset:
    return make_tally([*FIVE, np.nan], [*COUNT, 0])


def limits(interval: str, z: FloatArray, v: FloatArray, centre: float, level: float) -> Interval:
    """The interval of arrays (replicate, group)."""
    if interval == "morris":
        return morris.interval(morris.fit(z, v, centre=centre), level)
    if interval == "robust":
        return robust.interval(robust.fit(z, v, centre=centre), level)
    if interval == "fab":
        return fab.interval(fab.fit(z, v, centre=centre), level)
    errors = bock.errors(z, v, np.random.default_rng(1), centre=centre, replicates=200)
    return bock.interval(bock.fit(z, v, centre=centre), errors, level)


# --- the estimator ----------------------------------------------------------------------------------------------------


def test_the_worked_example(five_and_none: xr.Dataset) -> None:
    """Distances -.1, -.05, .1, -.2, .45 and weights 312.5, 187.5, 93.75, 50, 25 make Q, and 1 - 3 / Q the factor."""
    found = james_stein.estimate(five_and_none, centre=CENTRE).isel(metric=0)
    assert found["overall"].item() == CENTRE
    assert found["q"].item() == pytest.approx(3.125 + 0.46875 + 0.9375 + 2 + 5.0625, rel=1e-12)
    assert found["factor"].item() == pytest.approx(0.741240, abs=1e-6)
    expected = [0.225876, 0.262938, 0.374124, 0.151752, 0.633558, 0.3]
    np.testing.assert_allclose(found["estimate"], expected, atol=1e-6)
    np.testing.assert_allclose(found["shrinkage"], [3 / 11.59375] * 5 + [np.nan], rtol=1e-12)
    assert found["status"].values.tolist() == ["ok"] * 5 + ["imputed"]


def test_three_subgroups_are_enough(make_tally: MakeTally) -> None:
    """Q = 3.125 + .46875 + .9375 and the factor 1 - 1 / Q; with an estimated centre nothing moves."""
    tally = make_tally(FIVE[:3], COUNT[:3])
    found = james_stein.estimate(tally, centre=CENTRE)
    np.testing.assert_allclose(found["estimate"], [[0.222069, 0.261034, 0.377931]], atol=1e-6)
    assert found["interval_method"].values.tolist() == ["morris"]
    assert james_stein.estimate(tally)["interval_method"].values.tolist() == ["unshrunk"]


def test_a_centre_where_the_estimated_one_is_keeps_the_direction_and_goes_further() -> None:
    estimated = bock.fit(FIVE, V)
    known = bock.fit(FIVE, V, centre=float(estimated.overall))
    assert float(known.q) == pytest.approx(float(estimated.q), rel=1e-12)
    np.testing.assert_allclose(known.shrinkage, estimated.shrinkage * 3 / 2, rtol=1e-12)
    np.testing.assert_allclose(known.estimate - FIVE, (estimated.estimate - FIVE) * 3 / 2, rtol=1e-9)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("size", range(4))
def test_two_subgroups_or_fewer_are_left_alone(make_tally: MakeTally, interval: james_stein.Choice, size: int) -> None:
    tally = make_tally([*FIVE[:size], np.nan], [*COUNT[:size], 0])
    found = james_stein.estimate(tally, interval=interval, centre=CENTRE)
    few = size < 3
    assert found["interval_method"].values.tolist() == ["unshrunk" if few else interval]
    assert found["status"].values[0, -1] == ("imputed" if size else "undefined")
    if size:
        assert found["estimate"].values[0, -1] == found["overall"].item() == CENTRE
        assert (found["lower"].values[0, -1] < CENTRE).all()
    if few:
        plain = no_pooling.estimate(tally, interval="pooled_normal")
        for name in ("estimate", "std_error", "lower", "upper"):
            np.testing.assert_array_equal(found[name][:, :size], plain[name][:, :size])


def test_the_plain_estimator_goes_past_the_centre() -> None:
    z = np.array([0.28, 0.30, 0.31, 0.33, 0.25])
    cut, plain = (bock.fit(z, V, positive_part=which, centre=CENTRE) for which in (True, False))
    assert float(plain.factor) == pytest.approx(1 - 3 / float(plain.q))
    assert plain.factor < 0 == cut.factor
    assert cut.estimate.tolist() == [CENTRE] * 5
    np.testing.assert_allclose(plain.estimate, CENTRE + float(plain.factor) * (z - CENTRE))


def test_estimates_at_the_centre_stay() -> None:
    found = bock.fit(np.full(5, CENTRE), V, centre=CENTRE)
    assert (float(found.q), float(found.factor)) == (0, 1)
    assert found.estimate.tolist() == [CENTRE] * 5


@pytest.mark.parametrize("interval", INTERVALS)
def test_metrics_without_a_known_centre_are_as_ever(make_tally: MakeTally, interval: james_stein.Choice) -> None:
    """To the last bit, beside one whose centre is known."""
    first = make_tally([*FIVE, np.nan], [*COUNT, 0], metric="fnr")
    second = make_tally([*FIVE[::-1], 0.4], [*COUNT, 9], metric="fpr")
    both = xr.concat([first, second], "metric", data_vars="all")
    found = james_stein.estimate(both, interval=interval, centre=np.array([np.nan, CENTRE]))
    ever = james_stein.estimate(both, interval=interval)
    known = james_stein.estimate(second, interval=interval, centre=CENTRE)
    for name in ("estimate", "std_error", "lower", "upper", "overall", "q", "factor", "shrinkage"):
        assert found[name].values[0].tobytes() == ever[name].values[0].tobytes()
        np.testing.assert_allclose(found[name].values[1], known[name].values[0], rtol=1e-12)
    assert not np.allclose(found["estimate"].values[1], ever["estimate"].values[1])


# --- its risk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("away", [0.0, 0.5, 1.5])
def test_the_risk_is_the_exact_one_and_smaller_than_that_of_the_estimates(away: float) -> None:
    """K - (K - 2)^2 E 1 / Q with Q a non-central chi-squared; E 1 / Q = 1 / (K - 2) at the centre, where 2 is left of K."""
    random, k = np.random.default_rng(1), 10
    truth = 3.0 + away * np.where(np.arange(k) % 2, 1.0, -1.0)
    z = truth + random.standard_normal((40_000, k))
    loss = ((bock.fit(z, np.ones_like(z), positive_part=False, centre=3.0).estimate - truth) ** 2).sum(axis=1)
    if away == 0:
        exact = 2.0
    else:
        law = stats.ncx2(k, k * away**2)
        exact = k - (k - 2) ** 2 * integrate.quad(lambda q: law.pdf(q) / q, 0, 400, limit=400)[0]
    assert exact < k
    assert loss.mean() == pytest.approx(exact, abs=4.5 * loss.std() / 200)
    smaller = ((bock.fit(z, np.ones_like(z), centre=3.0).estimate - truth) ** 2).sum(axis=1)
    assert smaller.mean() < loss.mean()


def test_a_centre_far_off_does_no_harm() -> None:
    """The factor goes to 1."""
    np.testing.assert_allclose(bock.fit(FIVE, V, centre=1e6).estimate, FIVE, atol=1e-8)
    assert bock.fit(FIVE, V, centre=1e200).estimate.tolist() == FIVE.tolist()


# --- the intervals ----------------------------------------------------------------------------------------------------


def test_morris_by_hand() -> None:
    """S = .1125, A = S / 5 - .01, B = 3 / 5 x .01 / .0225 = (K - 2) v / S; (2 / 3) B^2 (z - c)^2 for its uncertainty."""
    z, v = np.array([0.1, 0.2, 0.3, 0.4, 0.5, np.nan]), np.array([0.01] * 5 + [np.nan])
    found = morris.fit(z, v, centre=0.25)
    assert float(found.tau_squared) == pytest.approx(0.0125)
    np.testing.assert_allclose(found.shrinkage[:5], 3 * 0.01 / 0.1125)
    np.testing.assert_allclose(found.shrinkage[:5], bock.fit(z, v, centre=0.25).shrinkage[:5])
    np.testing.assert_allclose(found.estimate, [0.14, 0.213333, 0.286667, 0.36, 0.433333, 0.25], atol=1e-6)
    variance = [0.0084, 0.00745185, 0.00745185, 0.0084, 0.0102963, 0.0125 + 2 * 0.0225 / 3]
    np.testing.assert_allclose(found.variance, variance, rtol=1e-5)


def test_morris_never_collapses() -> None:
    """All at the centre: A is 0, and the share stops at (K - 2) / K."""
    found = morris.fit(np.full(6, 0.3), np.full(6, 0.02), centre=0.3)
    assert float(found.tau_squared) == 0
    np.testing.assert_allclose(found.shrinkage, 4 / 6)
    np.testing.assert_allclose(found.variance, 0.02 / 3)


@pytest.mark.parametrize(("z", "square"), [([0.1, 0.5], 0.05), ([0.5], 0.09)])
def test_a_new_group_beside_one_or_two(z: list[float], square: float) -> None:
    """Student's t with K degrees of freedom around the known centre, and nothing for the error of a mean."""
    found = morris.interval(morris.fit(np.array([*z, np.nan]), np.full(len(z) + 1, 0.01), centre=0.2), 0.95)
    half = stats.t.ppf(0.975, len(z)) * np.sqrt(square)
    assert (found.lower[-1], found.upper[-1]) == pytest.approx((0.2 - half, 0.2 + half))


def test_second_moments_by_hand() -> None:
    """(Q - K) over the sum of the weights, for the robust interval and for the guesses of FAB."""
    linear, plain = robust.fit(FIVE, V, centre=CENTRE).shrunk, moments.fit(FIVE, V, centre=CENTRE)
    expected = (11.59375 - 5) / 668.75
    assert (float(linear.tau_squared), float(plain.tau_squared_raw)) == pytest.approx((expected, expected))
    assert (float(linear.overall), float(plain.overall)) == (CENTRE, CENTRE)
    np.testing.assert_allclose(linear.estimate, CENTRE + expected / (V + expected) * (FIVE - CENTRE))
    guessed = fab.fit(FIVE, V, centre=CENTRE)
    assert guessed.guess.tolist() == [CENTRE] * 5
    own = (FIVE - CENTRE) ** 2 / V
    np.testing.assert_allclose(guessed.guess_variance, np.maximum(11.59375 - own - 4, 0) / (668.75 - 1 / V))
    assert (guessed.guess_variance > 0).all()
    found, exact = fab.interval(guessed, 0.9), fab.assisted(FIVE, V, guessed.guess, guessed.guess_variance, 0.9)
    np.testing.assert_array_equal(found.lower, exact.lower)


def test_the_second_moment_around_a_known_centre_is_unbiased() -> None:
    random = np.random.default_rng(1)
    z = 1 + random.normal(0, np.sqrt(V + 0.01), (40_000, 5))
    raw = moments.fit(z, np.broadcast_to(V, z.shape), centre=1.0).tau_squared_raw
    assert raw.mean() == pytest.approx(0.01, abs=4.5 * raw.std() / 200)


def test_fab_needs_one_other_group() -> None:
    found = fab.fit(np.array([0.1, 0.5]), np.full(2, 0.01), centre=0.2)
    np.testing.assert_allclose(found.guess_variance, [0.08, 0.0], atol=1e-12)
    assert np.isinf(fab.fit(np.array([0.1]), np.full(1, 0.01), centre=0.2).guess_variance).all()


def test_the_bootstrap_resamples_the_same_estimator() -> None:
    found = bock.errors(FIVE, V, np.random.default_rng(1), centre=CENTRE, replicates=50)
    again = FIVE + np.sqrt(V) * np.random.default_rng(1).standard_normal((50, 5))
    expected = np.abs(bock.fit(again, np.broadcast_to(V, again.shape), centre=CENTRE).estimate - FIVE)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize(("spread", "wrong"), [(0.1, 0.0), (0.02, 0.0), (0.1, 0.2)])
def test_intervals_cover_on_average(interval: str, spread: float, wrong: float) -> None:
    """Also around a centre that the groups do not lie around."""
    random, variance = np.random.default_rng(1), 0.2 / np.geomspace(4, 80, 12)
    truth = random.normal(wrong, spread, (150, 12))
    z = truth + np.sqrt(variance) * random.standard_normal(truth.shape)
    for level in (0.8, 0.95):
        found = limits(interval, z, np.broadcast_to(variance, z.shape), 0.0, level)
        covered = ((found.lower <= truth) & (truth <= found.upper)).mean()
        assert covered > level - 0.015 - 3 * np.sqrt(level * (1 - level) / truth.size)


# --- invariance -------------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 9),
    shift=st.floats(-100, 100),
    scale=st.sampled_from((-3.0, -1e-3, 1e-6, 0.5, 1e4)),
)
def test_order_shift_scale_and_sign(seed: int, size: int, shift: float, scale: float) -> None:
    """Moved together, data and centre move the answers along."""
    random = np.random.default_rng(seed)
    z, v, centre = random.normal(size=size), random.gamma(1.0, 1.0, size) + 1e-2, float(random.normal())
    missing = random.random(size) < 0.2
    z[missing], v[missing] = np.nan, np.nan
    order = random.permutation(size)
    there = (shift + scale * z[order], scale**2 * v[order])
    slack = 1e-6 * abs(scale) + 1e-9 * abs(shift)
    found, moved = bock.fit(z, v, centre=centre), bock.fit(*there, centre=shift + scale * centre)
    np.testing.assert_allclose(moved.estimate, (shift + scale * found.estimate)[order], rtol=1e-6, atol=slack)
    for interval in ("morris", "robust", "fab"):
        one, two = limits(interval, z, v, centre, 0.9), limits(interval, *there, shift + scale * centre, 0.9)
        ends = (one.lower, one.upper) if scale > 0 else (one.upper, one.lower)
        np.testing.assert_allclose(two.lower, (shift + scale * ends[0])[order], rtol=1e-6, atol=slack)
        np.testing.assert_allclose(two.upper, (shift + scale * ends[1])[order], rtol=1e-6, atol=slack)
