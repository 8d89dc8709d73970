"""Blocked Gibbs sampling of a normal linear model whose coefficients have scales of their own.

    z_a ~ Normal(intercept + x_a . beta, v_a),       intercept ~ Normal(0, 1)
    beta_j ~ Normal(0, s_j),   1 / s_j^2 = 1 / (tau local_j)^2 + 1 / slab^2

    horseshoe   local_j ~ half-t(local_df),          tau ~ half-Cauchy(tau_scale)
    laplace     local_j^2 ~ exponential with mean 2, tau ~ half-normal(tau_scale), no slab: beta_j ~ Laplace(0, tau)

in units of the metric's scale. Two blocks: the scales (tau, local) with intercept and coefficients integrated out, by
Hamiltonian Monte Carlo and swaps of two local scales; then intercept and coefficients, exactly. The first block does
not look at the second, so coefficients mix as well as the scales do, and the scales as well as if there were no
coefficients.

The horseshoe is the regularised one of Piironen and Vehtari with a fixed slab, so coefficients are normal given scales
with the variance s_j^2 and its normalising constant. Nishimura and Suchard's form leaves out that constant, which
keeps the updates of local scales inverse-gamma; it is a different prior, with lighter tails of the scales. With the
coefficients integrated out nothing is gained by it.

References
----------
Piironen and Vehtari (2017), doi:10.1214/17-EJS1337SI. Nishimura and Suchard (2023), doi:10.1214/22-BA1308.
Park and Casella (2008), doi:10.1198/016214508000000337.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import hamiltonian
from bayesgroups.inference.hamiltonian import State
from bayesgroups.inference.scale_posterior import Design, design, draw_coefficients, log_likelihood

Prior = Literal["horseshoe", "laplace"]

SWAPS = 2
"""Swaps of two local scales proposed after each transition."""
LAST_CHAIN_SCALE = 0.3
"""Global scale from which the last chain begins: a third of the metric's scale, or of the prior if that is larger."""


@dataclass(frozen=True)
class CoefficientPrior:
    """Prior of the coefficients, in units of the metric's scale; the module states it.

    ``tau_scale`` is the scale of the global scale; the standard deviation ``slab`` and the degrees of freedom
    ``local_df`` of the local scales are those of the horseshoe.
    """

    tau_scale: float
    kind: Prior = "horseshoe"
    slab: float = 1.0
    local_df: float = 3.0


@dataclass(frozen=True)
class CoefficientDraws:
    """Draws ``intercept`` and ``tau`` (chain, draw) and ``beta`` (chain, draw, column)."""

    intercept: FloatArray
    tau: FloatArray
    beta: FloatArray


@dataclass(frozen=True)
class _Swaps:
    """Pairs of columns (pair,) and their cumulative probabilities."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    cumulative: FloatArray


def sample(
    x: FloatArray, z: FloatArray, v: FloatArray, prior: CoefficientPrior, rng: np.random.Generator, *,
    chains: int = 4, draws: int = 1000, tune: int = 300, thin: int = 1,
) -> CoefficientDraws:  # fmt: skip
    """Markov chains whose law is the posterior of intercept, coefficients and global scale.

    ``x`` (subgroup, column) has no intercept; redundant columns and columns of zeros are fine. Estimates, from the prior
    mean of the intercept on, and their positive sampling variances are in units of the metric's scale and of its square,
    NaN where there is none. ``tune`` transitions of the warm-up come before the draws that are kept, ``thin`` transitions
    make a draw. Chains begin apart, from the scale of the prior to `LAST_CHAIN_SCALE`.

    >>> z, v = np.array([0.1, 0.1, 0.1, 0.9]), np.full(4, 0.01)
    >>> chains = sample(np.eye(4), z, v, CoefficientPrior(0.05), np.random.default_rng(1), draws=300)
    >>> chains.beta.mean(axis=(0, 1)).round(1).tolist()
    [-0.0, -0.0, -0.0, 0.7]
    """
    data, swaps = design(x, z, v), _swaps(x)

    def log_density(point: FloatArray) -> tuple[FloatArray, FloatArray]:
        return log_posterior(data, prior, point)

    def swap(state: State) -> State:
        if swaps is not None:
            for _ in range(SWAPS):
                state = _swapped(log_density, swaps, state, rng)
        return state

    columns = x.shape[1]
    state = hamiltonian.start(log_density, _beginning(prior, chains, columns, rng))
    state, tuning = hamiltonian.warm_up(log_density, state, tune, rng, between=swap)
    intercept, tau, beta = np.empty((chains, draws)), np.empty((chains, draws)), np.empty((chains, draws, columns))
    for draw in range(draws):
        for _ in range(thin):
            state, _ = hamiltonian.step(log_density, state, tuning, rng)
            state = swap(state)
        tau[:, draw] = prior.tau_scale * np.exp(state.point[:, 0])
        scales, _ = coefficient_scales(prior, state.point)
        intercept[:, draw], beta[:, draw] = draw_coefficients(data, scales, rng)
    return CoefficientDraws(intercept, tau, beta)


def coefficient_scales(prior: CoefficientPrior, point: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations s (chain, column) of the coefficients, and d log s / d log local, which the slab makes smaller than 1.

    A point (chain, 1 + column) is log(tau / tau_scale), then log(local).

    >>> scales, slope = coefficient_scales(CoefficientPrior(1.0, slab=1.0), np.array([[0.0, 0.0, 20.0]]))
    >>> scales.round(3).tolist(), slope.round(3).tolist()
    ([[0.707, 1.0]], [[0.5, 0.0]])
    """
    log_free = np.log(prior.tau_scale) + point[:, :1] + point[:, 1:]
    if prior.kind == "laplace":
        return np.exp(log_free), np.ones_like(log_free)
    beyond = np.exp(2 * (log_free - np.log(prior.slab)))
    slope = 1 / (1 + beyond)
    return prior.slab * np.sqrt(beyond * slope), slope


def log_posterior(data: Design, prior: CoefficientPrior, point: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log posterior density of log(tau / tau_scale) and log(local), up to a constant, (chain,), and its gradient."""
    scales, slope = coefficient_scales(prior, point)
    likelihood, score = log_likelihood(data, scales)
    gradient = np.empty_like(point)
    gradient[:, 1:] = score * slope
    gradient[:, 0] = gradient[:, 1:].sum(axis=1)
    tau, local = point[:, 0], point[:, 1:]
    tau_square, local_square = np.exp(2 * tau), np.exp(2 * local)
    if prior.kind == "laplace":
        density = tau - 0.5 * tau_square + (2 * local - 0.5 * local_square).sum(axis=1)
        gradient[:, 0] += 1 - tau_square
        gradient[:, 1:] += 2 - local_square
    else:
        share, power = local_square / prior.local_df, prior.local_df + 1
        density = tau - np.log1p(tau_square) + (local - 0.5 * power * np.log1p(share)).sum(axis=1)
        gradient[:, 0] += 1 - 2 * tau_square / (1 + tau_square)
        gradient[:, 1:] += 1 - power * share / (1 + share)
    return likelihood + density, gradient


def _beginning(prior: CoefficientPrior, chains: int, columns: int, rng: np.random.Generator) -> FloatArray:
    point = 0.5 * rng.standard_normal((chains, 1 + columns))
    point[:, 0] = (
        max(np.log(LAST_CHAIN_SCALE / prior.tau_scale), 1.0) * (np.arange(chains) + rng.random(chains)) / chains
    )
    return point


def _swaps(x: FloatArray) -> _Swaps | None:
    """Pairs of columns that can stand for each other: two levels of an attribute fit alike with their scales swapped.

    A pair is proposed in proportion to the squared correlation of its columns; pairs that occur in one subgroup alone
    are left out.
    """
    shared = np.flatnonzero((x != 0).sum(axis=0) > 1)
    if len(shared) < 2:
        return None
    centred = x[:, shared] - x[:, shared].mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    centred /= np.where(length > 0, length, 1.0)
    first, second = np.triu_indices(len(shared), 1)
    weight = (centred.T @ centred)[first, second] ** 2 + 1 / len(shared) ** 2
    return _Swaps(1 + shared[first], 1 + shared[second], np.cumsum(weight / weight.sum()))


def _swapped(log_density: hamiltonian.LogDensity, swaps: _Swaps, state: State, rng: np.random.Generator) -> State:
    """Propose a swap in every chain; the prior of the local scales is the same either way."""
    chains = np.arange(len(state.value))
    pair = np.minimum(np.searchsorted(swaps.cumulative, rng.random(len(chains))), len(swaps.first) - 1)
    first, second = swaps.first[pair], swaps.second[pair]
    point = state.point.copy()
    point[chains, first], point[chains, second] = state.point[chains, second], state.point[chains, first]
    with np.errstate(all="ignore"):
        proposed = hamiltonian.start(log_density, point)
        moved = np.log(rng.random(len(chains))) < proposed.value - state.value
    return hamiltonian.choose(moved, proposed, state)
