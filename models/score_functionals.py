"""Metrics of normal laws of scores in closed form, as PyTensor expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm

Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

DECISIONS = ("sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "fdr", "npv", "for", "f1")
"""Metrics that need a threshold."""
NODES = 40
"""Of the quadrature over the score."""


@dataclass(frozen=True)
class Scale:
    """The scale of the laws: the threshold on it (``None`` where there is none), and the way back to probabilities."""

    cut: Tensor | None
    probability: Callable[[Tensor], Tensor] | None


def metric_of(name: str, law: tuple[Tensor, Tensor, Tensor, Tensor, Tensor], scale: Scale) -> Tensor:
    """One metric of every law.

    Parameters
    ----------
    name : str
        ``sel acc tpr fnr fpr tnr ppv fdr npv for f1 auc brier calibration``.
    law : tuple of tensors
        Prevalence, means of outcomes 0 and 1, standard deviations of outcomes 0 and 1.
    scale : Scale
        The scale of the laws.

    Returns
    -------
    Tensor
        Of the shape of the parts of the law.

    Raises
    ------
    ValueError
        If the metric is none of these, or is about decisions and there is no threshold.

    Examples
    --------
    >>> law = tuple(pm.math.constant(value) for value in (0.5, -0.5, 0.5, 1.0, 1.0))
    >>> round(float(metric_of("fnr", law, Scale(0.0, None)).eval()), 6)
    0.308538
    """
    p, low, high, sd_low, sd_high = law
    if name == "auc":
        return _phi((high - low) / pm.math.sqrt(sd_low**2 + sd_high**2))
    if name in ("brier", "calibration"):
        if scale.probability is None:
            raise ValueError(f"metric {name!r} needs scores that are probabilities")
        return _of_the_score(name, law, scale.probability)
    if name not in DECISIONS:
        raise ValueError(f"metric {name!r} is no functional of a score distribution")
    if scale.cut is None:
        raise ValueError(f"metric {name!r} is about decisions, and the tally has no threshold")
    tpr, fpr = (_phi((mean - scale.cut) / sd) for mean, sd in ((high, sd_high), (low, sd_low)))
    tp, fp = p * tpr, (1 - p) * fpr
    fn, tn = p - tp, (1 - p) - fp
    return {
        "sel": tp + fp, "acc": tp + tn, "tpr": tpr, "fnr": 1 - tpr, "fpr": fpr, "tnr": 1 - fpr, "ppv": tp / (tp + fp),
        "fdr": fp / (tp + fp), "npv": tn / (tn + fn), "for": fn / (tn + fn), "f1": 2 * tp / (2 * tp + fp + fn),
    }[name]  # fmt: skip


def _phi(value: Tensor) -> Tensor:
    """The normal distribution function; that of PyMC has the square root of 2 in single precision."""
    return 0.5 * pm.math.erfc(-value / np.sqrt(2.0))


def _of_the_score(
    name: str, law: tuple[Tensor, Tensor, Tensor, Tensor, Tensor], probability: Callable[[Tensor], Tensor]
) -> Tensor:
    p, low, high, sd_low, sd_high = law
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    one = probability(high[..., None] + nodes * sd_high[..., None])
    zero = probability(low[..., None] + nodes * sd_low[..., None])
    if name == "brier":
        return p * ((1 - one) ** 2 * weights).sum(axis=-1) + (1 - p) * (zero**2 * weights).sum(axis=-1)
    return p * ((1 - one) * weights).sum(axis=-1) - (1 - p) * (zero * weights).sum(axis=-1)
