"""Answer of a frequentist reference, as a Dataset.

=================================  ==========================================================================
variable                           meaning
=================================  ==========================================================================
``estimate(metric, subgroup)``     point estimate
``std_error(metric, subgroup)``    its standard error as the interval sees it
``lower``, ``upper``               limits (metric, subgroup, level), not clipped to the range of the metric
``interval_kind(metric)``          ``confidence``
``interval_method(metric)``        the interval that was used, such as ``wilson``
``status(metric, subgroup)``       that of the tally, or ``imputed`` where the subgroup has no data of its
                                   own, ``not estimable`` where rows do not determine the model, or
                                   ``degenerate`` where the interval has no width and so claims to know;
                                   limits and standard error are NaN where the metric has no variance at all,
                                   see `bayesgroups.tallies.constant_metrics`
=================================  ==========================================================================

A word may add hyper-parameters along ``metric``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError, near_misses
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.constant_metrics import without_variance
from bayesgroups.tallies.subgroups import attributes_of, check_attributes

CELL = ("metric", "subgroup")


def assemble(
    tally: xr.Dataset,
    *,
    estimate: FloatArray,
    std_error: FloatArray,
    intervals: Sequence[Interval],
    methods: Sequence[str],
    imputed: NDArray[np.bool_] | None = None,
    extra: Mapping[str, tuple[tuple[str, ...], FloatArray]] | None = None,
) -> xr.Dataset:
    """Dataset of an answer, as above, with the coordinates of the tally along ``metric`` and ``subgroup``.

    Arrays are (metric, subgroup), in the units of each metric; ``intervals`` holds one per level of
    `bayesgroups.report.levels.LEVELS`, ``methods`` the interval of each metric, ``imputed`` the subgroups answered
    without data of their own, ``extra`` dims and values of further variables.
    """
    lower = np.stack([interval.lower for interval in intervals], axis=-1)
    upper = np.stack([interval.upper for interval in intervals], axis=-1)
    status = tally["status"].transpose(*CELL).values.astype("<U10")
    answered = np.isfinite(estimate)
    if imputed is not None:
        status[imputed & answered] = "imputed"
    nothing = answered & ~(lower[..., -1] < upper[..., -1]) & without_variance(tally)[:, None]
    status[nothing | (answered & (lower[..., -1] == upper[..., -1]))] = "degenerate"
    lower[nothing] = upper[nothing] = np.nan
    std_error = np.where(nothing, np.nan, std_error)
    data: dict[str, Any] = {
        "estimate": (CELL, estimate),
        "std_error": (CELL, std_error),
        "lower": ((*CELL, "level"), lower),
        "upper": ((*CELL, "level"), upper),
        "interval_kind": ("metric", np.full(len(methods), "confidence")),
        "interval_method": ("metric", np.array(methods, dtype=str)),
        "status": (CELL, status),
        **(extra or {}),
    }
    check_attributes(attributes_of(tally), [*data, "metric", "level"], "table of estimates")
    coordinates = {
        "metric": tally["metric"].values,
        "level": np.array(LEVELS),
        **{str(name): coord for name, coord in tally.coords.items() if coord.dims == ("subgroup",)},
    }
    return xr.Dataset(data, coords=coordinates)


def without_estimates(answer: xr.Dataset, unknown: NDArray[np.bool_]) -> xr.Dataset:
    """The answer with the status of what rows do not determine, ``unknown`` (metric, subgroup)."""
    if not unknown.any():
        return answer
    status = answer["status"].transpose(*CELL).values
    return answer.assign(status=(CELL, np.where(unknown, "not estimable", status)))


def check_interval(word: str, interval: str, choices: Sequence[str], *, setting: str = "interval") -> None:
    """Check that the estimator has this interval; the message of the InputError lists what there is."""
    if interval not in choices:
        fix = near_misses(str(interval), choices)
        raise InputError(f"{word}: {setting}={interval!r} does not exist; {fix}")
