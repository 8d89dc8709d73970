"""Exact posteriors of crossed effects, either likelihood.

Of few subgroups, and of many that share few effects, the effects are integrated out; the standard deviations of the components
are drawn by adaptive importance sampling; the effects are then drawn given them. Counts are first replaced by normal sites, and the
draws weighed once more with the binomial likelihood itself, with the effects of single subgroups integrated out. Everywhere else,
and where weights are not good, Hamiltonian Monte Carlo takes their place, along directions in which the effects are independent
beforehand, see `bayesgroups.inference.collapsed.crossed.trajectories`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance, short_chains
from bayesgroups.inference.collapsed import logit_normal
from bayesgroups.inference.collapsed.crossed import sites, spectral_design, surrogate, trajectories
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Counts, Estimates, Likelihood
from bayesgroups.inference.collapsed.crossed.effect_space import EffectSpace
from bayesgroups.inference.collapsed.crossed.following_space import FollowingPredictor, FollowingPrior, FollowingSpace
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, Space, chunks
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace
from bayesgroups.inference.correlated_errors import directions_of
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlocks
from bayesgroups.report.diagnostics import AT_BOUND, DIVERGENCES, IS_ESS, K_HAT, Check, Mixing, at_least, at_most
from bayesgroups.report.posterior import CHAINS

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
MAX_SUBGROUPS_IN_OWN_SPACE = 40
"""Subgroups up to which weights in their own space are as fast as chains."""
MIN_SUBGROUPS_FOR_EFFECTS, MAX_EFFECTS = 100, 100
"""Subgroups from which, and effects up to which, weights in the space of the effects are faster than chains."""
MAX_SUBGROUPS_WITH_WIDE_SITES = 200
"""Subgroups beyond which only the sites themselves are drawn from."""
LONG_THINNING = 8
"""Transitions of a chain for every draw that is kept, where twice as many as at first do not mix."""
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
    it has no such bound. Draws of chains have ``mixing`` and ``divergences`` instead, a quarter of them from each group of chains,
    and ``share`` (draw, share) of the components that follow an order.
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


def weights_are_fast(predictor: Design, seen: int) -> bool:
    """True of few subgroups, and of many that share few effects."""
    return seen <= MAX_SUBGROUPS_IN_OWN_SPACE or _few_effects(predictor, seen)


def _few_effects(predictor: Design, seen: int) -> bool:
    if isinstance(predictor, FollowingPredictor) or seen <= MIN_SUBGROUPS_FOR_EFFECTS:
        return False
    return predictor.effects - int(predictor.sizes.max(initial=0)) <= MAX_EFFECTS


def space(predictor: Design, y: FloatArray, v: FloatArray, prior: Spreads) -> Space:
    """The space of the effects where subgroups are many and effects few; that of the subgroups loses fewer digits."""
    if isinstance(predictor, FollowingPredictor):
        return FollowingSpace(predictor, y, v)
    if _few_effects(predictor, int(np.isfinite(v).sum())):
        assert isinstance(prior, Prior)
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
    residual effects, beside those of the last component. With ``ordered`` parts draws are made by chains. ``covariance`` (subgroup,
    subgroup) is that of correlated errors, with ``v`` on its diagonal, NaN where there is none; known variances are then all alike.
    """
    if ordered.blocks or not weights_are_fast(predictor, int(np.isfinite(v).sum())):
        return gaussian_by_chains(
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
    if _too_uneven(weighed.k_hat, weighed.ess):
        return gaussian_by_chains(predictor, y, v, prior, rng, draws=draws, known=known, covariance=covariance)
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
    seen = _seen(predictor, n)
    if ordered.blocks or not weights_are_fast(predictor, seen):
        return binomial_by_chains(predictor, k, n, prior, rng, draws=draws, known=known, ordered=ordered)
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
    if seen <= MAX_SUBGROUPS_IN_OWN_SPACE and sites.skewness(k, n, y, v, moments) > sites.MAX_SKEWNESS:
        # A tail that no draw is made in has no weight that would tell.
        return binomial_by_chains(predictor, k, n, prior, rng, draws=draws, known=known)
    weighed = _weighed(
        _Sites.around(predictor, k, n, y, v, prior, u, extra, few=seen <= MAX_SUBGROUPS_WITH_WIDE_SITES),
        k,
        n,
        prior,
        u,
        rng,
        draws,
    )
    if _too_uneven(weighed.k_hat, weighed.ess):
        return binomial_by_chains(predictor, k, n, prior, rng, draws=draws, known=known)
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


def gaussian_by_chains(
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
    """`gaussian` by Hamiltonian Monte Carlo, which has no weights."""
    seen = np.isfinite(v)
    y, extra = np.where(seen, y, 0.0), np.zeros(len(y)) if known is None else known
    inverse = np.where(seen, 1 / np.where(seen, v, 1.0), 0.0)
    if covariance is not None:
        inverse = np.zeros((len(y), len(y)))
        inverse[np.ix_(seen, seen)] = np.linalg.inv(covariance[np.ix_(seen, seen)])
    design = spectral_design.design_of(predictor, prior, extra, ordered)
    return _by_chains(design, Estimates(y, inverse), y[None], rng, draws)


def binomial_by_chains(
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
    """`binomial` by Hamiltonian Monte Carlo."""
    design = spectral_design.design_of(predictor, prior, np.zeros(len(k)) if known is None else known, ordered)
    successes, trials, start = (values.reshape(design.parts, -1) for values in (k, n, sites.start(k, n)[0]))
    return _by_chains(design, Counts(successes, trials), start, rng, draws)


def _seen(predictor: Design, n: FloatArray) -> int:
    """Subgroups with trials, of the predictor that has more of them."""
    return int((n > 0).reshape(-1, predictor.cells.shape[1]).sum(axis=1).max())


def _by_chains(
    design: spectral_design.Design, likelihood: Likelihood, start: FloatArray, rng: np.random.Generator, draws: int
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
