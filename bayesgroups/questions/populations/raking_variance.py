"""Variance of a mean under raked weights, by linearisation.

Raking, like every calibration, removes what the margins explain: the variance is that of weighted residuals of a least-squares
fit on the margins. Deville, Särndal (1992), doi:10.1080/01621459.1992.10475217; Särndal, Swensson, Wretman (1992), section 6.6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.questions.populations.raking import Margin


def raking_variance(
    sizes: FloatArray, count: FloatArray, mean: FloatArray, scatter: FloatArray, margins: Sequence[Margin],
    members: BoolArray,
) -> float:  # fmt: skip
    """Variance of the mean over the cells that are ``members``, from raked ``sizes``; arrays (cell,).

    ``count``, ``mean`` and ``scatter`` (sum of squared deviations) are those of the rows of each cell. A row of weight w = size /
    count has the variable u = (y - mean of the members) / their size, 0 outside; with the residual e of u on the margins, fitted
    by least squares with the initial weights, the variance is n / (n - 1) sum (w e - mean)^2.
    """
    with_rows = count > 0
    n, y = np.where(with_rows, count, 0.0), np.where(with_rows, mean, 0.0)
    weight = np.where(with_rows, sizes / np.where(with_rows, count, 1.0), 0.0)
    inside = members & with_rows
    total = float((sizes * inside).sum())
    centre = float((sizes * inside * y).sum()) / total
    variable = np.where(inside, (y - centre) / total, 0.0)
    design = np.concatenate([margin.indicators for margin in margins], axis=1)
    root = np.sqrt(n)
    coefficients = np.linalg.lstsq(root[:, None] * design, root * variable, rcond=None)[0]
    residual = variable - design @ coefficients
    within = np.where(inside, scatter, 0.0) / total**2
    squares = float((weight**2 * (n * residual**2 + within)).sum())
    rows = float(n.sum())
    return float(rows / (rows - 1) * (squares - float((n * weight * residual).sum()) ** 2 / rows))
