"""Draws from a posterior, whichever engine made them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.report.diagnostics import Check

CHAINS = 4
"""Independent draws are laid out as this many chains, so that every ArviZ function works on them."""


@dataclass(frozen=True)
class Posterior:
    """A posterior of one metric or of several.

    Attributes
    ----------
    draws : xr.Dataset
        ``mu(chain, draw, metric, subgroup)`` and hyper-parameters along (chain, draw, metric).
    checks : tuple of Check
        What was checked of the fit.
    engine : str
        ``collapsed`` or ``nuts``.
    sample_stats : xr.Dataset or None
        Statistics of the sampler where there was one.
    """

    draws: xr.Dataset
    checks: tuple[Check, ...]
    engine: str
    sample_stats: xr.Dataset | None = field(default=None)


def generator(seed: int, metric: str, purpose: str) -> np.random.Generator:
    """The random numbers of one metric and purpose: the same whichever other metrics are asked for.

    Examples
    --------
    >>> from bayesgroups.report.posterior import generator
    >>> generator(1, "fnr", "posterior").random() == generator(1, "fnr", "posterior").random()
    True
    """
    return np.random.default_rng([seed, zlib.crc32(metric.encode()), zlib.crc32(purpose.encode())])


def lay_out(tally: xr.Dataset, mu: FloatArray, scalars: dict[str, FloatArray]) -> xr.Dataset:
    """Independent draws of one metric as a Dataset with chains.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with one metric.
    mu : array (draw, subgroup)
        Draws, their number divisible by `CHAINS`.
    scalars : dict of arrays (draw,)
        Hyper-parameters.

    Returns
    -------
    xr.Dataset
    """
    shape = (CHAINS, len(mu) // CHAINS, 1)
    data: dict[str, Any] = {"mu": (("chain", "draw", "metric", "subgroup"), mu.reshape(*shape, mu.shape[1]))}
    data |= {name: (("chain", "draw", "metric"), values.reshape(shape)) for name, values in scalars.items()}
    coordinates = {
        "chain": np.arange(shape[0]),
        "draw": np.arange(shape[1]),
        "metric": tally["metric"].values,
        "subgroup": tally["subgroup"].values,
    }
    return xr.Dataset(data, coords=coordinates)
