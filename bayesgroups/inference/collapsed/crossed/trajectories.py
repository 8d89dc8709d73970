"""Exact posteriors of crossed effects by Hamiltonian Monte Carlo along the directions of their spectrum.

Many short chains take their steps together. They run in four groups that start at one point each, and a group is laid out as one
chain: R-hat then compares groups of short chains (nested R-hat, Margossian et al. 2024, doi:10.1214/24-BA1453). Chains that do not
mix in their length look independent one after another; their means tell, see `bayesgroups.inference.short_chains`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import hamiltonian
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Likelihood
from bayesgroups.inference.collapsed.crossed.spectral_design import Design, Kernel
from bayesgroups.inference.collapsed.crossed.spectral_target import Point, Target
from bayesgroups.inference.hamiltonian import State, Tuning
from bayesgroups.report.posterior import CHAINS

CHAINS_OF_A_GROUP = 16
MODE_ITERATIONS = 40
WARM_UP = (12, 15, 20)
"""Transitions after each of which the coordinates are fitted anew."""
LAST_WARM_UP = 20
"""Transitions after these, before the first draw."""
LENGTHS = (0.96, 3.84)
"""Shortest and longest trajectory, in standard deviations."""
FIRST_LENGTHS = (0.5, 1.5)
"""The same as long as the coordinates are not yet fitted."""
FIRST_STEP = 0.3
TARGET_ACCEPTANCE = 0.85
MAX_TURNED, MAX_TURNED_AGAIN = 200, 600
"""Directions up to which their xi are turned, and the same where chains did not mix without."""
GAIN = 2.0
"""Change of the logarithm of the step size by that of the mean acceptance, at first."""
START_SPREAD = 1.5
"""Standard deviations of the points where groups start, in those of the normal approximation at the mode."""
MIN_CURVATURE = 0.25
"""Smallest curvature of what is learned, where the density at the mode is flatter than its prior."""
SMALLER = 0.7
"""Factor on the step size of chains that did not mix or diverged."""
DIFFERENCE = 1e-4


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
    tuning: Tuning
    rng: np.random.Generator

    def sample(self, draws: int, thin: int) -> tuple[Draws, Run]:
        """So many further draws at least, ``thin`` transitions for every one that is kept, and the run where they end."""
        state, divergences = self.state, 0
        kept: list[tuple[FloatArray, ...]] = []
        for _ in range(-(-draws // (CHAINS * CHAINS_OF_A_GROUP))):
            for _ in range(thin):
                state, acceptance = hamiltonian.step(
                    self.target, state, self.tuning, self.rng, LENGTHS, self.target.slope
                )
                divergences += int((acceptance == 0).sum())  # energies that differ by more than 700
            point = self.target.at(state.point)
            kept.append(
                (
                    point.eta,
                    point.learned,
                    _overall(point, self.target.design, self.rng),
                    _beta(point, self.target.design),
                )
            )
        eta, learned, overall, beta = (np.stack(part, axis=1) for part in zip(*kept, strict=True))
        return Draws(eta, learned, overall, beta, divergences), replace(self, state=state)

    def again(self) -> Run:
        """Chains whose coordinates are fitted to where they are now, with smaller steps."""
        turned = self.target.design.spectrum.directions <= MAX_TURNED_AGAIN
        target, points = self.target.refitted(self.state.point, turned=turned)
        state, tuning = _warm(target, points, float(self.tuning.step[0]), LAST_WARM_UP, self.rng)
        return replace(self, target=target, state=state, tuning=Tuning(SMALLER * tuning.step, tuning.spread))


def run(design: Design, likelihood: Likelihood, eta: FloatArray, rng: np.random.Generator) -> Run:
    """Chains that are warm; ``eta`` (part, subgroup) are predictors to start from, such as logits of smoothed shares."""
    target = Target.around(design, likelihood, eta)
    target, mode = _mode(target)
    learned = design.coordinates.dimension
    start = np.tile(mode, (CHAINS, 1))
    start[:, :learned] = START_SPREAD * rng.standard_normal((CHAINS, learned))
    start[:, learned:] += rng.standard_normal((CHAINS, target.dimension - learned))
    points = np.repeat(start, CHAINS_OF_A_GROUP, axis=0)
    start_step = FIRST_STEP
    turned = design.spectrum.directions <= MAX_TURNED
    for transitions in WARM_UP:
        state, tuning = _warm(target, points, start_step, transitions, rng, FIRST_LENGTHS)
        target, points = target.refitted(state.point, turned=turned)
        start_step = float(tuning.step[0])
    return Run(target, *_warm(target, points, start_step, LAST_WARM_UP, rng), rng)


def _warm(
    target: Target,
    points: FloatArray,
    step: float,
    transitions: int,
    rng: np.random.Generator,
    lengths: tuple[float, float] = LENGTHS,
) -> tuple[State, Tuning]:
    """Chains after some transitions, all with one step size, which follows their mean acceptance (Robbins and Monro 1951)."""
    spread, effects = np.ones(target.dimension), sum(block.root.shape[1] for block in target.design.blocks)
    if effects:
        spread[-effects:] = np.sqrt(0.9 * points[:, -effects:].var(axis=0) + 0.1)
    state, tuning = hamiltonian.start(target, points), Tuning(np.full(len(points), step), spread)
    for transition in range(transitions):
        state, acceptance = hamiltonian.step(target, state, tuning, rng, lengths, target.slope)
        change = GAIN / np.sqrt(1 + transition) * (acceptance.mean() - TARGET_ACCEPTANCE)
        tuning = Tuning(tuning.step * np.exp(change), tuning.spread)
    return state, tuning


def _mode(target: Target) -> tuple[Target, FloatArray]:
    """Target whose coordinates are standardised at the mode of what is learned, and the mode (coordinate,) in them."""
    from scipy.optimize import minimize

    def descent(point: FloatArray) -> tuple[float, FloatArray]:
        value, slope = target(point[None])
        bounded = np.isfinite(value[0]) and np.isfinite(slope).all()
        return (-float(value[0]), -slope[0]) if bounded else (np.inf, np.zeros_like(point))

    learned, point = target.design.coordinates.dimension, np.zeros(target.dimension)
    with np.errstate(all="ignore"):
        point = minimize(descent, point, jac=True, method="L-BFGS-B", options={"maxiter": MODE_ITERATIONS}).x
    target, points = target.refitted(point[None], turned=False)
    point = points[0]
    step = np.zeros((learned, target.dimension))
    step[:, :learned] = DIFFERENCE * np.eye(learned)
    curvature = -(target(point + step)[1] - target(point - step)[1])[:, :learned] / (2 * DIFFERENCE)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    root = vectors / np.sqrt(np.maximum(values, MIN_CURVATURE))
    origin = target.origin + point[:learned]
    return replace(target, origin=origin, root=root), np.concatenate([np.zeros(learned), point[learned:]])


def _overall(point: Point, design: Design, rng: np.random.Generator) -> FloatArray:
    """Overall levels (draw, part): those of blocks, or drawn given the sums over all subgroups that they are a part of."""
    if not design.level:
        return np.concatenate([effect.values for effect in point.effects[: design.parts]], axis=1)
    number, variance = design.spectrum.directions, design.level / design.spectrum.directions
    covariance = np.zeros((len(point.eta), design.parts, design.parts))
    covariance[:, 0, 0] = point.made[0].variance[:, 0]
    if design.parts > 1:
        slope = point.slope[:, 0]
        covariance[:, 0, 1] = covariance[:, 1, 0] = slope * covariance[:, 0, 0]
        covariance[:, 1, 1] = slope * covariance[:, 0, 1] + point.made[1].variance[:, 0]
    inverse = np.linalg.inv(covariance)
    sums = np.stack([each[:, 0] for each in point.along], axis=1)
    mean = np.sqrt(number) * variance * (inverse @ sums[..., None])[..., 0]
    left = variance * np.eye(design.parts) - number * variance**2 * inverse
    noise = np.linalg.cholesky(left) @ rng.standard_normal((*sums.shape, 1))
    return np.asarray(mean + noise[..., 0])


def _beta(point: Point, design: Design) -> FloatArray:
    """Coefficients of covariates, (draw, column)."""
    levels = 0 if design.level else design.parts
    for block, effect in list(zip(design.blocks, point.effects, strict=True))[levels:]:
        if not isinstance(block.loading, Kernel):
            return effect.values
    return np.empty((len(point.eta), 0))
