"""Coordinates in which half-normal numbers are nearly normal, also those near zero.

    x = sigma h(u),    h(u) = phi(u) + u Phi(u),    h'(u) = Phi(u)

is about sigma u on the right and falls like sigma phi(u) / u^2 on the left. The density of log x, the coordinate that PyMC takes by
itself, falls on the left like x alone: where data do not keep a standard deviation from zero, a sampler goes far out there and is
long on the way back. The law of x is the same in either.
"""

from __future__ import annotations

import math
from typing import Any

import pytensor.tensor as pt
from pymc.logprob.transforms import Transform

Tensor = Any
"""A PyTensor expression; PyMC carries no types."""

NEWTON_STEPS = 8


class NearlyNormal(Transform):  # type: ignore[misc]  # PyMC carries no types
    """Change of coordinates of a `pymc.HalfNormal`, given as its ``default_transform``; sigma is that of the variable.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     tau = pm.HalfNormal("tau", sigma=0.5, default_transform=NearlyNormal())
    >>> [variable.name for variable in model.value_vars]
    ['tau_nearlynormal__']
    """

    name = "nearlynormal"  # PyMC takes what is before the last underscore for the name of the variable
    ndim_supp = 0

    def forward(self, value: Tensor, *inputs: Tensor) -> Tensor:
        """The coordinate of a positive number, by Newton's method on logarithms from the left."""
        x = value / inputs[-1]
        log_x = pt.log(x)
        u = pt.switch(x > 1, x - 0.2, -pt.sqrt(pt.maximum(-2 * log_x, 0)))
        for _ in range(NEWTON_STEPS):
            here = _positive(u)
            u = u - (pt.log(here) - log_x) * here / pt.exp(_log_cdf(u))
        return u

    def backward(self, value: Tensor, *inputs: Tensor) -> Tensor:
        """The positive number at a coordinate."""
        return inputs[-1] * _positive(value)

    def log_jac_det(self, value: Tensor, *inputs: Tensor) -> Tensor:
        """Logarithm of the derivative of the number by its coordinate."""
        return pt.log(inputs[-1]) + _log_cdf(value)


def _positive(u: Tensor) -> Tensor:
    return pt.exp(-0.5 * u**2) / math.sqrt(2 * math.pi) + u * pt.exp(_log_cdf(u))


def _log_cdf(u: Tensor) -> Tensor:
    """That of PyMC takes the root of 2 in single precision, and has no slope far on the right."""
    z = u * math.sqrt(0.5)
    tail = 0.5 * pt.erfcx(pt.maximum(-z, 0))
    return pt.switch(u < -1, pt.log(tail) - 0.5 * u**2, pt.log1p(-0.5 * pt.erfc(z)))
