"""Row variances of means, each subgroup's own drawn towards the others'. No PyMC here.

One pooled variance over-shrinks where the spread of a loss differs between subgroups, and a single outlying row inflates it
for everybody; a subgroup's own variance knows too little where rows are few. The logs of the variances are therefore shrunk
to their mean, as empirical Bayes does with means:

    log s2[g] - bias[g] ~ Normal(theta[g], trigamma(d / 2) + KURTOSIS / n),   theta[g] ~ Normal(m, SPREAD)

with d = n - 1, bias = digamma(d / 2) - log(d / 2), and m the precision-weighted mean. Then all are multiplied by one factor that
makes their mean over degrees of freedom that of the row variances, which is unbiased whatever the tails: of few rows with heavy
tails most variances are too small and a few much too large, so that a mean of logs lies too low. A rate needs none of it, for its
variance follows from its value.

References
----------
Smyth (2004), doi:10.2202/1544-6115.1027: moderated variances. O'Neill (2014), doi:10.1080/00031305.2014.966589: the variance
of a sample variance grows with the kurtosis.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
RowVariances = Literal["shrunk", "pooled"]
"""Row variances of means: each subgroup's own drawn towards the others', or one for all."""

KURTOSIS = 50.0
"""Excess kurtosis that losses are taken to have, between an exponential (6) and a log-normal (111). With less, a subgroup without
any of the rare large losses is believed to have a small variance, and its low mean with it; with more, subgroups whose spreads
do differ are pooled (``tests.recovery.studies.heavy_tails``)."""
SPREAD = 1.0
"""Prior variance of the log variances: standard deviations of subgroups differ by a factor of 1.6 or so."""
SMALLEST = 1e-12
"""Variances below this share of the pooled one are no estimates of anything."""


def with_shrunk_variances(tally: xr.Dataset, row_variances: RowVariances = "shrunk") -> xr.Dataset:
    """Replace the sampling variances of means by those of shrunk row variances.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are ``kind(metric)``, ``pooled_variance(metric)``, ``row_variance`` and ``count`` (metric, subgroup).
    row_variances : {"shrunk", "pooled"}
        ``pooled`` leaves the tally as it is, with one row variance for all subgroups.

    Returns
    -------
    xr.Dataset
        The same with another ``sampling_variance`` for metrics of kind ``mean`` with two subgroups or more whose row
        variance is known; as it is where subgroups share clusters, so that their errors have a covariance.

    Raises
    ------
    ValueError
        If the choice does not exist.

    Examples
    --------
    >>> cells = ("metric", "subgroup")
    >>> tally = xr.Dataset(
    ...     {"count": (cells, [[2.0, 100.0, 100.0]]), "row_variance": (cells, [[0.0, 1.0, 4.0]]), "kind": ("metric", ["mean"]),
    ...      "sampling_variance": (cells, [[1.25, 0.025, 0.025]]), "pooled_variance": ("metric", [2.5])},
    ...     coords={"metric": ["wer"]})
    >>> with_shrunk_variances(tally)["sampling_variance"].values.round(3).tolist()
    [[1.561, 0.014, 0.035]]
    """
    if row_variances not in get_args(RowVariances):
        raise ValueError(f"row_variances must be one of {', '.join(get_args(RowVariances))}; got {row_variances!r}")
    means = [position for position, kind in enumerate(tally["kind"].values) if str(kind) == "mean"]
    if row_variances == "pooled" or not means or "row_variance" not in tally or "sampling_covariance" in tally:
        return tally
    variance = np.asarray(tally["sampling_variance"].transpose("metric", "subgroup").values, dtype=np.float64).copy()
    for position in means:
        one = tally.isel(metric=position)
        count = np.asarray(one["count"].values, dtype=np.float64)
        row = _shrunk(np.asarray(one["row_variance"].values, dtype=np.float64), count, float(one["pooled_variance"]))
        if row is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                variance[position] = np.where(np.isfinite(variance[position]), row / count, np.nan)
    return tally.assign(sampling_variance=(("metric", "subgroup"), variance))


def _shrunk(row_variance: FloatArray, count: FloatArray, pooled: float) -> FloatArray | None:
    """Row variance of every subgroup; None where fewer than two are known."""
    from scipy.special import digamma, polygamma

    known = np.isfinite(row_variance) & (count > 1)
    known &= np.where(known, row_variance, 0.0) > SMALLEST * pooled
    if known.sum() < 2:
        return None
    half = (count[known] - 1) / 2
    value = np.log(row_variance[known] / pooled) - digamma(half) + np.log(half)
    error = polygamma(1, half) + KURTOSIS / count[known]
    centre = float(np.average(value, weights=1 / (SPREAD + error)))
    own = SPREAD / (SPREAD + error)
    found = np.full(len(count), np.exp(centre + SPREAD / 2))
    # The mean of a log-normal: half of what is left of the spread is added.
    found[known] = np.exp(centre + own * (value - centre) + (1 - own) * SPREAD / 2)
    freedom, seen = np.where(np.isfinite(row_variance), count - 1, 0.0), np.nan_to_num(row_variance)
    return np.asarray(found * (freedom * seen).sum() / (freedom * found).sum())
