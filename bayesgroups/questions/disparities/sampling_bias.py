"""Bias of a measure of disparity from sampling noise: its value under equality, and the bias taken off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals import moments
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.disparities import finite_population
from bayesgroups.questions.disparities.measures import different, shares
from bayesgroups.questions.disparities.named_measures import MeasureName, Settings, measure
from bayesgroups.questions.sampling_variances import Estimates


@dataclass(frozen=True)
class Equality:
    """Mean of a measure if all true values are the same, and the probability of one as large as that of the estimates."""

    expected: float
    p_value: float


@dataclass(frozen=True)
class Corrected:
    """A measure without its bias, not truncated, and its limits, which are; NaN where there are none that hold a level."""

    value: float
    lower: float = float("nan")
    upper: float = float("nan")


def under_equality(
    name: MeasureName, estimates: Estimates, settings: Settings, rng: np.random.Generator, draws: int
) -> Equality:
    """Measure of the estimates beside its law if all true values are the same, by draws of `if_equal`.

    The estimates count among the draws, so that the p-value is at least 1 / (draws + 1). NaN where the measure is not
    defined; draws where it is not are left out.
    """
    seen = float(measure(name, estimates.y, settings))
    drawn = measure(name, if_equal(estimates, rng, draws), settings)
    drawn = drawn[~np.isnan(drawn)]
    if np.isnan(seen) or not len(drawn):
        return Equality(float("nan"), float("nan"))
    slack = 1e-12 * max(abs(seen), 1e-300) if np.isfinite(seen) else 0.0
    return Equality(float(drawn.mean()), float(((drawn >= seen - slack).sum() + 1) / (len(drawn) + 1)))


def corrected(
    name: MeasureName, estimates: Estimates, settings: Settings, level: float, rng: np.random.Generator, draws: int
) -> Corrected:
    """Measure without its bias.

    With M the measure of the estimates, t true values shrunk to their estimated variance, and M* measures of estimates
    drawn from t: M - (mean M* - M(t)). The draws start from shrunken values: from the estimates, which are too far apart,
    the bias would come out too small. Of the variance, M - sum w (1 - w) v / sum w (1 - w), which is unbiased, with the
    limits of `finite_population` where all weights are the same. No other measure has limits: quantiles of M* - M(t), taken
    off M, covered between 10 and 99 % of the time where 95 % was asked for, in the designs of Lum et al. NaN where the
    measure is not defined for all.
    """
    tail(level)
    seen = float(measure(name, estimates.y, settings))
    if name == "variance":
        w = shares(estimates.y, settings.weights)
        if not np.isfinite(seen):
            return Corrected(float("nan"))
        value = seen - float((w * (1 - w) * estimates.v).sum() / different(w))
        if settings.weights is not None:
            return Corrected(value)
        limits = finite_population.interval(finite_population.of_cells(estimates), level)
        return Corrected(value, float(limits.lower), float(limits.upper))
    truth = shrunken_truth(estimates)
    at_truth = float(measure(name, truth, settings))
    excess = measure(name, given_truth(truth, estimates, rng, draws), settings) - at_truth
    if not (np.isfinite(seen) and np.isfinite(excess).all()):
        return Corrected(float("nan"))
    return Corrected(seen - float(excess.mean()))


def if_equal(estimates: Estimates, rng: np.random.Generator, draws: int) -> FloatArray:
    """Estimates if all subgroups had one true value, (draw, subgroup).

    Of a rate, all rows dealt out again among the subgroups, denominators and the sum of successes kept: the exact
    permutation law. Of other metrics, normal draws about the precision-weighted mean.
    """
    size = np.round(estimates.count)
    if estimates.binomial and size.sum() < 1e9:  # the limit of the generator
        successes = round(float((estimates.y * size).sum()))
        dealt = rng.multivariate_hypergeometric(size.astype(np.int64), successes, size=draws, method="marginals")
        return dealt / size
    precise = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    weight = np.ones_like(precise) if (precise == 0).any() else 1 / precise
    mean = float(np.average(estimates.y, weights=weight))
    if estimates.binomial:
        return rng.binomial(size.astype(np.int64), mean, size=(draws, len(size))) / size
    return mean + np.sqrt(precise) * rng.standard_normal((draws, len(precise)))


def shrunken_truth(estimates: Estimates) -> FloatArray:
    """True values (subgroup,) that are about as unequal as those behind the estimates.

    mean + sqrt(tau^2 / (tau^2 + v)) (y - mean), with DerSimonian and Laird's tau^2: unlike the estimates, which are too far
    apart, and their posterior means, which are too close, these have the variance tau^2. Louis (1984),
    doi:10.1080/01621459.1984.10478062.
    """
    v = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    if not (v > 0).all():
        return estimates.y
    estimate = moments.between(estimates.y, v, np.ones(len(v), dtype=bool))
    return np.asarray(
        estimate.overall + np.sqrt(estimate.tau_squared / (estimate.tau_squared + v)) * (estimates.y - estimate.overall)
    )


def given_truth(truth: FloatArray, estimates: Estimates, rng: np.random.Generator, draws: int) -> FloatArray:
    """Estimates if these were the true values, (draw, subgroup): binomial for rates, else normal."""
    if estimates.binomial:
        size = np.maximum(np.round(estimates.count), 1.0)
        return rng.binomial(size.astype(np.int64), np.clip(truth, 0.0, 1.0), size=(draws, len(size))) / size
    v = np.where(estimates.v > 0, estimates.v, estimates.pooled)
    return truth + np.sqrt(v) * rng.standard_normal((draws, len(v)))
