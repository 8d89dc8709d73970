"""Group-level covariates: means of features per subgroup, standardised. No PyMC here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def standardised(tally: xr.Dataset, names: Sequence[str]) -> xr.DataArray:
    """Feature means of the subgroups with mean 0 and variance 1 over rows.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are ``rows(subgroup)`` and ``feature_mean(subgroup, feature)``.
    names : sequence of str
        Features to take.

    Returns
    -------
    xr.DataArray
        Dims ``subgroup`` and ``covariate``. A subgroup without rows has the mean, 0; so has everybody where a feature does
        not vary. Published estimates, whose rows are not known, all have the same weight.

    Raises
    ------
    ValueError
        If the tally holds no such feature.

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     {"rows": ("subgroup", [1.0, 3.0, 0.0]), "feature_mean": (("subgroup", "feature"), [[4.0], [0.0], [np.nan]])},
    ...     coords={"subgroup": ["a", "b", "c"], "feature": ["visits"]})
    >>> standardised(tally, ["visits"]).values.round(3).ravel().tolist()
    [1.732, -0.577, 0.0]
    """
    known = [str(name) for name in tally["feature"].values] if "feature_mean" in tally else []
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(
            f"covariate {missing[0]!r} is no feature of the tally, which has {', '.join(known) or 'none'}; "
            f"name it in features= when tallying"
        )
    rows = np.asarray(tally["rows"].values, dtype=np.float64)
    rows = np.where(np.isnan(rows), 1.0, rows)
    values = np.empty((len(rows), len(names)))
    for j, name in enumerate(names):
        value = np.asarray(tally["feature_mean"].sel(feature=name).values, dtype=np.float64)
        weight = np.where(np.isfinite(value), rows, 0.0)
        centred = np.where(weight > 0, value, 0.0) - np.average(np.where(weight > 0, value, 0.0), weights=weight)
        centred = np.where(weight > 0, centred, 0.0)
        width = np.sqrt(np.average(centred**2, weights=weight))
        values[:, j] = centred / width if width > 0 else 0.0
    return xr.DataArray(
        values, dims=("subgroup", "covariate"), coords={"subgroup": tally["subgroup"].values, "covariate": list(names)}
    )
