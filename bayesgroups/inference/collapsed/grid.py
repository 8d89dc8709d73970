"""Densities on a box: find where the mass lies, and draw from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray

DROP = 34.0
"""Depth below its top to which a log density is followed: beyond lies less than 1e-13 of the mass."""

NODES = (21, 31, 45, 65)
"""Chebyshev nodes per side, tried in turn."""
MAX_INTERPOLATION_ERROR = 1e-4
"""Interpolation error (total variation) at which no more nodes are tried."""

Box = tuple[tuple[float, float], tuple[float, float]]
LogDensity = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Surface:
    """Draws (draw,) from a density on a box, with the numerical error of the method.

    ``edge_mass`` is the share of the mass in the outermost cells that are not a natural boundary, ``interpolation_error``
    the total variation distance between the density interpolated from the last two numbers of nodes.
    """

    x: FloatArray
    y: FloatArray
    edge_mass: float
    interpolation_error: float


def locate(log_density: LogDensity, box: Box, *, floor: float = 0.0, nodes: int = 15, rounds: int = 60) -> Box:
    """Box moved and shrunk until it holds the mass of a unimodal density and little else.

    ``log_density`` takes two arrays of one shape; ``floor`` is the natural lower bound of y (0 for a scale); ``nodes``
    are per side in each round.

    >>> (x, y) = locate(lambda x, y: -0.5 * (x**2 + (y / 0.01)**2), ((-50.0, 70.0), (0.0, 9.0)))
    >>> [bool(inside) for inside in (-20 < x[0] < -5, 5 < x[1] < 20, y[0] == 0, 0.05 < y[1] < 0.2)]
    [True, True, True, True]
    """
    sides = [box[0], box[1]]
    for _ in range(rounds):
        x, y = (np.linspace(*side, nodes) for side in sides)
        value = log_density(np.repeat(x, nodes), np.tile(y, nodes)).reshape(nodes, nodes)
        inside = value >= value.max() - DROP
        changed = False
        for axis, other in ((0, 1), (1, 0)):
            kept = np.flatnonzero(inside.any(axis=other))
            low, high = sides[axis]
            step = (high - low) / (nodes - 1)
            width = high - low
            bottom = low - width / 2 if kept[0] == 0 else low + (kept[0] - 1) * step
            top = high + width / 2 if kept[-1] == nodes - 1 else low + (kept[-1] + 1) * step
            if axis == 1:
                bottom = max(bottom, floor)
            grown = bottom < low or top > high
            if grown or top - bottom < 0.8 * width:
                sides[axis] = (bottom, top)
                changed = True
        if not changed:
            break
    return sides[0], sides[1]


def draw(log_density: LogDensity, box: Box, draws: int, rng: np.random.Generator, *, cells: int = 320) -> Surface:
    """Independent draws from a smooth density on a box from `locate`; it need not be normalised.

    The log density is evaluated at Chebyshev nodes and interpolated, which converges geometrically, onto a fine grid of
    cells (so many per side), with more nodes until two numbers of them agree; a cell is drawn by its mass and a point
    uniformly within it.

    >>> surface = draw(lambda x, y: -0.5 * (x**2 + y**2), ((-9, 9), (0, 9)), 4000, np.random.default_rng(1))
    >>> bool(abs(surface.x.mean()) < 0.06), bool(abs(surface.y.mean() - 0.798) < 0.04), surface.interpolation_error < 1e-6
    (True, True, True)
    """
    (x_low, x_high), (y_low, y_high) = box
    middle = (np.arange(cells) + 0.5) / cells
    mass = _normalise(_interpolated(log_density, box, NODES[0], middle))
    error = np.inf
    for nodes in NODES[1:]:
        coarse, mass = mass, _normalise(_interpolated(log_density, box, nodes, middle))
        error = float(0.5 * np.abs(mass - coarse).sum())
        if error < MAX_INTERPOLATION_ERROR:
            break
    edges = [mass[0].sum(), mass[-1].sum(), mass[:, -1].sum()]
    if y_low > 0:
        edges.append(mass[:, 0].sum())
    cumulative = np.cumsum(mass.ravel())
    cell = np.searchsorted(cumulative, rng.random(draws) * cumulative[-1], side="right")
    i, j = np.divmod(np.minimum(cell, mass.size - 1), cells)
    return Surface(
        x=x_low + (i + rng.random(draws)) / cells * (x_high - x_low),
        y=y_low + (j + rng.random(draws)) / cells * (y_high - y_low),
        edge_mass=float(max(edges)),
        interpolation_error=error,
    )


def _normalise(log_mass: FloatArray) -> FloatArray:
    mass = np.exp(log_mass - log_mass.max())
    return np.asarray(mass / mass.sum(), dtype=np.float64)


def _interpolated(log_density: LogDensity, box: Box, nodes: int, at: FloatArray) -> FloatArray:
    """Log density on the fine grid from a tensor of Chebyshev nodes."""
    node = np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes)
    x, y = (low + (high - low) * (node + 1) / 2 for low, high in box)
    value = log_density(np.repeat(x, nodes), np.tile(y, nodes)).reshape(nodes, nodes)
    vander = np.polynomial.chebyshev.chebvander
    to_fine = vander(2 * at - 1, nodes - 1) @ np.linalg.inv(vander(node, nodes - 1))
    return np.asarray(to_fine @ value @ to_fine.T, dtype=np.float64)
