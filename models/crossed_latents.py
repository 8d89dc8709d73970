"""Effects of crossed components in the form that their data allow: those that subgroups share, then that of each subgroup.

Shared effects have the form of ``latent_coefficients`` with the effect of the subgroup itself as noise, and that effect the form
of ``latent_effects`` given them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from .latent_coefficients import latent_coefficients
from .latent_effects import PseudoData, latent_effects
from .shared.subsets import Subsets

Tensor = Any
"""A PyTensor expression; PyMC carries no types."""


class Effects(NamedTuple):
    """Sums of effects in every subgroup, (metric, subgroup): of those that subgroups share, and of all."""

    shared: Tensor
    total: Tensor


def crossed_latents(
    names: tuple[str, str],
    components: Subsets,
    data: PseudoData,
    location: Tensor,
    spread: Tensor,
    dims: tuple[str, str, str],
) -> Effects:
    """Effects of all components, of the model in context.

    Parameters
    ----------
    names : tuple of str
        Names of the latent variables: of shared effects, and of those of single subgroups, the last component.
    components : Subsets
        The cell of every subgroup in every component.
    data : PseudoData
        What the likelihood says of the predictor of every subgroup, about.
    location : Tensor
        The predictor without effects, broadcasting to (metric, subgroup).
    spread : Tensor
        Shape (metric, component): standard deviations.
    dims : tuple of str
        Dims of the latent variables: metrics, shared effects and effects of single subgroups; the latter two get coordinates.

    Returns
    -------
    Effects

    Examples
    --------
    >>> who = Subsets(("race", "race:sex"), np.array([[0, 0, 1], [0, 1, 2]]), (2, 3), (1, 2))
    >>> data = PseudoData(np.array([[0.3, 0.1, 0.2]]), np.array([[9.0, 0.0, 4.0]]))
    >>> with pm.Model(coords={"metric": ["fnr"]}) as model:
    ...     tau = pm.HalfNormal("tau", shape=(1, 2))
    ...     found = crossed_latents(("z", "z_residual"), who, data, 0.5, tau, ("metric", "effect", "residual"))
    >>> [variable.name for variable in model.free_RVs], list(model.coords["effect"])
    (['tau', 'z', 'z_residual'], ['race 0', 'race 1'])
    """
    model: Any = pm.modelcontext(None)
    along, effect, residual = dims
    sizes, own = components.sizes[:-1], spread[:, -1, None]
    shared: Tensor = np.zeros(data.estimate.shape)
    if sizes:
        labels = [f"{name} {cell}" for name, size in zip(components.names, sizes, strict=False) for cell in range(size)]
        model.add_coord(effect, labels)
        indicators = [cell[:, None] == np.arange(size) for cell, size in zip(components.cells, sizes, strict=False)]
        x = np.concatenate(indicators, axis=1).astype(np.float64)
        precision = data.precision / (1 + own**2 * data.precision)
        score = precision * (data.estimate - location)
        each = spread[:, np.repeat(np.arange(len(sizes)), sizes)]
        shared = latent_coefficients(names[0], x, score, precision, each, (along, effect)) @ x.T
    model.add_coord(residual, np.arange(data.estimate.shape[1]))
    score = data.precision * (data.estimate - location - shared)
    return Effects(shared, shared + latent_effects(names[1], score, data.precision, own, (along, residual)))
