"""The blocked Gibbs sampler: numerical integration, the prior, redundant columns, its gate."""

from __future__ import annotations

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import short_chains
from bayesgroups.inference.gibbs import Chains, CoefficientDraws
from bayesgroups.inference.scale_mixtures import CoefficientPrior

PRIORS = [
    CoefficientPrior(0.05),
    CoefficientPrior(0.3, slab=0.5, local_df=1.0),
    CoefficientPrior(0.35, "laplace"),
]
NAMES = ["horseshoe", "half-cauchy", "laplace"]


def study(seed: int, effect: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """32 subgroups of two attributes of four levels and one of two, 49 columns; one subgroup may be empty."""
    rng = np.random.default_rng(seed)
    levels = np.stack(np.meshgrid(range(4), range(4), range(2), indexing="ij"), axis=-1).reshape(-1, 3)
    indicators = [levels[:, at] == level for at, size in enumerate((4, 4, 2)) for level in range(size)]
    x = np.column_stack([*indicators, rng.standard_normal((32, 7)), np.eye(32)]).astype(np.float64)
    count = rng.poisson(rng.dirichlet(np.full(32, 0.5)) * 5000)
    v = 0.8 / np.where(count > 0, count, np.nan)
    return x, -0.4 + effect * x[:, 0] + 0.5 * effect * x[:, 9] + np.sqrt(v) * rng.standard_normal(32), v


def sample(
    x: FloatArray, z: FloatArray, v: FloatArray, prior: CoefficientPrior, seed: int, draws: int = 250, thin: int = 1
) -> CoefficientDraws:
    return Chains(x, z, v, prior, np.random.default_rng(seed)).sample(draws, thin)


def prior_draws(prior: CoefficientPrior, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Global scale and one coefficient, straight from the definition."""
    if prior.kind == "laplace":
        tau = prior.tau_scale * np.abs(rng.standard_normal(size))
        return tau, rng.laplace(0.0, tau)
    tau = prior.tau_scale * np.abs(rng.standard_cauchy(size))
    local = np.abs(rng.standard_t(prior.local_df, size))
    return tau, rng.standard_normal(size) / np.sqrt((tau * local) ** -2 + prior.slab**-2)


@pytest.mark.parametrize("prior", PRIORS, ids=NAMES)
def test_without_data_there_is_the_prior(prior: CoefficientPrior) -> None:
    nothing = np.full(3, np.nan)
    found = sample(np.eye(3), nothing, nothing, prior, 4, thin=4)
    tau, beta = prior_draws(prior, 4000, np.random.default_rng(5))
    assert stats.ks_2samp(found.tau.ravel()[::4], tau).pvalue > 1e-3
    assert stats.ks_2samp(found.beta[..., 0].ravel()[::4], beta).pvalue > 1e-3
    assert stats.kstest(found.intercept.ravel(), stats.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize("prior", PRIORS, ids=NAMES)
def test_one_coefficient_is_as_integrated_numerically(prior: CoefficientPrior) -> None:
    x, z, v = np.array([[1.0], [0.0], [1.0]]), np.array([0.9, 0.1, 0.6]), np.array([0.05, 0.02, 0.1])
    axis = np.linspace(-9, 9, 361)
    point = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    variances = prior.variance(np.log(prior.tau_scale) + point.sum(axis=1))
    sums = np.ones((3, 3)) + np.diag(v)
    covariances = sums + variances[:, None, None] * np.outer(x, x)
    value = prior.log_tau(point[:, 0] + np.log(prior.tau_scale)) + prior.log_local(point[:, 1])
    value = value - 0.5 * (np.linalg.slogdet(covariances)[1] + (np.linalg.inv(covariances) @ z) @ z)
    mass = np.exp(value - value.max())
    mass /= mass.sum()
    # Given the scale the coefficient has a normal law; its mean and second moment, averaged over the grid.
    precision = np.empty((len(point), 2, 2))
    columns = np.column_stack([np.ones(3), x])
    precision[:] = (columns.T / v) @ columns + np.diag([1.0, 0.0])
    precision[:, 1, 1] += 1 / np.maximum(variances, 1e-24)
    covariance = np.linalg.inv(precision)
    mean = covariance @ (columns.T @ (z / v))
    expected = mass @ mean
    spread = np.sqrt(mass @ (mean**2 + np.diagonal(covariance, axis1=1, axis2=2)) - expected**2)
    found = sample(x, z, v, prior, 2, draws=500)
    drawn = np.stack([found.intercept, found.beta[..., 0]])
    error = spread / np.sqrt(array_stats.ess(drawn, 1, 2, method="mean"))
    assert np.abs((drawn.mean(axis=(1, 2)) - expected) / error).max() < 4.5
    assert drawn.std(axis=(1, 2)) / spread == pytest.approx(1, abs=0.08)
    cumulative = np.cumsum(mass.reshape(361, 361).sum(axis=1))
    for share in (0.25, 0.5, 0.75):
        middle = np.interp(share, cumulative, axis)
        below = (np.log(found.tau / prior.tau_scale) < middle).mean()
        assert below == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize(
    ("prior", "effect"), [(CoefficientPrior(0.0027), 0.3), (PRIORS[2], 0.0)], ids=["horseshoe", "laplace"]
)
def test_the_gate_is_passed_with_redundant_columns(prior: CoefficientPrior, effect: float) -> None:
    x, z, v = study(1, effect)
    found = sample(x, z, v, prior, 2)
    mu = found.intercept[..., None] + found.beta @ x.T
    every = np.concatenate([np.moveaxis(mu, -1, 0), np.moveaxis(found.beta, -1, 0), [found.tau, found.intercept]])
    assert short_chains.mixing(every, 4).passed


def test_two_explanations_of_one_difference_are_both_found() -> None:
    """Either level of an attribute may be the one that differs: chains go to and fro between the two."""
    x = np.column_stack([np.arange(8) < 4, np.arange(8) >= 4]).astype(np.float64)
    z = np.where(np.arange(8) < 4, 0.8, -0.8)
    prior = CoefficientPrior(1e-3, local_df=1.0)
    found = sample(x, z, np.full(8, 1e-3), prior, 1)
    first = np.abs(found.beta[..., 0]) > np.abs(found.beta[..., 1])
    assert np.abs(first.reshape(4, -1).mean(axis=1) - 0.5).max() < 0.15


def test_the_same_seed_gives_the_same_bytes() -> None:
    x, z, v = study(2, 0.1)
    one, two = (sample(x, z, v, PRIORS[0], 9, draws=8) for _ in range(2))
    assert one.beta.tobytes() == two.beta.tobytes()
    assert one.tau.tobytes() == two.tau.tobytes()


def test_chains_that_go_on_keep_every_second_draw() -> None:
    rising = CoefficientDraws(*(np.arange(4.0).reshape(1, 4, *(1,) * more) for more in (0, 0, 1)))
    later = CoefficientDraws(*(part + 4 for part in (rising.intercept, rising.tau, rising.beta)))
    assert rising.followed_by(later).intercept.tolist() == [[1.0, 3.0, 5.0, 7.0]]
    x, z, v = study(2, 0.1)
    at_once, in_parts = (Chains(x, z, v, PRIORS[0], np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(
        at_once.sample(8).beta, np.concatenate([in_parts.sample(4).beta for _ in range(2)], axis=1)
    )
