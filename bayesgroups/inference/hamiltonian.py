"""Hamiltonian Monte Carlo in NumPy, for densities that cost little and are evaluated for all chains at once.

Step sizes and scales of the coordinates are tuned in a warm-up that is thrown away; after it the transition kernel is
fixed. Trajectories have a random length, so that none returns to where it began.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray

LogDensity = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From points (chain, coordinate) to log densities (chain,) and gradients (chain, coordinate)."""
Move = Callable[["State"], "State"]
"""Another transition that leaves the same density invariant."""

TARGET_ACCEPTANCE = 0.85
"""Mean acceptance that the step size is tuned to, where coordinates are few and their transitions are cheap."""
MEAN_LENGTH = 1.4
"""Mean length of a trajectory in standard deviations; a quarter turn of a normal density is pi / 2."""
MAX_STEPS = 24
FIRST_STEP = 0.5
WINDOWS = (0.1, 0.25, 0.6)
"""Shares of the warm-up after which the scales of the coordinates are estimated anew, from what was seen since the last."""
GAIN = 2.0
"""Change of the logarithm of the step size by that of the mean acceptance, at first."""


@dataclass(frozen=True)
class State:
    """State of the chains: ``point`` (chain, coordinate), ``value`` (chain,) and ``gradient`` (chain, coordinate)."""

    point: FloatArray
    value: FloatArray
    gradient: FloatArray


@dataclass(frozen=True)
class Tuning:
    """Result of the warm-up: a step size, and a standard deviation per coordinate."""

    step: float
    spread: FloatArray


def start(log_density: LogDensity, point: FloatArray) -> State:
    """The state at a point (chain, coordinate)."""
    return State(point, *log_density(point))


def step(
    log_density: LogDensity,
    state: State,
    tuning: Tuning,
    rng: np.random.Generator,
    lengths: tuple[float, float] = (0.0, 2 * MEAN_LENGTH),
    slope: Callable[[FloatArray], FloatArray] | None = None,
) -> tuple[State, FloatArray]:
    """One Hamiltonian transition of every chain, and the probabilities of acceptance (chain,).

    ``lengths`` are the shortest and the longest of a trajectory, in standard deviations. ``slope`` gives gradients alone, at less
    cost than with the density. A density that is not finite is never accepted. Neal (2011), "MCMC using Hamiltonian dynamics",
    arXiv:1206.1901.
    """
    chains = len(state.value)
    length = lengths[0] + (lengths[1] - lengths[0]) * rng.random()
    steps = int(np.clip(np.ceil(length / tuning.step), 1, MAX_STEPS))
    size = (tuning.step * rng.uniform(0.8, 1.2, chains))[:, None] * tuning.spread
    momentum = rng.standard_normal(state.point.shape)
    point, value, gradient = state.point.copy(), state.value, state.gradient
    energy = value - 0.5 * (momentum**2).sum(axis=1)
    half = 0.5 * size
    with np.errstate(all="ignore"):
        for left in range(steps - 1, -1, -1):
            momentum += half * gradient
            point += size * momentum
            if left and slope is not None:
                gradient = slope(point)
            else:
                value, gradient = log_density(point)
            momentum += half * gradient
        change = value - 0.5 * (momentum**2).sum(axis=1) - energy
        acceptance = np.where(np.isfinite(change), np.exp(np.minimum(change, 0.0)), 0.0)
    moved = rng.random(chains) < acceptance
    return choose(moved, State(point, value, gradient), state), acceptance


def choose(moved: NDArray[np.bool_], proposed: State, state: State) -> State:
    """The proposed state of the chains that move, the old one of the others."""
    column = moved[:, None]
    return State(
        np.where(column, proposed.point, state.point),
        np.where(moved, proposed.value, state.value),
        np.where(column, proposed.gradient, state.gradient),
    )


def warm_up(
    log_density: LogDensity, state: State, iterations: int, rng: np.random.Generator, *, between: Move
) -> tuple[State, Tuning]:
    """State where the mass is after 1 or more transitions, and the step size and scales tuned on the way.

    ``between`` is a further transition after each.
    """
    edges = {int(share * iterations) for share in WINDOWS}
    size, scales, seen = FIRST_STEP, spread([state]), []
    for iteration in range(iterations):
        state, acceptance = step(log_density, state, Tuning(size, scales), rng)
        state = between(state)
        size = tuned(size, acceptance, TARGET_ACCEPTANCE, gain(iteration))
        seen.append(state)
        if iteration + 1 in edges:
            scales, seen = spread(seen), []
    return state, Tuning(size, scales)


def gain(transition: int) -> float:
    """Gain of the tuning after so many transitions, which falls with their root."""
    return float(GAIN / np.sqrt(1 + transition))


def tuned(size: float, acceptance: FloatArray, target: float, gain: float) -> float:
    """Step size that follows the mean acceptance of all chains: Robbins and Monro (1951), doi:10.1214/aoms/1177729586.

    >>> tuned(0.5, np.array([0.9, 0.7]), 0.8, gain(0)), tuned(0.5, np.ones(2), 0.8, gain(0)) > 0.5
    (0.5, True)
    """
    return size * float(np.exp(gain * (acceptance.mean() - target)))


def spread(states: list[State]) -> FloatArray:
    """Standard deviations of the coordinates, from how points and gradients at them vary over states and chains.

    Of a normal density the ratio of both is its variance wherever the chains are, so that they need not have come to its mass
    (Seyboldt, Carlson and Carpenter 2026, arXiv:2603.18845). 1 where gradients do not vary.
    """
    points = np.concatenate([each.point for each in states])
    gradients = np.concatenate([each.gradient for each in states])
    with np.errstate(all="ignore"):
        variance = points.std(axis=0) / gradients.std(axis=0)
    return np.asarray(np.sqrt(np.where(np.isfinite(variance) & (variance > 0), variance, 1.0)), dtype=np.float64)
