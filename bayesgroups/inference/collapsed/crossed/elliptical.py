"""Exact posteriors of crossed effects by elliptical slice sampling.

A state is a point u of standard normal numbers that the learned scales are made of, and the noise z that Matheron's rule makes
the effects of. With normal sites y, v in the place of counts, the density of both is

    N(u; 0, I) N(z; 0, I) Z(u) R(eta(u, z)),     Z the marginal likelihood of the sites, R = prod binomial(k | eta) / N(y; eta, v)

It needs no weights: where the sites are good R hardly varies. Every other step of u is made around the mode instead of the prior
(Nishihara, Murray and Adams 2014, arXiv:1210.7477), which is what mixes where the posterior lies far out.

Chains run in four groups that start at one point each, and a group is laid out as one chain: R-hat then compares groups of short
chains (nested R-hat, Margossian et al. 2024, doi:10.1214/24-BA1453). Chains that do not mix in their length look independent one
after another; their means tell, see `bayesgroups.inference.short_chains`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance
from bayesgroups.inference.collapsed.crossed import sites
from bayesgroups.inference.collapsed.crossed.blocks import Blocks
from bayesgroups.inference.collapsed.crossed.emulator import Emulator
from bayesgroups.inference.collapsed.crossed.emulator import fitted as emulator_of
from bayesgroups.inference.collapsed.crossed.site_posterior import SitePosterior
from bayesgroups.inference.collapsed.crossed.slice_chains import Ellipses, LogRatio, SliceChains, State
from bayesgroups.report.posterior import CHAINS

ROUNDS = 3
"""Times that sites and mode are fitted to each other."""
CHAINS_OF_A_GROUP = 25
EXPLORATION = 5
"""Slice steps under the density itself, whose points the emulator is learned from."""
NOISES_PER_STEP = 4
"""Steps of the noise for every step of the scales: they need no factor, and where counts are few they are what mixes slowly."""
LESSONS, STEPS_OF_A_LESSON = 2, 4
"""Times that the emulator is learned again, and the steps in between; none of them is kept."""
EXACT_EVERY = 3
"""Steps under the emulator for every one under the density itself, which no error of the emulator can hold up."""
WIDENING = 1.7
"""Factor on the covariance of the ellipses around the mode."""
WIDER = 4.0
"""Factor on the variance of the site of a count of nothing or of everything, where sites leave out much of a tail."""
START_SPREAD = 1.5
"""Standard deviations of the points where groups start, in those of the normal approximation at the mode."""


@dataclass(frozen=True)
class EllipticalDraws:
    """Draws, groups of chains in turn: ``eta`` (chain, draw, row), standard normal ``effects`` and ``u`` with dims alike."""

    eta: FloatArray
    effects: FloatArray
    u: FloatArray

    def in_groups(self, draws: int) -> EllipticalDraws:
        """As many draws of each group, so many in all at least, each group laid out as one chain."""
        return EllipticalDraws(
            *(
                values.reshape(CHAINS, -1, values.shape[2])[:, : -(-draws // CHAINS)]
                for values in (self.eta, self.effects, self.u)
            )
        )


@dataclass(frozen=True)
class Run:
    """Chains past their start, which go on from where they are."""

    chains: SliceChains
    state: State
    emulator: Emulator
    prior: Ellipses
    around: Ellipses

    def sample(self, draws: int, thin: int) -> EllipticalDraws:
        """So many further draws at least, ``thin`` steps for every one that is kept."""
        steps = -(-draws // (CHAINS * CHAINS_OF_A_GROUP))
        kept: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for step in range(steps * thin):
            self.chains.move_scales_by(self.emulator, self.state, (self.around, self.prior, self.around))
            if step % EXACT_EVERY == 0:
                self.chains.move_scales(self.state, (self.prior, self.around)[step // EXACT_EVERY % 2])
            _move_noise(self.chains, self.state)
            if step % thin == thin - 1:
                kept.append((*self.chains.draw(self.state), self.state.u.copy()))
        return EllipticalDraws(*(np.stack(parts, axis=1) for parts in zip(*kept, strict=True)))


def gaussian(
    blocks: Blocks,
    y: FloatArray,
    v: FloatArray,
    extra: FloatArray,
    rng: np.random.Generator,
    *,
    covariance: FloatArray | None = None,
) -> Run:
    """Chains given estimates ``y`` (row,) with error variances ``v``, infinite where there is none.

    ``extra`` (row,) are known variances of residual effects; ``covariance`` (row, row) is that of correlated errors, with ``v`` on
    its diagonal.
    """
    posterior = SitePosterior(blocks, np.where(np.isfinite(v), y, 0.0), v, extra, covariance)
    return _run(SliceChains(posterior, None, rng), _mode(posterior, np.zeros(blocks.dimension)))


def binomial(
    blocks: Blocks,
    k: FloatArray,
    n: FloatArray,
    extra: FloatArray,
    rng: np.random.Generator,
) -> Run:
    """Chains given ``k`` (row,) successes of ``n`` trials, which may be fractional or 0, on the logit scale."""
    y, v = sites.start(k, n)
    mode = np.zeros(blocks.dimension)

    def moments(y: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        return SitePosterior(blocks, y, v, extra).moments(mode)

    for _ in range(ROUNDS):
        mode = _mode(SitePosterior(blocks, y, v, extra), mode)
        y, v = sites.refine(k, n, y, v, moments)
    if sites.skewness(k, n, y, v, moments) > sites.MAX_SKEWNESS:
        v = v * WIDER ** (1 / (1 + np.minimum(k, n - k)))  # noise of narrow sites would hold the long tail up
    posterior = SitePosterior(blocks, y, v, extra)
    return _run(SliceChains(posterior, _ratio(posterior, k, n), rng), mode)


def _ratio(posterior: SitePosterior, k: FloatArray, n: FloatArray) -> LogRatio:
    """Binomial likelihood over that of the sites."""
    seen = posterior.seen
    successes, trials, y, v = k[seen], n[seen], posterior.y[seen], posterior.v[seen]

    def log_ratio(eta: FloatArray) -> FloatArray:
        logit = eta[:, seen]
        with np.errstate(invalid="ignore", over="ignore"):  # far out in a half-t everything overflows, and is not taken
            terms = successes * logit - trials * np.logaddexp(0.0, logit) + 0.5 * (y - logit) ** 2 / v
            total = terms.sum(axis=1)
        return np.where(np.isnan(total), -np.inf, total)

    return log_ratio


def _mode(posterior: SitePosterior, start: FloatArray) -> FloatArray:
    def log_marginal(u: FloatArray) -> FloatArray:
        return posterior.given(u).log_marginal

    nearest = importance.starts(log_marginal, posterior.blocks.dimension, start)[0]
    return importance.mode(log_marginal, nearest, posterior.slope)


def _run(chains: SliceChains, mode: FloatArray) -> Run:
    spread = np.linalg.cholesky(importance.curvature_of(chains.posterior.slope, mode))
    prior = Ellipses(np.zeros_like(mode), np.eye(len(mode)))
    around = Ellipses(mode, np.sqrt(WIDENING) * spread)
    start = Ellipses(mode, START_SPREAD * spread).draw(CHAINS, chains.rng)
    state = chains.start(np.repeat(start, CHAINS_OF_A_GROUP, axis=0))
    for step in range(EXPLORATION):
        chains.move_scales(state, (prior, around)[step % 2])
        _move_noise(chains, state)
    for _ in range(LESSONS):
        emulator = _learned(chains)
        for _ in range(STEPS_OF_A_LESSON):
            chains.move_scales_by(emulator, state, (around, prior, around))
            _move_noise(chains, state)
    return Run(chains, state, _learned(chains), prior, around)


def _move_noise(chains: SliceChains, state: State) -> None:
    for _ in range(NOISES_PER_STEP):
        chains.move_noise(state)


def _learned(chains: SliceChains) -> Emulator:
    u, log_marginal = (np.concatenate(parts) for parts in zip(*chains.history, strict=True))
    return emulator_of(u, log_marginal, log_marginal - 0.5 * (u**2).sum(axis=1))
