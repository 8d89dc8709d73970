"""Confusion cells by plug-in: every metric at the observed shares of the cells, jointly over metrics."""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.answer import assemble, check_interval
from bayesgroups.frequentist.intervals import proportions
from bayesgroups.frequentist.intervals.interval import Interval, around
from bayesgroups.report.levels import LEVELS

Choice = Literal["wilson", "delta", "multinomial_bootstrap"]

DRAWS = 2000
"""Replicates behind a percentile."""


@checked_keywords
def estimate(tally: xr.Dataset, *, interval: Choice = "wilson", seed: int = 0) -> xr.Dataset:
    """Estimate every metric from the observed cells of each subgroup.

    Estimand: the value of the metric in the population of each subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with confusion cells, see `bayesgroups.tallies.confusion`.
    interval : {"wilson", "delta", "multinomial_bootstrap"}
        Wilson's, for rates and F1, with ``delta`` for any other metric; normal with the standard error of the delta method; or
        percentiles of the multinomial bootstrap of the cells.
    seed : int
        Source of randomness of the bootstrap.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`.

    Raises
    ------
    InputError
        If the interval does not exist, there are no cells, or a metric is no function of them.

    Notes
    -----
    A metric is r = sum(N c) / sum(D c) over the cells c. With n rows and shares p its delta-method variance is
    sum(p (N - r D)^2) / (n (sum(p D))^2), since N - r D has mean 0. For a rate that is r (1 - r) over its rows; it is 0
    where all rows agree, so that the normal interval has no width there, which is flagged ``degenerate``. A metric whose N is D on
    some cells and 0 on the others, with one weight of D on each, is a function of a proportion alone, r = p / (p + k (1 - p)), with
    k = 1 for rates and 1/2 for F1; so Wilson's limits of p give limits of r.

    References
    ----------
    Agresti (2013), "Categorical Data Analysis", section 16.1. Efron (1979), doi:10.1214/aos/1176344552. Wilson (1927),
    doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import confusion
    >>> rows = pd.DataFrame({"sex": ["f"] * 10, "y": [1] * 6 + [0] * 4, "d": [1, 0] * 5})
    >>> tally = bg.tally(rows, ["sex"], ["acc", "f1"], y_true="y", y_pred="d", confusion=True)
    >>> answer = confusion.estimate(tally)
    >>> answer["estimate"].values.ravel().round(3).tolist(), answer["std_error"].values.ravel().round(3).tolist()
    ([0.5, 0.545], [0.158, 0.181])
    >>> answer["lower"].sel(level=0.95).values.ravel().round(3).tolist(), answer["interval_method"].values.tolist()
    ([0.237, 0.241], ['wilson', 'wilson'])
    """
    check_interval("confusion", interval, get_args(Choice))
    cells, above, below = _arrays(tally)
    value = ratio_of(cells, above, below)
    total = cells.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = above[:, None] - value[..., None] * below[:, None]
        variance = (cells * deviation**2).sum(axis=-1) / (below @ cells.T) ** 2
    std_error = np.sqrt(np.where(total > 0, variance, np.nan))
    if interval == "multinomial_bootstrap":
        drawn = _resample(cells, above, below, seed, DRAWS)
        intervals = [percentiles(drawn, level, np.isfinite(value)) for level in LEVELS]
        return assemble(
            tally, estimate=value, std_error=std_error, intervals=intervals, methods=[interval] * len(above)
        )
    intervals = [around(value, NormalDist().inv_cdf((1 + level) / 2) * std_error) for level in LEVELS]
    methods = ["delta"] * len(above)
    for i in range(len(above) if interval == "wilson" else 0):
        relative = _proportion(above[i], below[i])
        if relative is not None:
            methods[i] = "wilson"
            for level, limits in zip(LEVELS, intervals, strict=True):
                wilson = proportions.wilson(cells @ (above[i] > 0), cells @ (below[i] > 0), level)
                limits.lower[i], limits.upper[i] = (p / (p + relative * (1 - p)) for p in (wilson.lower, wilson.upper))
    return assemble(tally, estimate=value, std_error=std_error, intervals=intervals, methods=methods)


def replicates(tally: xr.Dataset, *, seed: int, draws: int = DRAWS) -> xr.Dataset:
    """Multinomial bootstrap of the cells: all metrics of one replicate come from the same rows.

    ``mu(chain, draw, metric, subgroup)``, NaN where a replicate leaves a metric undefined, and ``undefined_share(metric,
    subgroup)``. InputError if there are no cells, or a metric is no function of them.
    """
    return as_replicates(tally, _resample(*_arrays(tally), seed, draws))


def as_replicates(tally: xr.Dataset, values: FloatArray) -> xr.Dataset:
    """Replicates (draw, metric, subgroup) as a Dataset."""
    return xr.Dataset(
        {
            "mu": (("chain", "draw", "metric", "subgroup"), values[None]),
            "undefined_share": (("metric", "subgroup"), np.isnan(values).mean(axis=0)),
        },
        coords={
            "chain": [0], "draw": np.arange(len(values)), "metric": tally["metric"].variable,
            "subgroup": tally["subgroup"].variable,
        },
        attrs={"scheme": "multinomial"},
    )  # fmt: skip


def _arrays(tally: xr.Dataset) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cells (subgroup, cell) and the weights of numerator and denominator (metric, cell)."""
    if "cell_count" not in tally.data_vars:
        raise InputError("confusion: the tally has no confusion cells; make it with bg.tally(..., confusion=True)")
    forms = ("metric", "outcome", "decision")
    above, below = (
        tally[name].transpose(*forms).values.reshape(tally.sizes["metric"], -1)
        for name in ("cell_numerator", "cell_denominator")
    )
    for name in tally["metric"].values[~np.isfinite(above).all(axis=1)]:
        raise InputError(f"confusion: metric {str(name)!r} is no function of outcome and decision; leave it out")
    cells = tally["cell_count"].transpose("subgroup", "outcome", "decision").values.reshape(tally.sizes["subgroup"], -1)
    return cells, above, below


def ratio_of(cells: FloatArray, above: FloatArray, below: FloatArray) -> FloatArray:
    """Metrics (..., metric, subgroup) of cells (..., subgroup, cell)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: FloatArray = np.swapaxes((cells @ above.T) / (cells @ below.T), -1, -2)
    return ratio


def _proportion(above: FloatArray, below: FloatArray) -> float | None:
    """The k of a metric p / (p + k (1 - p)) of a proportion p of cells, from its weights (cell,); None if it is no such metric.

    >>> accuracy = np.array([1.0, 0, 0, 1]), np.ones(4)
    >>> f1 = np.array([0.0, 0, 0, 2]), np.array([0.0, 1, 1, 2])
    >>> benefit = np.array([0.0, -1, 0, 1]), np.ones(4)
    >>> [_proportion(*weights) for weights in (accuracy, f1, benefit)]
    [1.0, 0.5, None]
    """
    hit, miss = above > 0, (below > 0) & (above == 0)
    if not (hit.any() and miss.any() and (above[hit] == below[hit]).all() and (above[~hit] == 0).all()):
        return None
    if np.ptp(below[hit]) > 0 or np.ptp(below[miss]) > 0 or (below < 0).any():
        return None
    return float(below[miss][0] / below[hit][0])


def _resample(cells: FloatArray, above: FloatArray, below: FloatArray, seed: int, draws: int) -> FloatArray:
    """Replicates (draw, metric, subgroup); effective rows are rounded."""
    rng = np.random.default_rng([seed, 0])
    new = np.zeros((draws, *cells.shape))
    for g, counts in enumerate(cells):
        if counts.sum() > 0:
            new[:, g] = rng.multinomial(max(round(counts.sum()), 1), counts / counts.sum(), size=draws)
    return ratio_of(new, above, below)


def percentiles(drawn: FloatArray, level: float, defined: NDArray[np.bool_]) -> Interval:
    """Percentile limits (metric, subgroup) of replicates (draw, metric, subgroup), NaN where a metric is not defined."""
    limits = np.full((2, *defined.shape), np.nan)
    limits[:, defined] = np.nanquantile(drawn[:, defined], [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Interval(limits[0], limits[1])
