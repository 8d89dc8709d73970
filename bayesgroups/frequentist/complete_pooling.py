"""Complete pooling: one value for all subgroups, as if they did not differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.frequentist.answer import assemble
from bayesgroups.frequentist.intervals import means, proportions
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.report.levels import LEVELS


@dataclass(frozen=True)
class _Total:
    """One metric over all subgroups: arrays of one value, and what makes its interval."""

    estimate: FloatArray
    variance: FloatArray
    successes: FloatArray
    count: FloatArray
    freedom: float
    method: str

    def interval(self, level: float) -> Interval:
        if self.method == "wilson":
            return proportions.wilson(self.successes, self.count, level)
        if self.method == "pooled_t":
            return means.pooled_t(self.estimate, self.variance, self.freedom, level)
        return means.pooled_normal(self.estimate, self.variance, level)


@checked_keywords
def estimate(tally: xr.Dataset) -> xr.Dataset:
    """Estimate one value per metric and give it to every subgroup.

    Estimand: the value of the metric in a population without subgroups. It is the weighted mean of the
    standard estimates, weighted by count, the fit of an intercept alone; published estimates are weighted by
    inverse variance. Counts of weighted or clustered rows are effective numbers, and the mean is then not that of
    everybody unless subgroups are alike.

    Parameters
    ----------
    tally : xr.Dataset
        A tally, see `bayesgroups.tallies`.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`, with ``overall(metric)``. The interval is Wilson's
        on the totals for rates and otherwise t, or normal where there are no degrees of freedom, with the
        pooled row variance divided by the total count. Subgroups without data have the status ``imputed``.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Figure 8.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import complete_pooling
    >>> site = pd.DataFrame({"site": ["a", "b", "c"]})
    >>> counts = bg.tally_from_counts([9, 0, 0], [10, 5, 0], site, metric="acc")
    >>> answer = complete_pooling.estimate(counts).sel(metric="acc")
    >>> answer["estimate"].values.tolist(), answer["status"].values.tolist()
    ([0.6, 0.6, 0.6], ['ok', 'saturated', 'imputed'])
    """
    totals = [_total(tally.isel(metric=i)) for i in range(tally.sizes["metric"])]
    shape = (tally.sizes["metric"], tally.sizes["subgroup"])

    def spread(values: list[FloatArray]) -> FloatArray:
        return np.repeat(np.array(values, dtype=np.float64).reshape(-1, 1), shape[1], axis=1)

    intervals = []
    for level in LEVELS:
        each = [total.interval(level) for total in totals]
        intervals.append(Interval(spread([limits.lower for limits in each]), spread([limits.upper for limits in each])))
    value = spread([total.estimate for total in totals])
    return assemble(
        tally,
        estimate=value,
        std_error=np.sqrt(spread([total.variance for total in totals])),
        intervals=intervals,
        methods=[total.method for total in totals],
        imputed=~np.isfinite(tally["estimate"].transpose("metric", "subgroup").values),
        extra={"overall": (("metric",), value[:, 0])},
    )


def _total(metric_tally: xr.Dataset) -> _Total:
    """Pool one metric."""
    kind, z = str(metric_tally["kind"].values), metric_tally["estimate"].values
    use = np.isfinite(z)
    nothing = np.full(1, np.nan)
    if not use.any():
        method = "wilson" if kind == "rate" else "pooled_normal"
        return _Total(nothing, nothing, nothing, nothing, np.nan, method)
    if kind == "estimate":
        v = metric_tally["sampling_variance"].values[use]
        least = v.min()
        # One that is known outweighs all others.
        weight = least / v if least > 0 else (v == 0).astype(np.float64)
        centre = np.atleast_1d((weight * z[use]).sum() / weight.sum())
        return _Total(centre, np.atleast_1d(least / weight.sum()), nothing, nothing, np.nan, "pooled_normal")
    count = np.atleast_1d(metric_tally["count"].values[use].sum())
    if kind == "rate":
        successes = np.atleast_1d(metric_tally["successes"].values[use].sum())
        rate = successes / count
        return _Total(rate, rate * (1 - rate) / count, successes, count, np.nan, "wilson")
    centre = (metric_tally["count"].values[use] * z[use]).sum() / count
    freedom = float(metric_tally["pooled_df"])
    method = "pooled_t" if freedom > 0 else "pooled_normal"
    return _Total(centre, float(metric_tally["pooled_variance"]) / count, nothing, count, freedom, method)
