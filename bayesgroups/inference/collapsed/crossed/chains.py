"""Posteriors of crossed effects by Hamiltonian Monte Carlo along the directions of the design, see `trajectories`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import short_chains
from bayesgroups.inference.collapsed.crossed import sites, spectral_design, trajectories
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Counts, Estimates, Likelihood
from bayesgroups.inference.collapsed.crossed.draws import CrossedDraws
from bayesgroups.inference.collapsed.crossed.following import Predictors, Priors
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.trajectories import Run
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlocks
from bayesgroups.report.diagnostics import Mixing, usable
from bayesgroups.report.posterior import CHAINS

FIRST_THINNING, LONG_THINNING = 4, 8
"""Most transitions of a chain for every draw that is kept, at first and of chains whose coordinates are fitted once more."""
Instead = Callable[[], CrossedDraws | None]
"""Draws by other means than chains, None where they are not good."""
MAX_ATTEMPTS = 3
"""Times that coordinates are fitted once more, with smaller steps, where chains diverge; once where they do not mix."""


def gaussian(
    predictor: Predictor,
    y: FloatArray,
    v: FloatArray,
    prior: Prior,
    rng: np.random.Generator,
    *,
    draws: int,
    known: FloatArray | None = None,
    ordered: OrderedBlocks = NOTHING,
    covariance: FloatArray | None = None,
) -> CrossedDraws:
    """Draws given estimates, see `gaussian` of the module `engine`."""
    seen = np.isfinite(v)
    y, extra = np.where(seen, y, 0.0), np.zeros(len(y)) if known is None else known
    inverse = np.where(seen, 1 / np.where(seen, v, 1.0), 0.0)
    if covariance is not None:
        inverse = np.zeros((len(y), len(y)))
        inverse[np.ix_(seen, seen)] = np.linalg.inv(covariance[np.ix_(seen, seen)])
    design = spectral_design.design_of(predictor, prior, extra, ordered)
    return _by_chains(design, Estimates(y, inverse), y[None], rng, draws)


def binomial(
    predictor: Predictors,
    k: FloatArray,
    n: FloatArray,
    prior: Priors,
    rng: np.random.Generator,
    *,
    draws: int,
    known: FloatArray | None = None,
    ordered: OrderedBlocks = NOTHING,
    instead: Instead = lambda: None,
) -> CrossedDraws:
    """Draws given counts, see `binomial` of the module `engine`.

    With two predictors ``k`` and ``n`` have the counts of the first, then those of the second. Where chains diverge or do not mix
    at first, the answer is that of ``instead``, if it is usable; otherwise they go on.
    """
    design = spectral_design.design_of(predictor, prior, np.zeros(len(k)) if known is None else known, ordered)
    successes, trials, start = (values.reshape(design.parts, -1) for values in (k, n, sites.start(k, n)[0]))
    return _by_chains(design, Counts(successes, trials), start, rng, draws, instead)


def _by_chains(
    design: spectral_design.Design,
    likelihood: Likelihood,
    start: FloatArray,
    rng: np.random.Generator,
    draws: int,
    instead: Instead = lambda: None,
) -> CrossedDraws:
    """Draws of chains, which go on with more transitions for every draw that is kept until they mix."""
    sampled, mixed, run = _until_mixed(trajectories.run(design, likelihood, start, rng), draws, FIRST_THINNING)
    if sampled.divergences or not mixed.passed:
        # Coordinates that are fitted once more take as long as all before.
        answer = instead()
        if answer is not None and usable(answer.checks("")):
            return answer
    attempts = 0
    while attempts < MAX_ATTEMPTS and (sampled.divergences or (not attempts and not mixed.passed)):
        sampled, mixed, run = _until_mixed(run.again(), draws, LONG_THINNING)
        attempts += 1
    eta, learned, overall, beta = (
        values.reshape(len(values) * values.shape[1], math.prod(values.shape[2:]))[:draws]
        for values in (
            short_chains.in_groups(part, CHAINS, -(-draws // CHAINS))
            for part in (sampled.eta, sampled.learned, sampled.overall, sampled.beta)
        )
    )
    spreads = learned[:, : design.coefficient]
    follow = [learned[:, design.coefficient]] if design.parts > 1 else []
    return CrossedDraws(
        eta,
        overall if design.parts > 1 else overall[:, 0],
        beta,
        np.column_stack([spreads, *follow]),
        math.nan,
        math.nan,
        mixing=mixed,
        divergences=sampled.divergences,
        share=learned[:, design.shares_of(0).start :],
    )


def _until_mixed(run: Run, draws: int, most: int) -> tuple[trajectories.Draws, Mixing, Run]:
    """Draws of chains that go on for as long as they did, until they mix or take ``most`` transitions for a draw."""
    thinning = run.thinning
    sampled, run = run.sample(draws, thinning)
    mixed = _mixing(sampled)
    while not mixed.passed and not sampled.divergences and thinning < most:
        more, run = run.longer().sample(draws, thinning)
        sampled, thinning = sampled.followed_by(more), 2 * thinning
        mixed = _mixing(sampled)
    return sampled, mixed, run


def _mixing(sampled: trajectories.Draws) -> Mixing:
    """Mixing of all that is drawn."""
    chains, number = sampled.eta.shape[:2]
    every = [sampled.eta.reshape(chains, number, -1), sampled.learned, sampled.overall, sampled.beta]
    return short_chains.mixing([np.moveaxis(each, -1, 0) for each in every], CHAINS)
