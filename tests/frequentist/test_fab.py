"""FAB intervals: printed numbers, exact coverage, limits, edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import Interval, fab, moments

Five = tuple[FloatArray, FloatArray, FloatArray]


def assisted(z: float, s: float, m: float, t2: float, level: float = 0.95) -> Interval:
    one = np.ones(1)
    return fab.assisted(z * one, s * s * one, m * one, t2 * one, level)


@pytest.mark.parametrize(
    ("t2", "limits"),
    [(0.01, (0.171029, 0.828971)), (0.04, (0.168177, 0.828971)), (float("inf"), (0.108007, 0.891993))],
)
def test_printed_values(t2: float, limits: tuple[float, float]) -> None:
    found = assisted(0.5, 0.2, 0.3, t2)
    assert (found.lower[0], found.upper[0]) == pytest.approx(limits, abs=1e-6)


@pytest.mark.parametrize("guess_variance", [0.0, 0.003, 0.05])
@pytest.mark.parametrize("theta", [-0.4, 0.01, 0.35])  # a sure guess that is right is always held
def test_coverage_is_exact_for_every_truth(theta: float, guess_variance: float) -> None:
    """Integrated over z, not simulated."""
    s = 0.15
    z = theta + s * stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    found = fab.assisted(z, np.full(z.shape, s * s), np.zeros(z.shape), np.full(z.shape, guess_variance), 0.9)
    covered = (found.lower <= theta) & (theta <= found.upper)
    assert covered.mean() == pytest.approx(0.9, abs=2e-4)


def test_printed_widths() -> None:
    """Against the usual interval, with the guess at .3: integrated over z where the source simulated."""
    s, m, t2 = 0.15, 0.3, 0.01

    def relative(theta: float, spread: float) -> float:
        z = theta + spread * stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
        found = fab.assisted(z, np.full(4000, s * s), np.full(4000, m), np.full(4000, t2), 0.95)
        return float((found.upper - found.lower).mean()) / (2 * 1.959964 * s)

    # Half a unit of the last digit, and as much for the simulation of the source, whose coverage is off by that.
    assert [relative(theta, s) for theta in (0.0, 0.3, 0.55)] == pytest.approx([0.97, 0.85, 0.94], abs=0.01)
    assert relative(m, float(np.sqrt(s * s + t2))) == pytest.approx(0.86, abs=0.01)


@given(
    z=st.floats(-5, 5),
    m=st.floats(-5, 5),
    s=st.floats(0.01, 3),
    t2=st.floats(1e-6, 1e4),
    level=st.sampled_from((0.5, 0.8, 0.9, 0.95)),
)
def test_limits_solve_their_equations_and_hold_the_posterior_mean(
    z: float, m: float, s: float, t2: float, level: float
) -> None:
    found, alpha = assisted(z, s, m, t2, level), 1 - level
    mean = m + t2 / (t2 + s * s) * (z - m)
    assert found.lower[0] - 1e-9 <= mean <= found.upper[0] + 1e-9
    mirrored = assisted(-z, s, -m, t2, level)
    assert (mirrored.lower[0], mirrored.upper[0]) == pytest.approx((-found.upper[0], -found.lower[0]))
    # u = q(alpha w) and the other tail q(alpha (1 - w)) at the upper limit
    u = (z - found.upper[0]) / s
    rest = alpha - stats.norm.cdf(u)
    if rest > 1e-6 * alpha:
        gap = u - stats.norm.ppf(rest) - 2 * s * (found.upper[0] - m) / t2
        # an error of u is magnified by the slope 1 + s'(rest) and by s^2 / t2
        assert abs(gap) < 1e-7 * (1 + 2 * s * s / t2) / (rest / alpha)


def test_a_guess_shortens_where_it_is_good_and_lengthens_where_it_is_not() -> None:
    usual = assisted(0.5, 0.2, 0.5, float("inf"))
    near, far = assisted(0.5, 0.2, 0.5, 0.01), assisted(0.5, 0.2, 3.0, 0.01)
    width = [float(found.upper[0] - found.lower[0]) for found in (near, usual, far)]
    assert width[0] < width[1] < width[2]


def test_a_sure_guess_gives_a_one_sided_interval_stretched_to_it() -> None:
    q = stats.norm.ppf(0.95) * 0.2
    inside, outside = assisted(0.5, 0.2, 0.4, 0.0), assisted(0.5, 0.2, 2.0, 0.0)
    assert (inside.lower[0], inside.upper[0]) == pytest.approx((0.5 - q, 0.5 + q))
    assert (outside.lower[0], outside.upper[0]) == pytest.approx((0.5 - q, 2.0))


def test_guesses_do_not_see_their_group(five: Five) -> None:
    _, z, v = five
    found = fab.fit(z, v)
    for a in range(5):
        others = moments.fit(np.delete(z, a), np.delete(v, a))
        assert found.guess[a] == pytest.approx(float(others.overall), rel=1e-10)
        assert found.guess_variance[a] == pytest.approx(float(others.tau_squared), rel=1e-10)
    b = v / (v + found.guess_variance)
    np.testing.assert_allclose(found.shrunk.estimate, found.guess + (1 - b) * (z - found.guess), rtol=1e-12)
    interval = fab.interval(found, 0.5)
    assert (interval.lower <= found.shrunk.estimate).all()
    assert (found.shrunk.estimate <= interval.upper).all()


def test_few_groups_are_not_shrunk() -> None:
    for size in (1, 2):
        z, v = np.array([0.1, 0.9])[:size], np.array([0.01, 0.04])[:size]
        found = fab.fit(z, v)
        np.testing.assert_array_equal(found.shrunk.estimate, z)
        np.testing.assert_allclose(fab.interval(found, 0.95).upper, z + 1.959964 * np.sqrt(v), atol=1e-6)
    assert fab.interval(fab.fit(np.empty(0), np.empty(0)), 0.9).lower.shape == (0,)
    nothing = fab.interval(fab.fit(np.array([np.nan]), np.array([np.nan])), 0.9)
    assert np.isnan([nothing.lower, nothing.upper]).all()


def test_a_group_unseen_has_the_whole_line(five: Five) -> None:
    _, z, v = five
    found = fab.interval(fab.fit(np.append(z, np.nan), np.append(v, np.nan)), 0.9)
    assert (found.lower[-1], found.upper[-1]) == (-np.inf, np.inf)
    assert np.isfinite([found.lower[:-1], found.upper[:-1]]).all()


def test_hostile_values_stay_finite() -> None:
    for m, t2 in ((1e8, 0.01), (-1e8, 0.01), (0.3, 1e-300), (0.3, 1e300), (1e300, 1e-8)):
        found = assisted(0.5, 0.2, m, t2)
        assert np.isfinite([found.lower, found.upper]).all()
    z = np.array([0.2, 0.25, 0.4, 0.1, 0.75])
    for v in ([1e-300, 1, 1, 1e300, 1], [1e-300] * 5, [1e-12, 1e-9, 1e-3, 1, 1e6]):
        found = fab.interval(fab.fit(z, np.array(v)), 0.95)
        assert np.isfinite([found.lower, found.upper]).all()
    known = fab.interval(fab.fit(z, np.array([0.0, 1, 1, 1, 1])), 0.95)
    assert known.lower[0] == known.upper[0] == 0.2


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(3, 8))
def test_order_does_not_matter(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    z, v = random.normal(size=size), random.gamma(1.0, 1.0, size) + 1e-2
    order = random.permutation(size)
    found, moved = (fab.interval(fab.fit(z[at], v[at]), 0.9) for at in (np.arange(size), order))
    np.testing.assert_allclose(moved.lower, found.lower[order], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(moved.upper, found.upper[order], rtol=1e-6, atol=1e-7)
