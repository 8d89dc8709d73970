"""Systems as candidates, and the curve of a method: ``bayesgroups points-from-reports | frontier-band``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from bayesgroups.cli.aggregation import STEPS, Steps
from bayesgroups.cli.options import ANSWER, AnswerOptions, Imputed
from bayesgroups.cli.tradeoffs import RUNS, Pair, Runs

if TYPE_CHECKING:
    import xarray as xr

At = Annotated[tuple[float, ...], Parameter(name="--at", negative=(), show_default=False)]


def points_from_reports(
    *reports: Path,
    fairness: str,
    steps: Steps = STEPS,
    performance: str = "acc",
    side: Literal["bayesian", "frequentist"] = "bayesian",
    imputed: Imputed = "leave_out",
    answer: AnswerOptions = ANSWER,
) -> int:
    """Turn a report per system into candidates with draws, for the other commands of this group.

    Fairness is a metric aggregated over subgroups: its worst value with --group-power min_score; of gaps it is 1 less their
    aggregate. For example:

        bayesgroups points-from-reports plain.nc fair.nc --fairness tpr --group-power min_score -o systems.nc
        bayesgroups pareto-frontier systems.nc

    Parameters
    ----------
    reports
        A report per system (.nc); a system is called by the name of its file.
    fairness
        The metric that is aggregated, or one of several classes such as tpr of 'tpr[cat]' and 'tpr[dog]'.
    steps
        How it is aggregated.
    performance
        The metric that is averaged over all rows; 1 less its mean where smaller values are better.
    side
        Draws of the posterior or of the bootstrap.
    imputed
        Whether subgroups without rows take part where a report answers for them.
    answer
        How the answer is shown; .nc keeps the draws.
    """
    from bayesgroups.cli.inputs import report_of
    from bayesgroups.cli.results import publish
    from bayesgroups.errors import InputError
    from bayesgroups.questions.tradeoffs import points_from_reports as ask

    named = {path.stem: path for path in reports}
    if len(named) < len(reports):
        raise InputError("two of the files have one name; a system is called by the name of its file")
    opened = {name: report_of(path) for name, path in named.items()}
    found = ask(
        opened,
        lambda values: _fairness(values, fairness, steps),
        performance=performance,
        using="auto" if side == "bayesian" else "bootstrap",
        imputed=imputed,
    )
    shown = {}
    for goal in ("performance", "fairness"):
        draws = found[goal].stack(sample=("chain", "draw"))
        limits = draws.quantile([0.025, 0.975], "sample")
        found[f"{goal}_mean"] = draws.mean("sample")
        for side_of, limit in zip(("lower", "upper"), limits, strict=True):
            found[f"{goal}_{side_of}"] = limit.drop_vars("quantile")
        shown[goal] = (f"{goal}_mean", f"{goal}_lower", f"{goal}_upper")
    usable = all(int(report.attrs["usable"]) for report in opened.values())
    worst = next(iter(opened.values())) if usable else next(r for r in opened.values() if not int(r.attrs["usable"]))
    return publish(found, "points_from_reports", answer, rows="candidate", columns=shown, source=worst)


def frontier_band(points: Path, *, anchor: Pair, at: At = (), runs: Runs = RUNS, answer: AnswerOptions = ANSWER) -> int:
    """Say which fairness a method has at each performance, with limits.

    For example:

        bayesgroups frontier-band runs.csv --by strength --draws 1000 --anchor 0.3 1 --at 0.6 --at 0.7

    Parameters
    ----------
    points
        Candidates or runs of one method (.csv, .parquet), or candidates with draws (.nc).
    anchor
        Performance and fairness of a trivial model.
    at
        Performances to look at; repeat it. 101 from the anchor to the best when left out.
    runs
        How candidates are read.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.results import publish
    from bayesgroups.cli.tradeoffs import points_of
    from bayesgroups.questions.tradeoffs import frontier_band as ask

    found = ask(points_of(points, runs), anchor=anchor, performance=list(at) or None)
    if not answer.json and answer.output is None:
        found = found.sel(level=0.95)
    shown = {"fairness": ("fairness", "lower", "upper"), "P(reached)": "probability_reached"}
    return publish(found, "frontier_band", answer, rows="performance", columns=shown)


def _fairness(values: xr.DataArray, metric: str, steps: Steps) -> xr.DataArray:
    """A number per draw, larger the better: the aggregate of scores, or 1 less how far that of gaps or ratios is from fair."""
    from bayesgroups.cli.aggregation import aggregated
    from bayesgroups.errors import InputError, near_misses

    known = [str(name) for name in values["metric"].values]
    classes = [name for name in known if name.startswith(f"{metric}[") and name.endswith("]")]
    if metric in known:
        scores = values.sel(metric=metric, drop=True).dropna("subgroup", how="all")
    elif classes:
        scores = values.sel(metric=classes).rename(metric="label")
    else:
        raise InputError(f"--fairness {metric!r} is not a metric of the reports; {near_misses(metric, known)}")
    total = aggregated(scores, steps)
    if "label" in total.dims:
        raise InputError("--class-power none leaves a number per class; name a step over classes, such as mean")
    fair = total if total.attrs["better"] == "larger" else 1 - abs(total - float(total.attrs["fair_value"]))
    return fair.drop_vars([name for name in fair.coords if name not in fair.dims])
