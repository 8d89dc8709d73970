"""Draws from a posterior, whichever engine made them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
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
    ``latent`` are parameters of the likelihood that a report does not keep, along (chain, draw); ``observed`` the groups
    ``observed_data`` and ``log_likelihood`` of PyMC, where it sampled a model whose likelihood needs such parameters.
    """

    draws: xr.Dataset
    checks: tuple[Check, ...]
    engine: str
    sample_stats: xr.Dataset | None = field(default=None)
    latent: xr.Dataset | None = field(default=None)
    observed: Mapping[str, xr.Dataset] = field(default_factory=dict)


def generator(seed: int, metric: str, purpose: str) -> np.random.Generator:
    """Random numbers of one metric and purpose: the same whichever other metrics are asked for."""
    return np.random.default_rng([seed, zlib.crc32(metric.encode()), zlib.crc32(purpose.encode())])


def lay_out(tally: xr.Dataset, mu: FloatArray, scalars: dict[str, FloatArray]) -> xr.Dataset:
    """Independent draws of one metric as a Dataset with chains, from ``mu`` (draw, subgroup) and hyper-parameters (draw,).

    The number of draws is divisible by `CHAINS`.
    """
    draws = {name: ("metric", values[:, None]) for name, values in scalars.items()}
    return with_chains(tally, {"mu": ("metric subgroup", mu[:, None]), **draws})


def with_chains(tally: xr.Dataset, draws: Mapping[str, tuple[str, FloatArray]], **coordinates: Any) -> xr.Dataset:
    """Independent draws (draw, ...) as a Dataset with chains; of each its dims after the draw, separated by blanks.

    Coordinates along ``metric`` and ``subgroup`` are those of the tally.
    """
    length = len(next(iter(draws.values()))[1]) // CHAINS
    data = {
        name: (("chain", "draw", *dims.split()), values.reshape(CHAINS, length, *values.shape[1:]))
        for name, (dims, values) in draws.items()
    }
    labels = {name: tally[name].values for name in ("metric", "subgroup")}
    return xr.Dataset(data, coords={"chain": np.arange(CHAINS), "draw": np.arange(length), **labels, **coordinates})
