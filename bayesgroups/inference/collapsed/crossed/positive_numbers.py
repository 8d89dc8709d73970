"""Positive numbers as functions of numbers on the whole line, in which half-normal and normal ones are both nearly normal.

    h(u) = phi(u) + u Phi(u),    h'(u) = Phi(u)

is about u on the right and falls like phi(u) / u^2 on the left. The logarithm of exp(-h^2 / 2) Phi(u), which is the density of u
where h is half-normal, has a second derivative between -1.35 and -0.8.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import FloatArray

HALF_NORMAL = 1.66
"""Scale of a half-normal number over its standard deviation."""
NEWTON_STEPS = 8
MIN_VALUE = 1e-300
MIN_WITH_SLOPE = -30.0
"""Number below which its slope is soon too small for all digits of a number."""


class Positive(NamedTuple):
    """Positive numbers of others, their derivatives, and, where asked for, logarithms of these with derivatives of their own."""

    of: FloatArray
    value: FloatArray
    slope: FloatArray
    density: FloatArray

    @property
    def bend(self) -> FloatArray:
        """Derivatives of the logarithms: the ratio of density and slope, by logarithms where the slope is next to nothing."""
        from scipy.special import log_ndtr

        if self.of.min(initial=0.0) > MIN_WITH_SLOPE:
            return self.density / self.slope
        return np.asarray(np.exp(-0.5 * self.of**2 - log_ndtr(self.of)) / math.sqrt(2 * math.pi))

    @property
    def log_slope(self) -> FloatArray:
        """Logarithms of the derivatives."""
        from scipy.special import log_ndtr

        return np.asarray(log_ndtr(self.of))


def positive(u: FloatArray) -> Positive:
    """Positive numbers of any numbers.

    >>> positive(np.array([-3.0, 0, 3])).value.round(4).tolist()
    [0.0004, 0.3989, 3.0004]
    """
    from scipy.special import ndtr

    slope, density = ndtr(u), np.exp(-0.5 * u**2) / math.sqrt(2 * math.pi)
    return Positive(u, np.maximum(density + u * slope, MIN_VALUE), slope, density)


def numbers(value: FloatArray) -> FloatArray:
    """The numbers of which positive ones are made, by Newton's method on logarithms from the left.

    >>> numbers(positive(np.array([-3.0, 1, 3])).value).round(9).tolist()
    [-3.0, 1.0, 3.0]
    """
    log_value = np.log(value)
    u = np.where(value > 1, value - 0.2, -np.sqrt(np.maximum(-2 * log_value, 0.0)))
    for _ in range(NEWTON_STEPS):
        here = positive(u)
        u = u - (np.log(here.value) - log_value) * here.value / here.slope
    return np.asarray(u)
