"""Weak or flat priors of a centre and of coefficients, some of which may be flat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""


def weak_or_flat(name: str, centre: FloatArray, width: FloatArray, dims: tuple[str, ...]) -> Tensor:
    """Add a variable with independent normal priors to the model in context.

    Parameters
    ----------
    name : str
        Name of the variable.
    centre, width : FloatArray
        Mean and standard deviation, in the shape of the variable; flat where the latter is infinite.
    dims : tuple of str
        Dims of the variable.

    Returns
    -------
    Tensor
        The variable. Where some entries are flat and some are not, the density of the latter is a potential ``prior_<name>``.

    Examples
    --------
    >>> with pm.Model(coords={"metric": ["wer", "fnr"]}) as model:
    ...     centre = weak_or_flat("alpha", np.zeros(2), np.array([np.inf, 1.5]), ("metric",))
    >>> [variable.name for variable in model.free_RVs], [potential.name for potential in model.potentials]
    (['alpha'], ['prior_alpha'])
    """
    proper = np.isfinite(width)
    if proper.all():
        return pm.Normal(name, mu=centre, sigma=width, dims=dims)
    value = pm.Flat(name, dims=dims)
    if proper.any():
        where = np.nonzero(proper)
        pm.Potential(f"prior_{name}", pm.logp(pm.Normal.dist(centre[where], width[where]), value[where]).sum())
    return value
