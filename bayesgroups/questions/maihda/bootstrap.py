"""Parametric bootstrap of the shares and of the change of the variance, from the adjusted model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from bayesgroups.questions.maihda import mean_models, rate_models
from bayesgroups.questions.maihda.likelihood import Scalars
from bayesgroups.questions.maihda.shares import project
from bayesgroups.questions.maihda.strata import Method, Strata
from bayesgroups.questions.maihda.stratum_fit import StratumFit


def limits(
    strata: Strata, adjusted: StratumFit, method: Method, replicates: int, level: float, rng: np.random.Generator
) -> Scalars:
    """Percentile limits of ``pcv`` (of the adjusted model) and of the shares; variances estimated as 0 are kept.

    A replicate without a variance in the null model, or without a fit, says nothing of the ratio and is left out of its limits.
    """
    drawn: dict[str, list[float]] = {"pcv": [], "interaction_share": [], "additive_share": []}
    columns = strata.columns(strata.adjust)
    for _ in range(replicates):
        null, full = _refitted(strata, adjusted, method, rng)
        fixed = project(columns @ full.coefficients, np.ones((len(columns), 1)), strata.weight).interaction
        total = float(fixed) + full.between if null.between > 0 else 0.0
        drawn["pcv"].append(1 - full.between / null.between if null.between > 0 else np.nan)
        drawn["interaction_share"].append(full.between / total if total > 0 else np.nan)
        drawn["additive_share"].append(float(fixed) / total if total > 0 else np.nan)
    made: Scalars = {}
    for name, values in drawn.items():
        finite = np.array(values)[np.isfinite(values)]
        low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2]) if len(finite) else (np.nan, np.nan)
        made |= {f"{name}_lower": float(low), f"{name}_upper": float(high)}
    return made


def _refitted(
    strata: Strata, adjusted: StratumFit, method: Method, rng: np.random.Generator
) -> tuple[StratumFit, StratumFit]:
    """Null and adjusted model of one replicate of the strata with rows."""
    predicted = strata.columns(strata.adjust)[strata.used] @ adjusted.coefficients
    eta = predicted + np.sqrt(adjusted.between) * rng.standard_normal(len(predicted))
    count = strata.count[strata.used]
    if strata.rate:
        successes = rng.binomial(np.round(count).astype(np.int64), expit(eta)).astype(np.float64)
        pair = (replace(strata.counts(names), successes=successes, count=np.round(count)) for names in _models(strata))
        null, full = (rate_models.fit(data) for data in pair)
        return null, full
    mean = eta + rng.standard_normal(len(eta)) * np.sqrt(adjusted.residual / count)
    freedom = strata.freedom
    within = adjusted.residual * rng.chisquare(freedom) if freedom > 0 else 0.0
    null, full = (
        mean_models.fit(replace(strata.means(names, method), mean=mean, within=float(within)))
        for names in _models(strata)
    )
    return null, full


def _models(strata: Strata) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (), strata.adjust
