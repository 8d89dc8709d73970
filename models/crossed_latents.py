"""Effects of crossed components in the form that their data allow: those that subgroups share, then that of each subgroup.

What subgroups share is a sum over the directions of ``spectrum``, which are fewer than the effects: three attributes of 4, 4 and 2
levels have 23 directions and 42 effects. The sum has the same prior, as the variance of a direction is a sum over components,

    sum over k of sd[k]^2 power[k],    power[k] the eigenvalue of the covariance of component k along it.

Where there are no such directions, or no fewer, effects are summed one by one, each with the variance of its component. Either has
the form of ``latent_coefficients`` with the effect of the subgroup itself as noise, and that effect the form of ``latent_effects``
given them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pymc as pm
from numpy.typing import NDArray

from .latent_coefficients import latent_coefficients
from .latent_effects import PseudoData, latent_effects
from .shared.spectrum import spectrum
from .shared.subsets import Subsets

FloatArray = NDArray[np.float64]
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
        Names of the latent variables: of what subgroups share, and of the effects of single ones, the last component.
    components : Subsets
        The cell of every subgroup in every component.
    data : PseudoData
        What the likelihood says of the predictor of every subgroup, about.
    location : Tensor
        The predictor without effects, broadcasting to (metric, subgroup).
    spread : Tensor
        Shape (metric, component): standard deviations.
    dims : tuple of str
        Dims of the latent variables: metrics, directions or effects that subgroups share, and effects of single subgroups; the
        latter two get coordinates.

    Returns
    -------
    Effects

    Examples
    --------
    >>> pairs = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]])
    >>> who = Subsets(("race", "sex", "race:sex"), pairs, (2, 2, 4), (1, 1, 2))
    >>> data = PseudoData(np.array([[0.3, 0.1, 0.2, 0.0]]), np.array([[9.0, 0.0, 4.0, 1.0]]))
    >>> with pm.Model(coords={"metric": ["fnr"]}) as model:
    ...     tau = pm.HalfNormal("tau", shape=(1, 3))
    ...     found = crossed_latents(("z", "z_residual"), who, data, 0.5, tau, ("metric", "direction", "residual"))
    >>> [variable.name for variable in model.free_RVs], len(model.coords["direction"])
    (['tau', 'z', 'z_residual'], 3)
    """
    model: Any = pm.modelcontext(None)
    along, direction, residual = dims
    own = spread[:, -1, None]
    shared: Tensor = np.zeros(data.estimate.shape)
    if len(components.names) > 1:
        x, power = shared_columns(components)
        model.add_coord(direction, np.arange(x.shape[1]))
        precision = data.precision / (1 + own**2 * data.precision)
        score = precision * (data.estimate - location)
        each = pm.math.sqrt(spread[:, :-1] ** 2 @ power.T)
        shared = latent_coefficients(names[0], x, score, precision, each, (along, direction)) @ x.T
    model.add_coord(residual, np.arange(data.estimate.shape[1]))
    score = data.precision * (data.estimate - location - shared)
    return Effects(shared, shared + latent_effects(names[1], score, data.precision, own, (along, residual)))


def shared_columns(components: Subsets) -> tuple[FloatArray, FloatArray]:
    """Columns of a design whose coefficients add up to what subgroups share, and the variances of these coefficients.

    Parameters
    ----------
    components : Subsets
        The cell of every subgroup in every component, the last of which is not shared.

    Returns
    -------
    x : FloatArray
        Shape (subgroup, column): directions of the spectrum if they are fewer than effects, or else indicators of cells.
    power : FloatArray
        Shape (column, component): what a component with the variance 1 adds to the variance of a coefficient.

    Examples
    --------
    >>> pairs = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]])
    >>> x, power = shared_columns(Subsets(("race", "sex", "race:sex"), pairs, (2, 2, 4), (1, 1, 2)))
    >>> power.tolist()
    [[2.0, 2.0], [0.0, 2.0], [2.0, 0.0]]
    >>> ((x * power[:, 0]) @ x.T).round(9).tolist()[0]
    [1.0, 1.0, 0.0, 0.0]
    """
    sizes = components.sizes[:-1]
    found = spectrum(components.cells, [])
    if found is not None:
        directions = found[0].of(range(len(sizes)))
        if directions.directions < sum(sizes):
            return directions.values(np.eye(directions.directions)).T, directions.power[directions.kind]
    indicators = [cell[:, None] == np.arange(size) for cell, size in zip(components.cells, sizes, strict=False)]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return np.concatenate(indicators, axis=1).astype(np.float64), np.eye(len(sizes))[owner]
