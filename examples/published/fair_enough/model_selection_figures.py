"""Pictures for the page of model selection: figures 3, 4, 5, 7 of Han, Baldwin, Cohn (2023), and a frontier of reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.estimators import PartialPooling
from bayesgroups.estimators.estimate import estimate
from bayesgroups.questions.disparities.aggregation import aggregate
from bayesgroups.questions.disparities.class_scores import confusion_scores
from bayesgroups.questions.tradeoffs.areas import Within, auc_pfc
from bayesgroups.questions.tradeoffs.curves import curve
from bayesgroups.questions.tradeoffs.frontier import probability_efficient
from bayesgroups.questions.tradeoffs.points import goals, mean_points, read_points
from bayesgroups.questions.tradeoffs.reports import points_from_reports
from bayesgroups.questions.tradeoffs.uncertainty import frontier_band
from bayesgroups.tallies import tally_from_counts
from examples.pages import table
from examples.pictures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PARTS: Mapping[str, Within] = {
    "whole": {},
    "performance at least .7": {"performance": 0.7},
    "fairness at least .7": {"fairness": 0.7},
    "distance at most .6": {"dto": 0.6},
}
"""Constraints of the partial areas: .6 is the paper's, .7 for performance stands in its program, and .7 for fairness is ours."""
SHOWN = 25
"""Every so many iterations stand in the table."""
CHECKPOINTS = ("0.00", "1.00", "2.00", "4.00", "9.00")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#595959")


@dataclass(frozen=True)
class Iterations:
    """Development values of INLP, by iteration (iteration,)."""

    number: NDArray[np.int64]
    performance: FloatArray
    fairness: FloatArray

    @property
    def distance(self) -> FloatArray:
        """To (1, 1)."""
        return np.asarray(np.hypot(1 - self.performance, 1 - self.fairness), dtype=np.float64)


def iterations(runs: pd.DataFrame, method: str = "INLP") -> Iterations:
    """Development values by iteration, which is the last number in the name of a setting.

    Examples
    --------
    >>> columns = {"method": "INLP", "config": ["x=;i=10", "x=;i=2"], "dev_performance": [0.5, 0.8], "dev_fairness": [1.0, 0.4]}
    >>> series = iterations(pd.DataFrame(columns))
    >>> series.number.tolist(), series.distance.round(3).tolist()
    ([2, 10], [0.632, 0.5])
    """
    runs_of_method = runs.loc[runs["method"] == method]
    number = np.array([int(str(name).rpartition("=")[2]) for name in runs_of_method["config"]], dtype=np.int64)
    order = np.argsort(number, kind="stable")
    performance, fairness = (
        np.asarray(runs_of_method[f"dev_{goal}"], dtype=np.float64)[order] for goal in ("performance", "fairness")
    )
    return Iterations(number[order], performance, fairness)


def iteration_table(series: Iterations) -> str:
    """A Markdown table: every 25th iteration and the one of the smallest distance, in bold."""
    rows = []
    best = int(series.distance.argmin())
    for i in range(len(series.number)):
        if i == best or series.number[i] % SHOWN == 0:
            mark = "**" if i == best else ""
            cells = [f"{100 * value[i]:.2f}" for value in (series.performance, series.fairness, series.distance)]
            rows.append([f"{mark}{series.number[i]}{mark}", *cells])
    return table(["iteration", "performance", "fairness", "distance"], rows)


def part_table(methods: Mapping[str, xr.Dataset], anchor: float) -> str:
    """A Markdown table: whole and partial areas of every method, in percent, with what is integrated over."""
    rows = []
    for name, points in methods.items():
        cells = []
        for within in PARTS.values():
            area = auc_pfc(points, anchor=anchor, within=within or None)
            cells.append(f"{100 * float(area):.2f} ({float(area['lower']):.3f} to {float(area['upper']):.3f})")
        rows.append([name, *cells])
    return table(["method", *PARTS], rows)


def iteration_figure(series: Iterations) -> Figure:
    """Figure 3: performance, fairness and distance of INLP on development data, by iteration."""
    figure, (axes,) = panels(1, 1, (5.6, 3.2))
    best = int(series.distance.argmin())
    axes.plot(series.number, series.performance, color="#0072B2", label="performance")
    axes.plot(series.number, series.fairness, color="#009E73", label="fairness")
    axes.plot(series.number, series.distance, color="#D55E00", label="distance to (1, 1)")
    axes.axvline(series.number[best], color="black", lw=0.8, ls="--", label=f"smallest distance: {series.number[best]}")
    axes.set_xlabel("iteration")
    axes.set_ylim(0, 1)
    axes.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.52))
    return figure


def methods_figure(methods: Mapping[str, xr.Dataset], anchor: float) -> Figure:
    """Figure 4: settings of the methods on test data, their frontiers from the anchor on, and 95 % bands from draws."""
    figure, (axes,) = panels(1, 1, (6.4, 4.6))
    for (name, points), colour in zip(methods.items(), COLOURS, strict=False):
        performance, fairness = goals(mean_points(read_points(points)))
        axes.plot(performance, fairness, ".", color=colour, alpha=0.25, markersize=3)
        corners = curve(performance, fairness, (anchor, 1.0))
        axes.plot(corners.performance, corners.fairness, color=colour, marker="o", markersize=3, lw=1.2, label=name)
        band = frontier_band(points, anchor=anchor)
        seen = band["probability_reached"].values >= 0.5
        low, high = (band[end].sel(level=0.95).values[seen] for end in ("lower", "upper"))
        axes.fill_between(band["performance"].values[seen], low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(anchor, 1.0, "X", color="black", markersize=6, label="anchor")
    axes.set_xlabel("performance")
    axes.set_ylabel("fairness")
    axes.set_xlim(0.25, 0.85)
    axes.set_ylim(0.4, 1.02)
    axes.legend(frameon=False, loc="lower left")
    return figure


def parts_figure(points: xr.Dataset, anchor: float) -> Figure:
    """Figure 5: the area under the frontier of one method, whole and under three constraints."""
    corners = curve(*goals(mean_points(read_points(points))), (anchor, 1.0))
    p = np.linspace(corners.performance.min(), corners.performance.max(), 121)
    f = np.interp(p, corners.performance, corners.fairness)
    figure, parts = panels(2, 2, (6.4, 4.8), shared=True)
    for axes, (name, within) in zip(parts, PARTS.items(), strict=True):
        met = (p >= within.get("performance", -np.inf)) & (f >= within.get("fairness", -np.inf))
        met &= np.hypot(1 - p, 1 - f) <= within.get("dto", np.inf)
        area = auc_pfc(points, anchor=anchor, within=within or None)
        axes.fill_between(p, 0.0, f, where=met.tolist(), color="#0072B2", alpha=0.25, linewidth=0)
        axes.plot(corners.performance, corners.fairness, color="#0072B2", marker="o", markersize=3, lw=1.2)
        axes.plot(anchor, 1.0, "X", color="black", markersize=6)
        axes.set_title(f"{name}: {100 * float(area):.2f} %")
        axes.set_xlim(0.25, 0.9)
        axes.set_ylim(0.4, 1.02)
    figure.supxlabel("performance", fontsize=8)
    figure.supylabel("fairness", fontsize=8)
    return figure


def ideal_figure(points: xr.Dataset, anchor: float) -> Figure:
    """Figure 7: the area below the frontier of one method, and those that two ideal points leave above it."""
    corners = curve(*goals(mean_points(read_points(points))), (anchor, 1.0))
    p, f = corners.performance, corners.fairness
    figure, (axes,) = panels(1, 1, (5.6, 3.6))
    axes.fill_between(p, 0.0, f, color="#E69F00", alpha=0.3, linewidth=0, label="below the frontier")
    axes.fill_between(p, f, 1.0, color="#009E73", alpha=0.35, linewidth=0, label="to the best of each goal")
    axes.fill(
        [p[-1], 1.0, p[-1]], [f[-1], 1.0, 1.0], color="#0072B2", alpha=0.25, linewidth=0, label="further to (1, 1)"
    )
    axes.plot(p, f, color="black", marker="o", markersize=3, lw=1.2)
    axes.plot([p[-1], 1.0], [1.0, 1.0], "o", color="#009E73", markersize=6)
    axes.axvline(p[-1], color="#009E73", lw=0.8, ls="--")
    axes.set_xlabel("performance")
    axes.set_ylabel("fairness")
    axes.set_xlim(0.25, 1.05)
    axes.set_ylim(0, 1.05)
    axes.legend(frameon=False, loc="lower left")
    return figure


def ideal_table(methods: Mapping[str, xr.Dataset], anchor: float) -> str:
    """A Markdown table: areas between the frontier of every method and two ideal points, in percent."""
    best = max(float(points["performance"].max()) for points in methods.values())
    ideals = ((best, 1.0), (1.0, 1.0))
    rows = []
    for name, points in methods.items():
        corners = curve(*goals(points), (anchor, 1.0))
        areas = [float(auc_pfc(points, anchor=anchor, reading="polar_area", utopia=ideal)) for ideal in ideals]
        end = f"({corners.performance[-1]:.3f}, {corners.fairness[-1]:.3f})"
        rows.append([name, end, *(f"{100 * area:.2f}" for area in (*areas, areas[1] - areas[0]))])
    return table(["method", "end of the frontier", f"to ({best:.3f}, 1)", "to (1, 1)", "difference"], rows)


def posterior_figure(points: xr.Dataset, plain: xr.Dataset) -> Figure:
    """Draws of every candidate, their means joined to what the counts alone say."""
    figure, (axes,) = panels(1, 1, (5.6, 3.6))
    for i, name in enumerate(points["candidate"].values.tolist()):
        colour = COLOURS[i % len(COLOURS)]
        performance, fairness = (
            points[goal].sel(candidate=name).values.ravel() for goal in ("performance", "fairness")
        )
        axes.plot(performance[::40], fairness[::40], ".", color=colour, alpha=0.25, markersize=3)
        before = float(plain["performance"].sel(candidate=name)), float(plain["fairness"].sel(candidate=name))
        after = float(performance.mean()), float(fairness.mean())
        axes.plot([before[0], after[0]], [before[1], after[1]], color=colour, lw=0.8)
        axes.plot(*before, "o", color=colour, markerfacecolor="white", markersize=5)
        axes.plot(*after, "o", color=colour, markersize=5, label=name)
    axes.plot([], [], "o", color="black", markerfacecolor="white", markersize=5, label="counts alone")
    axes.set_xlabel("accuracy")
    axes.set_ylabel("fairness")
    axes.legend(frameon=False, loc="upper left")
    return figure


def tally_of_checkpoint(counts: xr.DataArray) -> xr.Dataset:
    """True positive rates of every class in every subgroup, as a tally of one metric per class.

    Parameters
    ----------
    counts : xr.DataArray
        Confusion counts (subgroup, label, predicted).
    """
    scores = confusion_scores(counts, "tpr")
    trials = scores["count"].transpose("label", "subgroup")
    hits = (scores.fillna(0.0) * scores["count"]).transpose("label", "subgroup")
    names = [f"tpr[{label}]" for label in counts["label"].values]
    who = pd.DataFrame({"who": counts["subgroup"].values})
    successes, all_trials = (
        {name: np.rint(array.values[i]) for i, name in enumerate(names)} for array in (hits, trials)
    )
    return tally_from_counts(successes, all_trials, who)


def posterior_points(counts: xr.DataArray, *, seed: int = 1) -> xr.Dataset:
    """Candidates with the draws of a posterior: each checkpoint is a report of partial pooling, class by class.

    Parameters
    ----------
    counts : xr.DataArray
        Confusion counts (epoch, subgroup, label, predicted).
    seed : int
        Of the draws of the first checkpoint, one more for each of the others, so that draws are independent.

    Returns
    -------
    xr.Dataset
        ``performance``, the accuracy, and ``fairness``, 1 less the quadratic mean over classes of the sum over subgroups of
        gaps in the true positive rate, (chain, draw, candidate).
    """
    names = _checkpoints(counts)
    tallies = [tally_of_checkpoint(counts.sel(epoch=name, drop=True)) for name in names]
    reports = {
        _label(name): estimate(tally, PartialPooling(), seed=seed + i)
        for i, (name, tally) in enumerate(zip(names, tallies, strict=True))
    }
    return points_from_reports(reports, _fairness, performance=_accuracy)


def plug_in(counts: xr.DataArray) -> xr.Dataset:
    """Accuracy and fairness (candidate,) of the same checkpoints from the counts alone."""
    names = _checkpoints(counts)
    by_goal: dict[str, list[float]] = {"performance": [], "fairness": []}
    for name in names:
        scores = confusion_scores(counts.sel(epoch=name, drop=True), "tpr")
        unfair = aggregate(scores, group_power="sum_gap", class_power="quadratic_mean", undefined="drop")
        by_goal["performance"].append(float((scores.fillna(0.0) * scores["count"]).sum() / scores["count"].sum()))
        by_goal["fairness"].append(1 - float(unfair))
    return xr.Dataset(
        {goal: ("candidate", values) for goal, values in by_goal.items()},
        {"candidate": [_label(name) for name in names]},
    )


def _checkpoints(counts: xr.DataArray) -> list[str]:
    epochs = [str(name) for name in counts["epoch"].values]
    return [name for name in CHECKPOINTS if name in epochs] or epochs


def _label(name: str) -> str:
    return f"epoch {float(name):g}"


def posterior_table(points: xr.Dataset, plain: xr.Dataset) -> str:
    """A Markdown table: plug-in and posterior of every candidate, and how sure it is to be efficient."""
    efficient = probability_efficient(points)
    rows = []
    for name in points["candidate"].values.tolist():
        cells = [name]
        for goal in ("performance", "fairness"):
            draws = 100 * points[goal].sel(candidate=name).values.ravel()
            low, high = np.quantile(draws, [0.025, 0.975])
            cells += [
                f"{100 * float(plain[goal].sel(candidate=name)):.2f}",
                f"{draws.mean():.2f} ({low:.2f} to {high:.2f})",
            ]
        rows.append([*cells, f"{float(efficient.sel(candidate=name)):.2f}"])
    head = ["checkpoint", "accuracy, plug-in", "posterior", "fairness, plug-in", "posterior", "P(efficient)"]
    return table(head, rows)


def _fairness(values: xr.DataArray) -> xr.DataArray:
    unfair = aggregate(class_scores_of(values), group_power="sum_gap", class_power="quadratic_mean", undefined="drop")
    return 1 - unfair


def _accuracy(values: xr.DataArray) -> xr.DataArray:
    count = values["count"]
    return (values.where(count > 0, 0.0) * count).sum(("metric", "subgroup")) / count.sum()


def class_scores_of(values: xr.DataArray) -> xr.DataArray:
    """Draws (chain, draw, metric, subgroup) of one metric per class, by class, with their denominators."""
    names = [str(name)[4:-1] for name in values["metric"].values]
    kept = values.where(values["count"] > 0)
    return kept.rename(metric="label").assign_coords(label=names)
