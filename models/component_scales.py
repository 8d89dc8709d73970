"""How large the components of a crossed model are expected to be: the scales of their priors. No PyMC here.

In units of what a single row varies by: an attribute whose cells differ by a quarter of the standard deviation of a row is a
strong one. A row of a rate p varies by sqrt(p (1 - p)), which is 1 / sqrt(p (1 - p)) on the logit scale.
"""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .scales import natural_scale

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

ROW_SHARE = 0.12
"""Scale of the prior of a component's standard deviation, as a share of the standard deviation of a row."""
ESTIMATE_SHARE = 0.5
"""The same as a share of the spread of published estimates, whose rows are not known."""
OWN_EFFECT = 0.5
"""Standard deviation of a subgroup's own effect where it is fixed, as a share of that scale."""
COEFFICIENT = 2.0
"""Prior standard deviation of a standardised covariate's coefficient, in units of the component scale."""
DEGREES = 3.0
"""Degrees of freedom of half-t priors."""


def component_scales(tally: xr.Dataset, binomial: BoolArray, given: float | None = None) -> FloatArray:
    """Scale of the prior of the components' standard deviations, for every metric.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are ``kind``, ``pooled_variance``, the range and, for published estimates, the estimates.
    binomial : BoolArray
        Shape (metric,): which metrics have a binomial likelihood.
    given : float, optional
        The scale to take instead, for all metrics.

    Returns
    -------
    FloatArray
        Shape (metric,), on the logit scale for binomial metrics and in units of the metric otherwise.

    Raises
    ------
    ValueError
        If ``given`` is not a positive finite number.

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     {"estimate": (("metric", "subgroup"), [[0.2, 0.5]]), "count": (("metric", "subgroup"), [[10.0, 10.0]]),
    ...      "successes": (("metric", "subgroup"), [[2.0, 5.0]]),
    ...      "sampling_variance": (("metric", "subgroup"), [[0.016, 0.016]]), "pooled_variance": ("metric", [0.16]),
    ...      "kind": ("metric", ["rate"]), "range_lower": ("metric", [0.0]), "range_upper": ("metric", [1.0])},
    ...     coords={"metric": ["fnr"]})
    >>> logit, own = (component_scales(tally, np.array([binomial])) for binomial in (True, False))
    >>> logit.round(3).tolist(), own.round(3).tolist()
    ([0.25], [0.048])
    """
    if given is not None:
        if not (math.isfinite(given) and given > 0):
            raise ValueError(f"tau_scale must be a positive number; got {given!r}")
        return np.full(len(binomial), float(given))
    natural = np.asarray(natural_scale(tally)["scale"].values, dtype=np.float64)
    row = np.sqrt(np.asarray(tally["pooled_variance"].values, dtype=np.float64))
    published = np.array([str(kind) == "estimate" for kind in tally["kind"].values])
    logit = np.array([logit_row(tally.isel(metric=position)) if yes else 1.0 for position, yes in enumerate(binomial)])
    known = np.isfinite(row) & (row > 0) & ~published
    own = np.where(
        known, ROW_SHARE * np.where(known, row, 1.0), np.where(published, ESTIMATE_SHARE, ROW_SHARE) * natural
    )
    return np.where(binomial, ROW_SHARE * logit, own)


def logit_row(metric: xr.Dataset) -> float:
    """Standard deviation of a row of a rate on the logit scale, half a success and half a failure added."""
    count = np.nan_to_num(np.asarray(metric["count"].values, dtype=np.float64))
    successes = np.where(count > 0, np.nan_to_num(np.asarray(metric["successes"].values, dtype=np.float64)), 0.0)
    share = (float(successes.sum()) + 0.5) / (float(count.sum()) + 1)
    return 1 / math.sqrt(share * (1 - share))
