"""Limits of every subgroup for a statement about all of them, from a tally, a bootstrap or a posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist import anytime
from bayesgroups.questions.certification import bounds, multiplicity
from bayesgroups.questions.certification.multiplicity import Correction
from bayesgroups.questions.certification.overlapping import shared_errors
from bayesgroups.questions.subgroup_values import Sample, Values
from bayesgroups.report.draw_blocks import blocks


@dataclass(frozen=True)
class Limits:
    """One-sided limits (subgroup,), not clipped, with the critical value of the wider side, and kind and method as in a report."""

    lower: FloatArray
    upper: FloatArray
    critical_value: float
    kind: str
    method: str


def one_sided(
    numbers: Values,
    *,
    level: float,
    correction: Correction,
    interval: str,
    critical_value: float | None,
    rng: np.random.Generator,
) -> Limits:
    """Lower and upper limits of every subgroup, each at the level, together if corrected; NaN where a subgroup has no number.

    ``correction`` as in `multiplicity.critical_value`; ``simultaneous`` follows the correlations of overlapping subgroups and,
    with draws, those of the draws. ``interval`` is a name that `method` gave; ``critical_value`` replaces the quantile.
    """
    kind = "confidence" if correction == "none" else "simultaneous"
    groups = int(numbers.included.sum())
    if numbers.using == "tally":
        z = critical_value or _critical_value(numbers, correction, level, groups, rng)
        limits = bounds.limits(numbers.sample, interval, z)
        return _masked(numbers, limits.lower, limits.upper, z, kind, interval)
    centre = numbers.sample.estimate
    credible = "credible" if correction == "none" else "simultaneous credible"
    if numbers.using == "posterior" and correction != "simultaneous" and critical_value is None:
        at = NormalDist().cdf(multiplicity.critical_value(correction, level, groups))
        lower, upper = _quantiles(numbers, [1 - at, at])
        return _masked(numbers, lower, upper, NormalDist().inv_cdf(at), credible, "quantile")
    draws, scale = numbers.spread(rng)
    if correction == "simultaneous" and critical_value is None:
        above, below = (multiplicity.max_t(draws, centre, scale, level, side) for side in ("above", "below"))
        # A posterior's lower limit is as far out as draws lie below; a bootstrap's as replicates lie above the estimate.
        low, high = (below, above) if numbers.using == "posterior" else (above, below)
    else:
        low = high = critical_value or multiplicity.critical_value(correction, level, groups)
    kind = credible if numbers.using == "posterior" else kind
    name = "max_t" if correction == "simultaneous" else "normal"
    method = f"{'bootstrap' if numbers.using == 'bootstrap' else 'posterior'}_{name}"
    return _masked(numbers, centre - low * scale, centre + high * scale, max(low, high), kind, method)


def method(numbers: Values, interval: str, critical_value: float | None) -> str:
    """Name of the interval of a tally's limits, or an InputError; ``auto`` with draws, which have limits of their own.

    ``auto``: Clopper-Pearson for rates and pooled t for means, or, with a critical value, which belongs to a normal law,
    Wald and the pooled normal interval; pooled normal for all other metrics.
    """
    if numbers.using != "tally":
        if interval != "auto":
            raise InputError(
                f"interval={interval!r} is for a tally; draws have limits of their own, or give using='tally'"
            )
        return interval
    if interval != "auto":
        if interval == "anytime":
            _check_anytime(numbers, critical_value)
        if interval in bounds.RATES and numbers.kind != "rate":
            raise InputError(f"interval={interval!r} is for rates; metric {numbers.metric!r} is none, use 'auto'")
        if interval == "pooled_t" and not np.isfinite(numbers.sample.freedom):
            raise InputError(
                f"interval='pooled_t' needs rows, and metric {numbers.metric!r} has no degrees of freedom; use 'auto'"
            )
        return interval
    if numbers.kind == "rate":
        return "clopper_pearson" if critical_value is None else "wald"
    exact = numbers.kind == "mean" and critical_value is None and np.isfinite(numbers.sample.freedom)
    return "pooled_t" if exact else "pooled_normal"


def _check_anytime(numbers: Values, critical_value: float | None) -> None:
    """Refuse what has no anytime-valid limits."""
    anytime.method(numbers.table)
    if critical_value is not None:
        raise InputError("interval='anytime' has no critical value of a normal law; leave critical_value= out")
    if "cluster_analysis" in numbers.table and str(numbers.table["cluster_analysis"].values) != "ignore":
        raise InputError(
            f"metric {numbers.metric!r}: rows in clusters have their interval 'anytime' from bg.NoPooling(interval='anytime'); "
            "use 'auto' here"
        )
    if shared_errors(numbers) is not None:
        raise InputError(
            "interval='anytime' is for subgroups that share no rows and no clusters; leave margins= out, or ask about margins in a "
            "tally of their own"
        )


def evidence(numbers: Values, interval: str, standard: float) -> tuple[FloatArray, FloatArray]:
    """One-sided p-values (subgroup,) that the metric is at least a standard, and at most; from a bootstrap by the normal law."""
    sample = numbers.sample
    if numbers.using == "bootstrap":
        _, scale = numbers.spread(np.random.default_rng(0))
        sample = Sample(sample.estimate, sample.count, sample.successes, scale**2, scale**2, float("nan"))
        interval = "pooled_normal"
    return bounds.p_values(sample, interval, standard)


def _quantiles(numbers: Values, at: Sequence[float]) -> FloatArray:
    """Quantiles of the draws of every subgroup that takes part, (probability, subgroup); NaN for the others."""
    assert numbers.draws is not None, "a posterior has draws"
    quantiles = np.full((len(at), len(numbers.included)), np.nan)
    columns = np.flatnonzero(numbers.included)
    for block in blocks(len(columns), len(numbers.draws)):
        quantiles[:, columns[block]] = np.quantile(numbers.draws[:, columns[block]], at, axis=0)
    return quantiles


def _critical_value(
    numbers: Values, correction: Correction, level: float, groups: int, rng: np.random.Generator
) -> float:
    factor = shared_errors(numbers) if correction == "simultaneous" else None
    if factor is not None:
        return multiplicity.correlated_critical_value(factor[numbers.included], level, rng)
    return multiplicity.critical_value(correction, level, groups)


def _masked(numbers: Values, lower: FloatArray, upper: FloatArray, z: float, kind: str, name: str) -> Limits:
    none = np.full(lower.shape, np.nan)
    return Limits(
        np.where(numbers.included, lower, none), np.where(numbers.included, upper, none), float(z), kind, name
    )
