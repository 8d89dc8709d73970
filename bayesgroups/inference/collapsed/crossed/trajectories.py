"""Exact posteriors of crossed effects by Hamiltonian Monte Carlo along the directions of their spectrum.

Many short chains take their steps together. They run in four groups that start at one point each, and a group is laid out as one
chain: R-hat then compares groups of short chains (nested R-hat, Margossian et al. 2024, doi:10.1214/24-BA1453). Chains that do not
mix in their length look independent one after another; their means tell, see `bayesgroups.inference.short_chains`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import hamiltonian, rotations
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Likelihood
from bayesgroups.inference.collapsed.crossed.fitted_target import fitted
from bayesgroups.inference.collapsed.crossed.learned_coordinates import Learned
from bayesgroups.inference.collapsed.crossed.redrawn_scales import redrawn
from bayesgroups.inference.collapsed.crossed.spectral_design import Design, Kernel
from bayesgroups.inference.collapsed.crossed.spectral_target import Target, Values
from bayesgroups.inference.hamiltonian import State
from bayesgroups.inference.single_precision import in_single
from bayesgroups.report.posterior import CHAINS

Slope = Callable[[FloatArray], FloatArray]
"""From points (chain, coordinate) to gradients of the same shape."""
CHAINS_OF_A_GROUP = 16
MODE_ITERATIONS = 25
WARM_UP = ((5, 4), (8, 4), (8, 16), (12, 16))
"""Transitions after each of which the coordinates are fitted anew, and chains of a group that take them."""
LAST_WARM_UP, LAST_WARM_UP_OF_SMALL = 15, 60
"""Transitions after these, before the first draw; and where coordinates are few."""
REDRAWN_EVERY = 4
"""Draws for one of which learned values are drawn given the predictors too, where subgroups are many: long tails of standard
deviations of few levels have up to twice as many effective draws, for a twentieth of the time."""
REDRAWN = 30
"""Transitions of chains that did not mix or diverged before their coordinates are fitted to where they are then."""
SMALL_DIMENSION = 100
"""Number of coordinates up to which all drift, and chains take more transitions: their tails are longer, and steps cost little."""
THINNING_OF_SMALL = 2
"""Transitions for every draw where coordinates are few, at first: there are half as many effective draws again."""
QUARTERS = (1, 1, 3)
"""Quarter turns of a trajectory, at random: one for what is nearly normal, three for what follows a bent valley."""
LATER_QUARTERS = (1, 3)
"""The same of chains that go on for they do not mix."""
FIRST_QUARTERS = (1,)
"""The same as long as the coordinates are not yet fitted."""
START_SPREAD = 0.6
"""Standard deviation of the learned coordinates where groups start, about their mode."""
FIRST_STEP = 0.3
TARGET_ACCEPTANCE = 0.8
SMALLER = 0.5
"""Factor on the step size of chains that did not mix or diverged, every time."""
MAX_ERROR = 1e-2
"""Largest error of gradients in single precision, of coordinates in standard deviations, with which they lead trajectories."""
ROUNDING = 1e-12
"""Share of the variance of a level that is left at least, where its sum over all subgroups is nothing but the level."""


@dataclass(frozen=True)
class Draws:
    """Draws, groups of chains in turn: ``eta`` (chain, draw, part, subgroup), and others with dims (chain, draw, column)."""

    eta: FloatArray
    learned: FloatArray
    overall: FloatArray
    beta: FloatArray
    divergences: int

    def followed_by(self, later: Draws) -> Draws:
        """As many draws, every second one of these and of later ones of the same chains."""
        eta, learned, overall, beta = (
            np.concatenate([getattr(self, name), getattr(later, name)], axis=1)[:, 1::2]
            for name in ("eta", "learned", "overall", "beta")
        )
        return Draws(eta, learned, overall, beta, self.divergences + later.divergences)


@dataclass(frozen=True)
class Run:
    """Chains past their start, which go on from where they are."""

    target: Target
    state: State
    slope: Slope
    step: float
    rng: np.random.Generator
    quarters: Sequence[int] = QUARTERS
    smaller: float = 1.0
    """Step size over that of the last warm-up."""
    redraw: bool = False
    """True if learned values are drawn given the predictors after every transition."""

    @property
    def thinning(self) -> int:
        """Transitions for every draw that is kept, at first."""
        return THINNING_OF_SMALL if self.target.dimension <= SMALL_DIMENSION else 1

    def sample(self, draws: int, thin: int) -> tuple[Draws, Run]:
        """So many further draws at least, ``thin`` transitions for every one that is kept, and the run where they end."""
        state, divergences = self.state, 0
        each, design = -(-draws // (CHAINS * CHAINS_OF_A_GROUP)), self.target.design
        eta = np.empty((len(state.point), each, *design.residual.shape))  # the one part that is large
        kept: list[tuple[FloatArray, ...]] = []
        for place in range(each):
            for _ in range(thin):
                state, acceptance = _step(self.target, self.slope, state, self.step, self.rng, self.quarters)
                divergences += int((acceptance == 0).sum())  # energies that differ by more than 700
                if self.redraw or (self.target.design.large and place % REDRAWN_EVERY == 0):
                    state = _redrawn(self.target, state, self.rng)
            point = self.target.values(state.point)
            eta[:, place] = point.eta
            kept.append((point.scaled.values, _overall(point, design, self.rng), _beta(point, design)))
        learned, overall, beta = (np.stack(part, axis=1) for part in zip(*kept, strict=True))
        return Draws(eta, learned, overall, beta, divergences), replace(self, state=state)

    def longer(self) -> Run:
        """The same chains with longer trajectories."""
        return replace(self, quarters=LATER_QUARTERS)

    def again(self) -> Run:
        """Chains whose coordinates are fitted anew, with smaller steps.

        Learned values are drawn given the predictors too, on the way and from then on: chains may have kept to an account that
        is none.
        """
        target, points = fitted(self.target, redrawn(self.target, self.state.point, self.rng))
        state, _, step = _warm(target, points, self.step / self.smaller, REDRAWN, self.rng, redraw=True)
        target, points = fitted(target, redrawn(target, state.point, self.rng))
        state, slope, step = _warm(target, points, step, LAST_WARM_UP, self.rng, redraw=True)
        smaller = SMALLER * self.smaller
        return Run(target, state, slope, smaller * step, self.rng, smaller=smaller, redraw=True)


def run(design: Design, likelihood: Likelihood, eta: FloatArray, rng: np.random.Generator) -> Run:
    """Chains that are warm; ``eta`` (part, subgroup) are predictors to start from, such as logits of smoothed shares."""
    target = Target.around(design, likelihood, eta)
    target, mode = _mode(target)
    learned = target.learned.dimension
    start = np.tile(mode, (CHAINS, 1))
    start[:, :learned] += START_SPREAD * rng.standard_normal((CHAINS, learned))
    points, step = start, FIRST_STEP
    for transitions, number in WARM_UP:
        points = np.repeat(points, number * CHAINS // len(points), axis=0)
        state, _, step = _warm(target, points, step, transitions, rng, FIRST_QUARTERS)
        points = redrawn(target, state.point, rng) if design.large else state.point
        target, points = fitted(target, points, turned=number == CHAINS_OF_A_GROUP)
    last = LAST_WARM_UP_OF_SMALL if target.dimension <= SMALL_DIMENSION else LAST_WARM_UP
    return Run(target, *_warm(target, points, step, last, rng), rng)


def _step(
    target: Target, slope: Slope, state: State, step: float, rng: np.random.Generator, quarters: Sequence[int]
) -> tuple[State, FloatArray]:
    """One transition, learned values drifting, or all where coordinates are few."""
    drifting = target.dimension if target.dimension <= SMALL_DIMENSION else target.learned.dimension
    return rotations.step(target, slope, state, step, rng, quarters, drifting)


def _warm(
    target: Target,
    points: FloatArray,
    step: float,
    transitions: int,
    rng: np.random.Generator,
    quarters: Sequence[int] = QUARTERS,
    *,
    redraw: bool = False,
) -> tuple[State, Slope, float]:
    """Chains after some transitions, gradients that lead them, and their step size, which follows their mean acceptance.

    With ``redraw`` learned values are drawn anew after each.
    """
    state = hamiltonian.start(target, points)
    slope = _leading(target, state)
    for transition in range(transitions):
        state, acceptance = _step(target, slope, state, step, rng, quarters)
        step = hamiltonian.tuned(step, acceptance, TARGET_ACCEPTANCE, hamiltonian.gain(transition))
        step = min(step, rotations.MAX_STEP)
        if redraw:
            state = _redrawn(target, state, rng)
    return state, slope, step


def _redrawn(target: Target, state: State, rng: np.random.Generator) -> State:
    """Chains whose learned values are drawn given the predictors, where that can be done."""
    points = redrawn(target, state.point, rng)
    return state if points is state.point else hamiltonian.start(target, points)


def _leading(target: Target, state: State) -> Slope:
    """Gradients in single precision, or in double precision where the state shows that single does not do."""

    def slope(points: FloatArray) -> FloatArray:
        return single.slope(in_single(points))

    with np.errstate(all="ignore"):  # numbers that are too large for single precision are none in it
        single = in_single(target, but=Learned)
        error = np.abs(slope(state.point) - state.gradient).max()
    return slope if error < MAX_ERROR else target.slope


def _mode(target: Target) -> tuple[Target, FloatArray]:
    """Target that is fitted to the mode of its density, or the way there, and the mode in it."""
    from scipy.optimize import minimize

    def descent(point: FloatArray) -> tuple[float, FloatArray]:
        value, slope = target(point[None])
        bounded = np.isfinite(value[0]) and np.isfinite(slope).all()
        return (-float(value[0]), -slope[0]) if bounded else (np.inf, np.zeros_like(point))

    options = {"maxiter": MODE_ITERATIONS}
    with np.errstate(all="ignore"):
        point = minimize(descent, np.zeros(target.dimension), jac=True, method="L-BFGS-B", options=options).x
    target, points = fitted(target, point[None], turned=False)
    return target, points[0]


def _overall(point: Values, design: Design, rng: np.random.Generator) -> FloatArray:
    """Overall levels (draw, part): those of blocks, or drawn given the sums over all subgroups that they are a part of."""
    if not design.level:
        return np.concatenate([effect.values for effect in point.effects[: design.parts]], axis=1)
    number, variance = design.spectrum.combinations, design.level / design.spectrum.combinations
    covariance = np.zeros((len(point.eta), design.parts, design.parts))
    covariance[:, 0, 0] = point.made[0].variance[:, 0]
    if design.parts > 1:
        slope = point.slope[:, 0]
        covariance[:, 0, 1] = covariance[:, 1, 0] = slope * covariance[:, 0, 0]
        covariance[:, 1, 1] = slope * covariance[:, 0, 1] + point.made[1].variance[:, 0]
    inverse = np.linalg.inv(covariance)
    sums = np.stack([each[:, 0] for each in point.along], axis=1)
    mean = np.sqrt(number) * variance * (inverse @ sums[..., None])[..., 0]
    left = variance * (1 + ROUNDING) * np.eye(design.parts) - number * variance**2 * inverse
    noise = np.linalg.cholesky(left) @ rng.standard_normal((*sums.shape, 1))
    return np.asarray(mean + noise[..., 0])


def _beta(point: Values, design: Design) -> FloatArray:
    """Coefficients of covariates, (draw, column)."""
    levels = 0 if design.level else design.parts
    for block, effect in list(zip(design.blocks, point.effects, strict=True))[levels:]:
        if not isinstance(block.loading, Kernel):
            return effect.values
    return np.empty((len(point.eta), 0))
