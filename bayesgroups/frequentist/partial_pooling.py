"""Partial pooling by empirical Bayes: estimates shrunk towards their centre by as much as the data say.

    z_a ~ Normal(mu_a, v_a),   mu_a ~ Normal(overall, tau)

for every kind of metric, with the sampling variances v_a of the tally taken as known. With covariates the centre is a
regression on them, see `bayesgroups.frequentist.intervals.fay_herriot`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.answer import assemble, check_interval
from bayesgroups.frequentist.intervals import fab, fay_herriot, moments, morris, robust
from bayesgroups.frequentist.intervals.fay_herriot import Method
from bayesgroups.frequentist.intervals.interval import Interval, stack
from bayesgroups.frequentist.intervals.shrunk import Shrunk
from bayesgroups.models.shared.area_design import area_design, check_rank
from bayesgroups.report.levels import LEVELS

Choice = Literal["morris", "plug_in", "robust", "fab"]

MIN_SUBGROUPS_FOR_PLUG_IN = 2
"""Subgroups below which there is no between-group variance to plug in."""


@checked_keywords
def estimate(
    tally: xr.Dataset, *, interval: Choice = "morris", covariates: Sequence[str] = (), method: Method = "reml"
) -> xr.Dataset:
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
    covariates : sequence of str
        Attributes or features of the tally that the centre is a regression on, in the units of the metric; intervals are then
        normal ones with the errors of Prasad and Rao.
    method : {"reml", "ml", "moment"}
        Of the variance around that regression.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`, with ``overall``, ``tau`` and ``tau_squared_raw``
        (before its truncation at 0) along ``metric``, and ``shrinkage(metric, subgroup)``, the share of the
        way to the centre. With covariates ``tau_squared_raw`` is left out, and there are ``beta(metric, covariate)`` and
        ``boundary(metric)``, 1 where the variance is estimated as 0.

    Raises
    ------
    InputError
        If the interval does not exist, or the tally does not have a covariate or does not tell its coefficients apart.

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
    if covariates:
        return _regression(tally, covariates, method)
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


def _regression(tally: xr.Dataset, covariates: Sequence[str], method: Method) -> xr.Dataset:
    """Answer of the area-level regression; a metric without any estimate has NaN."""
    check_interval("partial_pooling", method, get_args(Method), setting="method")
    z, v = (tally[name].transpose("metric", "subgroup").values for name in ("estimate", "sampling_variance"))
    try:
        design = area_design(tally, covariates)
        for row, metric in enumerate(tally["metric"].values):
            if np.isfinite(z[row]).any():
                check_rank(design, fay_herriot.usable(z[row], v[row]), str(metric))
    except ValueError as problem:  # what models share knows nothing of the errors of the package
        raise InputError(f"partial_pooling: {problem}") from problem
    columns = design.with_intercept
    fits = [
        fay_herriot.fit(z[row], v[row], columns, method)
        if np.isfinite(z[row]).any()
        else fay_herriot.nothing(*columns.shape)
        for row in range(len(z))
    ]
    answer = assemble(
        tally,
        estimate=np.stack([areas.estimate for areas in fits]),
        std_error=np.sqrt(np.stack([areas.mse for areas in fits])),
        intervals=[stack([fay_herriot.interval(areas, level) for areas in fits]) for level in LEVELS],
        methods=["prasad_rao"] * len(fits),
        imputed=np.stack([areas.imputed for areas in fits]),
        extra={
            "overall": (("metric",), np.array([areas.beta[0] for areas in fits])),
            "tau": (("metric",), np.sqrt([areas.variance for areas in fits])),
            "boundary": (("metric",), np.array([float(areas.boundary) for areas in fits])),
            "shrinkage": (("metric", "subgroup"), np.stack([areas.shrinkage for areas in fits])),
            "beta": (("metric", "covariate"), np.stack([areas.beta[1:] for areas in fits])),
        },
    )
    return answer.assign_coords(covariate=list(design.names))


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
