"""The frequentist side: models of strata by restricted or plain maximum likelihood, with profile limits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.maihda import mean_models, rate_models
from bayesgroups.questions.maihda.discrimination import auc, delong
from bayesgroups.questions.maihda.shares import project
from bayesgroups.questions.maihda.strata import Method, Strata
from bayesgroups.questions.maihda.stratum_fit import StratumFit, p_value_zero, profile_limits
from bayesgroups.questions.maihda.variance_scales import integrated, latent, linearised, median_odds_ratio, realised

Scalars = dict[str, float]
"""Values by the names of variables; limits end in ``_lower`` and ``_upper``."""
CONSTANT_SCORE = (
    "the variance between strata is estimated as 0, so that all of them have the same predicted rate: an area of such a score has "
    "no limits"
)
SINGLE_CASE = "a single success or failure does not tell the error of an area, which has no limits"
NO_VARIANCE = "the null model finds no variance between strata of which main effects could explain a part"


def fits(strata: Strata, method: Method) -> dict[str, StratumFit]:
    """All models of a metric, by name."""
    return {name: fit_one(strata, names, method) for name, names in strata.models.items()}


def fit_one(strata: Strata, names: tuple[str, ...], method: Method) -> StratumFit:
    """The model adjusted for some attributes."""
    if strata.rate:
        return rate_models.fit(strata.counts(names))
    return mean_models.fit(strata.means(names, method))


def of_models(strata: Strata, fitted: Mapping[str, StratumFit], method: Method, level: float) -> dict[str, Scalars]:
    """Variables along models."""
    null = fitted["null"]
    made = {}
    for name, fit in fitted.items():
        scalars = {
            "between": fit.between,
            "residual": fit.residual,
            "vpc": float(latent(np.array(fit.between), fit.residual)),
            "loglik": fit.log_likelihood,
            "boundary": float(fit.boundary),
            "pcv": (null.between - fit.between) / null.between if null.between > 0 and name != "null" else np.nan,
        }
        if not fit.reason:
            scalars |= _limits(strata, name, fit, method, level)
        if strata.rate:
            scalars |= _of_rates(strata, name, fit, level)
        made[name] = scalars
    return made


def of_metric(strata: Strata, fitted: Mapping[str, StratumFit], method: Method) -> Scalars:
    """Variables of the whole metric: shares, and the p-value of strata that are all the same.

    Without a variance of the null model there is nothing to share out: the spread of the main effects is noise then.
    """
    null, full = fitted["null"], fitted["adjusted"]
    columns = strata.columns(strata.adjust)
    fixed = project(columns @ full.coefficients, np.ones((len(columns), 1)), strata.weight).interaction
    total = float(fixed) + full.between
    share = full.between / total if total > 0 and not null.boundary else np.nan
    made = {"interaction_share": share, "additive_share": 1 - share}
    if not null.reason:
        at_zero = rate_models.profile(0.0, strata.counts(())) if strata.rate else mean_models.ratio_profile(
            0.0, strata.means((), method)
        )  # fmt: skip
        made["p_value_zero"] = p_value_zero(null.log_likelihood, at_zero)
    return made


def reasons(strata: Strata, fitted: Mapping[str, StratumFit]) -> dict[str, str]:
    """Reason by model for what has no value: the fit, the limits of an area, or a change of a variance of 0."""
    cases = strata.successes.sum()
    single = SINGLE_CASE if strata.rate and min(cases, strata.rows - cases) <= 1 else ""
    told = {name: fit.reason or single for name, fit in fitted.items()}
    if fitted["null"].boundary:
        told = {name: reason or NO_VARIANCE for name, reason in told.items()}
        told["null"] = CONSTANT_SCORE if strata.rate else ""
    return told


def of_strata(strata: Strata, fitted: Mapping[str, StratumFit], level: float) -> dict[str, FloatArray]:
    """Variables along strata; NaN where a stratum has no rows, and no limits of interactions at the bound."""
    from scipy.special import expit, ndtri

    full, columns = fitted["adjusted"], strata.columns(strata.adjust)
    nothing = np.full(len(strata.count), np.nan)
    made = {name: nothing.copy() for name in ("value", "interaction", "interaction_lower", "interaction_upper")}
    predicted = columns @ full.coefficients
    made["additive"] = np.asarray(expit(predicted) if strata.rate else predicted)
    made["value"][strata.used] = fitted["null"].value
    made["interaction"][strata.used] = full.effect
    made["interaction_response"] = nothing.copy()
    made["interaction_response"][strata.used] = full.value - made["additive"][strata.used]
    if not full.boundary:
        half = float(ndtri((1 + level) / 2)) * full.effect_sd
        made["interaction_lower"][strata.used] = full.effect - half
        made["interaction_upper"][strata.used] = full.effect + half
    return made


def _limits(strata: Strata, name: str, fit: StratumFit, method: Method, level: float) -> Scalars:
    """Profile limits of the variance and of what is monotone in it."""
    names = strata.models[name]
    if strata.rate:
        profile = partial(rate_models.profile, data=strata.counts(names), start=fit.coefficients)
        low, high = profile_limits(profile, fit.between, level, rate_models.MAX_BETWEEN)
        ends = {"between": (low, high), "vpc": (float(latent(np.array(low))), float(latent(np.array(high))))}
        ends["mor"] = (float(median_odds_ratio(np.array(low))), float(median_odds_ratio(np.array(high))))
    else:
        data = strata.means(names, method)
        ratio = fit.between / fit.residual
        low, high = profile_limits(partial(mean_models.ratio_profile, data=data), ratio, level)
        between = profile_limits(partial(mean_models.profile, data=data), fit.between, level)
        ends = {"between": between, "vpc": (float(latent(np.array(low), 1.0)), float(latent(np.array(high), 1.0)))}
    return {
        f"{key}_{side}": end for key, pair in ends.items() for side, end in zip(("lower", "upper"), pair, strict=True)
    }


def _of_rates(strata: Strata, name: str, fit: StratumFit, level: float) -> Scalars:
    """Variables that rates alone have."""
    from scipy.special import ndtri

    made = {"mor": float(median_odds_ratio(np.array(fit.between)))}
    successes, count = strata.successes[strata.used], strata.count[strata.used]
    names = strata.models[name]
    # At the bound of the null model rates are the same but for rounding, which must not order strata.
    score = fit.value if name == "null" and not fit.boundary else strata.columns(names)[strata.used] @ fit.coefficients
    if np.isfinite(score).all():
        area, error = float(auc(score, successes, count)), delong(score, successes, count)
        half = float(ndtri((1 + level) / 2)) * error if np.ptp(score) > 0 else np.nan
        made |= {"auc": area, "auc_lower": area - half, "auc_upper": area + half}
    if name == "null":
        between, centre = np.array(fit.between), fit.coefficients[0]
        made["vpc_linearised"] = float(linearised(between, centre))
        made["vpc_response"] = float(integrated(between, centre))
        made["vpc_realised"] = float(realised(fit.value, strata.weight[strata.used]))
    return made
