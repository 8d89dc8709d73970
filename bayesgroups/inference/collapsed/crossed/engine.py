"""Exact posteriors of crossed effects, either likelihood.

Draws are made by Hamiltonian Monte Carlo along directions in which the effects are independent beforehand, see
`bayesgroups.inference.collapsed.crossed.trajectories`. Where many subgroups share few effects, these are integrated out instead:
the standard deviations of the components are drawn by adaptive importance sampling, and the effects then given them. Counts are
first replaced by normal sites, and the draws weighed once more with the binomial likelihood itself, with the effects of single
subgroups integrated out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance, short_chains
from bayesgroups.inference.collapsed import logit_normal
from bayesgroups.inference.collapsed.crossed import sites, surrogate, trajectories
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Counts, Estimates, Likelihood
from bayesgroups.inference.collapsed.crossed.effect_space import EffectSpace
from bayesgroups.inference.collapsed.crossed.following import FollowingPredictor, FollowingPrior
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, chunks
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.spectral_design import Design, design_of
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlocks
from bayesgroups.report.diagnostics import (
    AT_BOUND,
    DIVERGENCES,
    IS_ESS,
    K_HAT,
    Check,
    Mixing,
    at_least,
    at_most,
)
from bayesgroups.report.posterior import CHAINS

ROUNDS = 3
"""Times that sites and mode are fitted to each other."""
MIN_ESS = 400.0
"""Effective number of weighted draws below which weights are not good."""
CANDIDATES = 2
"""Draws that are weighed for every draw that is kept, with a binomial likelihood."""
MORE_CANDIDATES = 8
"""The same if their weights are not good."""
MIN_SUBGROUPS_FOR_WEIGHTS = 100
"""Subgroups beyond which few effects are integrated out."""
MAX_EFFECTS_FOR_WEIGHTS = 100
"""Effects that are few."""
LONG_THINNING = 8
"""Transitions of a chain for every draw that is kept, where as many again as at first do not mix."""
CHUNK = 200_000
SMALL_CHUNK = 64_000
"""Numbers handled at once; the fewer stay in the cache."""


@dataclass(frozen=True)
class CrossedDraws:
    """Draws of ``eta`` (draw, subgroup), ``overall`` (draw,), ``beta`` (draw, column) and ``tau`` (draw, component).

    With a `FollowingPredictor` ``eta`` has the subgroups of both predictors in turn, ``overall`` is (draw, predictor),
    and the columns of ``tau`` are those of the `FollowingPrior`. All on the scale of the linear predictor, ``overall``
    around 0. ``k_hat`` is the largest of the stages, ``ess`` the smallest effective number of weighted draws,
    ``at_bound`` the share of draws near the largest standard deviation that the space of the effects tells apart, 0 where
    it has no such bound. Draws of slice chains have ``mixing`` instead, a quarter of them from each group of chains, and ``share``
    (draw, share) of the components that follow an order.
    """

    eta: FloatArray
    overall: FloatArray
    beta: FloatArray
    tau: FloatArray
    k_hat: float
    ess: float
    at_bound: float = 0.0
    mixing: Mixing | None = None
    divergences: int = 0
    share: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def engine(self) -> str:
        """Name of what made them."""
        return "collapsed" if self.mixing is None else "hamiltonian"

    def checks(self, metric: str) -> list[Check]:
        """Diagnostics of the draws held against their thresholds."""
        if self.mixing is not None:
            return [*self.mixing.checks(metric), divergence_check(self.divergences, metric)]
        return [
            at_most("Pareto k-hat", metric, self.k_hat, K_HAT, "the largest k-hat of the importance weights"),
            at_least("importance ESS", metric, self.ess, IS_ESS, "the smallest effective number of weighted draws"),
            at_most("mass at a bound", metric, self.at_bound, AT_BOUND, "the share of draws near a numerical bound"),
        ]


def divergence_check(divergences: int, metric: str) -> Check:
    """Check of the number of divergent transitions of chains."""
    return at_most("divergences", metric, divergences, DIVERGENCES, "the number of divergent transitions")


def weights_are_fast(predictor: Predictor, seen: int) -> bool:
    """True where so many subgroups share so few effects that these are integrated out."""
    remaining = predictor.effects - int(predictor.sizes.max(initial=0))
    return seen > MIN_SUBGROUPS_FOR_WEIGHTS and remaining <= MAX_EFFECTS_FOR_WEIGHTS


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
    """Draws given estimates ``y`` around the prior mean with error variances ``v``, infinite where there is none.

    ``y`` (subgroup,) is less the prior mean of ``overall``; ``known`` (subgroup,) are known variances of the subgroups'
    residual effects, beside those of the last component. ``covariance`` (subgroup, subgroup) is that of correlated errors, with
    ``v`` on its diagonal, NaN where there is none.
    """
    seen = np.isfinite(v)
    y, extra = np.where(seen, y, 0.0), np.zeros(len(y)) if known is None else known
    if not ordered.blocks and covariance is None and weights_are_fast(predictor, int(seen.sum())):
        weighed = _weighed_estimates(predictor, y, v, prior, rng, draws, extra)
        if weighed is not None:
            return weighed
    inverse = np.where(seen, 1 / np.where(seen, v, 1.0), 0.0)
    if covariance is not None:
        inverse = np.zeros((len(y), len(y)))
        inverse[np.ix_(seen, seen)] = np.linalg.inv(covariance[np.ix_(seen, seen)])
    design = design_of(predictor, prior, extra, ordered)
    return _by_chains(design, Estimates(y, inverse), y[None], rng, draws)


def binomial(
    predictor: Predictor | FollowingPredictor,
    k: FloatArray,
    n: FloatArray,
    prior: Prior | FollowingPrior,
    rng: np.random.Generator,
    *,
    draws: int,
    known: FloatArray | None = None,
    ordered: OrderedBlocks = NOTHING,
) -> CrossedDraws:
    """Draws given counts: ``k`` successes of ``n`` trials, which may be fractional or 0, on the logit scale.

    With two predictors ``k`` and ``n`` have the counts of the first, then those of the second; ``known`` and ``ordered`` are as in
    `gaussian`.
    """
    extra = np.zeros(len(k)) if known is None else known
    if (
        isinstance(predictor, Predictor)
        and isinstance(prior, Prior)
        and not ordered.blocks
        and weights_are_fast(predictor, int((n > 0).sum()))
    ):
        weighed = _weighed_counts(predictor, k, n, prior, rng, draws, extra)
        if weighed is not None:
            return weighed
    design = design_of(predictor, prior, extra, ordered)
    start, _ = sites.start(k, n)
    successes, trials, start = (values.reshape(design.parts, -1) for values in (k, n, start))
    return _by_chains(design, Counts(successes, trials), start, rng, draws)


def _by_chains(
    design: Design, likelihood: Likelihood, start: FloatArray, rng: np.random.Generator, draws: int
) -> CrossedDraws:
    """Draws of chains, which go on with more transitions for every draw that is kept until they mix."""
    run = trajectories.run(design, likelihood, start, rng)
    sampled, run = run.sample(draws, 1)
    mixed = _mixing(sampled)
    if not mixed.passed and sampled.divergences == 0:
        more, run = run.sample(draws, 1)
        sampled = sampled.followed_by(more)
        mixed = _mixing(sampled)
    if not mixed.passed or sampled.divergences:
        run = run.again()
        sampled, run = run.sample(draws, LONG_THINNING)
        mixed = _mixing(sampled)
    eta, learned, overall, beta = (
        values.reshape(len(values) * values.shape[1], math.prod(values.shape[2:]))[:draws]
        for values in (in_groups(part, draws) for part in (sampled.eta, sampled.learned, sampled.overall, sampled.beta))
    )
    spreads = np.abs(learned[:, : design.coefficient])
    follow = [learned[:, design.coefficient], np.zeros(len(learned))] if design.parts > 1 else []
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


def in_groups(values: FloatArray, draws: int) -> FloatArray:
    """As many draws of each group of chains, so many in all at least, each group laid out as one chain."""
    grouped = values.reshape(CHAINS, len(values) * values.shape[1] // CHAINS, *values.shape[2:])
    return grouped[:, : -(-draws // CHAINS)]


def _mixing(sampled: trajectories.Draws) -> Mixing:
    """Mixing of all that is drawn."""
    chains, number = sampled.eta.shape[:2]
    every = [sampled.eta.reshape(chains, number, -1), np.abs(sampled.learned), sampled.overall, sampled.beta]
    return short_chains.mixing(np.moveaxis(np.concatenate(every, axis=2), -1, 0), CHAINS)


def _weighed_estimates(
    predictor: Predictor,
    y: FloatArray,
    v: FloatArray,
    prior: Prior,
    rng: np.random.Generator,
    draws: int,
    extra: FloatArray,
) -> CrossedDraws | None:
    """Draws given estimates by weights; None where these are too uneven."""
    # For whatever subgroups share, the known part of what they do not is noise.
    here = EffectSpace(predictor, y, v + extra, prior.largest, prior.residual_sd)
    weighed = importance.sample(lambda u: here.log_marginal(prior.scales(u)), prior.dimension, rng)
    if _too_uneven(weighed.k_hat, weighed.ess):
        return None
    tau = prior.scales(weighed.u[importance.resample(weighed.log_weight, draws, rng)])
    drawn = here.draw(tau, rng)
    residual_sd = tau[:, -1:] if prior.residual_sd is None else np.full((1, 1), prior.residual_sd)
    eta = np.empty((draws, len(y)))
    for block in chunks(draws, len(y), SMALL_CHUNK):
        variance = (residual_sd if prior.residual_sd is not None else residual_sd[block]) ** 2 + extra
        with np.errstate(invalid="ignore"):
            shrink = np.where(np.isfinite(v), v / (v + variance), 1.0)
        part = drawn.shared(block)
        part *= shrink
        part += (1 - shrink) * y
        noise = rng.standard_normal(part.shape)
        noise *= np.sqrt(shrink * variance)
        np.add(part, noise, out=eta[block])
    return CrossedDraws(eta, drawn.overall, drawn.beta, tau, weighed.k_hat, weighed.ess, _at_bound(here, tau))


def _weighed_counts(
    predictor: Predictor,
    k: FloatArray,
    n: FloatArray,
    prior: Prior,
    rng: np.random.Generator,
    draws: int,
    extra: FloatArray,
) -> CrossedDraws | None:
    """Draws given counts by weights; None where these are too uneven."""
    y, v = sites.start(k, n)
    u = np.zeros(prior.dimension)

    def space(y: FloatArray, v: FloatArray) -> EffectSpace:
        return EffectSpace(predictor, y, v + extra, prior.largest, prior.residual_sd)

    def log_marginal(u: FloatArray) -> FloatArray:
        return here.log_marginal(prior.scales(u))

    here = space(y, v)
    for _ in range(ROUNDS):
        here = space(y, v)
        u = importance.mode(log_marginal, importance.starts(log_marginal, prior.dimension, u)[0])
        y, v = sites.refine(k, n, y, v, _moments(space, prior.scales(u[None])[0], extra))
    here = space(y, v)
    weighted = importance.sample(log_marginal, prior.dimension, rng, start=u)

    def candidates(number: int) -> _Weighed:
        tau = prior.scales(weighted.u[importance.resample(weighted.log_weight, number, rng)])
        drawn = here.draw(tau, rng)
        log_weight = surrogate.log_likelihood(k, n, drawn.shared, tau[:, -1], extra, (y, v))
        return _Weighed(tau, drawn, log_weight, importance.pareto_k(log_weight), importance.effective(log_weight))

    second = candidates(CANDIDATES * draws)
    if second.k_hat > importance.GOOD or second.ess < MIN_ESS:
        second = candidates(MORE_CANDIDATES * draws)
    k_hat, ess = max(weighted.k_hat, second.k_hat), min(weighted.ess, second.ess)
    if _too_uneven(k_hat, ess):
        return None
    kept = importance.resample(second.log_weight, draws, rng)
    tau, drawn = second.tau[kept], second.drawn
    residual_sd = tau[:, -1:] if prior.residual_sd is None else np.full((1, 1), prior.residual_sd)
    eta = np.empty((draws, len(k)))
    for block in chunks(draws, len(k), CHUNK):
        spread = np.sqrt((residual_sd if prior.residual_sd is not None else residual_sd[block]) ** 2 + extra)
        eta[block] = logit_normal.draw(k, n, drawn.shared(kept[block]), spread, rng)
    return CrossedDraws(eta, drawn.overall[kept], drawn.beta[kept], tau, k_hat, ess, _at_bound(here, tau))


def _moments(
    space: Callable[[FloatArray, FloatArray], EffectSpace], tau: FloatArray, extra: FloatArray
) -> sites.Moments:
    def of_sites(y: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = space(y, v).moments(tau)
        seen = np.isfinite(v)
        gain = extra / (np.where(seen, v, 1.0) + extra) * seen
        left = np.where(seen, gain * np.where(seen, v, 1.0), extra)
        return mean + gain * (y - mean), (1 - gain) ** 2 * variance + left

    return of_sites


def _at_bound(here: EffectSpace, tau: FloatArray) -> float:
    """Share of the draws whose last standard deviation is more than half of the largest one that is told apart."""
    return 0.0 if here.residual_sd is not None else float((tau[:, -1] > here.largest / 2).mean())


class _Weighed(NamedTuple):
    """Candidates, their log weights, and the k-hat and effective number of these."""

    tau: FloatArray
    drawn: Drawn
    log_weight: FloatArray
    k_hat: float
    ess: float


def _too_uneven(k_hat: float, ess: float) -> bool:
    """Weights that no average can be trusted with."""
    return k_hat > importance.USABLE or ess < MIN_ESS
