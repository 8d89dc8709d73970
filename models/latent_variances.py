"""Latent variances in the form that their data allow: free where a cell has many rows, tied to the hierarchy where it has few.

A variance v ~ InverseGamma(df / 2, df typical / 2) has a latent variable z of its own. With pseudo-data of the cell, a sum of
squares ``scatter`` with ``freedom`` degrees of freedom,

    log v = log((df typical + scatter) / (df + freedom)) + z sqrt(2 / (df + freedom)),

and the density of z is that of v, carried over. For any pseudo-data the model is the same one; and where they hold what the
likelihood says of v, the posterior of z has mean 0 and variance 1, about, whatever ``df`` and ``typical`` are. Variances that
``df`` holds close to each other are so no funnel.

References
----------
Papaspiliopoulos, Roberts and Skold (2007), partially non-centred parametrisations, doi:10.1214/088342307000000014.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

MANY, SMALL = 100.0, 0.02
"""Where series with the terms below have 13 digits."""


def latent_variances(
    name: str, df: Tensor, typical: Tensor, scatter: Tensor, freedom: FloatArray, dims: tuple[str, str]
) -> Tensor:
    """Variances InverseGamma(df / 2, df typical / 2) of the model in context, by a latent variable each.

    Parameters
    ----------
    name : str
        Name of the latent variable.
    df : Tensor
        Degrees of freedom of the prior, a scalar.
    typical : Tensor
        Typical variance, broadcasting to the shape of ``freedom``.
    scatter : Tensor
        Sums of squares of every cell, in the shape of ``freedom``; 0 where nothing was observed.
    freedom : FloatArray
        Degrees of freedom of these sums.
    dims : tuple of str
        Dims of the latent variable.

    Returns
    -------
    Tensor
        The variances.

    Examples
    --------
    >>> scatter, freedom = np.array([[18.0, 0.0]]), np.array([[20.0, 0.0]])
    >>> with pm.Model(coords={"subgroup": ["a"], "outcome": ["0", "1"]}) as model:
    ...     df, typical = pm.HalfNormal("df"), pm.HalfNormal("typical")
    ...     v = latent_variances("z", df, typical, scatter, freedom, ("subgroup", "outcome"))
    >>> [variable.name for variable in model.free_RVs]
    ['df', 'typical', 'z']
    """
    df = pt.as_tensor(
        df, dtype="float64"
    )  # a plain number would have single precision, too little for what cancels below
    width: Tensor = pm.math.sqrt(2 / (df + freedom))
    # The middle of log v less log typical: 0 without data.
    middle: Tensor = pt.log1p((scatter / typical - freedom) / (df + freedom))
    z = pm.CustomDist(name, df, middle, width, logp=_log_density, random=_draw, dims=dims)
    return typical * pm.math.exp(middle + width * z)


def _log_density(z: Tensor, df: Tensor, middle: Tensor, width: Tensor) -> Tensor:
    a = 0.5 * df
    ratio = middle + width * z  # log of the variance over the typical one
    return _normaliser(a) - a * _excess(ratio) + pm.math.log(width)


def _normaliser(a: Tensor) -> Tensor:
    """The number a log a - a - log Gamma(a), of which subtraction leaves no digit where a is large."""
    series = 0.5 * pt.log(a / (2 * math.pi)) - 1 / (12 * a) + 1 / (360 * a**3)
    return pt.switch(a > MANY, series, a * pt.log(a) - a - pt.gammaln(a))


def _excess(ratio: Tensor) -> Tensor:
    """The number r + exp(-r) - 1, likewise where r is small."""
    r = pt.clip(ratio, -SMALL, SMALL)
    series = r**2 / 2 * (1 - r / 3 * (1 - r / 4 * (1 - r / 5 * (1 - r / 6 * (1 - r / 7)))))
    return pt.switch(pt.abs(ratio) < SMALL, series, ratio + pt.expm1(-ratio))


def _draw(
    df: FloatArray, middle: FloatArray, width: FloatArray, rng: np.random.Generator, size: tuple[int, ...] | None
) -> FloatArray:
    """Draws from the prior of z."""
    a = 0.5 * np.broadcast_to(df, np.shape(middle))
    ratio = -np.log(rng.gamma(a, size=np.shape(middle) if size is None else size) / a)
    latent: FloatArray = (ratio - middle) / width
    return latent
