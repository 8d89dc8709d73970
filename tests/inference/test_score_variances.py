"""Variances integrated out against quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import invgamma

from bayesgroups.inference import score_variances
from bayesgroups.inference.score_variances import (
    SMALLEST_SD,
    Rows,
    _log_rising,
    _slope_of_log_rising,
    draw,
    log_likelihood,
    log_prior,
    redraw_sigma,
    slope,
)

HYPER = np.array([[-0.4, -0.1, -0.9], [0.2, -0.3, -1.4]])
COUNT = np.array([[3.0, 0.0], [10.0, 20.0], [1.0, 5.0]])
SCATTER = np.random.default_rng(0).gamma(3, 2, size=(2, 3, 2)) * (COUNT > 0)


def with_gradient(hyper: np.ndarray, count: np.ndarray, scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return log_likelihood(hyper, Rows(count), scatter), slope(hyper, Rows(count), scatter)


@pytest.mark.parametrize("chain", [0, 1])
def test_value_is_the_integral_over_the_variances(chain: int) -> None:
    df = 0.5 * np.exp(-2 * HYPER[chain, 2])
    total = 0.0
    for g, y in zip(*np.nonzero(COUNT), strict=True):
        prior = invgamma(df / 2, scale=0.5 * df * np.exp(2 * HYPER[chain, y]))

        def density(v: float, g: int = g, y: int = y, prior: invgamma = prior) -> float:
            return float(prior.pdf(v) * v ** (-COUNT[g, y] / 2) * np.exp(-SCATTER[chain, g, y] / 2 / v))

        total += np.log(quad(density, 0, np.inf)[0])
    assert log_likelihood(HYPER, Rows(COUNT), SCATTER)[chain] == pytest.approx(total, rel=1e-6)


def test_gradient_is_the_derivative() -> None:
    value, gradient = with_gradient(HYPER, COUNT, SCATTER)
    np.testing.assert_array_equal(value, log_likelihood(HYPER, Rows(COUNT), SCATTER))
    for j, step in enumerate(1e-6 * np.eye(3)):
        up, down = (log_likelihood(HYPER + sign * step, Rows(COUNT), SCATTER) for sign in (1, -1))
        np.testing.assert_allclose(gradient[:, j], (up - down) / 2e-6, rtol=1e-4, atol=1e-6)


def test_sums_over_cells_are_interpolated_to_rounding() -> None:
    log_half = np.array([[-3.7, 0.0, 1.0], [2.4, 9.9, 40.0]])
    half = np.exp(log_half)[..., None, None]
    direct = [part(half, 0.5 * COUNT).sum(axis=(2, 3)) for part in (_log_rising, _slope_of_log_rising)]
    np.testing.assert_allclose(Rows(COUNT).rising(log_half), direct, rtol=1e-9, atol=1e-11)


def test_a_spread_beyond_all_measure_has_no_sums() -> None:
    beyond = np.array([101.0, np.inf, np.nan, -101.0])
    assert np.isnan(Rows(COUNT).rising(beyond)).all()
    mixed = Rows(COUNT).rising(np.array([0.5, np.nan]))
    np.testing.assert_array_equal(mixed[:, :1], Rows(COUNT).rising(np.array([0.5])))
    assert np.isnan(mixed[:, 1]).all()


@pytest.mark.parametrize("log_spread", [-2.3, -3.0, -6.0, -18.0, -30.0])
def test_next_to_no_spread_keeps_its_digits(log_spread: float) -> None:
    """Without spread the likelihood is that of one variance; it departs from that with the square of the spread."""
    sigma, count, total = HYPER[:1, :2], 1e3 * COUNT, 1e3 * SCATTER[:1]
    none = -(count * sigma[:, None] + 0.5 * total * np.exp(-2 * sigma[:, None])).sum()
    spread = np.exp(log_spread)
    tiny, small = (np.array([[*sigma[0], at]]) for at in (log_spread, -9.0))
    value, gradient = with_gradient(tiny, count, total)
    if log_spread < -10:
        change = log_likelihood(small, Rows(count), total)[0] - none
        assert value[0] == pytest.approx(none + change * spread**2 / np.exp(-18.0), rel=1e-12, abs=1e-3)
        assert gradient[0, 2] == pytest.approx(2 * change * spread**2 / np.exp(-18.0), rel=0.05)
    up, down = (log_likelihood(tiny + [[0, 0, sign * 1e-5]], Rows(count), total)[0] for sign in (1, -1))
    assert gradient[0, 2] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-3)


def test_series_and_gamma_functions_are_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    hyper = np.array([[0.1, -0.2, -0.5 * np.log(4 * 80.0)]])
    series = with_gradient(hyper, COUNT, SCATTER[:1])
    monkeypatch.setattr(score_variances, "STIRLING", 200.0)
    functions = with_gradient(hyper, COUNT, SCATTER[:1])
    for one, other in zip(series, functions, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_the_density_of_variances_is_that_of_an_inverse_gamma() -> None:
    """Differences between variances, and between sigmas, of which the normalising constant depends on the spread alone."""
    rng = np.random.default_rng(1)
    hyper, variance = np.repeat(HYPER[:1], 4, axis=0), rng.gamma(3, 0.3, (4, 3, 2))
    hyper[:, :2] += 0.2 * rng.standard_normal((4, 2))
    df = 0.5 * np.exp(-2 * HYPER[0, 2])
    exact = invgamma(df / 2, scale=0.5 * df * np.exp(2 * hyper[:, None, :2])).logpdf(variance).sum(axis=(1, 2))
    np.testing.assert_allclose(np.diff(log_prior(hyper, variance)), np.diff(exact), rtol=1e-9)


def test_draws_have_the_conditional_mean_and_a_floor() -> None:
    hyper = np.repeat(HYPER[:1], 20_000, 0)
    found = draw(hyper, COUNT, np.repeat(SCATTER[:1], 20_000, 0), np.random.default_rng(1))
    df = 0.5 * np.exp(-2 * HYPER[0, 2])
    shape, rate = 0.5 * (df + COUNT[1, 1]), 0.5 * (df * np.exp(2 * HYPER[0, 1]) + SCATTER[0, 1, 1])
    assert found[:, 1, 1].mean() == pytest.approx(rate / (shape - 1), rel=0.02)
    tiny = draw(np.full((1, 3), -20.0), np.full((1, 2), 1e6), np.zeros((1, 1, 2)), np.random.default_rng(1))
    assert (tiny == SMALLEST_SD**2).all()
    wide = draw(np.full((1, 3), 4.0), np.zeros((50, 2)), np.zeros((1, 50, 2)), np.random.default_rng(1))
    assert np.isfinite(wide).all()


def test_sigma_given_variances_has_its_conditional_law() -> None:
    """A chain of it alone has the mean that quadrature gives."""
    variance, log_sd, rng = np.array([[[0.8], [1.5], [0.6]]]) * np.ones((200, 1, 2)), 0.5, np.random.default_rng(1)
    hyper = np.array([[0.0, 0.0, np.log(0.3)]]) * np.ones((200, 1))
    kept = []
    for i in range(300):
        hyper = redraw_sigma(hyper, variance, log_sd, rng)
        if i >= 20:
            kept.append(hyper[:, :2])
    df = 0.5 / 0.3**2
    grid = np.linspace(-2, 2, 4001)
    x = np.exp(2 * grid)
    log_density = 3 * df / 2 * np.log(x) - 0.5 * df * x * (1 / variance[0, :, 0]).sum() - 0.5 * (grid / log_sd) ** 2
    weight = np.exp(log_density - log_density.max())
    mean = np.average(grid, weights=weight)
    sd = np.sqrt(np.average((grid - mean) ** 2, weights=weight))
    assert np.mean(kept) == pytest.approx(mean, abs=4 * sd / np.sqrt(10_000))
    assert np.std(kept) == pytest.approx(sd, rel=0.03)
    assert (hyper[:, 2] == np.log(0.3)).all()
