"""Prior scales of the components of crossed models. No PyMC here.

The standard deviation of a component is half-t with 3 degrees of freedom: half of its mass lies below 0.76 scales, and one part in
a thousand above 12.9. For rates the scale is 0.25 logits, whatever the rate: cells of an attribute differ by a factor of 1.2 or so
in their odds, and a factor of 25 is not ruled out. For other metrics it is 0.09 standard deviations of a row. Published
estimates, whose rows are not known, take half of their own spread.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .scales import check_scale, natural_scale

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LOGIT_SCALE = 0.25
"""Scale of the prior of a component's standard deviation of a rate, in logits."""
ROW_SHARE = 0.09
"""The same of other metrics, as a share of the standard deviation of a row."""
ScaleByOrder = float | Sequence[float | None] | None
"""One scale of all components, or one of those that cross 1, 2, ... attributes; the default where it is ``None`` or left out."""
OVERALL_LOGIT = 4.0
"""Prior standard deviation of the logit of the overall rate of a crossed model."""
ESTIMATE_SHARE = 0.5
"""The same as a share of the spread of published estimates, whose rows are not known."""
OWN_EFFECT = 0.5
"""Known standard deviation of a subgroup's own effect, as a share of that scale."""
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
        If ``given`` is not a positive finite number, or is no scale of logits.

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
    ([0.25], [0.036])
    """
    if given is not None:
        check_scale(given, "tau_scale", logit=bool(binomial.any()))
        return np.full(len(binomial), float(given))
    natural = np.asarray(natural_scale(tally)["scale"].values, dtype=np.float64)
    row = np.sqrt(np.asarray(tally["pooled_variance"].values, dtype=np.float64))
    published = np.array([str(kind) == "estimate" for kind in tally["kind"].values])
    known = np.isfinite(row) & (row > 0) & ~published
    own = np.where(
        known, ROW_SHARE * np.where(known, row, 1.0), np.where(published, ESTIMATE_SHARE, ROW_SHARE) * natural
    )
    return np.where(binomial, LOGIT_SCALE, own)


def scales_by_order(
    tally: xr.Dataset, binomial: BoolArray, given: ScaleByOrder, attributes: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Scale of the prior of every component, where those of different orders may have different ones.

    Parameters
    ----------
    tally, binomial
        As for ``component_scales``.
    given : float or sequence of float, optional
        The scale of all components, or of those that cross 1, 2, ... attributes; the default for those that are not named.
    attributes : sequence of int
        Shape (component,): how many attributes each of them crosses.

    Returns
    -------
    scales : FloatArray
        Shape (metric, component).
    main : FloatArray
        Shape (metric,): that of order 1, from which coefficients of covariates take theirs.

    Raises
    ------
    ValueError
        If a scale is not a positive finite number, or is no scale of logits.

    Examples
    --------
    >>> cell = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"estimate": (cell, [[0.2, 0.5]]), "count": (cell, [[10.0, 10.0]]), "sampling_variance": (cell, [[0.016, 0.016]]),
    ...      "pooled_variance": ("metric", [0.16]), "kind": ("metric", ["rate"]), "range_lower": ("metric", [0.0]),
    ...      "range_upper": ("metric", [1.0])}, coords={"metric": ["fnr"]})
    >>> scales, main = scales_by_order(tally, np.array([True]), (2.5, None), [1, 1, 2])
    >>> scales.tolist(), main.tolist()
    ([[2.5, 2.5, 0.25]], [2.5])
    """
    if given is None or isinstance(given, int | float):
        main = component_scales(tally, binomial, given)
        return np.repeat(main[:, None], len(attributes), axis=1), main
    default = component_scales(tally, binomial)

    def of_order(order: int) -> FloatArray:
        scale = given[order - 1] if order <= len(given) else None
        return default if scale is None else component_scales(tally, binomial, scale)

    return np.stack([of_order(order) for order in attributes], axis=1), of_order(1)
