"""Attribution of the differences between subgroups to sets of attributes."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.report.levels import LEVELS
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.report.schema import check
from bayesgroups.tallies.subgroups import attributes_of

ESTIMAND = "share of the variance between subgroups, in their population"


@checked_keywords
def variance_attribution(report: xr.DataTree) -> xr.Dataset:
    """Share of the variance between subgroups that each attribute, interaction and covariate has.

    Estimand: in the population of subgroups, the variance of a component over the sum of them all, on the scale of the
    predictor (logit for rates with a binomial likelihood, the metric's own otherwise). A covariate has the square of its
    coefficient, for it varies by 1 over rows.

    Parameters
    ----------
    report : xr.DataTree
        Of an estimator with variance components that are all learned, ``bg.CrossedEffects(own_effects="learned")``.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``component`` (``race``, ``race:age``, ..., and covariates by name):

        - ``share``, ``std_error``: posterior mean and standard deviation of the share, in [0, 1]; shares of a metric sum to 1,
        - ``lower``, ``upper`` (also ``level``): equal-tailed credible limits of it,
        - ``probability_largest``: posterior probability that no component has more,
        - ``sd``: posterior mean of its standard deviation, in units of the predictor,
        - ``usable``: 1 if the report passed its diagnostics, else 0.

        NaN for a metric that is undefined everywhere.

    Raises
    ------
    InputError
        If the report has no variance components.
    SchemaError
        If it is not a report.

    Notes
    -----
    Components are exchangeable a priori and have one prior mean; shares that stay near it tell that the data do not.

    References
    ----------
    Gelman (2005), "Analysis of variance: why it is more important than ever", doi:10.1214/009053604000001048.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
    >>> counts = bg.tally_from_counts([100, 110, 500, 520, 300, 310], [1000] * 6, who)
    >>> shares = bg.variance_attribution(bg.estimate(counts, bg.CrossedEffects(own_effects="learned"), seed=1))
    >>> str(shares["share"].isel(metric=0).idxmax("component").values), bool(shares["share"].sum().round(6) == 1)
    ('race', True)
    """
    check(report)
    refuse_overlapping(report, "variance_attribution")
    posterior = report["posterior"].to_dataset()
    if "component_sd" not in posterior:
        raise InputError(
            f"estimator {report.attrs['estimator']!r} has no variance components to attribute; "
            f"use bg.CrossedEffects(own_effects='learned')"
        )
    settings = json.loads(report.attrs["settings"])
    residual = ":".join(attributes_of(report["constant_data"].to_dataset()))
    components = posterior["component_sd"]["component"].values
    if residual not in components or (settings.get("own_effects") == "floored" and len(components) > 1):
        raise InputError(
            f"the effects of single subgroups ({residual}) have a fixed standard deviation in this report, or a part of it, so "
            f"their share is not learned; estimate with bg.CrossedEffects(own_effects='learned')"
        )
    sd = posterior["component_sd"]
    if "beta" in posterior and "covariate" in posterior["beta"].dims:
        sd = xr.concat([sd, abs(posterior["beta"]).rename(covariate="component")], "component")
    dims = ("chain", "draw")
    total = (sd**2).sum("component", skipna=False)
    share = (sd**2 / total.where(total > 0)).transpose(*dims, "metric", "component")
    tails = [(1 - level) / 2 for level in LEVELS]
    lower, upper = (
        share.quantile(at, dims, skipna=False).rename(quantile="level").assign_coords(level=list(LEVELS))
        for at in (tails, [1 - tail for tail in tails])
    )
    largest = (
        (share == share.max("component", skipna=False))
        .mean(dims)
        .where(share.isel(chain=0, draw=0, drop=True).notnull())
    )
    return xr.Dataset(
        {
            "share": share.mean(dims, skipna=False),
            "std_error": share.std(dims, skipna=False),
            "lower": lower.transpose("metric", "component", "level"),
            "upper": upper.transpose("metric", "component", "level"),
            "probability_largest": largest,
            "sd": sd.mean(dims, skipna=False).transpose("metric", "component"),
            "usable": np.int8(report.attrs["usable"]),
        },
        attrs={
            "estimand": ESTIMAND,
            "interval_kind": "credible",
            "interval_method": "equal_tailed",
            "estimator": report.attrs["estimator"],
        },
    )
