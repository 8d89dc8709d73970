"""Questions of which model to take.

Candidates are a table with the columns candidate, performance and fairness, larger the better; or, where a setting was run
with several seeds, runs with the columns that make a setting (--by), which are averaged and drawn again by a bootstrap; or a
NetCDF file with their draws, as points-from-reports writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bayesgroups.cli import readers
from bayesgroups.cli.questions.disparities import AGGREGATION
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def _points(
    function: Callable[..., Any], arguments: Mapping[str, Any], aggregate: Callable[..., xr.DataArray]
) -> xr.Dataset:
    metric = arguments["fairness"]
    answer: xr.Dataset = function(**{**arguments, "fairness": lambda values: _fairness(values, metric, aggregate)})
    return answer


def _fairness(values: xr.DataArray, metric: str, aggregate: Callable[..., xr.DataArray]) -> xr.DataArray:
    """A number per draw, larger the better: the aggregate of scores, or 1 less how far that of gaps or ratios is from fair."""
    from bayesgroups.errors import InputError, near_misses

    metrics = [str(name) for name in values["metric"].values]
    classes = [name for name in metrics if name.startswith(f"{metric}[") and name.endswith("]")]
    if metric in metrics:
        scores = values.sel(metric=metric, drop=True).dropna("subgroup", how="all")
    elif classes:
        scores = values.sel(metric=classes).rename(metric="label")
    else:
        raise InputError(f"--fairness {metric!r} is not a metric of the reports; {near_misses(metric, metrics)}")
    total = aggregate(scores)
    if "label" in total.dims:
        raise InputError("--class-power none leaves a number per class; name a step over classes, such as mean")
    fair = total if total.attrs["better"] == "larger" else 1 - abs(total - float(total.attrs["fair_value"]))
    return fair.drop_vars([name for name in fair.coords if name not in fair.dims])


def _summarised(points: xr.Dataset) -> xr.Dataset:
    """Means and 95 % limits beside the draws."""
    kind = "credible" if points.attrs.get("using") == "posterior" else "draw-based"
    answer = points.assign_attrs(
        estimand="performance and fairness of each system",
        level=0.95,
        interval_kind=kind,
        interval_method="equal_tailed",
    )
    for goal in readers.GOALS:
        draws = points[goal]
        lower, upper = (draws.quantile(p, ["chain", "draw"]).drop_vars("quantile") for p in (0.025, 0.975))
        limits = {"lower": lower, "upper": upper}
        answer = answer.assign(
            {f"{goal}_mean": draws.mean(["chain", "draw"])} | {f"{goal}_{side}": limits[side] for side in limits}
        )
    return answer


def _frontier(kept: pd.DataFrame | xr.Dataset) -> xr.Dataset:
    """The frontier as a Dataset, with means in place of draws."""
    import numpy as np
    import xarray as xr

    if isinstance(kept, xr.Dataset):
        samples = [dim for dim in ("chain", "draw") if dim in kept.dims]
        return kept.assign({goal: kept[goal].mean(samples) for goal in readers.GOALS}) if samples else kept
    names = np.array([str(name) for name in kept.index])
    goals = {name: ("candidate", kept[name].to_numpy(float)) for name in readers.GOALS}
    return xr.Dataset(goals, {"candidate": names})


def _distances(distance: xr.DataArray) -> xr.Dataset:
    return distance.rename("distance").to_dataset().assign_attrs(distance.attrs)


def _areas(area: xr.DataArray) -> xr.Dataset:
    return area.rename("area").to_dataset().assign_attrs(area.attrs).reset_coords()


def _select(function: Callable[..., Any], arguments: Mapping[str, Any]) -> xr.Dataset:
    import dataclasses

    import xarray as xr

    from bayesgroups.errors import InputError

    chosen = function(**arguments)
    if chosen is None:
        raise InputError(f"no candidate meets the threshold of {arguments['criterion']}; lower it, or add --fallback")
    return xr.Dataset(dataclasses.asdict(chosen))


MODELS = (
    Question(
        "questions.tradeoffs.reports.points_from_reports",
        "points-from-reports plain.nc fair.nc --fairness tpr --group-power min_score -o systems.nc\n"
        "pareto-frontier systems.nc",
        {"reports": readers.reports, "fairness": readers.fairness_metric}, steps=(AGGREGATION,), ask=_points,
        table=Table(
            "candidate", {goal: (f"{goal}_mean", f"{goal}_lower", f"{goal}_upper") for goal in readers.GOALS},
            prepare=_summarised,
        ),
    ),
    Question(
        "questions.tradeoffs.frontier.pareto_frontier",
        "pareto-frontier models.csv\npareto-frontier runs.csv --by method --by strength --draws 1000",
        {"points": readers.settings},
        table=Table(
            "candidate", {"performance": "performance", "fairness": "fairness", "P(efficient)": "probability_efficient"},
            prepare=_frontier,
        ),
    ),
    Question(
        "questions.tradeoffs.uncertainty.frontier_band",
        "frontier-band runs.csv --by strength --draws 1000 --anchor 0.3 1 --at 0.6 --at 0.7",
        {"points": readers.settings}, spelled={"performance": "--at"},
        table=Table("performance", {"fairness": ("fairness", "lower", "upper"), "P(reached)": "probability_reached"}),
    ),
    Question(
        "questions.tradeoffs.distances.distance_to_optimum", "distance-to-optimum models.csv --utopia 1 1",
        {"points": readers.candidates},
        table=Table("candidate", {"distance": "distance"}, prepare=_distances),
    ),
    Question(
        "questions.tradeoffs.areas.auc_pfc", "auc-pfc models.csv --anchor 0.3 1", {"points": readers.candidates},
        table=Table("", {"area": "area", "share": "share", "efficient": "frontier_size"}, prepare=_areas),
    ),
    Question(
        "questions.tradeoffs.uncertainty.compare_auc_pfc",
        "compare-auc-pfc inlp.csv plain.csv --anchor 0.3 1 --by strength --draws 1000", {"methods": readers.methods},
        table=Table("system", {"area": ("estimate", "lower", "upper"), "P(best)": "probability_best"}),
    ),
    Question(
        "questions.tradeoffs.selection.select_model",
        "select-model dev.csv --criterion DTO --test test.csv\n"
        'select-model dev.csv --criterion "P@F+5%" --vanilla plain',
        {"points": readers.settings, "test": readers.settings_on_test_data}, ask=_select,
        table=Table(
            "", {"candidate": "candidate", "performance": "performance", "fairness": "fairness", "distance": "dto",
            "test performance": "test_performance", "test fairness": "test_fairness", "P(selected)": "probability"},
        ),
    ),
)  # fmt: skip
