"""Exact posteriors of crossed effects, either likelihood.

Counts are drawn by Hamiltonian Monte Carlo, along directions in which the effects are independent beforehand, see
`bayesgroups.inference.collapsed.crossed.chains`. Estimates of few subgroups, and tables of many subgroups that share few effects,
have weights, which are faster there: the effects are integrated out, and the standard deviations of the components drawn by
adaptive importance sampling; the effects are then drawn given them. Counts are first replaced by normal sites, and the draws
weighed once more with the binomial likelihood itself, with the effects of single subgroups integrated out. Chains take the place of
weights that are not good. Weights look at every mode, and take the place of chains of few counts that fail a check at first. Where
nearly all counts are of nothing or of everything there are none: standard deviations have tails in which none would be drawn.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance
from bayesgroups.inference.collapsed import logit_normal
from bayesgroups.inference.collapsed.crossed import chains, site_mixture, sites, spaces
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Counts
from bayesgroups.inference.collapsed.crossed.draws import CrossedDraws
from bayesgroups.inference.collapsed.crossed.predictor import Predictor, chunks
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.site_mixture import SiteMixture
from bayesgroups.inference.correlated_errors import directions_of
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlocks

ROUNDS = 3
"""Times that sites and mode are fitted to each other."""
MAX_SUBGROUPS_IN_OWN_SPACE = 40
"""Subgroups up to which there are weights in their own space, with half as many effective draws again as chains have: of
estimates in a third to all of their time, of counts of 24 to 36 subgroups in two to four times as much."""
MAX_SUBGROUPS_WITH_WIDE_SITES = 200
"""Subgroups beyond which only the sites themselves are drawn from."""
SMALL_CHUNK = 64_000
"""Numbers handled at once, which stay in the cache."""


def weights_are_fast(predictor: Predictor, seen: int) -> bool:
    """True of few subgroups, of whose counts chains are as fast, and of many that share few effects."""
    return seen <= MAX_SUBGROUPS_IN_OWN_SPACE or spaces.few_effects(predictor, seen)


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
        return chains.gaussian(
            predictor, y, v, prior, rng, draws=draws, known=known, ordered=ordered, covariance=covariance
        )
    y = np.where(np.isfinite(v), y, 0.0)
    extra = np.zeros(len(y)) if known is None else known
    # For whatever subgroups share, the known part of what they do not is noise.
    here = (
        spaces.space(predictor, y, v + extra, prior)
        if covariance is None
        else spaces.correlated(predictor, y, v + extra, covariance)
    )
    weighed = importance.sample(spaces.likelihood(here, prior), prior.dimension, rng, slope=spaces.slope(here, prior))
    if _too_uneven(weighed.k_hat, weighed.ess):
        return chains.gaussian(predictor, y, v, prior, rng, draws=draws, known=known, covariance=covariance)
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
    return CrossedDraws(eta, drawn.overall, drawn.beta, tau, weighed.k_hat, weighed.ess, spaces.at_bound(here, tau))


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
    predictor: Predictor,
    k: FloatArray,
    n: FloatArray,
    prior: Prior,
    rng: np.random.Generator,
    *,
    draws: int,
    known: FloatArray | None = None,
    ordered: OrderedBlocks = NOTHING,
) -> CrossedDraws:
    """Draws given counts: ``k`` successes of ``n`` trials, which may be fractional or 0, on the logit scale.

    ``known`` and ``ordered`` are as in `gaussian`.
    """
    seen = int((n > 0).sum())
    by_chains = partial(chains.binomial, predictor, k, n, prior, rng, draws=draws, known=known, ordered=ordered)
    one_sided = Counts(k[None], n[None]).sides(0) is not None
    if ordered.blocks or one_sided or not weights_are_fast(predictor, seen):
        return by_chains()
    by_weights = partial(binomial_by_weights, predictor, k, n, prior, rng, draws=draws, known=known)
    if seen > MAX_SUBGROUPS_IN_OWN_SPACE:
        return by_weights() or by_chains()
    return by_chains(instead=by_weights)


def binomial_by_weights(
    predictor: Predictor,
    k: FloatArray,
    n: FloatArray,
    prior: Prior,
    rng: np.random.Generator,
    *,
    draws: int,
    known: FloatArray | None = None,
) -> CrossedDraws | None:
    """Draws given counts by importance sampling, or None where no average of the weights can be trusted."""
    seen = int((n > 0).sum())
    extra = np.zeros(len(k)) if known is None else known
    y, v = sites.start(k, n)
    u = np.zeros(prior.dimension)
    here, moments = (
        spaces.space(predictor, y, v + extra, prior),
        _moments(predictor, prior, prior.scales(u[None])[0], extra),
    )
    for _ in range(ROUNDS):
        here = spaces.space(predictor, y, v + extra, prior)
        likelihood = spaces.likelihood(here, prior)
        nearest = importance.starts(likelihood, prior.dimension, u)[0]
        u = importance.mode(likelihood, nearest, spaces.slope(here, prior))
        moments = _moments(predictor, prior, prior.scales(u[None])[0], extra)
        y, v = sites.refine(k, n, y, v, moments)
    if seen <= MAX_SUBGROUPS_IN_OWN_SPACE and sites.skewness(k, n, y, v, moments) > sites.MAX_SKEWNESS:
        # A tail that no draw is made in has no weight that would tell.
        return None
    weighed = site_mixture.weighed(
        SiteMixture.around(predictor, k, n, y, v, prior, u, extra, few=seen <= MAX_SUBGROUPS_WITH_WIDE_SITES),
        k,
        n,
        prior,
        u,
        rng,
        draws,
    )
    if _too_uneven(weighed.k_hat, weighed.ess):
        return None
    kept = importance.resample(weighed.log_weight, draws, rng)
    tau, drawn = weighed.tau[kept], weighed.drawn
    residual_sd = tau[:, -1:] if prior.residual_sd is None else np.full((1, 1), prior.residual_sd)
    eta = np.empty((draws, len(k)))
    for block in chunks(draws, len(k), site_mixture.CHUNK):
        spread = np.sqrt((residual_sd if prior.residual_sd is not None else residual_sd[block]) ** 2 + extra)
        eta[block] = logit_normal.draw(k, n, drawn.shared(kept[block]), spread, rng)
    return CrossedDraws(
        eta, drawn.overall[kept], drawn.beta[kept], tau, weighed.k_hat, weighed.ess, spaces.at_bound(here, tau)
    )


def _too_uneven(k_hat: float, ess: float) -> bool:
    """Weights that no average can be trusted with."""
    return k_hat > importance.USABLE or ess < site_mixture.MIN_ESS


def _moments(predictor: Predictor, prior: Prior, tau: FloatArray, extra: FloatArray) -> sites.Moments:
    def of_sites(y: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = spaces.space(predictor, y, v + extra, prior).moments(tau)
        seen = np.isfinite(v)
        gain = extra / (np.where(seen, v, 1.0) + extra) * seen
        left = np.where(seen, gain * np.where(seen, v, 1.0), extra)
        return mean + gain * (y - mean), (1 - gain) ** 2 * variance + left

    return of_sites
