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
    if name in ("tpr", "fnr"):
        tpr = _selected(law.mean_positive, law.sd_positive, cut)
        return tpr if name == "tpr" else 1 - tpr
    fpr = _selected(law.mean_negative, law.sd_negative, cut)
    if name in ("fpr", "tnr"):
        return fpr if name == "fpr" else 1 - fpr
    p, tpr = law.prevalence, _selected(law.mean_positive, law.sd_positive, cut)
    tp, fp = p * tpr, (1 - p) * fpr
    fn, tn = p - tp, (1 - p) - fp
    fractions: dict[str, tuple[FloatArray, FloatArray | float]] = {
        "sel": (tp + fp, 1.0),
        "acc": (tp + tn, 1.0),
        "ppv": (tp, tp + fp),
        "fdr": (fp, tp + fp),
        "npv": (tn, tn + fn),
        "for": (fn, tn + fn),
        "f1": (2 * tp, 2 * tp + fp + fn),
    }
    numerator, denominator = fractions[name]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(numerator / denominator, dtype=np.float64)


def _selected(mean: FloatArray, sd: FloatArray, cut: FloatArray | float) -> FloatArray:
    """Shares of rows with one outcome whose score is at least the cut."""
    return np.asarray(ndtr((mean - cut) / sd), dtype=np.float64)


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
