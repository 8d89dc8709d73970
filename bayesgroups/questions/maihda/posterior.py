"""The Bayesian side: posterior draws of variances, of shares by projection, and of the strata."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.prior_conflict import logit
from bayesgroups.questions.certification.false_discoveries import bayesian_discoveries
from bayesgroups.questions.maihda.discrimination import auc
from bayesgroups.questions.maihda.likelihood import Scalars
from bayesgroups.questions.maihda.shares import project, projector
from bayesgroups.questions.maihda.strata import Strata
from bayesgroups.questions.maihda.variance_scales import (
    LOGISTIC,
    integrated,
    latent,
    linearised,
    median_odds_ratio,
    realised,
)

DISCOVERY_ERROR = 0.05
"""Most expected share of false entries in the list of strata with an interaction."""


@dataclass(frozen=True)
class ModelDraws:
    """Draws of one model: values (draw, stratum), the spread ``tau`` (draw,) and the centre, on the scale of the metric."""

    mu: FloatArray
    tau: FloatArray
    overall: FloatArray


def of_model(strata: Strata, name: str, draws: ModelDraws, level: float, rng: np.random.Generator) -> Scalars:
    """Variables of one model: medians and equal-tailed limits."""
    between = draws.tau**2
    if strata.rate:
        residual: FloatArray | float = LOGISTIC
    else:
        residual = strata.freedom * strata.row_variance / rng.chisquare(strata.freedom, len(between))
    values = {"between": between, "vpc": latent(between, residual)}
    made: Scalars = {"boundary": 0.0}
    if isinstance(residual, float):
        made["residual"] = residual
    else:
        values["residual"] = np.asarray(residual)
    if strata.rate:
        values["mor"] = median_odds_ratio(between)
        if name == "null":
            centre = logit(draws.overall)
            values["vpc_linearised"] = linearised(between, centre)
            values["vpc_response"] = integrated(between, centre)
            values["vpc_realised"] = realised(draws.mu, strata.weight)
    for key, value in values.items():
        made |= _summary(key, value, float(np.median(value)), level)
    return made


def predictor(strata: Strata, mu: FloatArray) -> FloatArray:
    """Predictor of draws (draw, stratum): the logits of rates."""
    return logit(mu) if strata.rate else mu


def of_shares(strata: Strata, mu: FloatArray, level: float) -> tuple[Scalars, dict[str, Scalars]]:
    """Shares of the metric (means), and areas under the curve of each model with the gain of the whole (means), from draws."""
    eta = predictor(strata, mu)
    share = project(eta, strata.columns(strata.adjust), strata.weight).interaction_share
    made = _summary("interaction_share", share, float(share.mean()), level)
    made |= _summary("additive_share", 1 - share, float(1 - share.mean()), level)
    areas: dict[str, Scalars] = {}
    if strata.rate:
        expected = mu * strata.count
        of_all = auc(mu, expected, strata.count)
        for name, names in strata.models.items():
            area = (
                of_all if name == "null" else _area(eta, strata.columns(names), strata.weight, expected, strata.count)
            )
            areas[name] = _summary("auc", area, float(area.mean()), level)
            if name == "adjusted":
                made |= _summary("auc_gain", of_all - area, float((of_all - area).mean()), level)
    return made, areas


def of_strata(strata: Strata, mu: FloatArray, level: float) -> dict[str, FloatArray]:
    """Variables along strata: means, equal-tailed limits, probabilities of an interaction above 0, and discoveries."""
    whole = project(predictor(strata, mu), strata.columns(strata.adjust), strata.weight)
    additive = 0.5 * (1 + np.tanh(0.5 * whole.fit)) if strata.rate else whole.fit
    drawn = {"value": mu, "additive": additive, "interaction": whole.residual, "interaction_response": mu - additive}
    made: dict[str, FloatArray] = {}
    tails = [(1 - level) / 2, (1 + level) / 2]
    for name, values in drawn.items():
        made[name] = values.mean(axis=0)
        made[f"{name}_lower"], made[f"{name}_upper"] = np.quantile(values, tails, axis=0)
    positive = (whole.residual > 0).mean(axis=0)
    made["probability_positive"] = positive
    either = np.maximum(positive, 1 - positive)
    made["discovered"] = bayesian_discoveries(either, DISCOVERY_ERROR).astype(np.float64)
    return made


def _area(
    eta: FloatArray, columns: FloatArray, weight: FloatArray, expected: FloatArray, count: FloatArray
) -> FloatArray:
    """Area (draw,) of the main effects of some attributes: one score for all strata that are alike in these."""
    _, first, alike = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    score = eta @ projector(columns, weight)[first].T
    together = np.eye(len(first))[alike.ravel()]
    return auc(score, expected @ together, count @ together)


def _summary(name: str, draws: FloatArray, point: float, level: float) -> Scalars:
    low, high = np.nanquantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return {name: point, f"{name}_lower": float(low), f"{name}_upper": float(high)}
