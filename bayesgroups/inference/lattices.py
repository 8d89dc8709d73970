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
    at = candidates(value, points, spacing, rng)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        density = log_density(at)
    return chosen(value, at, density, rng)


def candidates(value: FloatArray, points: int, spacing: float | FloatArray, rng: np.random.Generator) -> FloatArray:
    """Points (..., point) of lattices that contain the values (...), each at any place with the same chance."""
    place = rng.integers(points, size=value.shape)
    return np.asarray(value[..., None] + spacing * (np.arange(points) - place[..., None]))


def chosen(value: FloatArray, at: FloatArray, density: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One of the candidates (..., point) each, by their log densities; the value where none is finite."""
    density = np.where(np.isfinite(density), density, -np.inf)
    with np.errstate(invalid="ignore"):
        mass = np.exp(density - density.max(axis=-1, keepdims=True)).cumsum(axis=-1)
    drawn = (mass < rng.random(value.shape)[..., None] * mass[..., -1:]).sum(axis=-1)
    picked = np.take_along_axis(at, drawn[..., None], axis=-1)[..., 0]
    return np.where(np.isfinite(mass[..., -1]), picked, value)
