"""Crossed effects: a subgroup borrows from the subgroups that agree with it on some of its attributes.

    z_a ~ Normal(mu_a, v_a),   mu ~ Normal(centre, sum_S var_S C_S),   C_S[a, b] = 1 where a and b agree on S

with one variance for every subset S of the attributes: none (the level that all share), race, age, race and age, ..., all of
them (the subgroup itself). The sampling variances v_a of the tally are taken as known. Two ways to find the variances:

``suremap``
    SureMap: minimise an unbiased estimate of the risk sum (estimate - mu)^2 / v, around a perfect model (a centre of 0 where
    smaller is better, of the upper end of the range where larger is). Nothing is assumed of mu, but large subgroups weigh most.
``marginal_likelihood``
    Maximise the likelihood of z with the overall mean integrated out. Uses that mu is normal.

With ``tasks`` the metrics of the tally are tasks, such as one metric of several systems: they share the variances, and except
with ``zero`` a centre per subgroup.

Intervals, for either method, are normal around the estimate.

``corrected`` (default)
    The variances of the components are estimated poorly, and often as 0. So posteriors are mixed over all plausible variances,
    as their likelihood and uniform shrinkage weigh them, see `bayesgroups.frequentist.crossed.mixture`.
    ``marginal_likelihood`` then answers with the mean and the variance of the mixture; around ``suremap`` goes the mean square
    distance of mu from its estimate under the mixture.
``plug_in``
    The posterior at the variances that were found, as if they were known. Covers too seldom.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import get_args

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.threads import side_by_side
from bayesgroups.errors import InputError
from bayesgroups.frequentist.answer import assemble, check_interval
from bayesgroups.frequentist.crossed.families import family_of
from bayesgroups.frequentist.crossed.joint_fit import Choice, Method, Tasks, fit
from bayesgroups.frequentist.crossed.ordered_components import with_orders
from bayesgroups.frequentist.intervals import morris
from bayesgroups.frequentist.intervals.interval import Interval, around, normal_quantile
from bayesgroups.models.shared.ordered_levels import Ordered
from bayesgroups.report.levels import LEVELS

MAX_CELLS_FOR_JOINT_LIKELIHOOD = 1000
"""Number of cells of task and subgroup above which their joint likelihood takes too long."""


@checked_keywords
def estimate(
    tally: xr.Dataset,
    *,
    method: Method = "suremap",
    order: int | None = None,
    tasks: Tasks | None = None,
    interval: Choice = "corrected",
    ordered: Ordered | None = None,
    cyclic: Sequence[str] = (),
    seed: int = 0,
) -> xr.Dataset:
    """Shrink every subgroup towards those that share attributes with it.

    Estimand: the value of the metric in the population of each subgroup.

    Parameters
    ----------
    tally : xr.Dataset
        A tally, see `bayesgroups.tallies`.
    method : {"suremap", "marginal_likelihood"}
        How variances are found, see the module.
    order : int, optional
        Cross at most so many attributes, beside all of them together; by default every subset is a component.
    tasks : {"zero", "metamap", "solve"}, optional
        Fit all metrics together: around a perfect model; around a centre per subgroup with a prior of the same family; around
        the centre with the smallest estimated risk (``suremap`` only). By default every metric is fitted by itself.
    interval : {"corrected", "plug_in"}
        See the module.
    ordered : mapping of str to sequence of str or None, optional
        Levels of attributes in order, or None for that of the tally: every component that crosses one has a second variance, of a
        covariance that falls with the distance along it, see `bayesgroups.models.shared.ordered_levels`.
    cyclic : sequence of str
        Which of them have the last level beside the first.
    seed : int
        Of the points of the mixture.

    Returns
    -------
    xr.Dataset
        As described in `bayesgroups.frequentist.answer`, with ``overall(metric)`` the generalised least-squares mean,
        ``tau(metric)`` the root of the summed variances without the shared level, ``component_sd(metric, component)`` and, with
        ``tasks``, ``centre_sd(metric, component)``. The overall mean has no variance in the likelihood, nor a centre with
        ``zero`` or ``solve``: NaN. ``risk(metric)`` is the estimated risk of ``suremap`` per estimate, in sampling variances:
        1 is no shrinkage. ``effective_points(metric)`` is what the points of the mixture are worth.

    Raises
    ------
    InputError
        If a choice does not exist, the tally names no attributes, or the tasks cannot be fitted together: metrics of several
        kinds, ranges or directions; ``solve`` by likelihood or with one metric; a likelihood of too many cells.

    Notes
    -----
    Estimates are clipped to the range of the metric, as those of SureMap are; intervals go around them as they were. Tasks keep
    their own pooled variances, where the original gives them a common one. A subgroup without an estimate is ``imputed`` from
    those that it shares attributes with. With three estimates or fewer nothing is shrunk and the method reads ``unshrunk``. An
    estimate whose sampling variance is 0, or negligible beside the largest, is left alone.

    References
    ----------
    Khodak, Mackey, Chouldechova, Dudik (2024), arXiv:2411.09730; Patterson, Thompson (1971), doi:10.1093/biomet/58.3.545.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.frequentist import crossed_effects
    >>> table = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m", "f", "m", "f", "m"]})
    >>> counts = bg.tally_from_counts([12, 5, 2, 3, 9, 0], [40, 20, 10, 5, 15, 0], table, metric="fnr")
    >>> answer = crossed_effects.estimate(counts).sel(metric="fnr")
    >>> answer["estimate"].values.round(3).tolist(), str(answer["status"].values[-1])
    ([0.301, 0.301, 0.358, 0.358, 0.505, 0.505], 'imputed')
    >>> answer["component"].values.tolist()
    ['shared', 'race', 'sex', 'identity']
    """
    check_interval("crossed_effects", method, get_args(Method), setting="method")
    check_interval("crossed_effects", interval, get_args(Choice))
    family = family_of(tally, order)
    errors = tally.get("sampling_covariance") if tasks is None else None
    matrices = tasks is not None or errors is not None
    names, components = with_orders(family, tally, ordered or {}, cyclic, order=order, joint=matrices)
    z, v = (tally[name].transpose("metric", "subgroup").values for name in ("estimate", "sampling_variance"))
    metrics = len(z)
    if tasks is None:
        blocks = [np.array([i]) for i in range(metrics)]
    else:
        check_interval("crossed_effects", tasks, get_args(Tasks), setting="tasks")
        _check_tasks(tally, tasks, method)
        blocks = [np.arange(metrics)]
    centre = _perfect(tally)
    specific, shared = np.full((2, metrics, len(components)), np.nan)
    risk, effective = np.full((2, metrics), np.nan)
    calls = [
        partial(
            fit, z[rows], v[rows], components, centre=float(centre[rows[0]]), method=method, tasks=tasks, interval=interval,
            seed=seed, errors=_errors(errors, int(rows[0])),
        )
        for rows in blocks
    ]  # fmt: skip
    # In blocks most calls are of small matrices, which hold the interpreter's lock: threads would wait for each other.
    with side_by_side(calls, min(len(calls), os.cpu_count() or 1) if isinstance(components, np.ndarray) else 1) as fits:
        answers = list(fits)
    shrunk = np.zeros(metrics, dtype=bool)
    for rows, answer in zip(blocks, answers, strict=True):
        shrunk[rows] = answer is not None
    raw, variance, overall, intervals = _unshrunk(z, v, shrunk)
    for rows, answer in zip(blocks, answers, strict=True):
        if answer is None:
            continue
        raw[rows], variance[rows] = answer.estimate, answer.variance
        specific[rows], shared[rows], risk[rows] = answer.specific, answer.centre, answer.risk
        overall[rows], effective[rows] = answer.overall, answer.effective
    std_error = np.sqrt(variance)
    for level, limits in zip(LEVELS, intervals, strict=True):
        standard = around(raw, normal_quantile(level) * std_error)
        limits.lower[shrunk], limits.upper[shrunk] = standard.lower[shrunk], standard.upper[shrunk]
    lowest, highest = (tally[f"range_{end}"].values[:, None] for end in ("lower", "upper"))
    extra = {
        "overall": (("metric",), overall),
        "tau": (("metric",), np.where(shrunk, np.sqrt(np.nansum(specific[:, 1:], axis=1)), np.nan)),
        "component_sd": (("metric", "component"), np.sqrt(specific)),
        "risk": (("metric",), risk),
        "effective_points": (("metric",), effective),
    }
    if tasks is not None:
        extra["centre_sd"] = (("metric", "component"), np.sqrt(shared))
    dataset = assemble(
        tally,
        estimate=np.clip(raw, lowest, highest),
        std_error=std_error,
        intervals=intervals,
        methods=[interval if each else "unshrunk" for each in shrunk],
        imputed=~np.isfinite(z),
        extra=extra,
    )
    return dataset.assign_coords(component=list(names))


def _unshrunk(
    z: FloatArray, v: FloatArray, shrunk: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray, list[Interval]]:
    """Estimates, variances, means and intervals of metrics with too few estimates to shrink any; NaN for the others."""
    plain = morris.fit(*(np.where(shrunk[:, None], np.nan, values) for values in (z, v)))
    intervals = [morris.interval(plain, level) for level in LEVELS]
    return plain.estimate.copy(), plain.variance.copy(), plain.overall.copy(), intervals


def _perfect(tally: xr.Dataset) -> FloatArray:
    """Value of a perfect model on each metric: the good end of its range, or 0 where that is infinite."""
    larger = tally["larger_is_better"].values.astype(bool)
    end: FloatArray = np.where(larger, tally["range_upper"].values, tally["range_lower"].values)
    return np.where(np.isfinite(end), end, 0.0)


def _check_tasks(tally: xr.Dataset, tasks: Tasks, method: Method) -> None:
    """Refuse metrics that cannot share their variances."""
    names = [str(name) for name in tally["metric"].values]
    for field in ("kind", "larger_is_better", "range_lower", "range_upper"):
        values = tally[field].values.tolist()
        if len(set(values)) > 1:
            pairs = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
            raise InputError(
                f"crossed_effects: tasks={tasks!r} fits all metrics together, so they must be one metric of several systems; "
                f"their {field} differs ({pairs}). Use tasks=None, or tally them apart"
            )
    if tasks != "solve":
        cells = tally.sizes["metric"] * tally.sizes["subgroup"]
        if method == "marginal_likelihood" and tally.sizes["metric"] > 1 and cells > MAX_CELLS_FOR_JOINT_LIKELIHOOD:
            raise InputError(
                f"crossed_effects: the likelihood of {cells} cells of task and subgroup takes too long, at most "
                f"{MAX_CELLS_FOR_JOINT_LIKELIHOOD} are fitted; use method='suremap', or tasks=None"
            )
        return
    if method == "marginal_likelihood":
        raise InputError(
            "crossed_effects: tasks='solve' minimises a risk and has no likelihood; use 'metamap' or 'zero'"
        )
    if len(names) < 2:
        raise InputError(
            f"crossed_effects: tasks='solve' needs two metrics or more, and the tally has only {names[0]!r}"
        )


def _errors(covariance: xr.DataArray | None, metric: int) -> FloatArray | None:
    """Covariance of the errors of a metric; None where they are independent."""
    if covariance is None or not np.isfinite(covariance.values[metric]).any():
        return None
    return np.asarray(covariance.values[metric], dtype=np.float64)
