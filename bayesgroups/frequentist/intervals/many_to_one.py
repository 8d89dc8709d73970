"""Critical values of several values against one of them: normal, independent, variances unequal."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import tail

END = 9.0
"""Standard normal deviations beyond which nothing is left to integrate."""
NODES, FINEST = 200, 4000
"""Points of the integral: so many at least, and at most where the common value varies much more than the others."""


def dunnett(variances: FloatArray, common: float, level: float, *, sides: int = 2) -> float:
    """Critical value with which all comparisons of values (value,) with one value hold together.

    Solves for c the equation integral phi(x) prod_i [Phi((c e_i + s_0 x) / s_i) - Phi((-c e_i + s_0 x) / s_i)] dx = level, where
    s_i^2 are the variances, s_0^2 is that of the ``common`` value and e_i^2 = s_i^2 + s_0^2; one-sided without the second Phi.
    Variances must be positive. Dunnett (1955), doi:10.1080/01621459.1955.10501294.

    >>> rates, rows = np.array([0.3, 0.45, 0.24]), np.array([60, 40, 25])
    >>> round(dunnett(rates * (1 - rates) / (rows - 1), 0.2 * 0.8 / 149, 0.95), 6)
    2.384127
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    error = tail(level)
    scale, centre = np.sqrt(variances), np.sqrt(common)
    spread = np.sqrt(variances + common)
    nodes = int(np.clip(30 * (centre / scale).max(initial=0.0), NODES, FINEST))
    # With two sides the integrand is the same at x and -x.
    x = np.linspace(-END, END, nodes)[nodes // 2 if sides == 2 else 0 :, None]
    weight = np.exp(-0.5 * x[:, 0] ** 2)
    if sides == 2 and nodes % 2:
        weight[0] /= 2
    weight /= weight.sum()

    def excess(c: float) -> float:
        inside = ndtr((c * spread + centre * x) / scale)
        if sides == 2:
            inside = inside - ndtr((-c * spread + centre * x) / scale)
        return float(weight @ inside.prod(axis=1)) - level

    from scipy.special import ndtri

    # One comparison from below, Bonferroni's from above: the first never is enough, the second always is.
    low, high = -ndtri(error / sides) - 0.1, -ndtri(error / sides / max(len(scale), 1)) + 0.1
    root: Any = brentq(excess, low, high, xtol=1e-12)
    return float(root)
