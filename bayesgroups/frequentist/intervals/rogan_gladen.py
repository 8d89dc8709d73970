"""Prevalence from a judged rate and the sensitivity and specificity of the judge, estimated on rows of their own.

References
----------
Rogan, Gladen (1978), doi:10.1093/oxfordjournals.aje.a112510. Lee, Zeng, Lee, Sohn, Lee (2025), arXiv:2511.21140 (interval).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import Interval, normal_quantile


@dataclass(frozen=True)
class Calibration:
    """Judged rate of ``rows``, and shares judged right of ``negatives`` and of ``positives``, (subgroup,) each."""

    judged: FloatArray
    specificity: FloatArray
    sensitivity: FloatArray
    rows: FloatArray
    negatives: FloatArray
    positives: FloatArray


def rogan_gladen(given: Calibration) -> tuple[FloatArray, FloatArray]:
    """Estimate and delta-method standard error; not clipped, NaN where sensitivity and specificity do not exceed 1 together.

    >>> given = Calibration(*(np.array([value]) for value in (0.4, 0.7, 0.9, 1000.0, 200.0, 200.0)))
    >>> [value.round(8).tolist() for value in rogan_gladen(given)]
    [[0.16666667], [0.05221927]]
    """
    informed = given.sensitivity + given.specificity - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        informed = np.where(informed > 0, informed, np.nan)
        value = (given.judged + given.specificity - 1) / informed
        return value, _error(given, value) / informed


def rogan_gladen_interval(given: Calibration, level: float) -> Interval:
    """Limits in [0, 1] around the estimate with smoothed shares, moved by its bias.

    >>> given = Calibration(*(np.array([value]) for value in (0.4, 0.7, 0.9, 1000.0, 200.0, 200.0)))
    >>> limits = rogan_gladen_interval(given, 0.95)
    >>> limits.lower.round(8).tolist(), limits.upper.round(8).tolist()
    ([0.05635072], [0.26273303])
    """
    z = normal_quantile(level)
    with np.errstate(divide="ignore", invalid="ignore"):
        smooth = Calibration(
            (given.rows * given.judged + z**2 / 2) / (given.rows + z**2),
            (given.negatives * given.specificity + 1) / (given.negatives + 2),
            (given.positives * given.sensitivity + 1) / (given.positives + 2),
            given.rows + z**2,
            given.negatives + 2,
            given.positives + 2,
        )
        informed = smooth.sensitivity + smooth.specificity - 1
        defined = given.sensitivity + given.specificity > 1
        informed = np.where(defined, informed, np.nan)
        value = (smooth.judged + smooth.specificity - 1) / informed
        half = z * _error(smooth, value) / informed
        right = smooth.specificity * (1 - smooth.specificity) / smooth.negatives
        hit = smooth.sensitivity * (1 - smooth.sensitivity) / smooth.positives
        centre = value + 2 * z**2 * (value * hit - (1 - value) * right)
    lower, upper = (np.where(defined, np.clip(end, 0.0, 1.0), np.nan) for end in (centre - half, centre + half))
    return Interval(lower, upper)


def _error(given: Calibration, value: FloatArray) -> FloatArray:
    """Standard error of the estimate times what the judge tells: sensitivity + specificity - 1."""
    parts = given.judged * (1 - given.judged) / given.rows
    parts = parts + (1 - value) ** 2 * given.specificity * (1 - given.specificity) / given.negatives
    parts = parts + value**2 * given.sensitivity * (1 - given.sensitivity) / given.positives
    return np.asarray(np.sqrt(parts))
