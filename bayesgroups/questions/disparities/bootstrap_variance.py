"""The bootstrap of the variance between subgroups: what sampling adds once, what resampling adds again.

A replicate y* varies about y, which varies about mu, so the variance of the y* is too large twice; the double-corrected
estimate takes off both. Denominators are kept, rows are resampled within subgroups.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.frequentist.intervals.interval import Interval, tail
from bayesgroups.inference.bootstrap import replicates
from bayesgroups.questions.sampling_variances import Estimates
from bayesgroups.report.posterior import generator

FloatArray = NDArray[np.float64]

Correction = Literal["uncorrected", "corrected", "double_corrected"]
Form = Literal["unbiased", "published"]


def resample(tally: xr.Dataset, position: int, estimates: Estimates, *, seed: int, draws: int) -> FloatArray:
    """Replicates of the estimates of one metric, (draw, subgroup), of the subgroups that are used.

    Parameters
    ----------
    tally : xr.Dataset
    position : int
        Of the metric.
    estimates : Estimates
        The same metric, taken out.
    seed, draws : int
        Source of randomness; replicates.

    Returns
    -------
    array
        Drawn by `bayesgroups.inference.bootstrap.replicates` given the denominators; published estimates, which have no
        rows, are drawn from normal laws.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.sampling_variances import read_estimates
    >>> counts = bg.tally_from_counts([1, 3], [4, 4], pd.DataFrame({"site": ["a", "b"]}))
    >>> found = resample(counts, 0, read_estimates(counts, 0), seed=1, draws=1000)
    >>> found.shape, sorted({float(value) for value in found[:, 0]})
    ((1000, 2), [0.0, 0.25, 0.5, 0.75, 1.0])
    """
    if estimates.kind == "estimate":
        rng = generator(seed, estimates.metric, "bootstrap")
        return estimates.y + np.sqrt(estimates.v) * rng.standard_normal((draws, len(estimates.y)))
    one = tally.isel(metric=[position])
    fixed = one.assign(rows=("subgroup", np.nan_to_num(one["count"].values[0])))
    found = replicates(fixed, seed=seed, draws=draws)["mu"].values[0, :, 0]
    return np.asarray(found[:, estimates.used], dtype=np.float64)


def noise(y: FloatArray, estimates: Estimates, correction: Correction, form: Form) -> FloatArray:
    """Variance that sampling, and resampling, add to each subgroup's replicate.

    Parameters
    ----------
    y : array (..., subgroup)
        Replicates.
    estimates : Estimates
    correction : {"uncorrected", "corrected", "double_corrected"}
        Nothing; sampling; sampling and resampling.
    form : {"unbiased", "published"}
        Of rates, with d rows: y (1 - y) (2 d - 1) / (d - 1)^2, or / d^2 as published, for both; y (1 - y) / (d - 1), or
        / d, for sampling alone. Other metrics take it from the rows that were resampled, in either form.

    Returns
    -------
    array (..., subgroup)
        With one row the pooled variance, for a single row says nothing of its own.

    References
    ----------
    Lum, Zhang, Bower (2022), doi:10.1145/3531146.3533105, section 5.3. The published form is low by the factor
    (1 - 1 / d)^2 on average.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.sampling_variances import read_estimates
    >>> sites = pd.DataFrame({"site": list("abcd")})
    >>> estimates = read_estimates(bg.tally_from_counts([36, 16, 7, 3], [40, 20, 10, 5], sites), 0)
    >>> noise(estimates.y, estimates, "double_corrected", "published").round(6).tolist()
    [0.004444, 0.0156, 0.0399, 0.0864]
    """
    if correction == "uncorrected":
        return np.zeros(y.shape)
    both = correction == "double_corrected"
    if not estimates.binomial:
        return np.broadcast_to(estimates.v + estimates.resampled if both else estimates.v, y.shape)
    d = estimates.count
    with np.errstate(divide="ignore", invalid="ignore"):
        if form == "published":
            factor = (2 * d - 1) / d**2 if both else 1 / d
        else:
            factor = (2 * d - 1) / (d - 1) ** 2 if both else 1 / (d - 1)
        found = y * (1 - y) * factor
    return np.where(estimates.rests_on_pooling, estimates.v, found)


def variances(replicated: FloatArray, estimates: Estimates, correction: Correction, form: Form) -> FloatArray:
    """The variance between subgroups of every replicate, (draw,), corrected, not truncated.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.sampling_variances import read_estimates
    >>> estimates = read_estimates(bg.tally_from_counts([36, 16], [40, 20], pd.DataFrame({"site": ["a", "b"]})), 0)
    >>> variances(np.array([[0.9, 0.8]]), estimates, "uncorrected", "published").round(6).tolist()
    [0.005]
    """
    spread = replicated.var(axis=-1, ddof=1)
    return np.asarray(spread - noise(replicated, estimates, correction, form).mean(axis=-1), dtype=np.float64)


def interval(replicated: FloatArray, estimate: FloatArray | float, level: float, *, basic: bool) -> Interval:
    """Quantiles of the replicates of a variance, cut off at 0, or their reflections in the estimate.

    Parameters
    ----------
    replicated : array (..., draw)
    estimate : array (...) or float
        Reflected in by the basic interval.
    level : float
    basic : bool

    Returns
    -------
    Interval
        Arrays (...), not negative.

    Raises
    ------
    InputError
        If the level is not strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> found = interval(np.linspace(-0.5, 1.5, 201), 0.5, 0.95, basic=False)
    >>> float(found.lower), round(float(found.upper), 6)
    (0.0, 1.45)
    """
    error = tail(level)
    low, high = np.quantile(replicated, [error / 2, 1 - error / 2], axis=-1)
    if basic:
        low, high = 2 * estimate - high, 2 * estimate - low
    return Interval(np.maximum(low, 0.0), np.maximum(high, 0.0))
