"""Chains side by side, of learned scales and of the noise that makes effects of them.

Steps are elliptical slices (Murray, Adams and MacKay 2010, arXiv:1001.0175): a height under the density, an ellipse through the
state, and a bracket of its angles that shrinks towards the state until a point lies above the height. There is nothing to tune.
A step of the scales costs one Cholesky factor for every point that is tried; so most of them are made under an emulator of the
density, and accepted or not as the density itself says (delayed acceptance, Christen and Fox 2005, doi:10.1198/106186005X76983):
one factor for a point that is nearly independent of the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed.crossed.emulator import Emulator
from bayesgroups.inference.collapsed.crossed.site_posterior import Given, Noise, SitePosterior

MAX_TRIES = 60
"""Tries of a step, after which a chain stays: the bracket of its angle has shrunk to nothing long before."""

LogRatio = Callable[[FloatArray], FloatArray]
"""Log likelihood of the counts over that of their sites, at predictors (draw, row), (draw,)."""
Above = Callable[[IntArray, FloatArray], NDArray[np.bool_]]
"""Whether the points of some chains at angles (chain, 1) lie above their heights."""


class Ellipses(NamedTuple):
    """Normal distribution of the learned numbers that ellipses are drawn from; ``root`` is a lower Cholesky factor."""

    centre: FloatArray
    root: FloatArray

    def draw(self, number: int, rng: np.random.Generator) -> FloatArray:
        """Independent draws, (draw, parameter)."""
        return np.asarray(self.centre + rng.standard_normal((number, len(self.centre))) @ self.root.T)

    def log_excess(self, u: FloatArray) -> FloatArray:
        """Log density of the standard normal prior over that of this distribution, up to a constant."""
        standardised = np.linalg.solve(self.root, (u - self.centre).T)
        return np.asarray(0.5 * (standardised**2).sum(axis=0) - 0.5 * (u**2).sum(axis=1), dtype=np.float64)


class State(NamedTuple):
    """Learned numbers of every chain, the noise, and what follows from both."""

    u: FloatArray
    noise: Noise
    given: Given
    centre: FloatArray
    """Mean of the rows given u, (chain, row)."""
    deviation: FloatArray
    """What the noise adds to the rows."""
    log_ratio: FloatArray

    def put(self, chains: IntArray, tried: State, rows: NDArray[np.bool_]) -> None:
        """Replace the state of some chains by some rows of another, in place; the noise stays."""
        for name in ("u", "centre", "deviation", "log_ratio"):
            getattr(self, name)[chains] = getattr(tried, name)[rows]
        for part, other in zip(self.given, tried.given, strict=True):
            part[chains] = other[rows]


@dataclass(frozen=True)
class SliceChains:
    """Steps of all chains; without ``log_ratio`` the observations are normal themselves, and the noise plays no part."""

    posterior: SitePosterior
    log_ratio: LogRatio | None
    rng: np.random.Generator
    history: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    """Every point that was tried, and its log marginal likelihood."""

    def start(self, u: FloatArray) -> State:
        """States at learned numbers (chain, parameter), with fresh noise."""
        return self._state(u, self.posterior.noise(len(u), self.rng))

    def move_scales(self, state: State, ellipses: Ellipses) -> None:
        """One slice step of the learned numbers, in place."""
        number = len(state.u)
        height = self._density(state, ellipses) + np.log(self.rng.random(number))
        offset, direction = state.u - ellipses.centre, ellipses.draw(number, self.rng) - ellipses.centre

        def above(chains: IntArray, angle: FloatArray) -> NDArray[np.bool_]:
            u = ellipses.centre + np.cos(angle) * offset[chains] + np.sin(angle) * direction[chains]
            tried = self._state(u, state.noise.at(chains))
            accepted = self._density(tried, ellipses) > height[chains]
            state.put(chains[accepted], tried, accepted)
            return accepted

        _shrink(number, above, self.rng)

    def move_scales_by(self, emulator: Emulator, state: State, sequence: tuple[Ellipses, ...]) -> None:
        """Slice steps under an emulator, in place, the whole accepted or not.

        The sequence reads the same backwards, so that a path is as likely as its reverse.
        """
        u = state.u.copy()
        for ellipses in sequence:
            _emulated_step(u, emulator, ellipses, self.rng)
        tried = self._state(u, state.noise)
        gain = (tried.given.log_marginal + tried.log_ratio - emulator(u)) - (
            state.given.log_marginal + state.log_ratio - emulator(state.u)
        )
        accepted = np.log(self.rng.random(len(u))) < gain
        state.put(np.flatnonzero(accepted), tried, accepted)

    def move_noise(self, state: State) -> None:
        """One slice step of the noise, in place: the points of an ellipse of noises need no further factor."""
        if self.log_ratio is None:
            return
        number, log_ratio = len(state.u), self.log_ratio
        fresh = self.posterior.noise(number, self.rng)
        deviation, _ = self.posterior.deviation(fresh, state.given)
        height = state.log_ratio + np.log(self.rng.random(number))
        angles = np.zeros((number, 1))

        def above(chains: IntArray, angle: FloatArray) -> NDArray[np.bool_]:
            turned = np.cos(angle) * state.deviation[chains] + np.sin(angle) * deviation[chains]
            tried = log_ratio(state.centre[chains] + turned)
            accepted = tried > height[chains]
            state.log_ratio[chains[accepted]], angles[chains[accepted]] = tried[accepted], angle[accepted]
            return accepted

        _shrink(number, above, self.rng)
        cosine, sine = np.cos(angles), np.sin(angles)
        for mine, other in zip((*state.noise, state.deviation), (*fresh, deviation), strict=True):
            mine[:] = cosine * mine + sine * other

    def draw(self, state: State) -> tuple[FloatArray, FloatArray]:
        """Predictors (chain, row) and standard normal effects (chain, effect) of a state; noise that plays no part is drawn now."""
        noise = state.noise if self.log_ratio else self.posterior.noise(len(state.u), self.rng)
        deviation, effects = self.posterior.deviation(noise, state.given)
        return self.posterior.centre(state.given) + deviation, self.posterior.effects(state.given) + effects

    def _state(self, u: FloatArray, noise: Noise) -> State:
        given = self.posterior.given(u)
        self.history.append((u, given.log_marginal))
        if self.log_ratio is None:
            nothing = np.zeros((len(u), 0))
            return State(u, noise, given, nothing, nothing, np.zeros(len(u)))
        centre, deviation = self.posterior.centre(given), self.posterior.deviation(noise, given)[0]
        return State(u, noise, given, centre, deviation, self.log_ratio(centre + deviation))

    def _density(self, state: State, ellipses: Ellipses) -> FloatArray:
        density = state.given.log_marginal + state.log_ratio + ellipses.log_excess(state.u)
        return np.where(np.isnan(density), -np.inf, density)


def _emulated_step(u: FloatArray, emulator: Emulator, ellipses: Ellipses, rng: np.random.Generator) -> None:
    """One slice step under an emulator, in place."""
    height = emulator(u) + ellipses.log_excess(u) + np.log(rng.random(len(u)))
    offset, direction = u - ellipses.centre, ellipses.draw(len(u), rng) - ellipses.centre

    def above(chains: IntArray, angle: FloatArray) -> NDArray[np.bool_]:
        tried = ellipses.centre + np.cos(angle) * offset[chains] + np.sin(angle) * direction[chains]
        accepted: NDArray[np.bool_] = emulator(tried) + ellipses.log_excess(tried) > height[chains]
        u[chains[accepted]] = tried[accepted]
        return accepted

    _shrink(len(u), above, rng)


def _shrink(number: int, above: Above, rng: np.random.Generator) -> None:
    """Angles of all chains, drawn from brackets that shrink towards 0 until a point lies above."""
    angle = 2 * np.pi * rng.random(number)
    low, high, chains = angle - 2 * np.pi, angle.copy(), np.arange(number)
    for _ in range(MAX_TRIES):
        chains = chains[~above(chains, angle[chains, None])]
        if not len(chains):
            return
        last = angle[chains]
        low[chains] = np.where(last < 0, last, low[chains])
        high[chains] = np.where(last < 0, high[chains], last)
        angle[chains] = low[chains] + (high[chains] - low[chains]) * rng.random(len(chains))
