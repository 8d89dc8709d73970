"""Hamiltonian Monte Carlo for densities that are nearly standard normal, evaluated for all chains at once.

A standard normal density alone turns point and momentum about each other, which is done exactly; the slope that is left is a small
push between two turns (Shahbaba, Lan, Johnson and Neal 2014, doi:10.1007/s11222-012-9373-1). Steps are then as long as what is left
allows, however many coordinates there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.hamiltonian import LogDensity, State, choose

MAX_STEPS = 24
MAX_STEP = 0.6
"""Longest turn of one step, beyond which the slope of a skewed density is no longer followed."""
QUARTER = np.pi / 2
WIDTH = 0.5
"""Half the range of the turns about those of a trajectory: after half a turn a normal density is where it began."""


def step(
    log_density: LogDensity,
    slope: Callable[[FloatArray], FloatArray],
    state: State,
    size: float,
    rng: np.random.Generator,
    quarters: Sequence[int],
    drifting: int,
) -> tuple[State, FloatArray]:
    """One transition of every chain, and the probabilities of acceptance (chain,).

    ``size`` is the longest turn of a step, of which 4/5 to 6/5 are taken; a trajectory is about one of ``quarters``, odd numbers
    of quarter turns. The first ``drifting`` coordinates go straight on between two pushes: those whose density given all others
    is much narrower than it is on its own. ``slope`` gives gradients alone, at less cost than with the density. A density that is
    not finite is never accepted.
    """
    chains = len(state.value)
    length = QUARTER * quarters[int(rng.integers(len(quarters)))] + rng.uniform(-WIDTH, WIDTH)
    steps = math.ceil(min(max(length / size, 1.0), MAX_STEPS))
    turn = min(size, length / steps) * rng.uniform(0.8, 1.2, (chains, 1))
    straight, turning = (np.s_[:, :drifting], 0.0, 1.0, turn), (np.s_[:, drifting:], 1.0, np.cos(turn), np.sin(turn))
    parts = (straight, turning) if drifting < state.point.shape[1] else (straight,)
    momentum = rng.standard_normal(state.point.shape)
    energy = state.value - 0.5 * (momentum**2).sum(axis=1)
    last, point, half = state.point, np.empty_like(state.point), 0.5 * turn
    with np.errstate(all="ignore"):
        for columns, normal, cos, sin in parts:
            at = last[columns]
            momentum[columns] += half * (state.gradient[columns] + normal * at)
            point[columns] = cos * at + sin * momentum[columns]
        # Two turns, one on and one back, differ by the push between them: no momentum is needed.
        pushes = [(columns, turn * sin, 2 * cos + normal * turn * sin) for columns, normal, cos, sin in parts]
        for taken in range(steps - 1):
            following = slope(point)
            if not taken:  # the arithmetic is in the precision of the slope
                kind = following.dtype
                last, point = last.astype(kind, copy=False), point.astype(kind, copy=False)
                pushes = [(columns, push.astype(kind), twice.astype(kind)) for columns, push, twice in pushes]
            for columns, push, twice in pushes:
                ahead = following[columns]
                ahead *= push
                ahead += twice * point[columns]
                ahead -= last[columns]
            last, point = point, following
        value, gradient = log_density(point)
        for columns, normal, cos, sin in parts:
            at = point[columns]
            momentum[columns] = (cos * at - last[columns]) / sin + half * (gradient[columns] + normal * at)
        change = value - 0.5 * (momentum**2).sum(axis=1) - energy
        acceptance = np.where(np.isfinite(change), np.exp(np.minimum(change, 0.0)), 0.0)
    moved = rng.random(chains) < acceptance
    return choose(moved, State(point, value, gradient), state), acceptance
