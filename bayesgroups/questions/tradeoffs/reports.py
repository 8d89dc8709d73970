"""Candidates from reports: performance and fairness of each system with the draws of its posterior or bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.questions.values import Source, Using, check_using, open_source
from bayesgroups.report.schema import check
from bayesgroups.tallies.denominators import denominators
from bayesgroups.tallies.participation import Imputed, check_imputed, participants


@renamed_keyword("side", "using", bayesian="auto", frequentist="bootstrap")
def points_from_reports(
    reports: Mapping[str, xr.DataTree],
    fairness: Callable[[xr.DataArray], xr.DataArray],
    *,
    performance: str | Callable[[xr.DataArray], xr.DataArray] = "acc",
    using: Using = "auto",
    imputed: Imputed = "leave_out",
) -> xr.Dataset:
    """Turn a report per system into candidates with draws.

    Parameters
    ----------
    reports : mapping
        A report per system under comparison, by its name.
    fairness : callable
        Takes the metrics ``(chain, draw, metric, subgroup)``, with the coordinates ``count(metric, subgroup)`` and
        ``rows(subgroup)``, and returns a number per draw, larger the better: ``lambda values: 1 -
        bg.aggregate(values.sel(metric="tpr"))``.
    performance : str or callable
        A metric, which is averaged over subgroups by their counts (all rows alike), or a function like ``fairness``. A rate of
        which smaller values are better is turned round: 1 less its mean.
    using : {"auto", "posterior", "bootstrap"}
        Whose draws; ``auto`` is the posterior. A tally has none.
    imputed : {"leave_out", "include"}
        Whether the functions are given what the model alone says of subgroups without rows. By default subgroups without
        rows for any metric are not there, and where one has none for a metric its values are NaN, which
        ``bg.aggregate(..., undefined="drop")`` leaves out.

    Returns
    -------
    xr.Dataset
        ``performance`` and ``fairness`` (chain, draw, candidate), and ``left_out(candidate)``, the labels and reasons of the
        subgroups without values, metric by metric.

    Raises
    ------
    InputError
        If there is no report, ``imputed`` is something else, a report has no such draws or metric, smaller values of a metric
        without bounds are better, the numbers of draws differ, or a function returns something else than a number per draw.
    SchemaError
        If a value is not a report.

    Notes
    -----
    Draws of different reports are independent. Systems that were tested on the same rows are positively correlated in
    truth, so that differences between them are known better than these draws say.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.tradeoffs import points_from_reports
    >>> who = pd.DataFrame({"sex": ["f", "m"]})
    >>> hits = {"plain": [700, 900], "debiased": [780, 800]}
    >>> reports = {
    ...     name: bg.estimate(bg.tally_from_counts(right, [1000, 1000], who, metric="acc"), bg.NoPooling(), seed=i)
    ...     for i, (name, right) in enumerate(hits.items())
    ... }
    >>> points = points_from_reports(reports, lambda values: 1 - bg.aggregate(values.sel(metric="acc"), center="mean"))
    >>> points.mean(("chain", "draw"))["fairness"].values.round(2).tolist()
    [0.9, 0.99]
    """
    if not reports:
        raise InputError("points_from_reports() got no report; give at least one, as {'name': report}")
    check_using(using)
    if using == "tally":
        raise InputError("using='tally' gives no draws, which candidates need; choose 'posterior' or 'bootstrap'")
    check_imputed(imputed)
    columns, left_out = [], []
    first: tuple[str, dict[str, int]] | None = None
    for name, report in reports.items():
        check(report)
        try:
            opened = open_source(report, using, imputed=imputed)
        except InputError as problem:
            raise InputError(f"report {name!r}: {problem}") from problem
        values, names_left_out = _values(opened)
        left_out.append(names_left_out)
        sizes = {dim: values.sizes[dim] for dim in ("chain", "draw")}
        if first is not None and first[1] != sizes:
            raise InputError(f"reports {first[0]!r} and {name!r} have different draws: {first[1]} and {sizes}")
        first = first or (name, sizes)
        goals = {
            "performance": _weighted(opened.tally, values, performance, name)
            if isinstance(performance, str)
            else performance(values),
            "fairness": fairness(values),
        }
        columns.append({goal: _per_draw(value, goal, name, sizes) for goal, value in goals.items()})
    return xr.Dataset(
        {
            goal: (("chain", "draw", "candidate"), np.stack([column[goal] for column in columns], axis=-1))
            for goal in ("performance", "fairness")
        }
        | {"left_out": ("candidate", np.array(left_out, dtype=str))},
        {"candidate": np.array(list(reports), dtype=str)},
        attrs={"using": "posterior" if using == "auto" else using, "imputed": imputed},
    )


def _values(opened: Source) -> tuple[xr.DataArray, str]:
    """Draws of the metrics, NaN where a subgroup takes no part, and who does not."""
    tally, mu = opened.tally, opened.draws
    assert mu is not None, "a tally was refused"
    behind = np.stack([denominators(tally.isel(metric=i)) for i in range(tally.sizes["metric"])])
    mu = mu.assign_coords(count=(("metric", "subgroup"), behind), rows=tally["rows"].variable)
    answered = np.isfinite(mu.values).any(axis=(0, 1))
    sides = [participants(tally.isel(metric=i), answered[i], opened.imputed) for i in range(tally.sizes["metric"])]
    included = xr.DataArray(np.stack([side.included for side in sides]), dims=("metric", "subgroup"))
    notes = [f"{name}: {side.names}" for name, side in zip(tally["metric"].values, sides, strict=True) if side.left_out]
    kept = np.flatnonzero(included.any("metric").values)
    return mu.where(included).isel(subgroup=kept), "; ".join(notes)


def _weighted(tally: xr.Dataset, values: xr.DataArray, metric: str, name: str) -> xr.DataArray:
    """Mean over subgroups by their counts, the value over all rows, turned so that larger is better."""
    metrics = values["metric"].values.tolist()
    if metric not in metrics:
        raise InputError(f"report {name!r} has no metric {metric!r}; it has {metrics}. Tally it, or give performance=")
    rates = values.sel(metric=metric)
    count = rates["count"]
    if not float(count.sum(skipna=False)) > 0:
        raise InputError(f"report {name!r} has no counts of {metric!r} to average by; give performance= as a function")
    mean = (rates.where(count > 0, 0.0) * count).sum("subgroup") / count.sum()
    about = tally.sel(metric=metric)
    if int(about["larger_is_better"]):
        return mean
    ends = float(about["range_lower"]) + float(about["range_upper"])
    if not np.isfinite(ends):
        raise InputError(
            f"performance={metric!r}: smaller values of this metric are better in report {name!r}, and it has no largest value to "
            "count from; give a function of which larger values are better, as performance=lambda values: "
            f"-values.sel(metric={metric!r}).mean('subgroup')"
        )
    return ends - mean


def _per_draw(value: object, goal: str, name: str, sizes: dict[str, int]) -> np.ndarray:
    if not isinstance(value, xr.DataArray) or dict(value.sizes) != sizes:
        got = dict(value.sizes) if isinstance(value, xr.DataArray) else type(value).__name__
        raise InputError(f"{goal}= must give a number per draw, dims {sizes}; for report {name!r} it gave {got}")
    return np.asarray(value.transpose("chain", "draw").values, dtype=np.float64)
