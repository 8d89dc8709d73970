"""Own coefficients: their scales integrated out against fine grids, their nodes against the conditional law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import own_columns
from bayesgroups.inference.own_columns import LARGEST_ERROR, Collapsed, layers
from bayesgroups.inference.scale_mixtures import CoefficientPrior

PRIORS = {
    "horseshoe": CoefficientPrior(0.05),
    "half-cauchy": CoefficientPrior(0.3, slab=0.5, local_df=1.0),
    "laplace": CoefficientPrior(0.35, "laplace"),
}
V = np.array([0.001, 0.02, 0.3, 0.1])
ENTRY = np.array([1.0, 1.0, -3.0, 0.0])
RESIDUAL = np.array([[0.02, -0.3, 0.5, 0.2], [-0.3, 0.8, 2.0, -0.4]])
FURTHER = np.array([[0.0, 0.1, 0.0, 0.2], [0.3, 0.0, 0.0, 0.0]])
LOG_TAU = np.log([0.004, 0.2])


def dense(prior: CoefficientPrior, residual: Any, variance: Any, entry: Any, log_tau: Any) -> float:
    """Log density of one residual, with its scale integrated out on a fine and long grid."""
    grid = np.linspace(-30.0, 30.0, 120_001)
    mass = np.exp(prior.log_local(grid))
    spread = np.sqrt(variance + entry**2 * prior.variance(grid + log_tau))
    return float(np.log((mass * stats.norm.pdf(residual, 0.0, spread)).sum() / mass.sum()))


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("further", [None, FURTHER])
def test_density_is_that_of_a_fine_grid(name: str, further: FloatArray | None) -> None:
    prior = PRIORS[name]
    own = Collapsed(ENTRY, V, prior)
    found = own.log_density(RESIDUAL, further, own.nodes.weights(LOG_TAU)) - 0.5 * np.log(2 * np.pi)
    more = np.zeros_like(RESIDUAL) if further is None else further
    for chain, row in np.ndindex(*RESIDUAL.shape):
        variance = V[row] + more[chain, row]
        expected = dense(prior, RESIDUAL[chain, row], variance, ENTRY[row], LOG_TAU[chain])
        assert found[chain, row] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("further", [None, FURTHER])
def test_slope_is_that_of_the_density(name: str, further: FloatArray | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_columns, "MIN_LAST_WEIGHT", np.inf)  # differences of single precision have no digits
    own, small = Collapsed(ENTRY, V, PRIORS[name]), 1e-6
    weight = own.nodes.weights(LOG_TAU)
    value, slope = own.with_slope(RESIDUAL, further, weight)
    up, down = (own.log_density(RESIDUAL + sign * small, further, weight) for sign in (1, -1))
    assert slope == pytest.approx((up - down) / (2 * small), rel=1e-5, abs=1e-6)
    np.testing.assert_array_equal(value, own.log_density(RESIDUAL, further, weight))


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("tau", [1e-6, 1e-5, 1e-3, 0.05, 1.0, 100.0])
@pytest.mark.parametrize("further", [None, 0.01])
def test_single_precision_is_double_precision(
    name: str, tau: float, further: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of data from within a hundredth to a thousand standard errors, scales from tiny to huge."""
    rng, prior = np.random.default_rng(1), PRIORS[name]
    v = rng.lognormal(-6, 2, 400)
    residual = np.sqrt(v) * 10 ** rng.uniform(-2, 3, (3, 400))
    more = None if further is None else np.full(residual.shape, further)
    single = Collapsed(np.ones(400), v, prior)
    monkeypatch.setattr(own_columns, "MIN_LAST_WEIGHT", np.inf)
    double = Collapsed(np.ones(400), v, prior)
    assert [each.number.name for each in (single, double)] == ["float64" if name == "laplace" else "float32", "float64"]
    weight = double.nodes.weights(np.full(3, np.log(tau * prior.tau_scale)))
    (value, slope), (expected, of_slope) = (own.with_slope(residual, more, weight) for own in (single, double))
    np.testing.assert_allclose(value, expected, rtol=1e-7, atol=2e-5)
    np.testing.assert_allclose(value.sum(axis=1), expected.sum(axis=1), rtol=0, atol=1e-4)
    np.testing.assert_allclose(slope, of_slope, rtol=2e-5)


def test_weights_that_vanish_in_single_precision_have_a_log_density() -> None:
    own = Collapsed(ENTRY, V, PRIORS["horseshoe"])
    assert np.isfinite(own.log_density(RESIDUAL, None, own.nodes.weights(np.log([1e-20, 1e-12])))).all()


@pytest.mark.parametrize(("prior", "v"), [(CoefficientPrior(0.05, local_df=30.0), 0.1), (PRIORS["horseshoe"], 1e-20)])
def test_single_precision_is_for_heavy_tails_and_common_numbers(prior: CoefficientPrior, v: float) -> None:
    assert Collapsed(np.ones(2), np.full(2, v), prior).number == np.float64


def test_nodes_are_drawn_from_their_conditional_law() -> None:
    own, size = Collapsed(ENTRY, V, PRIORS["horseshoe"]), 20_000
    weight = own.nodes.weights(np.full(size, LOG_TAU[1]))
    likelihood = own.likelihood(np.repeat(RESIDUAL[1:], size, axis=0), None).copy()
    node = own.draw(likelihood, weight, np.random.default_rng(1))
    share = weight[0, :, None] * likelihood[0]
    share /= share.sum(axis=0)
    for row in range(len(V)):
        found = np.bincount(node[:, row], minlength=len(share)) / size
        assert np.abs(found - share[:, row]).max() < 4.5 * np.sqrt(0.25 / size)


def test_far_data_do_not_underflow() -> None:
    own = Collapsed(np.ones(2), np.full(2, 1e-8), CoefficientPrior(1e-4, slab=0.01))
    density, slope = own.with_slope(np.array([[0.0, 5.0]]), None, own.nodes.weights(np.log([1e-4])))
    assert np.isfinite(density).all()
    assert slope[0, 1] == pytest.approx(-5.0 / 1e-4, rel=0.01)  # that of the slab


def test_ratios_below_the_lowest_are_nothing_and_no_others_change() -> None:
    """Sums of products of small numbers and small weights would leave the range of full precision."""
    residual = np.array([[0.01, 0.4, 3.0, 0.2], [0.02, 0.1, 0.3, 40.0]])
    own = Collapsed(np.ones(4), np.array([1e-4, 1e-4, 1e-4, 1e-3]), PRIORS["horseshoe"])
    _, gain, _, log_gain = own._known
    log_ratio = (residual[:, None] ** 2).astype(own.number) * gain + log_gain
    below = log_ratio <= own_columns.LOWEST[own.number]
    assert 0 < below.sum() < below.size / 2
    likelihood = own.likelihood(residual, None)
    assert not likelihood[below].any()
    np.testing.assert_allclose(likelihood[log_ratio > -60.0], np.exp(log_ratio[log_ratio > -60.0]), rtol=1e-5)
    near = own.likelihood(residual[:, :1].repeat(4, axis=1), None)
    np.testing.assert_allclose(near[..., 0], np.exp(log_ratio[..., 0])[[0, 1]], rtol=1e-5)


def test_nodes_without_own_columns() -> None:
    own = Collapsed(np.zeros(2), np.array([0.1, 0.2]), PRIORS["horseshoe"])
    assert own.nodes.log_free[0] == pytest.approx(np.log(0.01 * LARGEST_ERROR))
    found = own.log_density(np.ones((1, 2)), None, own.nodes.weights(np.zeros(1)))
    np.testing.assert_allclose(found[0], stats.norm.logpdf(1.0, 0.0, np.sqrt([0.1, 0.2])) + 0.5 * np.log(2 * np.pi))


def test_layers_take_columns_apart() -> None:
    seen = np.array([[1.0, 0, 0, 1, 0], [0, 2, 0, 0, 1], [0, 0, 0, 0, 0]])
    first, second = layers(seen)
    assert (first.at.tolist(), first.row.tolist(), first.entry.tolist()) == ([3, 4], [0, 1], [1.0, 1.0])
    assert (second.at.tolist(), second.row.tolist(), second.entry.tolist()) == ([0, 1], [0, 1], [1.0, 2.0])
    assert layers(np.zeros((3, 0))) == []
