"""Figures of the page of optimist and pessimist: values as rows are left out, and those of the published tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayesgroups as bg
from examples.published.intersectionality.published_certification import LINES, published
from examples.published.intersectionality.record_rows import OURS, PUBLISHED, trend
from examples.published.intersectionality.subsampling import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"worst": "0.45", "optimist": "tab:blue", "pessimist": "tab:orange"}
STYLE: dict[Any, Any] = {"svg.hashsalt": "bayesgroups", "svg.fonttype": "none", "font.size": 8}
COLUMNS = 5
"""Panels in a row."""


def draw(record: Sequence[Point], left_out: str, path: Path) -> None:
    """Draw one study, a panel per table: full lines out of fold with exact limits, dashed ones as published."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    lines = [point for point in record if point.left_out == left_out]
    tables = list(dict.fromkeys(point.table for point in lines))
    rows = -(-len(tables) // COLUMNS)
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(rows, COLUMNS, figsize=(2.4 * COLUMNS, 2.3 * rows), sharex=True, squeeze=False)
        for axis, table in zip(axes.ravel(), tables, strict=False):
            _panel(axis, [point for point in lines if point.table == table])
            axis.set_title(table.replace("_", " "))
        for axis in axes.ravel()[len(tables) :]:
            axis.set_axis_off()
        for axis in axes[-1]:
            axis.set_xlabel("rows kept")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, frameon=False, loc="lower center", ncols=len(COLOURS))
        _save(figure, path, bottom=0.05)


def _panel(axes: Axes, points: Sequence[Point]) -> None:
    for statistic, colour in COLOURS.items():
        mine = [point for point in points if point.statistic == statistic]
        means = trend([point for point in mine if point.interval in OURS])
        axes.plot(list(means), list(means.values()), marker=".", color=colour, label=statistic)
        means = trend([point for point in mine if point.interval in PUBLISHED])
        axes.plot(list(means), list(means.values()), "--", color=colour, linewidth=0.8)


def draw_tables(path: Path) -> None:
    """Draw the printed values of the 18 data sets, and the exact ones of the same counts beside them."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    place = np.arange(len(LINES))
    exact = [bg.certify(published(line)).isel(metric=0) for line in LINES]
    printed = {
        "worst": [line.worst_value for line in LINES],
        "optimist": [line.optimist_value for line in LINES],
        "pessimist": [line.pessimist_value for line in LINES],
    }
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 4.6))
        for statistic, colour in COLOURS.items():
            axes.plot(printed[statistic], place, "o", color=colour, markersize=4, label=statistic)
            if statistic != "worst":
                axes.plot([float(values[statistic]) for values in exact], place + 0.25, "|", color=colour, markersize=8)
        axes.axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
        axes.set_yticks(place, [line.name.replace("_", " ") for line in LINES])
        axes.invert_yaxis()
        axes.set_xlabel("accuracy; dots as printed, bars exact")
        axes.legend(frameon=False, loc="lower left")
        _save(figure, path)


def _save(figure: Figure, path: Path, *, bottom: float = 0.0) -> None:
    import matplotlib.pyplot as plt

    figure.tight_layout(rect=(0, bottom, 1, 1))
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
