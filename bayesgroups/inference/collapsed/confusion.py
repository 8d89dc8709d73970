"""Exact posterior of the confusion model: its factors are independent, and each is a crossed binomial."""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.inference.collapsed.crossed import engine
from bayesgroups.inference.collapsed.crossed.engine import CrossedDraws
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.posterior import CHAINS, Posterior, generator
from bayesgroups.inference.verdicts import IS_ESS, K_HAT, at_least, at_most
from bayesgroups.models.confusion_offsets import SLOPE_SCALE, offsets
from bayesgroups.models.confusion_tree import OWN_EFFECT, factor_scales, shares, tree
from bayesgroups.models.scales import LOGIT_OVERALL_SCALE
from bayesgroups.models.subsets import subsets

FloatArray = NDArray[np.float64]

OwnEffects = Literal["fixed", "learned"]

ATTEMPTS = 3
"""Times that a factor is drawn while its weights are not good."""


def sample(
    tally: xr.Dataset,
    *,
    seed: int,
    draws: int = 4000,
    order: int | None = None,
    tau_scale: float | None = None,
    own_effects: OwnEffects = "fixed",
    score_offsets: bool = True,
) -> Posterior:
    """Independent draws of the cells of every subgroup, and of every metric of the tally from them.

    The same model as `bayesgroups.models.confusion` without correlations.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with confusion cells.
    seed : int
        Source of randomness.
    draws : int
        Number of draws over all chains.
    order, tau_scale, own_effects, score_offsets
        As in `bayesgroups.models.confusion.build`.

    Returns
    -------
    Posterior
        The draws have ``mu``, ``overall``, ``cell_share(chain, draw, subgroup, outcome, decision)`` and the hyper-parameters of
        the factors. They are the same whichever metrics the tally has.

    Raises
    ------
    ValueError
        If the tally has no cells or a metric is no function of them.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.inference.collapsed.confusion import sample
    >>> rows = pd.DataFrame({"sex": ["f", "m"] * 20, "y": [1, 0, 0, 1] * 10, "d": [1, 0, 0, 0] * 10})
    >>> found = sample(bg.tally(rows, ["sex"], ["fnr"], y_true="y", y_pred="d", confusion=True), seed=1)
    >>> found.draws["cell_share"].dims, [check.passed for check in found.checks]
    (('chain', 'draw', 'subgroup', 'outcome', 'decision'), [True, True])
    """
    found, components = tree(tally), subsets(tally, order)
    fixed = own_effects == "fixed" and len(components.names) > 1
    x = offsets(tally, components) if score_offsets else {}
    without = np.empty((tally.sizes["subgroup"], 0))
    drawn: list[CrossedDraws] = []
    for i, (name, scale) in enumerate(zip(found.names, factor_scales(found, tau_scale), strict=True)):
        spread = Prior("half_normal", float(scale), len(components.names), OWN_EFFECT * float(scale) if fixed else None)
        covariate = x[name][:, None] if name in x else without
        predictor = Predictor(components.cells, covariate, LOGIT_OVERALL_SCALE, SLOPE_SCALE)
        rng = generator(seed, name, "confusion")
        drawn.append(_factor(predictor, found.successes[i], found.count[i], spread, rng, draws))
    p, middle = _expit(np.stack([one.eta for one in drawn])), _expit(np.stack([one.overall for one in drawn]))
    cells = shares(p, found.paths)
    learned = components.names[:-1] if fixed else components.names
    spreads = np.stack([one.tau[:, : len(learned)] for one in drawn], axis=1)
    chains = (CHAINS, draws // CHAINS)
    data = {
        "mu": ("metric subgroup", np.swapaxes(metrics_of(tally, cells), 1, 2)),
        "overall": ("metric", metrics_of(tally, shares(middle, found.paths))),
        "cell_share": ("subgroup outcome decision", cells),
        "factor_overall": ("factor", middle.T),
        "factor_sd": ("factor component", spreads),
    }
    if x:
        data["slope"] = ("factor_with_score", np.concatenate([one.beta for one in drawn], axis=1))
    laid_out = xr.Dataset(
        {
            name: (("chain", "draw", *dims.split()), values.reshape(*chains, *values.shape[1:]))
            for name, (dims, values) in data.items()
        },
        coords={
            "chain": np.arange(chains[0]), "draw": np.arange(chains[1]), "metric": tally["metric"].values,
            "subgroup": tally["subgroup"].values, "outcome": list(found.labels), "decision": list(found.labels),
            "factor": list(found.names), "component": list(learned),
            **({"factor_with_score": [name for name in found.names if name in x]} if x else {}),
        },
    )  # fmt: skip
    k_hat, ess = max(one.k_hat for one in drawn), min(one.ess for one in drawn)
    checks = [
        check
        for name in tally["metric"].values
        for check in (
            at_most("Pareto k-hat", str(name), k_hat, K_HAT, "the largest k-hat of the factors' importance weights"),
            at_least("importance ESS", str(name), ess, IS_ESS, "the smallest effective number of a factor's draws"),
        )
    ]
    return Posterior(laid_out, tuple(checks), "collapsed")


def metrics_of(tally: xr.Dataset, cells: FloatArray) -> FloatArray:
    """Every metric of the tally from shares (..., outcome, decision) of the cells, (..., metric).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.inference.collapsed.confusion import metrics_of
    >>> rows = pd.DataFrame({"sex": ["f", "m"] * 20, "y": [1, 0, 0, 1] * 10, "d": [1, 0, 0, 0] * 10})
    >>> tally = bg.tally(rows, ["sex"], ["sel", "acc"], y_true="y", y_pred="d", confusion=True)
    >>> metrics_of(tally, np.array([[0.4, 0.1], [0.2, 0.3]])).round(6).tolist()
    [0.4, 0.7]
    """
    above, below = (
        tally[name].values.reshape(tally.sizes["metric"], -1) for name in ("cell_numerator", "cell_denominator")
    )
    flat = cells.reshape(*cells.shape[:-2], -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # One by one, so that the digits of a metric do not depend on which others there are.
        each = [(flat @ one) / (flat @ other) for one, other in zip(above, below, strict=True)]
    found: FloatArray = np.stack(each, axis=-1)
    return found


def _factor(
    predictor: Predictor, k: FloatArray, n: FloatArray, spread: Prior, rng: np.random.Generator, draws: int
) -> CrossedDraws:
    """Draws of one factor, the best of a few attempts where weights are heavy-tailed."""
    best = engine.binomial(predictor, k, n, spread, rng, draws=draws)
    for _ in range(ATTEMPTS - 1):
        if best.k_hat <= K_HAT and best.ess >= IS_ESS:
            break
        again = engine.binomial(predictor, k, n, spread, rng, draws=draws)
        best = min(best, again, key=lambda one: one.k_hat)
    return best


def _expit(eta: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * eta)), dtype=np.float64)
