"""James-Stein: every estimate goes the same share of the way to the centre, however many rows it rests on.

    Q = sum (z_a - mu0)^2 / v_a,   estimate_a = mu0 + (1 - (K - 3) / Q)_+ (z_a - mu0)

for every kind of metric, with the sampling variances v_a of the tally taken as known. Towards a known centre c the
estimates go with c for mu0 and K - 2 for K - 3.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, numbers
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.answer import assemble, check_interval
from bayesgroups.frequentist.intervals import bock, means
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.partial_pooling import shrink
from bayesgroups.report.levels import LEVELS

Choice = Literal["morris", "robust", "fab", "bootstrap"]


@checked_keywords
def estimate(
    tally: xr.Dataset, *, positive_part: bool = True, interval: Choice = "morris",
    centre: FloatArray | float | None = None, seed: int = 0,
) -> xr.Dataset:  # fmt: skip
    """Shrink the standard estimates of every metric towards their centre by one factor.

    Estimand: the value of the metric in the population of each subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally, see `bayesgroups.tallies`.
    positive_part : bool
        Stop at the centre. The plain estimator goes past it where the factor is negative.
    interval : {"morris", "robust", "fab", "bootstrap"}
        The first three are centred at estimates of their own: ``morris`` and ``robust`` cover on average over
        subgroups, if those are normal or whatever they are; ``fab`` covers every subgroup as often as it says.
        ``bootstrap`` is centred at the estimate and as wide as its resampled errors, bias included: right on average
        over subgroups, too wide for the small ones and, by a point or two, too short for the large ones.
    centre : float or array (metric,), optional
        Centre that was known before these data, of every metric; NaN where it is estimated, as everywhere without
        it. All four intervals are then around it.
    seed : int
        Source of randomness of the bootstrap.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`, with ``overall`` (the centre), ``q`` and ``factor`` along
        ``metric``, and ``shrinkage(metric, subgroup)``, the share of the way to the centre. ``std_error`` is, for
        ``bootstrap``, the root mean square of the resampled errors.

    Raises
    ------
    InputError
        If the interval does not exist, or the centre is not one number, or one per metric.

    Notes
    -----
    A subgroup counts when its estimate is finite and its sampling variance positive. One without an estimate is
    ``imputed``: it has the centre, with the interval of a new subgroup (for ``bootstrap`` that of ``morris``: there is
    nothing to resample). With three subgroups or fewer, two around a known centre, nothing is shrunk, the intervals
    are normal ones around the estimates, and the method reads ``unshrunk``. An estimate whose sampling variance is 0 is
    left alone and flagged ``degenerate``; one whose sampling variance is not known has no answer.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), section 5; Bock (1975), Annals of Statistics 3,
    209-218; James, Stein (1961), Proceedings of the fourth Berkeley symposium 1, 361-379. For the intervals see
    `bock.errors`, `morris`, `robust` and `fab` in `bayesgroups.frequentist.intervals`.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import james_stein
    >>> site = pd.DataFrame({"site": ["a", "b", "c", "d", "e", "f"]})
    >>> counts = bg.tally_from_counts([10, 9, 6, 1, 3, 0], [50, 30, 15, 8, 4, 0], site, metric="fnr")
    >>> answer = james_stein.estimate(counts).sel(metric="fnr")
    >>> answer["estimate"].values.round(3).tolist()
    [0.217, 0.293, 0.369, 0.16, 0.636, 0.271]
    >>> str(answer["status"].values[-1]), round(float(answer["factor"]), 3)
    ('imputed', 0.763)
    >>> known = james_stein.estimate(counts, centre=0.25).sel(metric="fnr")
    >>> known["estimate"].values.round(3).tolist(), round(float(known["factor"]), 3)
    ([0.217, 0.283, 0.348, 0.168, 0.577, 0.25], 0.655)
    """
    check_interval("james_stein", interval, get_args(Choice))
    z, v = (tally[name].transpose("metric", "subgroup").values for name in ("estimate", "sampling_variance"))
    if centre is not None and numbers(centre).shape not in ((), (1,), (len(z),)):
        raise InputError(f"centre= must be one number, or one per metric ({len(z)}); got {type(centre).__name__}")
    fitted = bock.fit(z, v, positive_part=positive_part, centre=centre)
    # Neither shrunk nor guessed: too few subgroups to shrink, or an estimate known exactly.
    alone = ~fitted.imputed & (fitted.few[:, None] | ~(v > 0))
    if interval == "bootstrap":
        metrics = [str(name) for name in tally["metric"].values]
        variance, limits = _resampled(z, v, fitted, metrics, seed, positive_part=positive_part, centre=centre)
    else:
        _, variance, limits, _ = shrink(z, v, interval, centre)
    intervals = []
    for level in LEVELS:
        standard = means.pooled_normal(fitted.estimate, np.where(alone, v, 0.0), level)
        intervals.append(standard.where(alone, limits(level)))
    return assemble(
        tally,
        estimate=fitted.estimate,
        std_error=np.sqrt(np.where(alone, v, variance)),
        intervals=intervals,
        methods=["unshrunk" if few else interval for few in fitted.few],
        imputed=fitted.imputed,
        extra={
            "overall": (("metric",), fitted.overall),
            "q": (("metric",), fitted.q),
            "factor": (("metric",), fitted.factor),
            "shrinkage": (("metric", "subgroup"), fitted.shrinkage),
        },
    )


def _resampled(
    z: FloatArray, v: FloatArray, fitted: bock.BockFit, metrics: list[str], seed: int, *,
    positive_part: bool, centre: FloatArray | float | None,
) -> tuple[FloatArray, Callable[[float], Interval]]:  # fmt: skip
    """Mean squared bootstrap errors, and the interval by level; subgroups to impute are Morris's."""
    drawn = []
    given = np.broadcast_to(np.nan if centre is None else centre, len(metrics))
    for i, metric in enumerate(metrics):
        # The random numbers of a metric do not depend on the others.
        rng = np.random.default_rng([seed, zlib.crc32(metric.encode())])
        drawn.append(bock.errors(z[i], v[i], rng, positive_part=positive_part, centre=given[i]))
    errors = np.stack(drawn, axis=1)
    _, variance, new, _ = shrink(z, v, "morris", centre)

    def limits(level: float) -> Interval:
        return new(level).where(fitted.imputed, bock.interval(fitted, errors, level))

    return np.where(fitted.imputed, variance, (errors**2).mean(axis=0)), limits
