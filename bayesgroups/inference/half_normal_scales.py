"""Half-normal scales as functions of standard normal coordinates, in which chains move.

    s = unit |Phi^-1|((1 + Phi(z)) / 2),    z ~ Normal(0, 1)    gives    s ~ HalfNormal(unit)

Log scales have a long tail to the left, where data say nothing of small effects, and a wall to the right, where the prior ends;
their coordinates have neither, so that trajectories take a few long steps.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfinv, ndtr, ndtri

from bayesgroups.data.arrays import FloatArray

MAX_COORDINATE = 8.0
"""Largest absolute coordinate that is told from those beyond it, which have no mass to the computer."""


def log_scales(coordinate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logarithms of scales in units of their prior, and their derivatives with respect to the coordinates.

    >>> value, slope = log_scales(np.array([-7.0, 0.0, 3.0]))
    >>> value.round(4).tolist(), slope.round(4).tolist()
    ([-27.1585, -0.3938, 1.1648], [7.1375, 0.9306, 0.2948])
    """
    z = np.clip(coordinate, -MAX_COORDINATE, MAX_COORDINATE)
    # Each formula keeps its digits on its side of 0.
    below, ratio = z < 0, np.empty_like(z)
    ratio[below] = np.sqrt(2) * erfinv(ndtr(z[below]))
    ratio[~below] = -ndtri(0.5 * ndtr(-z[~below]))
    return np.log(ratio), 0.5 * np.exp(0.5 * (ratio**2 - z**2)) / ratio
