"""Hamiltonian Monte Carlo for densities that are nearly standard normal, evaluated for all chains at once.

A standard normal density alone turns point and momentum about each other, which is done exactly; the slope that is left is a small
push between two turns (Shahbaba, Lan, Johnson and Neal 2014, doi:10.1007/s11222-012-9373-1). Steps are then as long as what is left
allows, however many coordinates there are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.hamiltonian import LogDensity, State, choose

MAX_STEPS = 24
MAX_STEP = 1.0
"""Longest turn of one step, beyond which a slope twice as steep is no longer followed."""


def step(
    log_density: LogDensity,
    slope: Callable[[FloatArray], FloatArray],
    state: State,
    size: float,
    rng: np.random.Generator,
    lengths: tuple[float, float],
) -> tuple[State, FloatArray]:
    """One transition of every chain, and the probabilities of acceptance (chain,).

    ``size`` is the turn of a step, from 4/5 to 6/5 of which are taken, and ``lengths`` are the shortest and the longest turn of a
    trajectory. ``slope`` gives gradients alone, at less cost than with the density. A density that is not finite is never accepted.
    """
    chains = len(state.value)
    steps = int(np.clip(np.ceil(rng.uniform(*lengths) / size), 1, MAX_STEPS))
    turn = size * rng.uniform(0.8, 1.2, (chains, 1))
    cos, sin, half = np.cos(turn), np.sin(turn), 0.5 * turn
    momentum = rng.standard_normal(state.point.shape)
    energy = state.value - 0.5 * (momentum**2).sum(axis=1)
    point, value, gradient = state.point.copy(), state.value, state.gradient
    turned, scratch = np.empty_like(point), np.empty_like(point)
    with np.errstate(all="ignore"):
        momentum += half * (gradient + point)
        for left in range(steps - 1, -1, -1):
            np.multiply(cos, point, out=turned)
            turned += np.multiply(sin, momentum, out=scratch)
            momentum *= cos
            momentum -= np.multiply(sin, point, out=scratch)
            point, turned = turned, point
            if left:
                push = slope(point)
            else:
                value, gradient = log_density(point)
                push = gradient
            np.add(push, point, out=scratch)
            scratch *= turn if left else half
            momentum += scratch
        change = value - 0.5 * (momentum**2).sum(axis=1) - energy
        acceptance = np.where(np.isfinite(change), np.exp(np.minimum(change, 0.0)), 0.0)
    moved = rng.random(chains) < acceptance
    return choose(moved, State(point, value, gradient), state), acceptance
