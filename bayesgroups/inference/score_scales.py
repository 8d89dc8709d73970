"""Scales of the components of coefficients, one after another, given what data say of all coefficients.

All coefficients are integrated out. Given the other scales, what data say of those of one component is a normal likelihood, whose
precision is diagonal in a basis of its own: densities at many values of its scale cost next to nothing, and the value is drawn
among points of a lattice of its coordinate (`half_normal_scales`).
"""

from __future__ import annotations

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import half_normal_scales, lattices
from bayesgroups.inference.score_effects import Design, Law

POINTS, SPACING = 24, (0.03, 0.5)
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
    coordinate, covariance, centre = coordinate.copy(), law.covariance.copy(), law.centre.copy()
    for component in range(design.components):
        own = np.flatnonzero(design.owner == component)
        if not len(own):
            continue
        # In units of the scales before: the share of the prior variance that data leave, in the basis of this component.
        share, basis = np.linalg.eigh(covariance[:, own[:, None], own])
        share = np.clip(share, SMALLEST_SHARE, 1.0)
        toward = (centre[:, None, own] @ basis)[:, 0]
        gained, pull = (1 - share) / share, (toward / share) ** 2
        before = half_normal_scales.log_scales(coordinate[:, component])[0]

        def log_density(
            point: FloatArray, before: FloatArray = before, gained: FloatArray = gained, pull: FloatArray = pull
        ) -> FloatArray:
            ratio = np.exp(2 * (half_normal_scales.log_scales(point)[0] - before[:, None]))[..., None]
            more = 1 + ratio * gained[:, None]
            value = 0.5 * (ratio * pull[:, None] / more - np.log(more)).sum(axis=-1) - 0.5 * point**2
            return np.where(np.abs(point) < half_normal_scales.LARGEST, value, -np.inf)

        spacing = np.exp(rng.uniform(*np.log(SPACING)))
        moved = lattices.moved(coordinate[:, component], log_density, POINTS, spacing, rng)
        factor = np.exp(half_normal_scales.log_scales(moved)[0] - before)
        coordinate[:, component] = moved
        # The law with another prior of these coefficients, then in units of their new scale.
        less = (factor**-2 - 1)[:, None]
        across = covariance[:, :, own] @ basis
        weighted = across * (less / (1 + less * share))[:, None]
        covariance -= weighted @ np.swapaxes(across, 1, 2)
        centre -= (weighted @ toward[..., None])[..., 0]
        unit = np.ones(centre.shape)
        unit[:, own] = 1 / factor[:, None]
        centre *= unit
        covariance *= unit[:, :, None] * unit[:, None, :]
    return coordinate
