"""Partial pooling by empirical Bayes: estimates shrunk towards their centre by as much as the data say.

    z_a ~ Normal(mu_a, v_a),   mu_a ~ Normal(overall, tau)

for every kind of metric, with the sampling variances v_a of the tally taken as known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.answer import assemble, check_interval
from bayesgroups.frequentist.intervals import fab, moments, morris, robust
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.intervals.shrunk import Shrunk
from bayesgroups.report.levels import LEVELS

Choice = Literal["morris", "plug_in", "robust", "fab"]

MIN_SUBGROUPS_FOR_PLUG_IN = 2
"""Subgroups below which there is no between-group variance to plug in."""


def estimate(tally: xr.Dataset, *, interval: Choice = "morris") -> xr.Dataset:
    """Shrink the standard estimates of every metric towards their centre.

    Estimand: the value of the metric in the population of each subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally, see `bayesgroups.tallies`.
    interval : {"morris", "plug_in", "robust", "fab"}
        With its own estimates of centre and spread: ``morris`` counts their uncertainty; ``plug_in`` does
        not, and covers too seldom; ``robust`` covers on average whatever the subgroups are drawn from;
        ``fab`` covers every subgroup as often as it says, and guesses each from the others.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`, with ``overall``, ``tau`` and ``tau_squared_raw``
        (before its truncation at 0) along ``metric``, and ``shrinkage(metric, subgroup)``, the share of the
        way to the centre.

    Raises
    ------
    InputError
        If the interval does not exist.

    Notes
    -----
    A subgroup counts when its estimate is finite and its sampling variance positive. One without an estimate
    is ``imputed``: it has the centre, with the spread between subgroups and the uncertainty of the centre for
    an interval (``fab`` has the whole line, since nothing shorter covers whatever the subgroup is). With too
    few subgroups (3 for ``morris``, 2 for ``fab``, 1 for the others) nothing is shrunk and the method reads
    ``unshrunk``. An estimate whose sampling variance is 0 is left alone and flagged ``degenerate``.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), Eqs 8-14; Morris (1983), doi:10.1080/01621459.1983.10477920;
    Armstrong, Kolesar, Plagborg-Moller (2022), doi:10.3982/ECTA18597; Yu, Hoff (2018),
    doi:10.1093/biomet/asy009.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import partial_pooling
    >>> site = pd.DataFrame({"site": ["a", "b", "c", "d", "e", "f"]})
    >>> counts = bg.tally_from_counts([10, 9, 6, 1, 3, 0], [50, 30, 15, 8, 4, 0], site, metric="fnr")
    >>> answer = partial_pooling.estimate(counts).sel(metric="fnr")
    >>> answer["estimate"].values.round(3).tolist()
    [0.208, 0.301, 0.385, 0.171, 0.607, 0.314]
    >>> str(answer["status"].values[-1]), round(float(answer["tau"]), 3)
    ('imputed', 0.158)
    """
    check_interval("partial_pooling", interval, get_args(Choice))
    z, v = (tally[name].transpose("metric", "subgroup").values for name in ("estimate", "sampling_variance"))
    shrunk, variance, limits, min_subgroups = shrink(z, v, interval)
    with np.errstate(invalid="ignore"):
        std_error = np.sqrt(variance)
    return assemble(
        tally,
        estimate=shrunk.estimate,
        std_error=std_error,
        intervals=[limits(level) for level in LEVELS],
        methods=[interval if number >= min_subgroups else "unshrunk" for number in shrunk.number],
        imputed=shrunk.imputed,
        extra={
            "overall": (("metric",), shrunk.overall),
            "tau": (("metric",), np.sqrt(shrunk.tau_squared)),
            "tau_squared_raw": (("metric",), shrunk.tau_squared_raw),
            "shrinkage": (("metric", "subgroup"), shrunk.shrinkage),
        },
    )


def shrink(
    z: FloatArray, v: FloatArray, interval: str, centre: FloatArray | float | None = None
) -> tuple[Shrunk, FloatArray, Callable[[float], Interval], int]:
    """The fit, variances of its errors, its interval by level, and the number of subgroups that it needs to shrink."""
    if interval == "robust":
        linear = robust.fit(z, v, centre=centre)
        limits = partial(robust.interval, linear)
        return linear.shrunk, linear.shrunk.variance, limits, MIN_SUBGROUPS_FOR_PLUG_IN
    if interval == "fab":
        guessed = fab.fit(z, v, centre=centre)
        # The posterior variance under a guess can be 0 where the interval has width: its error is that of z.
        variance = np.where(guessed.shrunk.imputed, guessed.shrunk.variance, v)
        return guessed.shrunk, variance, partial(fab.interval, guessed), fab.MIN_GROUPS
    if interval == "plug_in":
        plain = moments.fit(z, v, centre=centre)
        return plain, plain.variance, partial(moments.interval, plain), MIN_SUBGROUPS_FOR_PLUG_IN
    corrected = morris.fit(z, v, centre=centre)
    return corrected, corrected.variance, partial(morris.interval, corrected), morris.MIN_GROUPS_FOR_SHRINKAGE
