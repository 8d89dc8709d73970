r"""Latent coefficients of a linear predictor, uncorrelated given their data: effects that several subgroups share, features.

Coefficients u = D s with standard normal s and standard deviations D describe rows through a design x. With pseudo-data
``estimate`` +- 1 / sqrt(``precision``) of the rows, P their precisions,

    A = I + D x' P x D = L L',     b = D x' P (estimate - location),     s = L'^-1 (L^-1 b + z),

and the latent z = L' s - L^-1 b. For any pseudo-data this is the same model; and where they hold what the likelihood says of the
rows, the posterior of z is about standard normal whatever D and the location are. Coefficients of which the data see sums alone,
such as the effects of crossed attributes, are so no ridge that a sampler has to follow.

References
----------
Papaspiliopoulos, Roberts and Skold (2007), doi:10.1214/088342307000000014. Papaspiliopoulos, Roberts and Zanella (2020), crossed
effects, doi:10.1093/biomet/asz058.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pytensor.tensor.linalg import cholesky, solve_triangular

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""


def latent_coefficients(
    name: str, x: FloatArray, score: Tensor, precision: Tensor, spread: Tensor, dims: tuple[str, str]
) -> Tensor:
    """Coefficients Normal(0, spread) of the model in context, by a latent variable each.

    Parameters
    ----------
    name : str
        Name of the latent variable.
    x : FloatArray
        Shape (row, coefficient): the design.
    score : Tensor
        Shape (metric, row): ``precision`` times the pseudo-estimate of each row, the location taken off.
    precision : Tensor
        Shape (metric, row): what the likelihood says of each row, 0 where nothing was observed.
    spread : Tensor
        Shape (metric, coefficient): prior standard deviations.
    dims : tuple of str
        Dims of the latent variable.

    Returns
    -------
    Tensor
        The coefficients, (metric, coefficient).

    Examples
    --------
    >>> x, known = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([[4.0, 9.0, 0.0]])
    >>> with pm.Model(coords={"metric": ["fnr"], "effect": ["a", "b"]}) as model:
    ...     tau = pm.HalfNormal("tau", shape=(1, 2))
    ...     u = latent_coefficients("z", x, known * 0.3, known, tau, ("metric", "effect"))
    >>> [variable.name for variable in model.free_RVs]
    ['tau', 'z']
    """
    information = (precision[:, None, :] * x.T) @ x
    return coefficients_given(name, information, score @ x, spread, x.shape[1], dims)


def coefficients_given(
    name: str, information: Tensor, score: Tensor, spread: Tensor, number: int, dims: tuple[str, ...]
) -> Tensor:
    """Coefficients Normal(0, spread) of the model in context, from what their data say of them together.

    Parameters
    ----------
    name : str
        Name of the latent variable.
    information : Tensor
        Shape (..., coefficient, coefficient): x' P x.
    score : Tensor
        Shape (..., coefficient): x' P (estimate - location).
    spread : Tensor
        Shape (..., coefficient): prior standard deviations.
    number : int
        Number of coefficients.
    dims : tuple of str
        Dims of the latent variable.

    Returns
    -------
    Tensor
        The coefficients, (..., coefficient).

    Examples
    --------
    >>> with pm.Model(coords={"effect": ["a", "b"]}) as model:
    ...     tau = pm.HalfNormal("tau", shape=2)
    ...     u = coefficients_given("z", np.array([[9.0, 4.0], [4.0, 5.0]]), np.array([2.0, 1.0]), tau, 2, ("effect",))
    >>> [variable.name for variable in model.free_RVs]
    ['tau', 'z']
    """
    root: Tensor = cholesky(spread[..., :, None] * information * spread[..., None, :] + np.eye(number))
    pull = solve_triangular(root, spread * score, lower=True, b_ndim=1)
    z = pm.CustomDist(name, root, pull, logp=_log_density, random=_draw, signature="(p,p),(p)->(p)", dims=dims)
    return spread * _standard(z, root, pull)


def _standard(z: Tensor, root: Tensor, pull: Tensor) -> Tensor:
    """The standard normal numbers of the coefficients."""
    return solve_triangular(root.mT, pull + z, lower=False, b_ndim=1)


def _log_density(z: Tensor, root: Tensor, pull: Tensor) -> Tensor:
    diagonal: Tensor = pt.diagonal(root, axis1=-2, axis2=-1)
    return (-0.5 * _standard(z, root, pull) ** 2 - 0.5 * math.log(2 * math.pi) - pt.log(diagonal)).sum(axis=-1)


def _draw(root: FloatArray, pull: FloatArray, rng: np.random.Generator, size: tuple[int, ...] | None) -> FloatArray:
    """Draws from the prior of z."""
    standard = rng.standard_normal(pull.shape if size is None else (*size, pull.shape[-1]))
    latent: FloatArray = (root.swapaxes(-1, -2) @ standard[..., None])[..., 0] - pull
    return latent
