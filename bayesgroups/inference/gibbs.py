"""Blocked Gibbs sampling of a normal linear model whose coefficients have scales of their own.

    z_a ~ Normal(intercept + x_a . beta, v_a),       intercept ~ Normal(0, 1)
    beta_j ~ Normal(0, s_j), see `bayesgroups.inference.scale_mixtures` for the law of s_j

in units of the metric's scale. Columns are shared by subgroups, or own columns of one, such as its indicator. Blocks:

1. tau, and intercept and shared coefficients by Hamiltonian Monte Carlo, with the scales of own columns integrated out;
2. the scales of own columns;
3. the scales of shared columns, one after another and by swaps of two, with all coefficients integrated out;
4. intercept and shared coefficients, exactly.

Own coefficients are drawn where a draw is kept. Scales are drawn from whole conditional laws, so that chains go back and forth
between modes, which the posterior has where columns are redundant: the level that differs, or all others. Block 1 is for data
that leave many own coefficients in doubt: given their scales, the few that are small hold the shared coefficients where they are.

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

import numpy as np

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference import hamiltonian, lattices, shared_effects
from bayesgroups.inference.hamiltonian import Tuning
from bayesgroups.inference.own_columns import NO_LAYER, Collapsed, layers
from bayesgroups.inference.scale_mixtures import CoefficientPrior
from bayesgroups.inference.shared_effects import SharedEffects
from bayesgroups.inference.short_chains import GIBBS_CHAINS_OF_A_GROUP

SWAPS = 2
"""Swaps of two scales of shared columns proposed in every transition."""
LAST_GROUP_SCALE = 0.3
"""Global scale from which the last group begins: a third of the metric's scale, or of the prior if that is larger."""
POINTS, SPACING = 24, 0.5
"""Points of a lattice of logarithms of free scales, and their distance."""
TAU_POINTS, TAU_SPACING = 8, (0.02, 0.6)
"""The same of tau, with a distance that is drawn anew every time."""
TAU_ROUNDS = 2
RESCALINGS, RESCALING = 6, (0.4, 3.0)
"""Random walks of tau that take the scales of shared and further columns along, and their lengths."""
LEFT_BEHIND = 0.1
"""Odds that a coefficient of one standard error stays where it is."""
LENGTHS = (2.0, 5.0)
"""Shortest and longest trajectory of shared coefficients, in standard deviations of what is left if others are known."""
TARGET_ACCEPTANCE = 0.75
FIRST_STEP, FIRST_INFORMATION = 0.5, 100.0
WARM_UP = 50
"""Transitions before the first draw."""
INNER = 2
"""Draws of coefficients per draw of their scales, which costs most."""


@dataclass(frozen=True)
class CoefficientDraws:
    """Draws ``intercept`` and ``tau`` (chain, draw) and ``beta`` (chain, draw, column)."""

    intercept: FloatArray
    tau: FloatArray
    beta: FloatArray

    def followed_by(self, later: CoefficientDraws) -> CoefficientDraws:
        """As many draws, every second one of these and of as many later ones of the same chains."""
        return CoefficientDraws(
            *(
                np.concatenate([getattr(self, name), getattr(later, name)], axis=1)[:, 1::2]
                for name in ("intercept", "tau", "beta")
            )
        )


class Chains:
    """Markov chains whose law is the posterior of intercept, coefficients and global scale; they go on from where they are.

    ``x`` (subgroup, column) has no intercept; redundant columns and columns of zeros are fine. Estimates, from the prior
    mean of the intercept on, and their positive sampling variances are in units of the metric's scale and of its square,
    NaN where there is none. Chains come in ``groups`` of `GIBBS_CHAINS_OF_A_GROUP`, one after another; groups begin apart, from
    the scale of the prior to `LAST_GROUP_SCALE`, the chains of one at one point.

    >>> z, v = np.array([0.1, 0.1, 0.1, 0.9]), np.full(4, 0.01)
    >>> chains = Chains(np.eye(4), z, v, CoefficientPrior(0.05), np.random.default_rng(1))
    >>> chains.sample(30).beta.shape
    (16, 30, 4)
    >>> chains.sample(100).beta.mean(axis=(0, 1)).round(1).tolist()
    [-0.0, -0.0, -0.0, 0.7]
    """

    def __init__(
        self, x: FloatArray, z: FloatArray, v: FloatArray, prior: CoefficientPrior, rng: np.random.Generator, *,
        groups: int = 4,
    ) -> None:  # fmt: skip
        seen = np.isfinite(z) & np.isfinite(v)
        columns = x[seen]
        self.prior, self.rng, self.columns = prior, rng, x.shape[1]
        self.z, self.v = z[seen], v[seen]
        self.shared_at = np.flatnonzero((columns != 0).sum(axis=0) > 1)
        self.unseen_at = np.flatnonzero(~(columns != 0).any(axis=0))
        self.shared = np.column_stack([np.ones(len(columns)), columns[:, self.shared_at]])
        first, *self.further = layers(columns) or [NO_LAYER]
        entry = np.zeros(len(columns))
        entry[first.row] = first.entry
        self.own_at, self.own_row, self.collapsed = first.at, first.row, Collapsed(entry, self.v, prior)
        self.swaps = _swaps(columns[:, self.shared_at])
        reach = max(np.log(LAST_GROUP_SCALE / prior.tau_scale), 1.0)
        log_tau = np.log(prior.tau_scale) + reach * (np.arange(groups) + rng.random(groups)) / groups
        self.log_tau = np.repeat(log_tau, GIBBS_CHAINS_OF_A_GROUP)
        self.free = self._start(len(self.shared_at))
        self.further_free = [self._start(len(layer.at)) for layer in self.further]
        self.own_variance = self.collapsed.entry**2 * prior.variance(self.log_tau)[:, None]
        self.step, self.information = FIRST_STEP, np.full(self.shared.shape[1], FIRST_INFORMATION)
        self._settle()
        self._draw()
        for transition in range(WARM_UP):
            self._transition(hamiltonian.gain(transition))

    def sample(self, draws: int, thin: int = 1) -> CoefficientDraws:
        """So many further draws of every chain, `INNER` of them after every ``thin`` transitions."""
        kept: list[tuple[FloatArray, ...]] = []
        for _ in range(-(-draws // INNER)):
            for _ in range(thin):
                self._transition()
            for _ in range(INNER):
                self._draw()
                kept.append((self.drawn[:, 0], np.exp(self.log_tau), self._coefficients()))
        return CoefficientDraws(*(np.stack(part, axis=1)[:, :draws] for part in zip(*kept, strict=True)))

    def _start(self, width: int) -> FloatArray:
        noise = 0.5 * self.rng.standard_normal((len(self.log_tau) // GIBBS_CHAINS_OF_A_GROUP, width))
        return self.log_tau[:, None] + np.repeat(noise, GIBBS_CHAINS_OF_A_GROUP, axis=0)

    def _transition(self, gain: float = 0.0) -> None:
        """All blocks; with a ``gain`` the Hamiltonian one is tuned."""
        further = self._further_variance(self.further_free) if self.further else None
        residual = self._residual()
        likelihood = self.collapsed.likelihood(residual, further)
        self._draw_tau(likelihood)
        weight = self.collapsed.nodes.weights(self.log_tau)
        told = self.collapsed.log_density_of(likelihood, residual, further, weight)
        further = self._rescale(told.sum(axis=1) + self.prior.log_tau(self.log_tau), further)
        weight = self.collapsed.nodes.weights(self.log_tau)
        self._move(further, weight, gain)
        residual = self._residual()
        node = self.collapsed.draw(self.collapsed.likelihood(residual, further), weight, self.rng)
        self.own_variance = np.take_along_axis(self.collapsed.variances, node, axis=0)
        for at in range(len(self.further)):
            self._draw_further(at, residual)
        self._settle()
        self._sweep()
        if self.swaps is not None:
            for _ in range(SWAPS):
                self._swap(self.swaps)
        self.effects.settle()
        self._draw()

    def _settle(self) -> None:
        noise = self.v + self.own_variance + self._further_variance(self.further_free)
        self.effects = SharedEffects(self.shared, self.z, noise, self._shared_prior())

    def _draw(self) -> None:
        self.drawn = self.effects.draw(self.rng)

    def _residual(self) -> FloatArray:
        return np.asarray(self.z - self.drawn @ self.shared.T, dtype=np.float64)

    def _shared_prior(self) -> FloatArray:
        return np.column_stack([np.ones(len(self.log_tau)), self.prior.variance(self.free)])

    def _further_variance(self, scales: list[FloatArray], without: int | None = None) -> FloatArray:
        """Variance (chain, subgroup) of own columns of further layers with these free scales, all or without those of one."""
        variance = np.zeros((len(self.log_tau), len(self.v)))
        for at, (layer, free) in enumerate(zip(self.further, scales, strict=True)):
            if at != without:
                variance[:, layer.row] += layer.entry**2 * self.prior.variance(free)
        return variance

    def _draw_tau(self, likelihood: FloatArray) -> None:
        """Tau given the predictor and the free scales that are not integrated out."""

        def log_density(log_tau: FloatArray) -> FloatArray:
            mixture = self.collapsed.mixture(likelihood, self.collapsed.nodes.weights(log_tau))
            told = np.log(mixture).sum(axis=2, dtype=np.float64)
            density = np.asarray(self.prior.log_tau(log_tau) + told)
            for free in (self.free, *self.further_free):
                density = density + self.prior.log_local(free[:, None] - log_tau[..., None]).sum(axis=2)
            return density

        for _ in range(TAU_ROUNDS):
            spacing = np.exp(self.rng.uniform(*np.log(TAU_SPACING)))
            self.log_tau = lattices.moved(self.log_tau, log_density, TAU_POINTS, spacing, self.rng)

    def _rescale(self, here: FloatArray, further: FloatArray | None) -> FloatArray | None:
        """Random walks of tau that take free scales and coefficients along; returns the variance of further layers.

        Shared coefficients that the data tell apart from 0 stay where they are: each is left behind with a chance that grows
        with its size, and the chances of the way back are counted. ``here`` (chain,) is the log density of tau as it is.
        """
        prior, rng, chains = self.prior, self.rng, len(self.log_tau)
        for _ in range(RESCALINGS):
            step = np.exp(rng.uniform(*np.log(RESCALING))) * rng.standard_normal(chains)
            log_tau, beta = self.log_tau + step, self.drawn[:, 1:]
            taken = rng.random(beta.shape) < self._taken_along(beta)
            free = self.free + step[:, None] * taken
            ratio = np.sqrt(prior.variance(free) / prior.variance(self.free))
            drawn = np.column_stack([self.drawn[:, 0], beta * ratio])
            further_free = [each + step[:, None] for each in self.further_free]
            proposed = self._further_variance(further_free) if self.further else None
            later = self._log_density(proposed, drawn, log_tau)
            chance = later - here
            chance += (
                prior.log_local(free - log_tau[:, None]) - prior.log_local(self.free - self.log_tau[:, None])
            ).sum(axis=1)
            back = np.log(self._taken_along(drawn[:, 1:])) - np.log(self._taken_along(beta))
            chance += np.where(taken, back, 0.0).sum(axis=1)
            accepted = np.log(rng.random(chains)) < chance
            column = accepted[:, None]
            here, self.log_tau = np.where(accepted, later, here), np.where(accepted, log_tau, self.log_tau)
            self.free, self.drawn = np.where(column, free, self.free), np.where(column, drawn, self.drawn)
            self.further_free = [np.where(column, *pair) for pair in zip(further_free, self.further_free, strict=True)]
            if further is not None and proposed is not None:
                further = np.where(column, proposed, further)
        return further

    def _taken_along(self, beta: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + LEFT_BEHIND * self.information[1:] * beta**2), dtype=np.float64)

    def _log_density(self, further: FloatArray | None, drawn: FloatArray, log_tau: FloatArray) -> FloatArray:
        residual, weight = self.z - drawn @ self.shared.T, self.collapsed.nodes.weights(log_tau)
        return self.collapsed.log_density(residual, further, weight).sum(axis=1) + self.prior.log_tau(log_tau)

    def _move(self, further: FloatArray | None, weight: FloatArray, gain: float) -> None:
        """Intercept and shared coefficients given their scales and tau, scales of own columns integrated out."""
        precision = 1 / self._shared_prior()

        def log_density(point: FloatArray) -> tuple[FloatArray, FloatArray]:
            density, slope = self.collapsed.with_slope(self.z - point @ self.shared.T, further, weight)
            pull = precision * point
            return density.sum(axis=1) - 0.5 * (pull * point).sum(axis=1), -slope @ self.shared - pull

        def slope(point: FloatArray) -> FloatArray:
            near = self.collapsed.near_slope(self.z - point @ self.shared.T, further, weight)
            return np.asarray(-near @ self.shared - precision * point, dtype=np.float64)

        tuning = Tuning(self.step, 1 / np.sqrt(precision + self.information))
        state = hamiltonian.start(log_density, self.drawn)
        state, acceptance = hamiltonian.step(log_density, state, tuning, self.rng, LENGTHS, slope)
        self.drawn = state.point
        if gain:
            told = state.gradient + precision * state.point
            self.information = self.information + gain / 3 * ((told**2).mean(axis=0) - self.information)
            self.step = hamiltonian.tuned(self.step, acceptance, TARGET_ACCEPTANCE, gain)

    def _draw_further(self, at: int, residual: FloatArray) -> None:
        """Scales of a further layer of own columns, given those of all others."""
        layer = self.further[at]
        error = (self.v + self.own_variance + self._further_variance(self.further_free, without=at))[:, layer.row, None]
        square, entry = residual[:, layer.row, None] ** 2, layer.entry[:, None] ** 2

        def log_density(free: FloatArray) -> FloatArray:
            variance = error + entry * self.prior.variance(free)
            local = self.prior.log_local(free - self.log_tau[:, None, None])
            return np.asarray(local - 0.5 * (np.log(variance) + square / variance))

        self.further_free[at] = lattices.moved(self.further_free[at], log_density, POINTS, SPACING, self.rng)

    def _sweep(self) -> None:
        """Free scales of shared columns, one after another."""
        effects = self.effects
        for column in range(self.free.shape[1]):
            at = np.full(len(self.log_tau), 1 + column)
            information, score = effects.alone(at)

            def log_density(
                free: FloatArray, information: FloatArray = information[:, None], score: FloatArray = score[:, None]
            ) -> FloatArray:
                likelihood = shared_effects.log_likelihood(information, score, self.prior.variance(free))
                return likelihood + self.prior.log_local(free - self.log_tau[:, None])

            self.free[:, column] = lattices.moved(self.free[:, column], log_density, POINTS, SPACING, self.rng)
            effects.change(at, information, self.prior.variance(self.free[:, column]))

    def _swap(self, swaps: _Swaps) -> None:
        """Propose a swap in every chain; the prior of the local scales is the same either way."""
        chains, effects = np.arange(len(self.log_tau)), self.effects
        pair = np.minimum(np.searchsorted(swaps.cumulative, self.rng.random(len(chains))), len(swaps.first) - 1)
        first, second = swaps.first[pair], swaps.second[pair]
        left, right = effects.prior[chains, first], effects.prior[chains, second]
        gain = self._changed(first, left, right) + self._changed(second, right, left)
        swapped = np.log(self.rng.random(len(chains))) < gain
        self._changed(first, right, np.where(swapped, right, left))
        self._changed(second, left, np.where(swapped, left, right))
        left, right = self.free[chains, first - 1], self.free[chains, second - 1]
        self.free[chains, first - 1] = np.where(swapped, right, left)
        self.free[chains, second - 1] = np.where(swapped, left, right)

    def _changed(self, column: IntArray, old: FloatArray, new: FloatArray) -> FloatArray:
        """Log likelihood ratio of another variance of a coefficient, which it has from then on."""
        information, score = self.effects.alone(column)
        now, then = (shared_effects.log_likelihood(information, score, each) for each in (old, new))
        self.effects.change(column, information, new)
        return np.asarray(then - now)

    def _coefficients(self) -> FloatArray:
        """Coefficients (chain, column) given their scales and those of shared columns."""
        rng, chains = self.rng, len(self.log_tau)
        beta = np.empty((chains, self.columns))
        local = np.log(self.prior.draw_local((chains, len(self.unseen_at)), rng))
        unseen = np.sqrt(self.prior.variance(local + self.log_tau[:, None]))
        beta[:, self.unseen_at] = unseen * rng.standard_normal(unseen.shape)
        beta[:, self.shared_at] = self.drawn[:, 1:]
        # Matheron's rule: a draw from the prior, corrected by what the data say of it.
        entry = self.collapsed.entry[self.own_row]
        columns = [(self.own_at, self.own_row, entry, self.own_variance[:, self.own_row] / entry**2)]
        for layer, free in zip(self.further, self.further_free, strict=True):
            columns.append((layer.at, layer.row, layer.entry, self.prior.variance(free)))
        missing = self._residual() - np.sqrt(self.v) * rng.standard_normal((chains, len(self.v)))
        for at, row, entry, variance in columns:
            beta[:, at] = np.sqrt(variance) * rng.standard_normal(variance.shape)
            missing[:, row] -= entry * beta[:, at]
        for at, row, entry, variance in columns:
            beta[:, at] += entry * variance / self.effects.noise[:, row] * missing[:, row]
        return beta


@dataclass(frozen=True)
class _Swaps:
    """Pairs of columns (pair,), the intercept counted as the first, and their cumulative probabilities."""

    first: IntArray
    second: IntArray
    cumulative: FloatArray


def _swaps(shared: FloatArray) -> _Swaps | None:
    """Pairs of columns that can stand for each other: two levels of an attribute fit alike with their scales swapped.

    A pair is proposed in proportion to the squared correlation of its columns.
    """
    columns = shared.shape[1]
    if columns < 2:
        return None
    centred = shared - shared.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    centred /= np.where(length > 0, length, 1.0)
    first, second = np.triu_indices(columns, 1)
    weight = (centred.T @ centred)[first, second] ** 2 + 1 / columns**2
    return _Swaps(1 + first, 1 + second, np.cumsum(weight / weight.sum()))
