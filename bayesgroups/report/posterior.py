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
    """Posterior of one metric or of several: draws, and what was checked of the fit.

    ``draws`` has ``mu(chain, draw, metric, subgroup)`` and hyper-parameters along (chain, draw, metric); ``engine`` is
    its name, such as ``collapsed`` or ``nuts``; ``sample_stats`` are statistics of the sampler where there was one.
    """

    draws: xr.Dataset
    checks: tuple[Check, ...]
    engine: str
    sample_stats: xr.Dataset | None = field(default=None)


def generator(seed: int, metric: str, purpose: str) -> np.random.Generator:
    """Random numbers of one metric and purpose: the same whichever other metrics are asked for."""
    return np.random.default_rng([seed, zlib.crc32(metric.encode()), zlib.crc32(purpose.encode())])


def lay_out(tally: xr.Dataset, mu: FloatArray, scalars: dict[str, FloatArray]) -> xr.Dataset:
    """Independent draws of one metric as a Dataset with chains, from ``mu`` (draw, subgroup) and hyper-parameters (draw,).

    The number of draws is divisible by `CHAINS`.
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
