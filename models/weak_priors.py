"""One weak prior for every metric of a tally, each on its own scale, as a single PyMC variable.

Rates with a binomial likelihood: Beta(1/2, 1/2). All other metrics: Normal(centre, 4 scale), with centre and scale from
``scales``. Metrics of both likelihoods are drawn in two blocks and put back into the order of the tally.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

from .shared.scales import JEFFREYS, WEAK

BoolArray = NDArray[np.bool_]
Tensor = Any
"""A PyTensor expression; PyMC carries no types."""


def weak_prior(name: str, natural: xr.Dataset, binomial: BoolArray, dims: tuple[str, ...]) -> Tensor:
    """Add the variable ``name(metric, ...)`` with its prior to the model in context.

    Parameters
    ----------
    name : str
        Name of the variable. With both likelihoods it is deterministic, assembled from ``<name>_binomial`` over
        ``binomial_metric`` and ``<name>_normal`` over ``normal_metric``.
    natural : xr.Dataset
        ``centre`` and ``scale`` of each metric, see ``natural_scale``.
    binomial : BoolArray
        Shape (metric,): which metrics have a binomial likelihood.
    dims : tuple of str
        Dims of the variable, ``metric`` first.

    Returns
    -------
    Tensor
        The variable, on the metrics' own scales.

    Examples
    --------
    >>> natural = xr.Dataset({"centre": ("metric", [3.0]), "scale": ("metric", [2.0])}, coords={"metric": ["wer"]})
    >>> with pm.Model(coords={"metric": ["wer"]}):
    ...     weak_prior("overall", natural, np.array([False]), ("metric",)).name
    'overall'
    """
    column = (-1,) + (1,) * (len(dims) - 1)
    centre = natural["centre"].values[~binomial].reshape(column)
    width = WEAK * natural["scale"].values[~binomial].reshape(column)
    if binomial.all():
        return pm.Beta(name, alpha=JEFFREYS, beta=JEFFREYS, dims=dims)
    if not binomial.any():
        return pm.Normal(name, mu=centre, sigma=width, dims=dims)
    model: Any = pm.modelcontext(None)
    metrics = natural["metric"].values
    model.add_coord("binomial_metric", metrics[binomial])
    model.add_coord("normal_metric", metrics[~binomial])
    rates = pm.Beta(f"{name}_binomial", alpha=JEFFREYS, beta=JEFFREYS, dims=("binomial_metric", *dims[1:]))
    means = pm.Normal(f"{name}_normal", mu=centre, sigma=width, dims=("normal_metric", *dims[1:]))
    # A stable sort puts the rates first; sorting that order gives the place of each metric in it.
    place = np.argsort(np.argsort(~binomial, kind="stable"))
    both: Tensor = pm.math.concatenate([rates, means])
    return pm.Deterministic(name, both[place], dims=dims)
