"""Metrics of a set of rows, each with a law of its score of its own: a reference for metrics of laws of subgroups."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from bayesgroups.data.arrays import FloatArray


def rows_metric(
    name: str, y: FloatArray, mean: FloatArray, sd: FloatArray, cut: float = np.nan, *, weight: FloatArray | None = None
) -> FloatArray:
    """One metric of a set of rows, each with a normal law of its score of its own: METHODS E1, step 4.

    Arrays are (row,); ``weight`` (..., row) has replicates along its leading axes. NaN where no row counts.
    """
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
