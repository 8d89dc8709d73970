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
from bayesgroups.inference.collapsed.crossed import sites, surrogate
from bayesgroups.inference.collapsed.crossed.effect_space import EffectSpace
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, Space, chunks
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace

FloatArray = NDArray[np.float64]

ROUNDS = 3
"""Times that sites and mode are fitted to each other."""
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
FEW = 100
"""Subgroups up to which their own space is fast enough."""
MANY = 400
"""Subgroups beyond which only the sites themselves are drawn from."""
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
    """The space of the effects where it is the smaller one and subgroups are many; that of the subgroups loses fewer digits."""
    if max(predictor.effects, FEW) < np.isfinite(v).sum():
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
    found = importance.sample(_likelihood(here, prior), prior.dimension, rng)
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
        u = importance.mode(_likelihood(space(predictor, y, v, prior.largest), prior), u)
        y, v = sites.refine(k, n, y, v, _moments(predictor, prior, prior.scales(u[None])[0]))
    wider = _Sites.around(predictor, k, n, y, v, prior, u)
    found = importance.sample(lambda at: wider.log_marginal(prior.scales(at)), prior.dimension, rng, start=u)

    def weighed(number: int) -> tuple[FloatArray, Drawn, FloatArray, float]:
        tau = prior.scales(found.u[importance.resample(found.log_weight, number, rng)])
        drawn, log_weight = wider.weighed(k, n, tau, rng)
        return tau, drawn, log_weight, importance.pareto_k(log_weight)

    tau, drawn, log_weight, k_hat = weighed(CANDIDATES * draws)
    if k_hat > importance.GOOD:
        tau, drawn, log_weight, k_hat = weighed(MORE_CANDIDATES * draws)
    kept = importance.resample(log_weight, draws, rng)
    tau = tau[kept]
    eta = np.empty((draws, len(k)))
    for block in chunks(draws, len(k), CHUNK):
        eta[block] = logit_normal.draw(k, n, drawn.shared[kept[block]], tau[block, -1:], rng)
    return CrossedDraws(
        eta, drawn.overall[kept], drawn.beta[kept], tau, max(found.k_hat, k_hat),
        min(found.ess, importance.effective(log_weight)),
    )  # fmt: skip


def _likelihood(here: Space, prior: Prior) -> importance.LogLikelihood:
    return lambda u: here.log_marginal(prior.scales(u))


def _moments(predictor: Predictor, prior: Prior, tau: FloatArray) -> sites.Moments:
    return lambda y, v: space(predictor, y, v, prior.largest).moments(tau)


@dataclass(frozen=True)
class _Sites:
    """The sites and wider ones: what draws are made from, in the shares of each.

    The likelihood of a count has longer tails than its site, so some draws are made from wider sites, and some standard
    deviations are drawn as these would have them; all are weighed with the mixture. Among very many subgroups a wider draw
    is never likely, and no tail is long.
    """

    y: FloatArray
    variances: list[FloatArray]
    spaces: list[Space]
    shares: tuple[float, ...]
    level: FloatArray
    """Log posterior of each at its own mode, which makes them comparable."""

    @classmethod
    def around(
        cls,
        predictor: Predictor,
        k: FloatArray,
        n: FloatArray,
        y: FloatArray,
        v: FloatArray,
        prior: Prior,
        mode: FloatArray,
    ) -> _Sites:
        few = (n > 0).sum() <= MANY
        # Every count has longer tails than its site; that of none, or of all, has one tail that only the prior ends.
        scarce = 1 / (1 + np.minimum(k, n - k))
        variances = [v] if not few else [v, WIDE * v, WIDE * WIDER**scarce * v]
        spaces = [space(predictor, y, each, prior.largest) for each in variances]
        level = np.zeros(len(spaces))
        for column, each in enumerate(spaces if few else ()):
            own = importance.mode(_likelihood(each, prior), mode)
            level[column] = each.log_marginal(prior.scales(own[None]))[0] - 0.5 * own @ own
        return cls(y, variances, spaces, SHARES if few else (1.0,), level)

    def log_marginal(self, tau: FloatArray) -> FloatArray:
        """Log of the mixture of their marginal likelihoods, (draw,)."""
        return self._mixed(self._marginals(tau))

    def weighed(
        self, k: FloatArray, n: FloatArray, tau: FloatArray, rng: np.random.Generator
    ) -> tuple[Drawn, FloatArray]:
        """Draws of the predictor given ``tau`` (draw, component), and their log weights given the counts.

        A density of effects given tau is the prior's times the sites' over the marginal likelihood of the sites.
        """
        seen, own = n > 0, tau[:, -1]
        marginal = self._marginals(tau)
        ends = np.round(np.cumsum(self.shares) * len(tau)).astype(int)
        parts = [each.draw(part, rng) for each, part in zip(self.spaces, np.split(tau, ends[:-1]), strict=True)]
        drawn = parts[0] if len(parts) == 1 else _joined(parts)
        shared = drawn.shared if seen.all() else drawn.shared[:, seen]
        proposal = np.log(self.shares) - marginal
        for block in chunks(len(tau), int(seen.sum()), CHUNK):
            away = self.y[seen] - shared[block]
            for column, variance in enumerate(self.variances):
                proposal[block, column] += _log_normal(away, variance[seen] + own[block, None] ** 2)
        exact = surrogate.log_likelihood(k[seen], n[seen], shared, own)
        return drawn, exact - self._mixed(marginal) - np.logaddexp.reduce(proposal, axis=1)

    def _marginals(self, tau: FloatArray) -> FloatArray:
        return np.stack([each.log_marginal(tau) for each in self.spaces], axis=1)

    def _mixed(self, marginal: FloatArray) -> FloatArray:
        mixed: FloatArray = np.logaddexp.reduce(marginal - self.level + np.log(self.shares), axis=1)
        return mixed


def _joined(parts: Sequence[Drawn]) -> Drawn:
    return Drawn(
        np.concatenate([part.shared for part in parts]),
        np.concatenate([part.overall for part in parts]),
        np.concatenate([part.beta for part in parts]),
    )


def _log_normal(away: FloatArray, variance: FloatArray) -> FloatArray:
    """Sum over subgroups of normal log densities, up to the constant that all share."""
    found: FloatArray = (-0.5 * np.log(variance) - 0.5 * away**2 / variance).sum(axis=1)
    return found
