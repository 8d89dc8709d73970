"""How far the value of a subgroup lies from what its model says, because its population is finite. No PyMC here.

The people of a subgroup are themselves so many draws from what the model describes. If the rows are a share f of them, their
own mean varies around the model's value by f times the sampling variance of an estimate: little where rows are many, much where
a subgroup is a handful of people, whatever its attributes. With f = 0 populations are endless.
"""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .component_scales import logit_row

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

SAMPLED_SHARE = 0.05
"""Share of a population whose rows are evaluated, where nobody says: one in twenty."""


def finite_variances(tally: xr.Dataset, binomial: BoolArray, share: float = SAMPLED_SHARE) -> FloatArray:
    """Variance of the value of each finite population around what the model says.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are ``count``, ``sampling_variance`` and, for binomial metrics, ``successes``.
    binomial : BoolArray
        Shape (metric,): which metrics have a binomial likelihood.
    share : float
        Share of the population that was sampled, from 0 to 1.

    Returns
    -------
    FloatArray
        Shape (metric, subgroup), on the logit scale for binomial metrics and in squared units of the metric otherwise. A
        subgroup without rows has the largest of the others: its people are few, or some would have been drawn.

    Raises
    ------
    ValueError
        If the share is not within [0, 1].

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"count": (cells, [[10.0, 40.0, 0.0]]), "successes": (cells, [[2.0, 23.0, 0.0]]),
    ...      "sampling_variance": (cells, [[0.025, 0.00625, np.nan]])}, coords={"metric": ["fnr"]})
    >>> for binomial in (True, False):
    ...     finite_variances(tally, np.array([binomial]), 0.1).round(5).tolist()
    [[0.04, 0.01, 0.04]]
    [[0.0025, 0.00063, 0.0025]]
    """
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise ValueError(f"sampled_share must be a share, from 0 to 1; got {share!r}")
    sampling = np.asarray(tally["sampling_variance"].transpose("metric", "subgroup").values, dtype=np.float64)
    found = np.empty(sampling.shape)
    for position, of_logit in enumerate(binomial):
        one = sampling[position]
        if of_logit:
            metric = tally.isel(metric=position)
            count = np.asarray(metric["count"].values, dtype=np.float64)
            one = np.divide(logit_row(metric) ** 2, count, out=np.full(count.shape, np.nan), where=count > 0)
        known = np.isfinite(one)
        found[position] = share * np.where(known, one, one[known].max(initial=0.0))
    return found
