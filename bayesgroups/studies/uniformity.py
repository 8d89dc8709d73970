"""Tests of uniformity of the ranks of simulation-based calibration."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError

BINS = 20
"""Bins of the chi-square test."""


def uniformity(ranks: xr.DataArray, *, draws: int, bins: int = BINS) -> xr.Dataset:
    """Tests of uniformity and moments of recorded ranks.

    Parameters
    ----------
    ranks : xr.DataArray
        Whole numbers from 0 to ``draws``, dims (quantity, replication).
    draws : int
        Posterior draws that each true value was ranked among.
    bins : int
        Bins of the chi-square test, from 2 to ``draws`` + 1; if they do not divide it, some hold and expect one rank more.

    Returns
    -------
    xr.Dataset
        ``chi2_p``, ``ks_p``, ``mean_pit``, ``variance_pit`` (quantity,), as `calibrate` describes them.

    Raises
    ------
    InputError
        If there are fewer than two bins, or more than possible ranks.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> ranks = xr.DataArray([np.arange(1000), np.arange(1000) // 2], dims=("quantity", "replication"))
    >>> tests = uniformity(ranks, draws=999)
    >>> float(tests["chi2_p"][0]), float(tests["variance_pit"][0].round(3)), bool(tests["ks_p"][1] < 1e-6)
    (1.0, 1.0, True)
    """
    from scipy import stats

    if not 2 <= bins <= draws + 1:
        raise InputError(
            f"bins={bins} must be from 2 to {draws + 1}, the number of possible ranks among {draws} draws; "
            "take fewer bins, or more draws"
        )
    possible = np.bincount(np.arange(draws + 1) * bins // (draws + 1), minlength=bins)
    rows = []
    for rank in ranks.transpose("quantity", "replication").values:
        pit = (rank + 0.5) / (draws + 1)
        observed = np.bincount(rank * bins // (draws + 1), minlength=bins)
        expected = len(rank) * possible / (draws + 1)
        moments = float(pit.mean()), float(12 * ((pit - 0.5) ** 2).mean())
        tests = stats.chisquare(observed, expected).pvalue, stats.kstest(pit, "uniform").pvalue
        rows.append((*map(float, tests), *moments))
    names = ("chi2_p", "ks_p", "mean_pit", "variance_pit")
    columns = np.array(rows, dtype=np.float64).T
    variables = {name: ("quantity", column) for name, column in zip(names, columns, strict=True)}
    return xr.Dataset(variables, coords={name: ranks[name] for name in ranks.coords if name == "quantity"})
