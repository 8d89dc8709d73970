"""Draws from the prior of a PyMC model: its parameters, and data that it would see."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import xarray as xr

if TYPE_CHECKING:
    import pymc as pm


def is_flat(model: pm.Model) -> bool:
    """True if a parameter has a flat prior, from which nothing can be drawn."""
    import pymc as pm

    flat = type(pm.Flat.rv_op) | type(pm.HalfFlat.rv_op)
    return any(isinstance(variable.owner.op, flat) for variable in model.free_RVs)


def sample_prior(model: pm.Model, names: Sequence[str], *, draws: int, seed: int) -> dict[str, xr.Dataset]:
    """Groups ``prior`` and, where ``names`` has observed nodes, ``prior_predictive``, along (chain, draw) with one chain."""
    import pymc as pm

    logger = logging.getLogger("pymc")
    level = logger.level
    logger.setLevel(logging.WARNING)  # it names every variable that it draws
    try:
        tree = pm.sample_prior_predictive(
            draws, model=model, var_names=names, random_seed=seed, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    finally:
        logger.setLevel(level)
    # Their attributes carry the time.
    groups = [name for name in ("prior", "prior_predictive") if name in tree.children]
    return {name: tree[name].to_dataset().drop_attrs() for name in groups}
