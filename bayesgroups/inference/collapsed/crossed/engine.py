"""Exact posteriors of crossed effects, either likelihood.

The effects are integrated out; the standard deviations of the components are drawn by adaptive importance sampling; the
effects are then drawn given them. Counts are first replaced by normal sites, and the draws weighed once more with the
binomial likelihood itself, with the effects of single subgroups integrated out. Where weights are not good, elliptical slices
take their place, see `bayesgroups.inference.collapsed.crossed.elliptical`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance, short_chains
from bayesgroups.inference.collapsed import logit_normal
from bayesgroups.inference.collapsed.crossed import elliptical, sites, surrogate
from bayesgroups.inference.collapsed.crossed.blocks import Blocks, blocks_of
from bayesgroups.inference.collapsed.crossed.effect_space import EffectSpace
from bayesgroups.inference.collapsed.crossed.elliptical import EllipticalDraws
from bayesgroups.inference.collapsed.crossed.following_space import FollowingPredictor, FollowingPrior, FollowingSpace
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, Space, chunks
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace
from bayesgroups.inference.correlated_errors import directions_of
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlocks
from bayesgroups.report.diagnostics import AT_BOUND, IS_ESS, K_HAT, Check, Mixing, at_least, at_most, mixing

Design = Predictor | FollowingPredictor
Spreads = Prior | FollowingPrior

ROUNDS = 3
"""Times that sites and mode are fitted to each other."""
MIN_ESS = 400.0
"""Effective number of weighted draws below which weights are not good."""
CANDIDATES = 2
"""Draws that are weighed for every draw that is kept, with a binomial likelihood."""
MORE_CANDIDATES = 8
"""The same if their weights are not good."""
WIDE = 2.0
"""Factor on the variances of the sites that some draws are made from."""
WIDER = 3.0
"""A further factor, for a count of nothing or of everything; counts of a few have less of it."""
SHARES = (0.4, 0.3, 0.3)
"""Share of the draws made from the sites, from wide ones and from wider ones."""
MAX_SUBGROUPS_IN_OWN_SPACE = 100
"""Subgroups up to which their own space is fast enough."""
MAX_SUBGROUPS_WITH_WIDE_SITES = 200
"""Subgroups beyond which only the sites themselves are drawn from, at first."""
MAX_SUBGROUPS_WITH_RETRY = 400
"""Subgroups beyond which nothing else is tried."""
THINNING = (1, 4, 16)
"""Steps of slice chains for every one that is kept: as few as mix well."""
MAX_SUBGROUPS_WITH_LONG_CHAINS = 40
"""Subgroups beyond which the last of these takes too long."""
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
    share: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def engine(self) -> str:
        """Name of what made them."""
        return "collapsed" if self.mixing is None else "elliptical"

    def checks(self, metric: str) -> list[Check]:
        """Diagnostics of the draws held against their thresholds."""
        if self.mixing is not None:
            return self.mixing.checks(metric)
        return [
            at_most("Pareto k-hat", metric, self.k_hat, K_HAT, "the largest k-hat of the importance weights"),
            at_least("importance ESS", metric, self.ess, IS_ESS, "the smallest effective number of weighted draws"),
            at_most("mass at a bound", metric, self.at_bound, AT_BOUND, "the share of draws near a numerical bound"),
        ]


def space(predictor: Design, y: FloatArray, v: FloatArray, prior: Spreads) -> Space:
    """The space of the effects where it is the smaller one and subgroups are many; that of the subgroups loses fewer digits."""
    if isinstance(predictor, FollowingPredictor):
        return FollowingSpace(predictor, y, v)
    remaining = predictor.effects - int(predictor.sizes.max(initial=0))
    if max(remaining, MAX_SUBGROUPS_IN_OWN_SPACE) < np.isfinite(v).sum():
        return EffectSpace(predictor, y, v, prior.largest, prior.residual_sd)
    return SubgroupSpace(predictor, y, v)


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
    residual effects, beside those of the last component. With ``ordered`` parts draws are made by slices. ``covariance`` (subgroup,
    subgroup) is that of correlated errors, with ``v`` on its diagonal, NaN where there is none; known variances are then all alike.
    """
    if ordered.blocks:
        return gaussian_by_slices(
            predictor, y, v, prior, rng, draws=draws, known=known, ordered=ordered, covariance=covariance
        )
    y = np.where(np.isfinite(v), y, 0.0)
    extra = np.zeros(len(y)) if known is None else known
    # For whatever subgroups share, the known part of what they do not is noise.
    here = (
        space(predictor, y, v + extra, prior)
        if covariance is None
        else _correlated(predictor, y, v + extra, covariance)
    )
    weighed = importance.sample(_likelihood(here, prior), prior.dimension, rng, slope=_slope(here, prior))
    if _too_uneven(weighed.k_hat, weighed.ess) and np.isfinite(v).sum() <= MAX_SUBGROUPS_WITH_RETRY:
        return gaussian_by_slices(predictor, y, v, prior, rng, draws=draws, known=known, covariance=covariance)
    tau = prior.scales(weighed.u[importance.resample(weighed.log_weight, draws, rng)])
    drawn = here.draw(tau, rng)
    residual_sd = tau[:, -1:] if prior.residual_sd is None else np.full((1, 1), prior.residual_sd)
    if covariance is not None:
        residual = (residual_sd**2 + extra[:1]) * np.ones((draws, 1))
        eta = _with_residual_effects(drawn.shared(slice(0, draws)), y, residual, covariance, rng)
        return CrossedDraws(eta, drawn.overall, drawn.beta, tau, weighed.k_hat, weighed.ess)
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


def _correlated(predictor: Predictor, y: FloatArray, v: FloatArray, covariance: FloatArray) -> SubgroupSpace:
    """Space of the subgroups with errors that are correlated."""
    seen = np.isfinite(v)
    between = covariance[np.ix_(seen, seen)]
    return SubgroupSpace(predictor, y, v, between - np.diag(np.diagonal(between)))


def _with_residual_effects(
    shared: FloatArray, y: FloatArray, residual: FloatArray, covariance: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Values (draw, subgroup) given what subgroups share; residual effects of variance ``residual`` (draw, 1) are drawn jointly."""
    turned = directions_of(covariance)
    gap = turned.along(np.where(turned.seen, y - shared, 0.0))
    error = np.where(turned.seen, turned.variance, np.inf)
    gain = residual / (residual + error)
    left = np.where(turned.seen, gain * np.where(turned.seen, error, 0.0), residual)
    return np.asarray(shared + turned.back(gain * gap + np.sqrt(left) * rng.standard_normal(gap.shape)))


def binomial(
    predictor: Design,
    k: FloatArray,
    n: FloatArray,
    prior: Spreads,
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
    if ordered.blocks:
        return binomial_by_slices(predictor, k, n, prior, rng, draws=draws, known=known, ordered=ordered)
    extra = np.zeros(len(k)) if known is None else known
    y, v = sites.start(k, n)
    u = np.zeros(prior.dimension)
    here, moments = space(predictor, y, v + extra, prior), _moments(predictor, prior, prior.scales(u[None])[0], extra)
    for _ in range(ROUNDS):
        here = space(predictor, y, v + extra, prior)
        likelihood = _likelihood(here, prior)
        nearest = importance.starts(likelihood, prior.dimension, u)[0]
        u = importance.mode(likelihood, nearest, _slope(here, prior))
        moments = _moments(predictor, prior, prior.scales(u[None])[0], extra)
        y, v = sites.refine(k, n, y, v, moments)
    seen = int((n > 0).sum())
    if seen <= MAX_SUBGROUPS_WITH_LONG_CHAINS and sites.skewness(k, n, y, v, moments) > sites.MAX_SKEWNESS:
        # A tail that no draw is made in has no weight that would tell.
        return binomial_by_slices(predictor, k, n, prior, rng, draws=draws, known=known)
    weighed = _weighed(
        _Sites.around(predictor, k, n, y, v, prior, u, extra, few=seen <= MAX_SUBGROUPS_WITH_WIDE_SITES),
        k,
        n,
        prior,
        u,
        rng,
        draws,
    )
    if weighed.k_hat > importance.USABLE and MAX_SUBGROUPS_WITH_WIDE_SITES < seen <= MAX_SUBGROUPS_WITH_RETRY:
        weighed = _weighed(_Sites.around(predictor, k, n, y, v, prior, u, extra, few=True), k, n, prior, u, rng, draws)
    if _too_uneven(weighed.k_hat, weighed.ess) and seen <= MAX_SUBGROUPS_WITH_RETRY:
        return binomial_by_slices(predictor, k, n, prior, rng, draws=draws, known=known)
    kept = importance.resample(weighed.log_weight, draws, rng)
    tau, drawn = weighed.tau[kept], weighed.drawn
    residual_sd = tau[:, -1:] if prior.residual_sd is None else np.full((1, 1), prior.residual_sd)
    eta = np.empty((draws, len(k)))
    for block in chunks(draws, len(k), CHUNK):
        spread = np.sqrt((residual_sd if prior.residual_sd is not None else residual_sd[block]) ** 2 + extra)
        eta[block] = logit_normal.draw(k, n, drawn.shared(kept[block]), spread, rng)
    return CrossedDraws(
        eta, drawn.overall[kept], drawn.beta[kept], tau, weighed.k_hat, weighed.ess, _at_bound(here, tau)
    )


def gaussian_by_slices(
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
    """`gaussian` by elliptical slices, which have no weights."""
    blocks, extra = blocks_of(predictor, prior, ordered), np.zeros(len(y)) if known is None else known
    return _by_slices(elliptical.gaussian(blocks, y, v, extra, rng, covariance=covariance), blocks, draws)


def binomial_by_slices(
    predictor: Design,
    k: FloatArray,
    n: FloatArray,
    prior: Spreads,
    rng: np.random.Generator,
    *,
    draws: int,
    known: FloatArray | None = None,
    ordered: OrderedBlocks = NOTHING,
) -> CrossedDraws:
    """`binomial` by elliptical slices."""
    blocks, extra = blocks_of(predictor, prior, ordered), np.zeros(len(k)) if known is None else known
    return _by_slices(elliptical.binomial(blocks, k, n, extra, rng), blocks, draws)


def _at_bound(here: Space, tau: FloatArray) -> float:
    """Share of the draws whose last standard deviation is more than half of the largest one that is told apart."""
    if not isinstance(here, EffectSpace) or here.residual_sd is not None:
        return 0.0
    return float((tau[:, -1] > here.largest / 2).mean())


class _Weighed(NamedTuple):
    """Candidates, their log weights, and the worst k-hat and effective number of the two stages."""

    tau: FloatArray
    drawn: Drawn
    log_weight: FloatArray
    k_hat: float
    ess: float


def _too_uneven(k_hat: float, ess: float) -> bool:
    """Weights that no average can be trusted with."""
    return k_hat > importance.USABLE or ess < MIN_ESS


def _mixing(drawn: EllipticalDraws, blocks: Blocks, draws: int) -> Mixing:
    """Mixing of all that is drawn: of groups of chains as chains, and of the means of single ones."""
    of_groups, alone = (
        np.concatenate([each.eta, each.effects[..., blocks.fixed], each.u], axis=-1)
        for each in (drawn.in_groups(draws), drawn)
    )
    mixed, single = mixing(np.moveaxis(of_groups, -1, 0)), short_chains.effective(alone)
    return replace(mixed, bulk=min(mixed.bulk, single.bulk), tail=min(mixed.tail, single.tail))


def _by_slices(run: elliptical.Run, blocks: Blocks, draws: int) -> CrossedDraws:
    """Draws of slice chains, which go on with more steps for every one that is kept until they mix."""
    few = len(run.chains.posterior.seen) <= MAX_SUBGROUPS_WITH_LONG_CHAINS
    first, *more = THINNING if few else THINNING[:-1]
    sampled = run.sample(draws, first)
    mixed = _mixing(sampled, blocks, draws)
    for thin in more:
        if all(check.passed for check in mixed.checks("")):
            break
        sampled = run.sample(draws, thin)
        mixed = _mixing(sampled, blocks, draws)
    each = sampled.in_groups(draws)
    eta, effects, u = (values.reshape(-1, values.shape[2])[:draws] for values in (each.eta, each.effects, each.u))
    overall = effects[:, blocks.overall] * blocks.overall_scale
    return CrossedDraws(
        eta,
        overall if blocks.parts > 1 else overall[:, 0],
        effects[:, blocks.covariates] * blocks.coefficient_scale,
        blocks.hyperparameters(u),
        math.nan,
        math.nan,
        mixing=mixed,
        share=blocks.shares(u),
    )


def _weighed(
    wider: _Sites, k: FloatArray, n: FloatArray, prior: Spreads, mode: FloatArray, rng: np.random.Generator, draws: int
) -> _Weighed:
    weighted = importance.sample(
        lambda at: wider.log_marginal(prior.scales(at)), prior.dimension, rng, start=mode, slope=wider.slope(prior)
    )

    def candidates(number: int) -> _Weighed:
        tau = prior.scales(weighted.u[importance.resample(weighted.log_weight, number, rng)])
        drawn, log_weight = wider.weighed(k, n, tau, rng)
        k_hat = importance.pareto_k(log_weight)
        return _Weighed(tau, drawn, log_weight, k_hat, importance.effective(log_weight))

    second = candidates(CANDIDATES * draws)
    if second.k_hat > importance.GOOD or second.ess < MIN_ESS:
        second = candidates(MORE_CANDIDATES * draws)
    return second._replace(k_hat=max(weighted.k_hat, second.k_hat), ess=min(weighted.ess, second.ess))


def _likelihood(here: Space, prior: Spreads) -> importance.LogLikelihood:
    return lambda u: here.log_marginal(prior.scales(u))


def _slope(here: Space, prior: Spreads) -> importance.Slope | None:
    """In the space of the effects differences are as fast."""
    if not isinstance(here, SubgroupSpace | FollowingSpace):
        return None
    return lambda u: here.slope(prior.scales(u[None])[0]) @ prior.jacobian(u)


def _moments(predictor: Design, prior: Spreads, tau: FloatArray, extra: FloatArray) -> sites.Moments:
    def of_sites(y: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = space(predictor, y, v + extra, prior).moments(tau)
        seen = np.isfinite(v)
        gain = extra / (np.where(seen, v, 1.0) + extra) * seen
        left = np.where(seen, gain * np.where(seen, v, 1.0), extra)
        return mean + gain * (y - mean), (1 - gain) ** 2 * variance + left

    return of_sites


@dataclass(frozen=True)
class _Sites:
    """The sites and wider ones: what draws are made from, in the shares of each.

    The likelihood of a count has longer tails than its site, so some draws are made from wider sites, and some standard
    deviations are drawn as these would have them; all are weighed with the mixture. Among very many subgroups a wider
    draw is never likely, and no tail is long.
    """

    y: FloatArray
    variances: list[FloatArray]
    spaces: list[Space]
    shares: tuple[float, ...]
    extra: FloatArray
    """Known variances of residual effects, which the spaces have with those of the sites."""
    level: FloatArray
    """Log posterior of each at its own mode, which makes them comparable."""

    @classmethod
    def around(
        cls,
        predictor: Design,
        k: FloatArray,
        n: FloatArray,
        y: FloatArray,
        v: FloatArray,
        prior: Spreads,
        mode: FloatArray,
        extra: FloatArray,
        *,
        few: bool,
    ) -> _Sites:
        # Every count has longer tails than its site; that of none, or of all, has one tail that only the prior ends.
        scarce = 1 / (1 + np.minimum(k, n - k))
        variances = [v] if not few else [v, WIDE * v, WIDE * WIDER**scarce * v]
        spaces = [space(predictor, y, each + extra, prior) for each in variances]
        level = np.zeros(len(spaces))
        for column, each in enumerate(spaces if few else ()):
            nearest = importance.mode(_likelihood(each, prior), mode, _slope(each, prior))
            level[column] = each.log_marginal(prior.scales(nearest[None]))[0] - 0.5 * nearest @ nearest
        return cls(y, variances, spaces, SHARES if few else (1.0,), extra, level)

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log of the mixture of their marginal likelihoods, (draw,)."""
        return self._mixed(self._marginals(tau))

    def weighed(
        self, k: FloatArray, n: FloatArray, tau: FloatArray, rng: np.random.Generator
    ) -> tuple[Drawn, FloatArray]:
        """Draws of the predictor given ``tau`` (draw, component), and their log weights given the counts.

        A density of effects given tau is the prior's times the sites' over the marginal likelihood of the sites.
        """
        residual_sd = tau[:, -1]
        if len(self.spaces) == 1:
            drawn = self.spaces[0].draw(tau, rng)
            return drawn, surrogate.log_likelihood(
                k, n, drawn.shared, residual_sd, self.extra, (self.y, self.variances[0])
            )
        marginal = self._marginals(tau)
        ends = np.round(np.cumsum(self.shares) * len(tau)).astype(int)
        parts = [each.draw(part, rng) for each, part in zip(self.spaces, np.split(tau, ends[:-1]), strict=True)]
        drawn, seen = _joined(parts), n > 0
        proposal = np.log(self.shares) - marginal
        for block in chunks(len(tau), len(n), CHUNK):
            deviation = self.y[seen] - drawn.shared(block)[:, seen]
            for column, variance in enumerate(self.variances):
                proposal[block, column] += _log_normal(
                    deviation, (variance + self.extra)[seen] + residual_sd[block, None] ** 2
                )
        exact = surrogate.log_likelihood(k, n, drawn.shared, residual_sd, self.extra)
        return drawn, exact - self._mixed(marginal) - np.logaddexp.reduce(proposal, axis=1)

    def slope(self, prior: Spreads) -> importance.Slope | None:
        """Derivatives of `log_marginal` by what the prior makes standard deviations of, where there is a formula."""
        each = [_slope(here, prior) for here in self.spaces]
        if any(gradient is None for gradient in each):
            return None

        def mixed(u: FloatArray) -> FloatArray:
            terms = (self._marginals(prior.scales(u[None])) - self.level + np.log(self.shares))[0]
            share = np.exp(terms - np.logaddexp.reduce(terms))
            return np.asarray(
                share @ np.stack([gradient(u) for gradient in each if gradient is not None]), dtype=np.float64
            )

        return mixed

    def _marginals(self, tau: FloatArray) -> FloatArray:
        return np.stack([each.log_marginal(tau) for each in self.spaces], axis=1)

    def _mixed(self, marginal: FloatArray) -> FloatArray:
        mixed: FloatArray = np.logaddexp.reduce(marginal - self.level + np.log(self.shares), axis=1)
        return mixed


def _joined(parts: Sequence[Drawn]) -> Drawn:
    return Drawn(
        np.concatenate([part.state for part in parts]),
        parts[0].predict,
        np.concatenate([part.overall for part in parts]),
        np.concatenate([part.beta for part in parts]),
    )


def _log_normal(deviation: FloatArray, variance: FloatArray) -> FloatArray:
    """Sum over subgroups of normal log densities, up to the constant that all share."""
    log_density: FloatArray = (-0.5 * np.log(variance) - 0.5 * deviation**2 / variance).sum(axis=1)
    return log_density
