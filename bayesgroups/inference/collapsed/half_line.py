"""Densities of one number that is not negative: where the mass lies, and draws from a grid of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.grid import DROP

LogDensity = Callable[[NDArray[np.floating]], FloatArray]

W_MAX = 300.0
"""Largest w that is looked at; sinh of it is still a number."""


def locate(log_posterior: LogDensity, high: float) -> tuple[float, float]:
    """Bounds of w that hold the mass, by zooming in and out.

    >>> low, high = locate(lambda w: -0.5 * (np.asarray(w, dtype=float) / 0.01) ** 2, 8.0)
    >>> low, bool(0.05 < high < 0.2)
    (0.0, True)
    """
    low = 0.0
    for _ in range(60):
        w = np.linspace(low, high, 65)
        value = log_posterior(w)
        kept = np.flatnonzero(value >= value.max() - DROP)
        step = w[1] - w[0]
        bottom = max(low - (high - low) / 2, 0.0) if kept[0] == 0 else low + (kept[0] - 1) * step
        top = min(high * 2, W_MAX) if kept[-1] == 64 else low + (kept[-1] + 1) * step
        if bottom >= low and top <= high and top - bottom > 0.8 * (high - low):
            break
        low, high = bottom, top
    return low, high


def draw(
    log_posterior: LogDensity, low: float, high: float, draws: int, nodes: int, rng: np.random.Generator
) -> tuple[FloatArray, float, float]:
    """Draws of w, the mass in its outermost cells, and the change of the log evidence when nodes are halved."""
    width = (high - low) / nodes
    log_mass = log_posterior(low + width * (np.arange(nodes) + 0.5))
    mass = np.exp(log_mass - log_mass.max())
    half = np.exp(log_posterior(low + 2 * width * (np.arange(nodes // 2) + 0.5)) - log_mass.max())
    change = float(np.abs(np.log(2 * half.sum() / mass.sum())))
    mass /= mass.sum()
    cell = np.minimum(np.searchsorted(np.cumsum(mass), rng.random(draws), side="right"), nodes - 1)
    edge = mass[-1] if low == 0 else max(mass[0], mass[-1])
    return low + width * (cell + rng.random(draws)), float(edge), change
