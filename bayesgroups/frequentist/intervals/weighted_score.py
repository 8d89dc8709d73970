"""Score limits of a weighted sum of independent rates: the sums that a test with restricted rates does not reject."""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray

BISECTIONS = 60
LAST_SHARE = 1 - 1e-12
"""Multiplier, as a share of itself and one more, at which limits without an end have reached 0 or 1."""


def score_sum(rate: FloatArray, rows: FloatArray, weights: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits (...) of sum W p with rates (..., cell), rows and positive weights (cell,) and critical values (...).

    The statistic is the distance of the sum from its hypothetical value over the standard error at the rates that are likeliest
    if that value holds; of one cell it is Wilson's. A cell of infinitely many rows is known. Miettinen, Nurminen (1985),
    doi:10.1002/sim.4780040211, for two rates; Tebbs, Roths (2008), Journal of Statistical Planning and Inference 138, for sums.

    >>> lower, upper = score_sum(np.array([0.3]), np.array([10.0]), np.array([1.0]), np.array([1.959964]))
    >>> lower.round(4).tolist(), upper.round(4).tolist()
    ([0.1078], [0.6032])
    """
    centre, certain = rate @ weights, np.isinf(rows)
    shape = np.broadcast_shapes(np.shape(centre), z.shape)
    if certain.all():
        return np.broadcast_to(centre, shape), np.broadcast_to(centre, shape)
    n = np.where(certain, 1.0, rows)
    unit = float((n[~certain] / weights[~certain]).max())
    ends = []
    for sign in (1.0, -1.0):  # multipliers above 0 pull the sum down
        low, high = np.zeros(shape), np.full(shape, LAST_SHARE)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            p = _restricted(rate, n, weights, certain, sign * unit * middle / (1 - middle))
            distance = sign * (centre - p @ weights)
            kept = distance <= z * np.sqrt((weights**2 * np.where(certain, 0.0, p * (1 - p) / n)).sum(axis=-1))
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        ends.append(_restricted(rate, n, weights, certain, sign * unit * low / (1 - low)) @ weights)
    return ends[0], ends[1]


def _restricted(
    rate: FloatArray, rows: FloatArray, weights: FloatArray, certain: np.ndarray, multiplier: FloatArray
) -> FloatArray:
    """Likeliest rates (..., cell) at a Lagrange multiplier (...): k / p - (n - k) / (1 - p) = multiplier W."""
    a, k = multiplier[..., None] * weights, rate * rows
    b = a + rows
    root = np.sqrt(np.maximum(b**2 - 4 * a * k, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(b > 0, 2 * k / (b + root), (b - root) / (2 * a))
    return np.where(certain, rate, np.clip(np.nan_to_num(p), 0.0, 1.0))
