"""Candidates of counts, drawn from normal sites in place of the counts, and their weights given the counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import importance
from bayesgroups.inference.collapsed.crossed import spaces, surrogate
from bayesgroups.inference.collapsed.crossed.predictor import Drawn, Predictor, Space, chunks
from bayesgroups.inference.collapsed.crossed.prior import Prior

MIN_ESS = 400.0
"""Effective number of weighted draws below which weights are not good."""
CANDIDATES = 2
"""Draws that are weighed for every draw that is kept."""
MORE_CANDIDATES = 8
"""The same if their weights are not good."""
WIDE = 2.0
"""Factor on the variances of the sites that some draws are made from."""
WIDER = 3.0
"""A further factor, for a count of nothing or of everything; counts of a few have less of it."""
SHARES = (0.4, 0.3, 0.3)
"""Share of the draws made from the sites, from wide ones and from wider ones."""
CHUNK = 200_000
"""Numbers handled at once."""


class Weighed(NamedTuple):
    """Candidates, their log weights, and the worst k-hat and effective number of the two stages."""

    tau: FloatArray
    drawn: Drawn
    log_weight: FloatArray
    k_hat: float
    ess: float


def weighed(
    wider: SiteMixture,
    k: FloatArray,
    n: FloatArray,
    prior: Prior,
    mode: FloatArray,
    rng: np.random.Generator,
    draws: int,
) -> Weighed:
    """Candidates for so many draws, more of them where their weights are not good."""
    weighted = importance.sample(
        lambda at: wider.log_marginal(prior.scales(at)), prior.dimension, rng, start=mode, slope=wider.slope(prior)
    )

    def candidates(number: int) -> Weighed:
        tau = prior.scales(weighted.u[importance.resample(weighted.log_weight, number, rng)])
        drawn, log_weight = wider.weighed(k, n, tau, rng)
        k_hat = importance.pareto_k(log_weight)
        return Weighed(tau, drawn, log_weight, k_hat, importance.effective(log_weight))

    second = candidates(CANDIDATES * draws)
    if second.k_hat > importance.GOOD or second.ess < MIN_ESS:
        second = candidates(MORE_CANDIDATES * draws)
    return second._replace(k_hat=max(weighted.k_hat, second.k_hat), ess=min(weighted.ess, second.ess))


@dataclass(frozen=True)
class SiteMixture:
    """The sites and wider ones: what draws are made from, in the shares of each.

    The likelihood of a count has longer tails than its site, so some draws are made from wider sites, and some standard
    deviations are drawn as these would have them; all are weighed with the mixture. Among very many subgroups a wider
    draw is never likely, and no tail is long.
    """

    y: FloatArray
    variances: list[FloatArray]
    made_in: list[Space]
    shares: tuple[float, ...]
    extra: FloatArray
    """Known variances of residual effects, which the spaces have with those of the sites."""
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
        extra: FloatArray,
        *,
        few: bool,
    ) -> SiteMixture:
        """Sites around counts, with wider ones where subgroups are ``few``."""
        # Every count has longer tails than its site; that of none, or of all, has one tail that only the prior ends.
        scarce = 1 / (1 + np.minimum(k, n - k))
        variances = [v] if not few else [v, WIDE * v, WIDE * WIDER**scarce * v]
        each_space = [spaces.space(predictor, y, each + extra, prior) for each in variances]
        level = np.zeros(len(each_space))
        for column, each in enumerate(each_space if few else ()):
            nearest = importance.mode(spaces.likelihood(each, prior), mode, spaces.slope(each, prior))
            level[column] = each.log_marginal(prior.scales(nearest[None]))[0] - 0.5 * nearest @ nearest
        return cls(y, variances, each_space, SHARES if few else (1.0,), extra, level)

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
        if len(self.made_in) == 1:
            drawn = self.made_in[0].draw(tau, rng)
            return drawn, surrogate.log_likelihood(
                k, n, drawn.shared, residual_sd, self.extra, (self.y, self.variances[0])
            )
        marginal = self._marginals(tau)
        ends = np.round(np.cumsum(self.shares) * len(tau)).astype(int)
        parts = [each.draw(part, rng) for each, part in zip(self.made_in, np.split(tau, ends[:-1]), strict=True)]
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

    def slope(self, prior: Prior) -> importance.Slope | None:
        """Derivatives of `log_marginal` by what the prior makes standard deviations of, where there is a formula."""
        each = [spaces.slope(here, prior) for here in self.made_in]
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
        return np.stack([each.log_marginal(tau) for each in self.made_in], axis=1)

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
