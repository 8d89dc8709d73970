"""Draws of one coordinate of a density at a time, among points of a lattice that contains where it is.

The point is one of the lattice, at any place in it with the same chance; then one of its points is drawn by their densities.
Given the lattice that is a draw from the conditional law, so the density stays invariant whatever the spacing, and nothing is
tuned. It is the slice sampler's way of placing its interval (Neal 2003, doi:10.1214/aos/1056562461), with points in place of
the interval.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesgroups.data.arrays import FloatArray


def moved(
    value: FloatArray,
    log_density: Callable[[FloatArray], FloatArray],
    points: int,
    spacing: float | FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """New values (...) of coordinates that are independent of each other, given a log density of values (..., point).

    Where no point has a finite density the value stays.

    >>> rng, value = np.random.default_rng(1), np.zeros(4000)
    >>> for _ in range(20):
    ...     value = moved(value, lambda at: -0.5 * (at - 3.0) ** 2, 12, 0.4, rng)
    >>> round(float(value.mean()), 1), round(float(value.std()), 1)
    (3.0, 1.0)
    """
    place = rng.integers(points, size=value.shape)
    candidates = value[..., None] + spacing * (np.arange(points) - place[..., None])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        density = log_density(candidates)
        density = np.where(np.isfinite(density), density, -np.inf)
        mass = np.exp(density - density.max(axis=-1, keepdims=True)).cumsum(axis=-1)
    drawn = (mass < rng.random(value.shape)[..., None] * mass[..., -1:]).sum(axis=-1)
    chosen = np.take_along_axis(candidates, drawn[..., None], axis=-1)[..., 0]
    return np.where(np.isfinite(mass[..., -1]), chosen, value)
