"""Intervals of the AUC of every subgroup, by a method and a variance of choice."""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import areas
from bayesgroups.questions.sampling_variances import check_tally
from bayesgroups.tallies.auc import statistics
from bayesgroups.tallies.auc_variances import (
    AucVariance,
    class_sizes,
    effective_pairs,
    pool,
    score_cells,
    with_auc_variance,
)

OfAreas = Literal["newcombe", "logit", "wald"]

ESTIMAND = (
    "probability that a positive has a larger score than a negative, ties by half, in the population of each subgroup"
)


@checked_keywords
def auc_intervals(
    tally: xr.Dataset, *, interval: OfAreas = "newcombe", variance: AucVariance | None = None, level: float = 0.95
) -> xr.Dataset:
    """The AUC of every subgroup from its own rows, with an interval of choice.

    Estimand: P(s' > s) + P(s' = s) / 2 for a positive with score s' and a negative with score s, in each subgroup's population.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with an ``auc``.
    interval : {"newcombe", "logit", "wald"}
        Newcombe's score interval and the logit interval, but not the normal one, stay inside [0, 1] and always have a width.
    variance : {"pooled_delong", "delong", "hanley_mcneil", "hanley_mcneil_pooled", "calibrated"}, optional
        See `bayesgroups.tallies.auc_variances`. ``newcombe`` has that of Hanley and McNeil at each limit, or with
        ``calibrated`` the same times one factor, and takes no other; the default of the others is ``delong``.
    level : float
        Nominal coverage.

    Returns
    -------
    xr.Dataset
        ``estimate``, ``variance``, ``lower``, ``upper``, ``positives``, ``negatives`` (metric, subgroup) for every metric
        of the kind ``auc``; NaN where a class is empty.

    Raises
    ------
    InputError
        If a choice does not exist or is none for the interval, the level is not inside (0, 1), or the tally has no AUC.

    References
    ----------
    Newcombe (2006), doi:10.1002/sim.2324; DeLong, DeLong, Clarke-Pearson (1988), doi:10.2307/2531595; Hanley, McNeil (1982),
    doi:10.1148/radiology.143.1.7063747.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": list("aaabbb"), "y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.6, 0.9, 0.3, 0.5, 0.6]})
    >>> found = bg.auc_intervals(bg.tally(rows, ["s"], ["auc"], y_true="y", y_score="p"))
    >>> found["lower"].values.round(2).tolist(), found["upper"].values.round(2).tolist()
    ([[0.28, 0.08]], [[1.0, 0.92]])
    """
    if interval == "newcombe" and variance not in (None, "hanley_mcneil", "calibrated"):
        raise InputError(
            f"interval='newcombe' has the variance of Hanley and McNeil at its limits, not {variance!r}; "
            "use variance='calibrated' or None, or interval='logit'"
        )
    check_tally(tally)
    of_auc = tally["kind"].values == "auc"
    if not of_auc.any():
        raise InputError("the tally has no AUC; ask for one, as bg.tally(..., metrics=['auc'], y_score='score')")
    default: AucVariance = "hanley_mcneil" if interval == "newcombe" else "delong"
    chosen = with_auc_variance(tally, variance or default).isel(metric=np.flatnonzero(of_auc))
    cells, size = score_cells(tally), tally.sizes["subgroup"]
    ones, zeros = class_sizes(cells, size)
    sampling_variance = chosen["sampling_variance"].transpose("metric", "subgroup").values
    values = chosen["estimate"].transpose("metric", "subgroup").values
    lower, upper = np.full_like(values, np.nan), np.full_like(values, np.nan)
    for i, auc in enumerate(values):
        if interval == "newcombe":
            delong = statistics(cells, size, ties=float(chosen["ties"][i])).delong
            factor = pool(auc, delong, ones, zeros).dispersion if variance == "calibrated" else 1.0
            limits = areas.newcombe(auc, ones, zeros, level, dispersion=factor)
        elif interval == "logit":
            limits = areas.logit(auc, effective_pairs(auc, ones, zeros), sampling_variance[i], level)
        else:
            limits = areas.wald(auc, sampling_variance[i], level)
        lower[i], upper[i] = limits.lower, limits.upper
    both = ("metric", "subgroup")
    sizes = {"positives": ("subgroup", ones), "negatives": ("subgroup", zeros)}
    return xr.Dataset(
        {
            "estimate": (both, values),
            "variance": (both, sampling_variance),
            "lower": (both, lower),
            "upper": (both, upper),
            **sizes,
        },
        coords={
            **{str(name): coordinate for name, coordinate in chosen.coords.items() if name != "feature"},
            "level": float(level),
        },
        attrs={"estimand": ESTIMAND, "interval_kind": "confidence", "interval_method": interval},
    )
