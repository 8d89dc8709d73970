"""Draws of crossed effects, with the diagnostics of weights or of chains, whichever made them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.report.diagnostics import AT_BOUND, DIVERGENCES, IS_ESS, K_HAT, Check, Mixing, at_least, at_most


@dataclass(frozen=True)
class CrossedDraws:
    """Draws of ``eta`` (draw, subgroup), ``overall`` (draw,), ``beta`` (draw, column) and ``tau`` (draw, component).

    With a `FollowingPredictor` ``eta`` has the subgroups of both predictors in turn, ``overall`` is (draw, predictor), and the
    columns of ``tau`` are the standard deviations of the first, of the second, and the coefficient by which it follows. All on
    the scale of the linear predictor, ``overall`` around 0. ``k_hat`` is the largest of the stages, ``ess`` the smallest effective
    number of weighted draws, ``at_bound`` the share of draws near the largest standard deviation that the space of the effects
    tells apart, 0 where it has no such bound. Draws of chains have ``mixing`` and ``divergences`` instead, a quarter of them from
    each group of chains, and ``share`` (draw, share) of the components that follow an order.
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
