"""James and Stein's estimator in the form of Bock: worked numbers, edges, invariances, intervals that are honest."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist import james_stein, no_pooling, partial_pooling
from bayesgroups.frequentist.intervals import bock, fab, morris, robust
from tests.frequentist.hostile_cells import CELLS, tally_of

MakeTally = Callable[..., xr.Dataset]
INTERVALS: tuple[james_stein.Choice, ...] = get_args(james_stein.Choice)
FIVE = [0.20, 0.25, 0.40, 0.10, 0.75]
COUNT = [50, 30, 15, 8, 4]


@pytest.fixture
def five_and_none(make_tally: MakeTally) -> xr.Dataset:
    return make_tally([*FIVE, np.nan], [*COUNT, 0])


def test_the_worked_example(five_and_none: xr.Dataset) -> None:
    found = james_stein.estimate(five_and_none).isel(metric=0)
    assert found["overall"].item() == pytest.approx(0.255140, abs=1e-6)
    assert found["q"].item() == pytest.approx(10.247956, abs=1e-6)
    assert found["factor"].item() == pytest.approx(0.804839, abs=1e-6)
    expected = [0.210761, 0.251003, 0.371729, 0.130277, 0.653423, 0.255140]
    np.testing.assert_allclose(found["estimate"], expected, atol=1e-6)
    np.testing.assert_allclose(found["shrinkage"], [1 - 0.804839] * 5 + [np.nan], atol=1e-6)
    assert found["status"].values.tolist() == ["ok"] * 5 + ["imputed"]


def test_the_first_four_subgroups(make_tally: MakeTally) -> None:
    found = james_stein.estimate(make_tally(FIVE[:4], COUNT[:4]))
    assert found["factor"].item() == pytest.approx(0.742801, abs=1e-6)


def test_published_estimates_are_weighted_by_their_variances() -> None:
    published = bg.tally_from_estimates(FIVE, 0.16 / np.array(COUNT), pd.DataFrame({"site": list("abcde")}))
    found = james_stein.estimate(published)
    np.testing.assert_allclose(found["estimate"], [[0.210761, 0.251003, 0.371729, 0.130277, 0.653423]], atol=1e-6)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("size", range(5))
def test_three_subgroups_or_fewer_are_left_alone(
    make_tally: MakeTally, interval: james_stein.Choice, size: int
) -> None:
    tally = make_tally([*FIVE[:size], np.nan], [*COUNT[:size], 0])
    found = james_stein.estimate(tally, interval=interval)
    few = size < 4
    assert found["interval_method"].values.tolist() == ["unshrunk" if few else interval]
    assert found["status"].values[0, -1] == ("imputed" if size else "undefined")
    if few:
        plain = no_pooling.estimate(tally, interval="pooled_normal")
        for name in ("estimate", "std_error", "lower", "upper"):
            np.testing.assert_array_equal(found[name][:, :size], plain[name][:, :size])
        assert found["factor"].item() == 1 if size else np.isnan(found["factor"].item())


def test_two_subgroups_are_not_pushed_apart(five_and_none: xr.Dataset) -> None:
    """By the formula their factor would be 1 + 1 / Q = 4.413."""
    found = james_stein.estimate(five_and_none.isel(subgroup=[0, 1]))
    assert 1 + 1 / found["q"].item() == pytest.approx(4.413, abs=5e-4)
    assert found["estimate"].values[0].tolist() == FIVE[:2]


@pytest.mark.parametrize("positive_part", [True, False])
def test_equal_estimates_stay(make_tally: MakeTally, positive_part: bool) -> None:
    found = james_stein.estimate(make_tally([0.3] * 6, [9, 8, 7, 6, 5, 4]), positive_part=positive_part)
    assert found["estimate"].values.tolist() == [[0.3] * 6]
    assert (found["q"].item(), found["factor"].item()) == (0, 1)
    assert (found["upper"] > found["lower"]).all()


def test_the_plain_estimator_goes_past_the_centre(make_tally: MakeTally) -> None:
    tally = make_tally([0.28, 0.30, 0.31, 0.33, 0.25], COUNT)
    cut, plain = (james_stein.estimate(tally, positive_part=which).isel(metric=0) for which in (True, False))
    centre, factor = plain["overall"].item(), plain["factor"].item()
    assert factor == pytest.approx(1 - 2 / plain["q"].item())
    assert factor < 0 == cut["factor"].item()
    np.testing.assert_allclose(cut["estimate"], centre)
    np.testing.assert_allclose(plain["estimate"], centre + factor * (tally["estimate"].values[0] - centre))


@pytest.mark.parametrize("interval", INTERVALS)
def test_no_sampling_variance(make_tally: MakeTally, interval: james_stein.Choice) -> None:
    tally = make_tally([0.0, 0.0, 0.0, 0.0, np.nan], [5, 9, 3, 4, 0], pooled_variance=0.0)
    found = james_stein.estimate(tally, interval=interval)
    assert found["estimate"].values[0, :4].tolist() == [0] * 4
    assert found["status"].values.tolist() == [["degenerate"] * 4 + ["undefined"]]


def test_an_unknown_sampling_variance_has_no_answer(make_tally: MakeTally) -> None:
    found = james_stein.estimate(make_tally(FIVE, COUNT, pooled_variance=np.nan))
    assert np.isnan(found["estimate"]).all()
    assert np.isnan(found["lower"]).all()
    assert found["status"].values.tolist() == [["ok"] * 5]


@pytest.mark.parametrize(
    ("interval", "fitted"),
    [
        ("morris", lambda z, v: morris.interval(morris.fit(z, v), 0.9)),
        ("robust", lambda z, v: robust.interval(robust.fit(z, v), 0.9)),
        ("fab", lambda z, v: fab.interval(fab.fit(z, v), 0.9)),
    ],
)
def test_borrowed_intervals(five_and_none: xr.Dataset, interval: james_stein.Choice, fitted: Callable) -> None:  # type: ignore[type-arg]
    found = james_stein.estimate(five_and_none, interval=interval)
    expected = fitted(five_and_none["estimate"].values, five_and_none["sampling_variance"].values)
    np.testing.assert_array_equal(found["lower"].sel(level=0.9), expected.lower)
    np.testing.assert_array_equal(found["upper"].sel(level=0.9), expected.upper)
    other = partial_pooling.estimate(five_and_none, interval=interval)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found["std_error"], other["std_error"])


def test_the_bootstrap_interval(five_and_none: xr.Dataset) -> None:
    found = james_stein.estimate(five_and_none, interval="bootstrap", seed=1).isel(metric=0)
    lower, upper, estimate = (found[name].values[:5] for name in ("lower", "upper", "estimate"))
    np.testing.assert_allclose((lower + upper) / 2, np.broadcast_to(estimate[:, None], lower.shape))
    width = upper - lower
    assert (np.diff(width, axis=0) > 0).all()
    assert (np.diff(width, axis=1) > 0).all()
    normal = 2 * 1.959964 * np.sqrt(0.16 / np.array(COUNT))
    assert ((width[:, -1] > 0.7 * normal) & (width[:, -1] < 1.1 * normal)).all()
    borrowed = partial_pooling.estimate(five_and_none, interval="morris")
    for name in ("lower", "upper", "std_error"):
        np.testing.assert_array_equal(found[name][-1], borrowed[name][0, -1])


def test_the_bootstrap_goes_by_its_seed(five_and_none: xr.Dataset) -> None:
    first, again, other = (james_stein.estimate(five_and_none, interval="bootstrap", seed=seed) for seed in (1, 1, 2))
    assert first["lower"].values.tobytes() == again["lower"].values.tobytes()
    assert not np.array_equal(first["lower"].values[0, :5], other["lower"].values[0, :5])
    np.testing.assert_array_equal(first["estimate"], other["estimate"])


def test_bootstrap_errors_hold_the_bias() -> None:
    """All at 0 but one: the lone one is drawn to the others, and its errors are larger than its noise."""
    z = np.array([0.0] * 9 + [3.5])
    found = bock.errors(z, np.ones(10), np.random.default_rng(1))
    assert np.quantile(found[:, -1], 0.95) > 2.3 > np.quantile(found[:, 0], 0.95)


def test_bootstrap_errors_of_many_subgroups_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    z, v = np.linspace(0, 1, 40), np.full(40, 0.02)
    whole = bock.errors(z, v, np.random.default_rng(1), replicates=50)
    monkeypatch.setattr(bock, "CHUNK", 300)
    np.testing.assert_array_equal(bock.errors(z, v, np.random.default_rng(1), replicates=50), whole)


@pytest.mark.parametrize("interval", INTERVALS)
def test_metrics_do_not_meet(make_tally: MakeTally, interval: james_stein.Choice) -> None:
    first = make_tally([0.2, 0.5, 0.1, 0.4, np.nan], [10, 4, 7, 30, 0], metric="fnr")
    second = make_tally(
        [12.0, np.nan, 3.0, 4.0, 5.0], [10, 0, 7, 30, 2], metric="mae", kind="mean", pooled_variance=9.0
    )
    third = make_tally([np.nan] * 5, [0] * 5, metric="ppv")
    both = james_stein.estimate(xr.concat([first, second, third], "metric", data_vars="all"), interval=interval)
    for i, alone in enumerate((first, second, third)):
        single = james_stein.estimate(alone, interval=interval)
        for name in ("estimate", "std_error", "lower", "upper", "overall", "q", "factor", "shrinkage"):
            np.testing.assert_allclose(both[name].values[i], single[name].values[0], rtol=1e-9, err_msg=name)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 9),
    shift=st.floats(-100, 100),
    scale=st.sampled_from((-3.0, -1e-3, 1e-6, 0.5, 1e4)),
)
def test_order_shift_scale_and_sign(seed: int, size: int, shift: float, scale: float) -> None:
    random = np.random.default_rng(seed)
    z, v = random.normal(size=size), random.gamma(1.0, 1.0, size) + 1e-2
    missing = random.random(size) < 0.2
    z[missing], v[missing] = np.nan, np.nan
    order = random.permutation(size)
    found, moved = bock.fit(z, v), bock.fit(shift + scale * z[order], scale**2 * v[order])
    slack = 1e-6 * abs(scale) + 1e-9 * abs(shift)
    np.testing.assert_allclose(moved.estimate, (shift + scale * found.estimate)[order], rtol=1e-6, atol=slack)
    # Near Q = 0 the estimates stay: rounding decides which side of it they are on, but not where they end.
    assert moved.number == found.number


@pytest.mark.parametrize("interval", INTERVALS)
def test_other_labels_move_nothing(make_tally: MakeTally, interval: james_stein.Choice) -> None:
    tally, order = make_tally(FIVE, COUNT), [3, 0, 4, 2, 1]
    found, moved = (james_stein.estimate(each, interval=interval) for each in (tally, tally.isel(subgroup=order)))
    np.testing.assert_allclose(moved["estimate"], found["estimate"][:, order], rtol=1e-12)
    width = [each["upper"].values - each["lower"].values for each in (moved, found.isel(subgroup=order))]
    # The noise of each subgroup is another's in the bootstrap.
    np.testing.assert_allclose(width[0], width[1], rtol=0.1 if interval == "bootstrap" else 1e-9)


@settings(max_examples=85, deadline=None)
@given(
    cells=CELLS,
    interval=st.sampled_from(INTERVALS),
    positive_part=st.booleans(),
    centre=st.sampled_from([None, None, 0.0, 0.5, -1e12, 1e150]),
)
def test_whatever_comes_the_answer_is_whole(
    cells: list[tuple[int, float, float]], interval: james_stein.Choice, positive_part: bool, centre: float | None
) -> None:
    """No warning, no half-defined interval, an estimate wherever there was one."""
    tally = tally_of(cells)
    found = james_stein.estimate(tally, interval=interval, positive_part=positive_part, centre=centre)
    lower, estimate, upper = (found[name].values for name in ("lower", "estimate", "upper"))
    assert (np.isnan(lower) == np.isnan(upper)).all()
    assert (np.isnan(lower) | (lower <= upper)).all()
    assert np.isfinite(estimate[np.isfinite(tally["estimate"].values)]).all()


def test_estimates_that_hardly_differ_are_not_carried_beyond_all_numbers() -> None:
    """Q of 1e-310, or of nothing to the computer: the plain factor would be minus infinity."""
    z, v = np.array([0.0, 0.0, 0.0, 1.9319637824966177e-173]), np.array([1e-300, 1e-300, 1e-300, 1e12])
    for scale in (1.0, 1e10, 1e12, 1e17, 1e18, 1e60):
        found = bock.fit(scale * z, v, positive_part=False)
        assert np.isfinite(found.estimate).all()
        assert np.isfinite(found.factor)
    found = bock.fit(z, v, positive_part=False)
    assert found.factor == 1
    np.testing.assert_array_equal(found.estimate, z)
    apart = bock.fit(1e90 * z, v, positive_part=False)
    assert apart.factor < -1e90  # as the formula has it, where it has numbers


def test_bootstrap_intervals_cover_on_average() -> None:
    """All levels, subgroups that hardly differ and subgroups that do; the record has the precise shares."""
    random, variance = np.random.default_rng(1), 0.2 / np.geomspace(4, 80, 12)
    for spread in (0.0, 0.05, 0.1, 0.4):
        truth = random.normal(0, spread, (60, 12))
        z = truth + np.sqrt(variance) * random.standard_normal(truth.shape)
        v = np.broadcast_to(variance, z.shape)
        fitted, found = bock.fit(z, v), bock.errors(z, v, random, replicates=200)
        for level in (0.5, 0.8, 0.9, 0.95):
            limits = bock.interval(fitted, found, level)
            covered = ((limits.lower <= truth) & (truth <= limits.upper)).mean()
            assert covered > level - 0.03 - 3 * np.sqrt(level * (1 - level) / truth.size)


def test_around_the_shrunken_estimates_the_bootstrap_would_cover_too_seldom() -> None:
    """Where subgroups differ by less than chance the samples would know of no bias to count."""
    random, variance = np.random.default_rng(1), np.full(12, 0.01)
    truth = random.normal(0, 0.1, (200, 12))
    z = truth + 0.1 * random.standard_normal(truth.shape)
    v = np.broadcast_to(variance, z.shape)
    fitted = bock.fit(z, v)
    again = fitted.estimate + 0.1 * random.standard_normal((200, *z.shape))
    wrong = np.abs(bock.fit(again, np.broadcast_to(v, again.shape)).estimate - fitted.estimate)
    shares = []
    for found in (wrong, bock.errors(z, v, random, replicates=200)):
        limits = bock.interval(fitted, found, 0.95)
        shares.append(((limits.lower <= truth) & (truth <= limits.upper)).mean())
    assert shares[0] < 0.92
    assert shares[1] > 0.94


def test_unknown_intervals_are_refused(five_and_none: xr.Dataset) -> None:
    with pytest.raises(InputError, match=r"interval='plug_in' is not one of"):
        james_stein.estimate(five_and_none, interval="plug_in")  # type: ignore[arg-type]


def test_shapes_and_levels_are_checked() -> None:
    with pytest.raises(InputError, match=r"estimates have shape \(2,\), sampling variances \(3,\)"):
        bock.fit(np.zeros(2), np.ones(3))
    with pytest.raises(InputError, match=r"level=1.0 must lie strictly between 0 and 1"):
        bock.interval(bock.fit(np.zeros(4), np.ones(4)), np.ones((9, 4)), 1.0)
