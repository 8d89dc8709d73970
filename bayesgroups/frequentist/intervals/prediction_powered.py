"""Prediction-powered means: few labelled rows corrected by what a judge says of many unlabelled ones.

The mean of labelled outcomes y is moved by lam times the difference between the mean judgements F of unlabelled and of labelled
rows; normal limits, for large samples.

References
----------
Angelopoulos, Bates, Fannjiang, Jordan, Zrnic (2023), arXiv:2301.09633; Angelopoulos, Duchi, Zrnic (2023), arXiv:2311.01453
(tuning).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray


@dataclass(frozen=True)
class LabelledMoments:
    """Labelled rows: ``number``, means of ``y`` and ``F`` and their (co)variances with the number as divisor, (subgroup,) each."""

    number: FloatArray
    outcome: FloatArray
    judgement: FloatArray
    outcome_variance: FloatArray
    judgement_variance: FloatArray
    covariance: FloatArray


@dataclass(frozen=True)
class UnlabelledMoments:
    """Unlabelled rows: ``number``, mean and variance of ``F`` with the number as divisor, (subgroup,) each."""

    number: FloatArray
    judgement: FloatArray
    variance: FloatArray


def prediction_powered(
    labelled: LabelledMoments, unlabelled: UnlabelledMoments, lam: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Estimate and standard error (subgroup,) at a weight ``lam`` of the judgements; 1 is PPI, 0 takes labelled rows alone.

    >>> labelled, unlabelled = of_columns(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0]))
    >>> [value.round(4).tolist() for value in prediction_powered(labelled, unlabelled, 1.0)]
    [[0.75], [0.4146]]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = labelled.outcome + lam * (unlabelled.judgement - labelled.judgement)
        left = labelled.outcome_variance - 2 * lam * labelled.covariance + lam**2 * labelled.judgement_variance
        variance = np.maximum(left, 0.0) / labelled.number + lam**2 * unlabelled.variance / unlabelled.number
    return np.asarray(estimate), np.asarray(np.sqrt(variance))


def tuned_weight(labelled: LabelledMoments, unlabelled: UnlabelledMoments) -> FloatArray:
    """Weight (subgroup,) that makes the variance least, in [0, 1]; 0 where all judgements are alike.

    >>> y, F, U = np.repeat([1.0, 0, 1, 0], [6, 2, 3, 9]), np.repeat([1.0, 0], [8, 12]), np.repeat([1.0, 0], [62, 118])
    >>> tuned_weight(*of_columns(y, F, U)).round(8).tolist()
    [0.47235165]
    """
    m, n = labelled.number, unlabelled.number
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (m * labelled.judgement + n * unlabelled.judgement) / (m + n)
        squares = m * (labelled.judgement_variance + (labelled.judgement - mean) ** 2)
        squares = squares + n * (unlabelled.variance + (unlabelled.judgement - mean) ** 2)
        weight = labelled.covariance / ((1 + m / n) * squares / (m + n - 1))
    return np.where(squares > 0, np.clip(weight, 0.0, 1.0), np.where(np.isfinite(squares), 0.0, np.nan))


def of_columns(
    outcome: FloatArray, judgement: FloatArray, unlabelled: FloatArray
) -> tuple[LabelledMoments, UnlabelledMoments]:
    """Moments of the rows of one subgroup."""
    covariance = ((outcome - outcome.mean()) * (judgement - judgement.mean())).mean()
    moments = (len(outcome), outcome.mean(), judgement.mean(), outcome.var(), judgement.var(), covariance)
    return (
        LabelledMoments(*(np.array([float(value)]) for value in moments)),
        UnlabelledMoments(
            *(np.array([float(value)]) for value in (len(unlabelled), unlabelled.mean(), unlabelled.var()))
        ),
    )


def of_counts(
    positive: FloatArray, labelled: FloatArray, judged: FloatArray
) -> tuple[LabelledMoments, UnlabelledMoments]:
    """Moments of 0/1 outcomes and decisions: positive outcomes, labelled and all rows, by decision (subgroup, 2) each."""
    with np.errstate(divide="ignore", invalid="ignore"):
        number, rest = labelled.sum(axis=1), (judged - labelled).sum(axis=1)
        y, f = positive.sum(axis=1) / number, labelled[:, 1] / number
        selected = np.where(rest > 0, (judged - labelled)[:, 1] / np.where(rest > 0, rest, 1.0), np.nan)
        both = positive[:, 1] / number
    return (
        LabelledMoments(number, y, f, y * (1 - y), f * (1 - f), both - y * f),
        UnlabelledMoments(rest, selected, selected * (1 - selected)),
    )
