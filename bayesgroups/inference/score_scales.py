"""Scales of the components of coefficients, one after another, given what data say of all coefficients.

All coefficients are integrated out. Given the other scales, what data say of those of one component is a normal likelihood, whose
precision is diagonal in a certain basis: densities at many values of its scale cost next to nothing, and the value is drawn
among points of a lattice of its coordinate (`half_normal_scales`).
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import half_normal_scales, lattices
from bayesgroups.inference.score_effects import Design, Law

POINTS, SPACING = 48, (0.06, 0.2)
"""Points of a lattice, and the range of their distance, which is drawn anew every time."""
SMALLEST_SHARE = 1e-300
"""Floor of the share of a prior variance that data leave."""


def redraw(design: Design, coordinate: FloatArray, law: Law, rng: np.random.Generator) -> FloatArray:
    """Coordinates (chain, component) of all scales, with those of the components of coefficients drawn.

    ``law`` is that of the coefficients at the coordinates given; the last two of these, of the effects of subgroups, stay.

    >>> design = Design(np.eye(4)[:, None].repeat(2, axis=1), np.zeros(4, dtype=int), np.ones(4), 1)
    >>> inner, along, z = np.zeros((1, 4, 4)), np.zeros((1, 4)), np.zeros((1, 3))
    >>> rng, seen = np.random.default_rng(1), []
    >>> for _ in range(4000):
    ...     log_scale = half_normal_scales.log_scales(z)[0]
    ...     seen.append(z := redraw(design, z, Law.of(design, log_scale, inner, along), rng))
    >>> [round(float(part), 1) for part in (np.mean(seen, axis=0)[0, 0], np.std(seen, axis=0)[0, 0])]
    [0.0, 1.0]
    """
    covariance, centre, size = law.covariance.copy(), law.centre.copy(), design.components
    drawn = coordinate.copy()
    # Lattices of all scales, whose places do not depend on each other.
    spacing = np.exp(rng.uniform(*np.log(SPACING), size=(size, 1)))
    at = lattices.candidates(coordinate[:, :size], POINTS, spacing, rng)
    before = half_normal_scales.log_scales(coordinate[:, :size])[0]
    with np.errstate(over="ignore"):
        ratio = np.exp(2 * (half_normal_scales.log_scales(at)[0] - before[..., None]))
    prior = np.where(np.abs(at) < half_normal_scales.MAX_COORDINATE, -0.5 * at**2, -np.inf)
    for component in range(size):
        columns = np.flatnonzero(design.owner == component)
        if not len(columns):
            drawn[:, component] = lattices.chosen(coordinate[:, component], at[:, component], prior[:, component], rng)
            continue
        # In units of the scales before: the share of the prior variance that data leave, in the basis of this component.
        share, basis = np.linalg.eigh(covariance[:, columns[:, None], columns])
        share = np.clip(share, SMALLEST_SHARE, 1.0)
        toward = (centre[:, None, columns] @ basis)[:, 0]
        times = ratio[:, component, :, None]
        more = 1 + times * ((1 - share) / share)[:, None]
        density = 0.5 * (times * ((toward / share) ** 2)[:, None] / more - np.log(more)).sum(axis=-1)
        moved = lattices.chosen(coordinate[:, component], at[:, component], density + prior[:, component], rng)
        drawn[:, component] = moved
        factor = np.exp(half_normal_scales.log_scales(moved)[0] - before[:, component])
        # The law with another prior of these coefficients, then in units of their new scale.
        less = (factor**-2 - 1)[:, None]
        across = covariance[:, :, columns] @ basis
        weighted = across * (less / (1 + less * share))[:, None]
        covariance -= weighted @ np.swapaxes(across, 1, 2)
        centre -= (weighted @ toward[..., None])[..., 0]
        unit = np.ones(centre.shape)
        unit[:, columns] = 1 / factor[:, None]
        centre *= unit
        covariance *= unit[:, :, None] * unit[:, None, :]
    return drawn
