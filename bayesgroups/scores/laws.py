"""Every metric of a risk score as a functional of the law of the score given the outcome. Pure functions on arrays.

In each subgroup the outcome is 1 with probability p, and the score, on the scale on which it is modelled, is
Normal(mean_y, sd_y) given the outcome y. A decision is ``score >= cut``. With the cells

    TP = p Phi((mean_1 - cut) / sd_1),  FN = p - TP,  FP = (1 - p) Phi((mean_0 - cut) / sd_0),  TN = 1 - p - FP

every metric of decisions is a ratio of sums of cells, so that identities between metrics hold exactly, draw by draw.

Super-population: p is the prevalence among all from whom the rows came. Finite population: p is the share of positives
among the rows themselves, which is known, and the metric is what the law gives those rows on average (METHODS E1.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError, near_misses

DECISIONS = ("sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "fdr", "npv", "for", "f1")
"""Metrics that need a cut."""
SCORES = ("auc", "brier", "calibration")
"""Metrics of the score itself; the last two need the score as a probability."""
NAMES = (*DECISIONS, *SCORES)
NODES = 40
"""Nodes of the quadrature over the score; errors are below 1e-9 for standard deviations up to 1.5 on the logit scale."""


@dataclass(frozen=True)
class ScoreLaw:
    """Laws of outcome and score, one per subgroup and draw, (..., subgroup); all arrays broadcast against each other.

    ``prevalence`` is P(outcome = 1); means and standard deviations are those of the scores of rows with outcome 0 and 1.
    """

    prevalence: FloatArray
    mean_negative: FloatArray
    mean_positive: FloatArray
    sd_negative: FloatArray
    sd_positive: FloatArray


def metric_of(
    name: str,
    law: ScoreLaw,
    cut: FloatArray | float = np.nan,
    *,
    link: Callable[[FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """One metric of every law, (..., subgroup), NaN where a denominator is 0.

    ``calibration`` is calibration-in-the-large, the prevalence less the mean score; ``brier`` the mean squared difference
    of score and outcome; both take a ``link`` from the modelling scale to the score as a probability. The AUC is
    Phi((mean_1 - mean_0) / sqrt(sd_1^2 + sd_0^2)). Metrics of decisions take the ``cut`` from which on rows are selected,
    on the modelling scale. InputError if the name is not one of `NAMES`, or a cut or a link is needed and not given.

    Pepe (2003), The Statistical Evaluation of Medical Tests for Classification and Prediction, section 4.4. Miller,
    Gatys, Futoma, Fox (2021), model-based metrics.

    >>> law = ScoreLaw(*(np.array([value]) for value in (0.5, -0.5, 0.5, 1.0, 1.0)))
    >>> [round(float(metric_of(name, law, 0.0)[0]), 6) for name in ("sel", "fnr", "auc")]
    [0.5, 0.308538, 0.76025]
    """
    if name not in NAMES:
        raise InputError(f"metric {name!r} is no functional of a score distribution; {near_misses(name, NAMES)}")
    if name == "auc":
        spread = np.hypot(law.sd_positive, law.sd_negative)
        return np.asarray(ndtr((law.mean_positive - law.mean_negative) / spread), dtype=np.float64)
    if name in SCORES:
        if link is None:
            raise InputError(f"metric {name!r} needs the score as a probability; give link=")
        return _of_the_score(name, law, link)
    if np.isnan(cut).any():
        raise InputError(f"metric {name!r} is about decisions and needs a threshold")
    p = law.prevalence
    tpr = ndtr((law.mean_positive - cut) / law.sd_positive)
    fpr = ndtr((law.mean_negative - cut) / law.sd_negative)
    tp, fp = p * tpr, (1 - p) * fpr
    fn, tn = p - tp, (1 - p) - fp
    numerator, denominator = {
        "sel": (tp + fp, 1.0),
        "acc": (tp + tn, 1.0),
        "tpr": (tpr, 1.0),
        "fnr": (1 - tpr, 1.0),
        "fpr": (fpr, 1.0),
        "tnr": (1 - fpr, 1.0),
        "ppv": (tp, tp + fp),
        "fdr": (fp, tp + fp),
        "npv": (tn, tn + fn),
        "for": (fn, tn + fn),
        "f1": (2 * tp, 2 * tp + fp + fn),
    }[name]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(numerator / denominator, dtype=np.float64)


def rows_metric(
    name: str, y: FloatArray, mean: FloatArray, sd: FloatArray, cut: float = np.nan, *, weight: FloatArray | None = None
) -> FloatArray:
    """One metric of a set of rows, each with a normal law of its score of its own: METHODS E1, step 4.

    Arrays are (row,); ``weight`` (..., row) has replicates along its leading axes. NaN where no row counts. InputError if
    the metric is neither one of decisions nor ``auc``.

    >>> y, m = np.array([1.0, 1, 0, 0, 0]), np.array([0.8, -0.2, -1, -0.4, -2])
    >>> sd = np.array([1, 1, 0.8, 0.8, 0.8])
    >>> [round(float(rows_metric(name, y, m, sd, 0.0)), 6) for name in ("sel", "fnr", "fpr", "acc", "ppv", "auc")]
    [0.325856, 0.395558, 0.140132, 0.757698, 0.741974, 0.824559]
    """
    if name not in (*DECISIONS, "auc"):
        raise InputError(f"metric {name!r} is no functional of a score distribution; {near_misses(name, NAMES)}")
    w = np.ones_like(y) if weight is None else np.asarray(weight, dtype=np.float64)
    positive = y == 1
    with np.errstate(divide="ignore", invalid="ignore"):
        if name == "auc":
            w1, w0 = w[..., positive], w[..., ~positive]
            gap = mean[positive][:, None] - mean[~positive]
            wins = ndtr(gap / np.hypot(sd[positive][:, None], sd[~positive]))
            value = np.einsum("...i,ij,...j->...", w1, wins, w0) / (w1.sum(axis=-1) * w0.sum(axis=-1))
            return np.asarray(value, dtype=np.float64)
        q = ndtr((mean - cut) / sd)
        tp, fn = (w * q)[..., positive].sum(axis=-1), (w * (1 - q))[..., positive].sum(axis=-1)
        fp, tn = (w * q)[..., ~positive].sum(axis=-1), (w * (1 - q))[..., ~positive].sum(axis=-1)
        numerator, denominator = {
            "sel": (tp + fp, tp + fn + fp + tn), "acc": (tp + tn, tp + fn + fp + tn), "tpr": (tp, tp + fn),
            "fnr": (fn, tp + fn), "fpr": (fp, fp + tn), "tnr": (tn, fp + tn), "ppv": (tp, tp + fp),
            "fdr": (fp, tp + fp), "npv": (tn, tn + fn), "for": (fn, tn + fn), "f1": (2 * tp, 2 * tp + fp + fn),
        }[name]  # fmt: skip
        return np.asarray(numerator / denominator, dtype=np.float64)


def _of_the_score(name: str, law: ScoreLaw, link: Callable[[FloatArray], FloatArray]) -> FloatArray:
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    p = law.prevalence
    total = np.zeros(np.broadcast_shapes(p.shape, law.mean_negative.shape))
    for node, weight in zip(nodes, weights, strict=True):
        high = link(law.mean_positive + node * law.sd_positive)
        low = link(law.mean_negative + node * law.sd_negative)
        if name == "brier":
            total = total + weight * (p * (1 - high) ** 2 + (1 - p) * low**2)
        else:
            total = total + weight * (p * (1 - high) - (1 - p) * low)
    return np.asarray(total, dtype=np.float64)
