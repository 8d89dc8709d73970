"""Metrics without any variance: all rows agree in every subgroup, or there is one row in all.

The sampling variance and the variance between subgroups are then both 0. An analysis that takes sampling variances for known
would conclude that every value is known exactly; a likelihood of counts would not.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Spread and standard error of estimates that are nothing but rounding, relative to the largest estimate."""


def without_variance(tally: xr.Dataset) -> BoolArray:
    """Metrics (metric,) whose estimates all agree and have no sampling variance; differences by rounding alone count as none.

    False for a metric that is undefined in every subgroup, or of which a sampling variance is not known.
    """
    arrays = (tally[name].transpose("metric", "subgroup").values for name in ("estimate", "sampling_variance"))
    return np.array([_constant(*metric) for metric in zip(*arrays, strict=True)], dtype=np.bool_)


def _constant(estimates: FloatArray, variances: FloatArray) -> bool:
    """True if the estimates (subgroup,) of one metric agree and have no sampling variance."""
    observed = np.isfinite(estimates)
    if not observed.any():
        return False
    values = estimates[observed]
    slack = ROUNDING * float(np.abs(values).max())
    return bool(float(np.ptp(values)) <= slack and float(variances[observed].max()) <= slack**2)
