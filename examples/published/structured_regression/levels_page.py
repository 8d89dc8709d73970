"""Page and figures of the structured-regression paper's intervals at all levels, from their records.

python -m examples.published.structured_regression.levels_page --record docs/examples/regression_levels.csv \
    --output docs/examples/regression_levels.md
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from examples import pictures
from examples.pages import PAGES, fill, table
from examples.pictures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROGRAM = "python -m examples.published.structured_regression.levels_page"
PAGE = PAGES / "regression_levels.md"
COLOURS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#999999", "#661100", "#AAAA00")
FOREST = ("sel", "fnr", "auc")
"""Metrics of figure 1."""
PENALTY = "sel"
"""Metric of figure 2."""


def errors_table(record: pd.DataFrame, size: str, measure: str, unit: float, digits: int) -> str:
    """A Markdown table of one kind of error by estimator (rows) and metric, with its mean over metrics."""
    lines = record[(record["subgroups"] == size) & (record["level"] == 0.95)]
    wide = lines.pivot_table(index="estimator", columns="metric", values=measure, sort=False) * unit
    # Other intervals of the standard estimate and of structured regression have the same estimates.
    alike = [name for name in wide.index if name in {"standard, own variance", "standard, bootstrap percentiles"}]
    wide = wide.drop(index=[*alike, "structured regression, residuals"])
    rows = [[name, *(f"{value:.{digits}f}" for value in (*values, values.mean()))] for name, values in wide.iterrows()]
    return table(["estimator", *wide.columns, "mean"], rows)


def coverage_table(record: pd.DataFrame) -> str:
    """A Markdown table: coverage at every level, all / small, and width relative to the standard, means over metrics."""
    levels = sorted(set(record["level"]))
    by_level = record.groupby(["estimator", "subgroups", "level"], sort=False)
    means = pd.DataFrame(by_level[["coverage", "relative_width"]].mean())
    rows = []
    for name in dict.fromkeys(record["estimator"]):
        cells = [
            " / ".join(f"{100 * means.loc[(name, size, level), 'coverage']:.0f}" for size in ("all", "small"))
            for level in levels
        ]
        widths = (f"{means.loc[(name, 'all', level), 'relative_width']:.2f}" for level in (levels[0], levels[-1]))
        rows.append([name, *cells, *widths])
    shown = [f"{100 * level:.0f} %" for level in levels]
    return table(["interval", *shown, f"width, {shown[0]}", f"width, {shown[-1]}"], rows)


def narrowest(record: pd.DataFrame) -> str:
    """A sentence: the narrowest intervals of structured regression by metric and level, and their coverage."""
    parts = []
    for name in ("structured regression", "structured regression, clinical", "structured regression, residuals"):
        lines = record.loc[(record["estimator"] == name) & (record["subgroups"] == "all")]
        least = lines.loc[lines["relative_width"].idxmin()]
        parts.append(
            f"{name}: {100 * (1 - least['relative_width']):.0f} % narrower ({least['metric']}, {100 * least['level']:.0f} %), "
            f"where {100 * least['coverage']:.0f} % are covered"
        )
    return "; ".join(parts) + "."


def least_errors(record: pd.DataFrame) -> str:
    """Lines: the estimators of least mean absolute and mean squared error, by size of the subgroup."""
    made = []
    for size in ("small", "large"):
        lines = record[(record["subgroups"] == size) & (record["level"] == 0.95)]
        for measure, words in (("mae", "mean absolute error"), ("mse", "mean squared error")):
            best = lines.loc[lines.groupby("metric", sort=False)[measure].idxmin()]
            counts = best["estimator"].value_counts(sort=False)
            made.append(
                f"- {size} subgroups, {words}: " + ", ".join(f"{name} {number}" for name, number in counts.items())
            )
    return "\n".join(made)


def penalty_table(points: pd.DataFrame) -> str:
    """A Markdown table: figure 2 in numbers, squared bias, variance and their sum along the penalty."""
    chosen = points[points["metric"] == PENALTY].set_index(["fraction", "subgroups"])
    rows = []
    for fraction in sorted(set(points["fraction"]), reverse=True):
        cells = [
            f"{chosen.loc[(fraction, size), part]:.3f}"
            for size in ("small", "large")
            for part in ("squared_bias", "variance", "mse")
        ]
        rows.append([f"{fraction:g}", *cells])
    return table(["penalty", "small: squared bias", "variance", "sum", "large: squared bias", "variance", "sum"], rows)


def coverage_figure(record: pd.DataFrame, size: str) -> Figure:
    """Coverage less the level, at every level, by metric: figure 4 of all subgroups, figure 6 of small ones."""
    metrics = list(dict.fromkeys(record["metric"]))
    figure, parts = panels(2, 3, (9.0, 5.6), shared=True)
    for axes, metric in zip(parts, metrics, strict=True):
        lines = record.loc[(record["metric"] == metric) & (record["subgroups"] == size)]
        axes.axline((0.5, 0.5), slope=1.0, color="black", lw=0.8, ls=":")
        for colour, name in zip(COLOURS, dict.fromkeys(record["estimator"]), strict=True):
            of_interval = lines.loc[lines["estimator"] == name]
            level, coverage, error = (of_interval[part].to_numpy() for part in ("level", "coverage", "coverage_se"))
            style = "--" if name.startswith("model-based") else "-"
            axes.errorbar(
                level, coverage, 2 * error, color=colour, ls=style, marker="o", markersize=3, lw=1.0, label=name
            )
        axes.set_title(metric)
    for axes in parts[3:]:
        axes.set_xlabel("level")
    parts[0].set_ylim(0, 1.02)
    handles, labels = parts[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.supylabel("coverage", fontsize=8)
    return figure


def forest_figure(forest: pd.DataFrame) -> Figure:
    """Figure 1: the first draw, subgroups by their rows; a bar where the value of all admissions is."""
    figure, parts = panels(1, len(FOREST), (10.0, 8.4))
    names = list(dict.fromkeys(forest["estimator"]))
    for axes, metric in zip(parts, FOREST, strict=True):
        lines = forest.loc[forest["metric"] == metric].sort_values("rows", kind="stable")
        labels = list(dict.fromkeys(zip(lines["subgroup"], lines["rows"], strict=True)))
        places = np.arange(len(labels), dtype=np.float64)
        for i, (name, colour) in enumerate(zip(names, ("#595959", "#D55E00", "#0072B2"), strict=True)):
            of_estimator = lines[lines["estimator"] == name]
            y = places + 0.27 * (i - 1)
            axes.hlines(y, of_estimator["lower"], of_estimator["upper"], color=colour, lw=0.9)
            axes.plot(of_estimator["estimate"], y, "o", color=colour, markersize=2.5, label=name)
        truth = lines[lines["estimator"] == names[0]]["truth"]
        axes.plot(truth, places, "|", color="black", markersize=9, label="all admissions")
        axes.set_title(metric)
        axes.set_ylim(-0.7, len(labels) - 0.3)
        axes.set_yticks(places, [f"{label.replace(' | ', ', ')} ({rows})" for label, rows in labels])
        axes.tick_params(labelsize=6, labelleft=axes is parts[0])
    figure.legend(*parts[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def penalty_figure(points: pd.DataFrame) -> Figure:
    """Figure 2: squared bias, variance and their sum of the selection rate along the penalty."""
    figure, parts = panels(1, 2, (7.0, 3.2), shared=True)
    for axes, size in zip(parts, ("small", "large"), strict=True):
        lines = points.loc[(points["metric"] == PENALTY) & (points["subgroups"] == size)].sort_values("fraction")
        for part, colour in (("squared_bias", "#0072B2"), ("variance", "#D55E00"), ("mse", "#000000")):
            axes.plot(
                lines["fraction"], lines[part], color=colour, marker="o", markersize=3, label=part.replace("_", " ")
            )
        best = lines["fraction"].to_numpy()[int(np.argmin(lines["mse"].to_numpy()))]
        axes.axvline(best, color="black", lw=0.8, ls="--", label=f"least sum at {best:g}")
        axes.set_xscale("log")
        axes.set_title(f"{size} subgroups")
        axes.set_xlabel("penalty, share of the largest")
        axes.legend(frameon=False)
    parts[0].set_ylabel("relative to the standard estimate")
    return figure


def numbers(record: pd.DataFrame, points: pd.DataFrame) -> dict[str, str]:
    """Texts of the page by the name of their block."""
    return {
        "mse, all": errors_table(record, "all", "mse", 1000, 2),
        "mse, small": errors_table(record, "small", "mse", 1000, 2),
        "mae, all": errors_table(record, "all", "mae", 1, 4),
        "mae, small": errors_table(record, "small", "mae", 1, 4),
        "least errors": least_errors(record),
        "coverage": coverage_table(record),
        "narrowest": narrowest(record),
        "penalty": penalty_table(points),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the figures and fill in the numbers."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Page of intervals at all levels, from its records.")
    parser.add_argument(
        "--record", type=Path, required=True, help="the CSV file of intervals; the others lie beside it"
    )
    parser.add_argument("--output", type=Path, required=True, help="the Markdown page to write")
    given = parser.parse_args(arguments)
    record = pd.read_csv(given.record)
    forest, points = (pd.read_csv(given.record.with_name(f"regression_{name}.csv")) for name in ("forest", "penalty"))
    with pictures.style():
        drawn = {
            "1": forest_figure(forest),
            "2": penalty_figure(points),
            "4": coverage_figure(record, "all"),
            "6": coverage_figure(record, "small"),
        }
    pictures.save({f"regression_paper_{name}.svg": figure for name, figure in drawn.items()}, given.output.parent)
    fill(given.output, numbers(record, points), prose=PAGE)


if __name__ == "__main__":
    main()
