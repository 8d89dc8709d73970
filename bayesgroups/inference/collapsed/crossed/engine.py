"""Exact posteriors of crossed effects, either likelihood.

The effects are integrated out; the standard deviations of the components are drawn by adaptive importance sampling; the
effects are then drawn given them. Counts are first replaced by normal sites, and the draws weighed once more with the
binomial likelihood itself, with the effects of single subgroups integrated out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.inference import importance
from bayesgroups.inference.collapsed import logit_normal
from bayesgroups.inference.collapsed.crossed import sites
from bayesgroups.inference.collapsed.crossed.effect_space import EffectSpace
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, Space, chunks
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace

FloatArray = NDArray[np.float64]

ROUNDS = 3
"""Times that sites and mode are fitted to each other."""
CANDIDATES = 2
"""Draws that are weighed for every draw that is kept, with a binomial likelihood."""
WIDTHS = (1.0, 2.0, 6.0)
"""Factors on the variances of the sites that draws are made from."""
SHARES = (0.4, 0.3, 0.3)
"""Share of the draws that each of them makes."""
NODES = 11
CHUNK = 200_000


@dataclass(frozen=True)
class CrossedDraws:
    """Draws of ``eta`` (draw, subgroup), ``overall`` (draw,), ``beta`` (draw, column) and ``tau`` (draw, component).

    All on the scale of the linear predictor, ``overall`` around 0. ``k_hat`` is the largest of the stages, ``ess`` the
    smallest effective number of weighted draws.
    """

    eta: FloatArray
    overall: FloatArray
    beta: FloatArray
    tau: FloatArray
    k_hat: float
    ess: float


def space(predictor: Predictor, y: FloatArray, v: FloatArray, largest: float) -> Space:
    """The smaller space of the two."""
    if predictor.effects < np.isfinite(v).sum():
        return EffectSpace(predictor, y, v, largest)
    return SubgroupSpace(predictor, y, v)


def gaussian(
    predictor: Predictor, y: FloatArray, v: FloatArray, prior: Prior, rng: np.random.Generator, *, draws: int
) -> CrossedDraws:
    """Draws given estimates ``y`` around the prior mean with error variances ``v``, infinite where there is none.

    Parameters
    ----------
    predictor : Predictor
        Design.
    y, v : arrays (subgroup,)
        Estimates less the prior mean of ``overall``, and their error variances.
    prior : Prior
        Of the components' standard deviations.
    rng : numpy Generator
        Source of randomness.
    draws : int
        Number of draws.

    Returns
    -------
    CrossedDraws
    """
    y = np.where(np.isfinite(v), y, 0.0)
    here = space(predictor, y, v, prior.largest)
    found = importance.sample(lambda u: here.log_marginal(prior.scales(u)), prior.dimension, rng)
    tau = prior.scales(found.u[importance.resample(found.log_weight, draws, rng)])
    drawn = here.draw(tau, rng)
    eta = drawn.shared
    with np.errstate(invalid="ignore"):
        for block in chunks(draws, len(y), CHUNK):
            own = tau[block, -1:] ** 2
            shrink = np.where(np.isfinite(v), v / (v + own), 1.0)
            eta[block] += (1 - shrink) * (y - eta[block]) + np.sqrt(shrink * own) * rng.standard_normal(shrink.shape)
    return CrossedDraws(eta, drawn.overall, drawn.beta, tau, found.k_hat, found.ess)


def binomial(
    predictor: Predictor, k: FloatArray, n: FloatArray, prior: Prior, rng: np.random.Generator, *, draws: int
) -> CrossedDraws:
    """Draws given counts: ``k`` successes of ``n`` trials, which may be fractional or 0.

    Parameters
    ----------
    predictor : Predictor
        Design, on the logit scale.
    k, n : arrays (subgroup,)
        Counts.
    prior : Prior
        Of the components' standard deviations.
    rng : numpy Generator
        Source of randomness.
    draws : int
        Number of draws.

    Returns
    -------
    CrossedDraws
    """
    y, v = sites.start(k, n)
    u = np.zeros(prior.dimension)
    for _ in range(ROUNDS):
        here = space(predictor, y, v, prior.largest)
        u = importance.mode(lambda at, here=here: here.log_marginal(prior.scales(at)), u)
        tau = prior.scales(u[None])[0]
        y, v = sites.refine(k, n, y, v, lambda y, v, tau=tau: space(predictor, y, v, prior.largest).moments(tau))
    here = space(predictor, y, v, prior.largest)
    found = importance.sample(lambda at: here.log_marginal(prior.scales(at)), prior.dimension, rng, start=u)
    tau = prior.scales(found.u[importance.resample(found.log_weight, CANDIDATES * draws, rng)])
    # The likelihood of a count has longer tails than its site, so some draws are made from wider sites; all are weighed with
    # the mixture. A density of effects given tau is the prior's times the sites' over their marginal likelihood.
    spaces = [space(predictor, y, width * v, prior.largest) for width in WIDTHS]
    ends = np.round(np.cumsum(SHARES) * len(tau)).astype(int)
    parts = [each.draw(part, rng) for each, part in zip(spaces, np.split(tau, ends[:-1]), strict=True)]
    drawn = _joined(parts)
    marginal = np.stack([each.log_marginal(tau) for each in spaces], axis=1)
    log_weight = _correction(k, n, y, v, drawn.shared, tau[:, -1], marginal - marginal[:, :1])
    kept = importance.resample(log_weight, draws, rng)
    eta = np.empty((draws, len(k)))
    for block in chunks(draws, len(k), CHUNK):
        eta[block] = logit_normal.draw(k, n, drawn.shared[kept[block]], tau[kept[block], -1:], rng)
    return CrossedDraws(
        eta, drawn.overall[kept], drawn.beta[kept], tau[kept],
        max(found.k_hat, importance.pareto_k(log_weight)), min(found.ess, importance.effective(log_weight)),
    )  # fmt: skip


def _joined(parts: Sequence[Drawn]) -> Drawn:
    return Drawn(
        np.concatenate([part.shared for part in parts]),
        np.concatenate([part.overall for part in parts]),
        np.concatenate([part.beta for part in parts]),
    )


def _correction(
    k: FloatArray,
    n: FloatArray,
    y: FloatArray,
    v: FloatArray,
    shared: FloatArray,
    own: FloatArray,
    marginal: FloatArray,
) -> FloatArray:
    """Log weights (draw,): the binomial likelihood over the mixture of sites, single subgroups' effects integrated out.

    ``marginal`` (draw, width) is the log marginal likelihood of the sites of each width.
    """
    seen = n > 0
    found = np.zeros(len(shared))
    for block in chunks(len(shared), int(seen.sum()), CHUNK):
        at, tau = shared[block][:, seen], own[block, None]
        exact = logit_normal.log_marginal(k[seen], n[seen], at, tau, nodes=NODES).sum(axis=1)
        site = np.stack([_log_normal(y[seen] - at, width * v[seen] + tau**2) for width in WIDTHS], axis=1)
        found[block] = exact - np.logaddexp.reduce(site - marginal[block] + np.log(SHARES), axis=1)
    return found


def _log_normal(away: FloatArray, variance: FloatArray) -> FloatArray:
    """Sum over subgroups of normal log densities, up to the constant that all share."""
    found: FloatArray = (-0.5 * np.log(variance) - 0.5 * away**2 / variance).sum(axis=1)
    return found
