"""The posterior of the variance between subgroups, from the draws of a report."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.values import open_source
from bayesgroups.tallies.participation import Imputed

ESTIMANDS = ("these subgroups", "their population")


def posterior_variance(report: xr.DataTree, *, level: float = 0.95, imputed: Imputed = "leave_out") -> xr.Dataset:
    """Summarise the posterior of the variance of a metric between subgroups.

    Estimand: the variance of the true values of these subgroups, divisor K - 1, in squared units of the metric; and tau^2,
    that of the population they are taken to be drawn from, in squared units of the scale of the hierarchy (logits for
    rates with a binomial likelihood), of estimators that have one.

    Parameters
    ----------
    report : xr.DataTree
        A report with its draws.
    level : float
        Probability of the intervals.
    imputed : {"leave_out", "include"}
        Treatment of subgroups without rows that count for the metric, for which a report's answer comes from the model alone.

    Returns
    -------
    xr.Dataset
        Along ``estimand`` (``these subgroups``, ``their population``) and ``metric``: posterior ``mean`` and ``median``,
        equal-tailed ``lower`` and ``upper``, and ``upper_limit``, below which the variance is with probability ``level``;
        along ``metric`` ``subgroups`` that are used, ``left_out``, and ``usable``, 0 of a report that failed its diagnostics.
        Attribute ``interval_kind``.

    Raises
    ------
    InputError
        If the report was saved without its draws or the level is not strictly between 0 and 1.
    SchemaError
        If it is not a report.

    Notes
    -----
    An equal-tailed interval of a posterior never holds 0, so it cannot cover a variance that is exactly 0, however little
    there is of it; use ``upper_limit``, or ask `bayesgroups.disparity` for the probability within a tolerance.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.disparities.posterior_variance import posterior_variance
    >>> tally = bg.tally_from_counts([36, 16, 7, 3], [40, 20, 10, 5], pd.DataFrame({"site": list("abcd")}))
    >>> found = posterior_variance(bg.estimate(tally, bg.PartialPooling(), seed=1)).isel(metric=0)
    >>> bool((found["lower"] > 0).all()), bool((found["upper_limit"] < found["upper"]).all())
    (True, True)
    """
    error = tail(level)
    source = open_source(report, "posterior", imputed=imputed)
    draws = report["posterior"].to_dataset()
    names = ("mean", "median", "lower", "upper", "upper_limit")
    answers = {name: np.full((len(ESTIMANDS), source.tally.sizes["metric"]), np.nan) for name in names}
    left_out, used = [], []
    for j in range(source.tally.sizes["metric"]):
        values = source.read(j, unanswered="keep")
        left_out.append(values.left_out)
        used.append(int(values.included.sum()))
        samples: list[FloatArray | None] = [
            values.by_draw(lambda y: y.var(axis=1, ddof=1)) if used[-1] > 1 and values.complete.any() else None
        ]
        tau = draws["tau"].isel(metric=j).values.ravel() if "tau" in draws else np.array([np.nan])
        samples.append(tau**2 if np.isfinite(tau).all() else None)
        for i, sample in enumerate(samples):
            if sample is None:
                continue
            quantiles = np.quantile(sample, [0.5, error / 2, 1 - error / 2, level])
            for name, value in zip(names, [sample.mean(), *quantiles], strict=True):
                answers[name][i, j] = value
    data: dict[str, Any] = {name: (("estimand", "metric"), numbers) for name, numbers in answers.items()}
    return xr.Dataset(
        {
            **data,
            "subgroups": ("metric", np.array(used)),
            "left_out": ("metric", np.array(left_out, dtype=str)),
            "usable": ("metric", np.full(len(used), source.usable, dtype=np.int8)),
        },
        coords={"estimand": np.array(ESTIMANDS), "metric": source.tally["metric"].values},
        attrs={"interval_kind": "credible", "interval_method": "equal_tailed", "level": level, "imputed": imputed},
    )
