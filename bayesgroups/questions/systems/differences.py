"""Differences of pairs of systems by both approaches, arrays (pair, subgroup): alone and together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, IndexArray
from bayesgroups.frequentist.intervals.interval import normal_quantile
from bayesgroups.frequentist.paired_systems import Differences, PairedInterval, SystemValues
from bayesgroups.questions.certification.multiplicity import adjust, correlated_critical_value, critical_value, max_t

SystemCorrection = Literal["holm", "holm_all", "none"]
LIMITS = ("lower", "upper", "band_lower", "band_upper")
SIMULATED_NUMBERS = 200_000
"""Numbers of a factor (pair, source) up to which a critical value is simulated; beyond, Sidak's is taken."""


@dataclass(frozen=True, eq=False)
class Answer:
    """Numbers of one approach, each (pair, subgroup); NaN where there is none."""

    difference: FloatArray
    std_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    band_lower: FloatArray
    band_upper: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    probability_better: FloatArray

    @property
    def shown(self) -> FloatArray:
        """1 where the band shows the first system to have the larger value, -1 the smaller one, 0 elsewhere."""
        return np.where(self.band_lower > 0, 1.0, np.where(self.band_upper < 0, -1.0, 0.0))

    def within(self, largest: float) -> Answer:
        """Answer whose limits are no further from 0 than two values can be apart; t and normal limits of few items would be."""
        limits = {name: np.clip(getattr(self, name), -largest, largest) for name in LIMITS}
        return replace(self, **limits)


def of_draws(draws: FloatArray, sign: int, level: float, families: list[IndexArray]) -> Answer:
    """Summary of differences (draw, pair, subgroup); families are the subgroups that the bands hold for together.

    The other order of the systems gives mirrored bytes: limits are lower quantiles of the draws and of their negatives.
    One difference alone has its limits as its band.
    """
    at, shape = (1 - level) / 2, draws.shape[1:]
    lower, upper = np.quantile(draws, at, axis=0), -np.quantile(-draws, at, axis=0)
    mean, error = draws.mean(axis=0), draws.std(axis=0, ddof=1)
    better = (np.count_nonzero(sign * draws > 0, axis=0) + np.count_nonzero(draws == 0, axis=0) / 2) / len(draws)
    z = np.full(shape, np.nan)
    for family in families:
        part = draws[..., family].reshape(len(draws), -1)
        centre, scale = mean[:, family].ravel(), error[:, family].ravel()
        some = np.isfinite(centre)
        if some.any():
            z[:, family] = max_t(part[:, some], centre[some], scale[some], level)
    nothing, alone = np.full(shape, np.nan), shape[0] == 1 and all(len(family) == 1 for family in families)
    band = (lower, upper) if alone else (mean - z * error, mean + z * error)
    better = np.where(np.isfinite(mean), better, np.nan)
    return Answer(mean, error, lower, upper, *band, nothing, nothing, better)


def of_tally(
    differences: Differences, values: SystemValues, first: IndexArray, second: IndexArray, level: float,
    interval: PairedInterval, correction: SystemCorrection, families: list[IndexArray], rng: np.random.Generator,
) -> Answer:  # fmt: skip
    """Estimates, limits and tests of pairs; simultaneous limits have the correlations that the systems' means have."""
    limits = differences.limits(normal_quantile(level), interval)
    z, adjusted = np.full(differences.estimate.shape, np.nan), np.full(differences.estimate.shape, np.nan)
    for family in families:
        z[:, family] = _critical_value(values, first, second, family, level, rng)
        p = differences.p_value[:, family]
        adjusted[:, family] = adjust(p.ravel(), "none" if correction == "none" else "holm").reshape(p.shape)
    band = differences.limits(z, interval)
    return Answer(
        differences.estimate, differences.std_error, limits.lower, limits.upper, band.lower, band.upper, differences.p_value,
        adjusted, np.full(differences.estimate.shape, np.nan),
    )  # fmt: skip


def families_of(subgroups: int, correction: SystemCorrection, *, overall: bool) -> list[IndexArray]:
    """Subgroups whose answers hold together: each by itself, or all of them; everyone is no further subgroup."""
    each = [np.array([g]) for g in range(subgroups + overall)]
    return [np.arange(subgroups), *each[subgroups:]] if correction == "holm_all" else each


def estimable(answer: Answer) -> BoolArray:
    """Pairs and subgroups with a number."""
    return np.isfinite(answer.difference)


def _critical_value(
    values: SystemValues, first: IndexArray, second: IndexArray, family: IndexArray, level: float, rng: np.random.Generator
) -> float:  # fmt: skip
    """Two-sided critical value of the pairs of some subgroups, which are independent of each other."""
    contrast = np.zeros((len(first), len(values.estimate)))
    contrast[np.arange(len(first)), first], contrast[np.arange(len(first)), second] = 1.0, -1.0
    usable = [g for g in family if np.isfinite(values.covariance[g]).all() and np.trace(values.covariance[g]) > 0]
    many = len(first) * max(len(usable), 1)
    if len(first) == 1 or not usable or many * len(values.estimate) * len(usable) > SIMULATED_NUMBERS:
        return critical_value("simultaneous", level, many, sides=2)
    factor = np.zeros((many, len(values.estimate) * len(usable)))
    for place, g in enumerate(usable):
        variances, vectors = np.linalg.eigh(values.covariance[g])
        rows, columns = (slice(place * size, (place + 1) * size) for size in contrast.shape)
        factor[rows, columns] = contrast @ (vectors * np.sqrt(np.maximum(variances, 0.0)))
    factor = factor[(factor**2).sum(axis=1) > 0]
    return correlated_critical_value(factor, level, rng, sides=2) if len(factor) else normal_quantile(level)
